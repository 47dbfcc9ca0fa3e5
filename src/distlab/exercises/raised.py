"""What a message says about an exception that ranks raised: its text, and what helps."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from distlab.exercises import sources

if TYPE_CHECKING:
    from distlab.engines.outcomes import Run

LONGEST = 400  # characters of an exception's own text
_OF_A_PROCESS = re.compile(r"-- Process (\d+) terminated with the following error:")
#: torch's note on where in its C++ code an exception arose, and when
_OF_TORCH = re.compile(r"(\[rank\d+\]:)?\[(enforce fail at [^\]]*|\w\d{4} [\d:.]+ \S+:\d+)\]\s*")


def text(error: dict[str, Any]) -> str:
    """An exception's type and text on one line, without the stacks that torch adds to it."""
    said = error["message"]
    if process := _OF_A_PROCESS.search(said):
        last = said.strip().splitlines()[-1].strip()
        said = f"process {process[1]} raised {last}"
    said = _OF_TORCH.sub("", said.partition("\nException raised from")[0])
    said = said.partition("\nInvoked with:")[0]  # addresses of what was handed over
    said = " ".join(said.split())[:LONGEST]
    return f"{error['type']}: {said}" if said else error["type"]


class Asked(Protocol):
    """What advice has to know of the exercise."""

    @property
    def name(self) -> str: ...
    @property
    def group(self) -> bool: ...
    @property
    def advice(self) -> tuple[Advice, ...]: ...


@dataclass(frozen=True)
class Raised:
    """An exception that ended a run, as advice sees it. `answer` is the syntax tree of the function
    that was asked for, where its source is known.
    """

    rank: int
    error: dict[str, Any]
    run: Run
    exercise: Asked
    answer: ast.AST | None = None


@dataclass(frozen=True)
class Advice:
    """What helps after an exception.

    Args:
        pattern: searched for in "Type: text" on one line, whatever the case of letters.
        says: where to look; it may not contain the solution.
        shows: whether it applies, where the text alone does not tell.
    """

    name: str
    pattern: str
    says: str
    shows: Callable[[Raised], bool] = lambda raised: True

    def applies(self, raised: Raised, said: str) -> bool:
        try:
            return bool(re.search(self.pattern, said, re.I)) and self.shows(raised)
        except Exception:  # records that a student's code has tampered with can be any nonsense
            return False


def advice(raised: Raised) -> Advice | None:
    """The first piece of advice that applies, the exercise's own before the common; to what the
    exception was raised from only where none applies to its own text.
    """
    error, every = raised.error, (*raised.exercise.advice, *COMMON)
    own = " ".join(f"{error['type']}: {error['message']}".split())
    texts = (own, error.get("from", ""))
    return next((one for said in texts for one in every if one.applies(raised, said)), None)


def _result_taken(raised: Raised) -> bool:
    return bool(sources.result_taken(raised.answer))


def _chunks(raised: Raised) -> bool:
    answer = raised.answer
    named = ast.walk(answer) if answer is not None else ()
    return any(isinstance(node, ast.Attribute) and node.attr == "chunk" for node in named)


def _barrier_missed(raised: Raised) -> bool:
    """Does another rank stand in a barrier that this one has left out?"""
    mine = _barriers(raised, raised.rank)
    reached = {frame["function"]: frame["line"] for frame in raised.error["frames"]}
    return any(
        outcome.status == "killed"
        and (event := raised.run.records[outcome.rank].waiting()) is not None
        and event.op == "barrier"
        and _barriers(raised, outcome.rank) > mine
        and event.line <= reached.get(event.function, event.line)  # else it was yet to come
        for outcome in raised.run.outcomes
    )


def _barriers(raised: Raised, rank: int) -> int:
    return sum(event.op == "barrier" for event in raised.run.records[rank].events)


def _module_replaced(raised: Raised) -> bool:
    """Does the line take from one of the notebook's modules what was not found there?"""
    sought = re.search(_NO_ATTRIBUTE, raised.error["message"])
    frames = raised.error["frames"]
    if sought is None or not frames:
        return False
    from_a_module = rf"(?<![\w.])({'|'.join(MODULES)})\.{sought[1]}\b"
    return re.search(from_a_module, frames[-1]["text"]) is not None


def _several(raised: Raised) -> bool:
    return raised.run.size > 1


def _at_the_call(raised: Raised) -> bool:
    """Was it raised before the first line of the function that is asked for was reached?"""
    return not raised.error["frames"] and f"{raised.exercise.name}()" in raised.error["message"]


#: what a notebook's first cell imports, by the names that it has there
MODULES = ("dist", "torch", "nn", "np", "math", "time", "os")
_NO_ATTRIBUTE = r"object has no attribute '(\w+)'"
#: for exercises that write checkpoints
STATE_DICT = Advice(
    "objects saved", "PicklingError|Can't pickle|Can't get local object",
    "Save state dicts, not the objects themselves: pickle has to find their classes by name, here "
    "and wherever the file is loaded.",
)  # fmt: skip
_FILE = r"FileNotFoundError|No such file"
#: what reading a file that is still being written raises, depending on how it is opened
_HALF_A_FILE = (
    r"EOFError|PytorchStreamReader|central directory|unexpected EOF|Ran out of input"
    r"|UnpicklingError|unexpected pos|invalid load key|not a ZIP"
)
COMMON = (
    Advice(
        "memory", "MemoryError|DefaultCPUAllocator",
        "Memory is limited: look for a tensor far larger than the inputs.",
    ),
    Advice(
        "processes", "BlockingIOError|can't start new thread",
        "Processes and threads are limited: look for a loop that starts one after another.",
    ),
    Advice(
        "disk", "No space left|Too many open files",
        "Disk space and open files are limited: write less, close what you open.",
    ),
    Advice(
        "result of an in-place call", "NoneType",
        "dist.all_reduce, dist.broadcast and the like work in place: the result is in the tensor "
        "that you pass, and the call itself returns None. Go on with that tensor.",
        _result_taken,
    ),
    Advice(
        "program ended", "^SystemExit",
        "exit(), quit() and sys.exit() end the whole program, so that the function returns "
        "nothing, and ranks that communicate with this one wait for nothing. `return` ends a "
        "function.",
    ),
    Advice(
        "no keyboard", "EOF when reading a line|^BdbQuit",
        "Ranks have no keyboard: input() and debuggers (breakpoint(), pdb) find nobody to ask. "
        "Print what you want to know instead.",
    ),
    Advice(
        "endless recursion", "^RecursionError",
        "A function calls itself, at once or by way of another one, and never stops. Is that meant "
        "to be another function of the same name? Else there has to be a case in which it returns "
        "without a further call.",
    ),
    Advice(
        "barrier missed", f"{_FILE}|{_HALF_A_FILE}",
        "This rank read before the other one let it: a barrier holds back only ranks that call "
        "it. Every rank has to, so it stands outside of `if rank == …`.",
        _barrier_missed,
    ),
    Advice(
        "read while written", _HALF_A_FILE,
        "The file was there, but not whole: another rank was still writing it, or a crash has left "
        "half of one. That a file exists does not say that it is finished. Let the ranks wait for "
        "each other between writing and reading.",
        _several,
    ),
    Advice(
        "no such file", _FILE,
        "Is this the path that the file is written to, and has the rank that writes it finished "
        "before this one reads? (Where answers are judged, only modules lie beside the notebook.)",
    ),
    Advice(
        "another file system", "cross-device link",
        "A rename works within one file system only, and the folder for temporary files can be "
        "another one: write the new file into the folder where it is to stay.",
    ),
    Advice(
        "module of a bare model", "has no attribute 'module'",
        "Only a model that is wrapped in DDP has a .module, and this one is bare: the function has "
        "to take both.",
    ),
    Advice(
        "names of the wrapper", r'key\(s\) in state_dict: "module\.',
        "Names that begin with `module.` are those of DDP's wrapper. One of the two, wrapper and "
        "module inside, was saved, and the other is to take it: save and load the one inside.",
    ),
    Advice(
        "changed before backward", "modified by an inplace operation",
        "Something wrote into what backward needs, such as the weights, after the forward pass had "
        "used it: a step, a collective, a `+=`. The order is forward, loss, backward, step.",
    ),
    Advice(
        "attribute of the wrapper", "'DistributedDataParallel' object has no attribute",
        "DDP is a module around yours: what you have defined belongs to the one inside, its "
        ".module.",
    ),
    Advice(
        "device_ids on a CPU", "device_ids .* only work",
        "device_ids names the GPU of this process, and these parameters are on the CPU: there it "
        "is left out.",
    ),
    Advice(
        "no process group", "process group has not been initialized",
        "There is no process group here. What asks it for rank and size "
        "(dist.get_rank(), a DistributedSampler without num_replicas and rank) has to be given "
        "them: as arguments of the function, or from Horovod where that is at work.",
        lambda raised: not raised.exercise.group,
    ),
    Advice(
        "second process group", "default process group twice",
        "The process group is there already when this function is called: use that one.",
        lambda raised: raised.exercise.group,
    ),
    Advice(
        "process group left", "process group has not been initialized|Invalid process group",
        "The process group is gone: whoever has made it ends it, not this function.",
        lambda raised: raised.exercise.group,
    ),
    Advice(
        "group of an earlier call",
        "not initialized in the world group map|[Gg]roup .* is not registered"
        "|resolve the process group",
        "This group, or mesh, is of an earlier call and has ended with it: the function is called "
        "again in another process group. Make groups anew in each call.",
        lambda raised: raised.exercise.group,
    ),
    Advice(
        "two dtypes",
        r"different dtypes|invalid tensor type at index|dtype\(\) == |same dtype|dtypes match",
        "Two dtypes meet in this line, and inputs need not be float32. Make tensors with the dtype "
        "of what they are for, as torch.empty_like(tensor) and tensor.new_zeros(shape) do: "
        "torch.empty(shape) and torch.zeros(shape) are float32.",
    ),
    Advice(
        "dtype that cannot travel", "Invalid scalar type",
        "The collectives of gloo, which carries what lies on CPUs, know no tensors of this dtype "
        "(int16, for one). int32, int64, uint8 and the usual floats travel.",
    ),
    Advice(
        "another shape in place", "doesn't match the broadcast shape",
        "An operation in place cannot change the shape of its tensor. A tensor of shape (1,) makes "
        "one dimension out of none: .item() makes a plain number of it, which fits everywhere.",
    ),
    Advice(
        "fewer chunks",
        "IndexError|not enough values|expected length|Incorrect (output|input) list size",
        "torch.chunk(n) gives fewer than n pieces where the length is no multiple of n: 5 elements "
        "in 4 chunks are 2, 2 and 1. torch.tensor_split(n) always gives n.",
        _chunks,
    ),
    Advice(
        "number of ranks written down",
        "expected length \\d+, got \\d+|Incorrect (output|input) list size",
        "The list needs a tensor for each rank of the group, as many as there are ranks this time.",
    ),
    Advice(
        "list on the wrong rank", "must NOT be specified on non-",
        "That list is for one rank alone, the root: the others pass None.",
    ),
    Advice(
        "list missing", "must be specified on (source|destination)",
        "The root of a scatter or gather has to pass the list; the other ranks pass None.",
    ),
    Advice(
        "not contiguous", "(must|has to) be contiguous",
        "Only contiguous tensors can travel: a transpose, a column or every other row of another "
        "tensor is none. .contiguous() makes a copy that is.",
    ),
    Advice(
        "bytes apart", r"stride\(-1\) must be 1 to view",
        "view(dtype) takes only a tensor whose elements lie side by side in memory. reshape(-1) of "
        "a column is the column itself, gaps included; .contiguous() makes a copy without them.",
    ),
    Advice(
        "leaf changed in place", "leaf Variable that requires grad",
        "What requires a gradient and begins a graph (a parameter, or a buffer that was made so) "
        "may be changed in place only where no graph is recorded: under torch.no_grad().",
    ),
    Advice(
        "no graph", "does not require grad and does not have a grad_fn",
        "This tensor has no graph behind it: look for detach(), .data, torch.no_grad() or a tensor "
        "that was only received.",
    ),
    Advice(
        "rank unknown", r"NameError: name '(rank|size|world_size)'",
        "This function has no argument of that name. The process group knows which rank this is "
        "and how many there are: dist.get_rank() and dist.get_world_size().",
        lambda raised: raised.exercise.group,
    ),
    Advice(
        "dist left out", r"NameError: name '(i?send|i?recv|broadcast|scatter|gather|barrier"
        r"|new_group|batch_isend_irecv|P2POp|ReduceOp|(all_)?(reduce|gather|to_all)\w*"
        r"|reduce_scatter\w*|get_(rank|world_size))'",
        "Functions of torch.distributed are called by their whole name: dist.send, say.",
        lambda raised: raised.exercise.group,
    ),
    Advice(
        "name unknown", "NameError",
        "Is this name spelled as where it was made? What is not made in the function itself has to "
        "be defined or imported in a cell above, not in a cell that only you have run. (After the "
        "kernel was restarted, run the cells above again.)",
    ),
    Advice(
        "no value yet", "UnboundLocalError",
        "This name gets its value on some ways through the function alone, inside an `if` that "
        "this rank does not enter, say; or it is one of outside as well: a name that a function "
        "assigns anywhere is the function's own.",
    ),
    Advice(
        "nothing of that name", r"AttributeError: module '\S+' has no attribute",
        "The module has nothing of that name: compare the spelling with its documentation, upper "
        "and lower case included. Or is it a module of its own, which has to be imported?",
    ),
    Advice(
        "other arguments", r"positional argument|unexpected keyword argument",
        "The function is called with the arguments of its first line as the lab has it: their "
        "number and order have to stay.",
        _at_the_call,
    ),
    Advice(
        "list for a tensor", r"`tensor` of type torch.Tensor but got <class '(list|tuple)'",
        "Here one tensor is expected. The tensors of a list travel one by one, or joined in one; "
        "a call that takes a tensor and a list takes the tensor first, all_gather alone the list.",
    ),
    Advice(
        "number for a tensor", r"`tensor` of type torch.Tensor but got <class '(int|float)'",
        "Here a tensor is expected: it comes first, before src, dst and op. A plain number travels "
        "in a tensor: torch.tensor([number]).",
    ),
    Advice(
        "None for a tensor", r"`tensor` of type torch.Tensor but got <class 'NoneType'",
        "Here a tensor is expected, and this is None: what a call returned that works in place, "
        "say, what another rank alone is given, or a .grad that backward() has not filled: of a "
        "tensor that requires no gradient, or that the forward pass did not use, or too early.",
    ),
    Advice(
        "tensor for a list", r"`tensor_list` of type",
        "all_gather takes the list first, of a tensor for each rank to receive into, then the "
        "tensor that this rank gives.",
    ),
    Advice(
        "no ReduceOp", r"incompatible function arguments.*ReduceOp|ReduceOp' has no attribute",
        "An operation is one of dist.ReduceOp: SUM, PRODUCT, MIN, MAX, …, in capitals. It comes "
        "before the group, so a group is best handed over by its name: group=….",
    ),
    Advice(
        "this rank itself", r"that is this rank itself|same as the rank of the current process",
        "No rank sends to itself or receives from itself: for which ranks does this line run, and "
        "which number does it name on each?",
    ),
    Advice(
        "no such rank", r"Invalid (source|destination) rank -?\d+: this group has",
        "There is no rank of that number: ranks go from 0 to size − 1. At the ends a rank has a "
        "neighbour on one side alone, or, in a ring, the rank at the other end.",
    ),
    Advice(
        "no such member", r"Rank -?\d+ is out of range|new group's rank should be within",
        "new_group takes the list of the ranks that are to be in the group, and ranks go from 0 to "
        "size − 1.",
    ),
    Advice(
        "no member", r"Global rank -?\d+ is not part of group",
        "In a group, too, src and dst are ranks of the world, and the one that is named has to be "
        "a member of the group.",
    ),
    Advice(
        "rank not named", "Must specify .*rank",
        "This call has to be told a rank, the same on all ranks: src, the one that the data comes "
        "from, or dst, the one that it goes to.",
    ),
    Advice(
        "not an operation", r"Invalid ``op``",
        "P2POp takes the function first, dist.isend or dist.irecv itself, not called, then the "
        "tensor, then the other rank.",
    ),
    Advice(
        "module replaced", f"AttributeError: .*{_NO_ATTRIBUTE}",
        "A name that stands for a module, dist or torch say, means something else by now: a line "
        "has assigned it, or `import *` has brought another one. Choose another name there, and "
        "run the cell with the imports again.",
        _module_replaced,
    ),
    Advice(
        "no function", "object is not callable",
        "Something is called here that is no function: what stands before parentheses, or what is "
        "handed over to be called. Is its name used for something else, in this function or in "
        "another cell? (`2 (x + 1)` lacks an operator.)",
    ),
    Advice(
        "not called", r"'(method|function|builtin_function_or_method)'",
        "This is a function, not what it returns: to call it takes parentheses, f() and not f.",
    ),
    Advice(
        "truth of a tensor", "Boolean value of Tensor",
        "A tensor stands where something else is expected: a list, True or False. Whether there is "
        "one at all is asked by `is not None`. A matrix is no list of its rows (unbind makes one), "
        "and a loss class takes tensors when it is called, not when it is made: "
        "nn.MSELoss()(outputs, targets).",
    ),
    Advice(
        "sizes in the list", r"invalid tensor size at index|sizes\(\)\.vec\(\) ==",
        "The tensor and those in the list need one shape, down to the number of dimensions: (3,) "
        "is not (1, 3). (Where one long tensor takes the place of the list, it has as many "
        "dimensions as the other: for rows, only one.)",
    ),
    Advice(
        "report of load_state_dict", "_IncompatibleKeys",
        "load_state_dict changes the model itself. What it returns is a report, not the model.",
    ),
    Advice(
        "text for a path", r"'str' object has no attribute '(glob|open|exists|iterdir|parent)",
        "This path is a plain string: pathlib.Path(path) has the methods of a path.",
    ),
    Advice(
        "lengths of parts", "split_sizes to sum",
        "The lengths of the parts have to add up to that of the tensor: what is not wanted, "
        "padding say, is cut off before, or is a part of its own.",
    ),
    Advice(
        "dimensions in cat", "Tensors must have same number of dimensions",
        "torch.cat joins tensors with the same number of dimensions: reshape(-1) leaves one, "
        "whatever there was.",
    ),
    Advice(
        "no bfloat16 in NumPy", "unsupported ScalarType BFloat16",
        "NumPy does not know bfloat16. The bytes of any tensor are numbers that it knows: "
        "tensor.view(torch.uint8).",
    ),
    Advice(
        "negative numbers counted", "bincount only supports",
        "bincount counts whole numbers from 0 on, in a tensor of one dimension: what is −1 has to "
        "be left out before, as in expert[expert >= 0].",
    ),
    Advice(
        "classes not told", "infer total number of classes",
        "F.one_hot takes the largest number that it sees for the last class. Where there is none, "
        "or the last class is nobody's, it has to be told how many classes there are.",
    ),
    Advice(
        "no class", "Class values must be",
        "F.one_hot knows the classes 0, 1, 2, …, as many as it was told or sees: −1 is none of "
        "them.",
    ),
    Advice(
        "elements of a shape", "is invalid for input of size",
        "view and reshape take as many elements as the new shape has: print the tensor's own shape "
        "before this line. (A slice names both its ends: x[begin:begin + length].)",
    ),
    Advice(
        "shapes", r"must be a matrix|cannot be multiplied|size of tensor a .* must match"
        r"|expanded size of the tensor",
        "Shapes do not fit together in this line: print them before it. An index, weight[rank], "
        "takes a dimension away; a slice, weight[first:last], keeps it.",
    ),
    Advice(
        "None on this rank", "NoneType",
        "On this rank that is None, on others it is not: what only one rank has, or is given, can "
        "be used there alone.",
        lambda raised: any(o.status != "raised" for o in raised.run.outcomes),
    ),
    Advice(
        "None on every rank", "NoneType",
        "Something in this line is None: what a function gives that has no `return` on this way "
        "through it, say, or the .grad of a parameter that the forward pass did not use.",
    ),
    Advice(
        "no CUDA device", "cuda.*\\bno|\\bno.*cuda|no NVIDIA driver|accelerator device when none",
        "This machine has no CUDA device for that: use the device that you are given.",
    ),
)  # fmt: skip
