"""What is said of an exception, and what helps."""

import dataclasses

import pytest
from recorded import event

from distlab import course
from distlab.engines.outcomes import Outcome, Run
from distlab.exercises import raised, unfinished
from distlab.exercises.sources import Sources
from distlab.records.events import POSTED, RankRecord


def error(kind, message=""):
    return {"type": kind, "message": message, "frames": []}


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (error("EOFError"), "EOFError"),
        (error("ValueError", " a\n  b "), "ValueError: a b"),
        (
            error("RuntimeError", "[enforce fail at /x/context.cc:23] rank < size. 2 vs 2"),
            "RuntimeError: rank < size. 2 vs 2",
        ),
        (
            error("RuntimeError", "[rank0]:[F1126 15:03:11.414778591 x.cpp:2216] Check failed: a"),
            "RuntimeError: Check failed: a",
        ),
        (
            error("RuntimeError", "no peer\nException raised from wait at /x.cpp:9\nframe #0"),
            "RuntimeError: no peer",
        ),
        (
            error(
                "ProcessRaisedException",
                "\n\n-- Process 1 terminated with the following error:\nTraceback (most recent "
                'call last):\n  File "x.py", line 1\nTypeError: demo() takes 2\n',
            ),
            "ProcessRaisedException: process 1 raised TypeError: demo() takes 2",
        ),
        (
            error("TypeError", "(): incompatible function arguments.\nInvoked with: <f at 0x7f2>"),
            "TypeError: (): incompatible function arguments.",
        ),
    ],
)
def test_an_exception_is_told_on_one_line_without_stacks(given, text):
    assert raised.text(given) == text


@pytest.mark.parametrize("hidden", [False, True])
def test_what_an_exception_was_raised_from_is_told_after_its_place_in_visible_cases(hidden):
    frame = {"function": "exchange", "line": 6, "file": "<cell>", "text": "raise …"}
    what = {**error("ValueError", "no"), "frames": [frame], "from": "its cause: KeyError: 'w'"}
    exercise = course.find("exchange")
    case = dataclasses.replace(exercise.visible[0], hidden=hidden)
    outcomes = [Outcome(rank, "raised", error=what) for rank in range(2)]
    run = Run(outcomes, [RankRecord(rank, 2) for rank in range(2)], 0, 1)
    said = unfinished.judged(exercise, case, run, Sources({})).happened
    told = "raised ValueError: no at exchange:6; its cause: KeyError: 'w'."
    assert said.endswith(told) if not hidden else "KeyError" not in said


def test_advice_on_what_an_exception_was_raised_from_is_given():
    what = {**error("ValueError", "no"), "from": "its cause: MemoryError"}
    run = Run([Outcome(0)], [RankRecord(0, 1)], 0, 1)
    told = raised.advice(raised.Raised(0, what, run, course.find("exchange")))
    assert told is not None and told.name == "memory"


def test_advice_on_an_exception_comes_before_that_on_what_was_handled_before_it():
    what = {**error("EOFError", "EOF when reading a line"), "from": "before it: MemoryError"}
    run = Run([Outcome(0)], [RankRecord(0, 1)], 0, 1)
    told = raised.advice(raised.Raised(0, what, run, course.find("exchange")))
    assert told is not None and told.name == "no keyboard"


#: as torch has it, which breaks the line there
NO_TENSOR = (
    "Invalid function argument. Expected parameter `tensor` of type torch.Tensor\n"
    "             but got <class '{}'> instead."
)


def advised(exercise, kind, message, size=2, answer=None, line=None):
    found = course.find(exercise)
    run = Run([Outcome(r) for r in range(size)], [RankRecord(r, size) for r in range(size)], 0, 1)
    what = error(kind, message)
    if line:
        what["frames"] = [{"function": exercise, "line": 2, "file": "cell", "text": line}]
    advice = raised.advice(raised.Raised(0, what, run, found, answer))
    return advice.name if advice else None


@pytest.mark.parametrize(
    ("exercise", "kind", "message", "name"),
    [
        (
            "run_all_reduce", "ValueError",  # of older versions of torch
            "the new group's rank should be within the world_size set by init_process_group",
            "no such member",
        ),
        ("save_checkpoint", "NameError", "name 'rank' is not defined", "rank unknown"),
        ("warmup_lr", "NameError", "name 'rank' is not defined", "name unknown"),
        ("exchange", "NameError", "name 'cuda_of' is not defined", "name unknown"),
        ("evaluate", "AttributeError", "'Net' object has no attribute 'module'",
         "module of a bare model"),
        ("wrap", "AssertionError", "Torch not compiled with CUDA enabled", "no CUDA device"),
        ("demo_checkpoint", "EOFError", "", "read while written"),
        ("warmup_lr", "ValueError", "process group has not been initialized", "no process group"),
        ("hybrid_step", "ValueError", "Process group <recorded gloo group: rank 0 of 2> is not "
         "initialized in the world group map. Please initialize the group first",
         "group of an earlier call"),
        ("hybrid_step", "RuntimeError", "Could not resolve the process group registered under the "
         "name 1", "group of an earlier call"),
        ("swap_shards", "ValueError", "Invalid usage of tensors with different dtypesFound "
         "torch.float32 and  torch.float64", "two dtypes"),
        ("unshard", "RuntimeError", "ProcessGroupGloo::allgather: invalid tensor type at index 0",
         "two dtypes"),
        ("hybrid_step", "RuntimeError", "Check failed: outputTensors[i].dtype() == "
         "inputTensors[i].dtype() (float vs. double).", "two dtypes"),
        ("dispatch_combine", "RuntimeError", "Invalid scalar type", "dtype that cannot travel"),
        ("ring_attention", "RuntimeError", "expected m1 and m2 to have the same dtype, but got: "
         "double != float", "two dtypes"),
        ("clip_sharded", "RuntimeError", "output with shape [] doesn't match the broadcast shape "
         "[1]", "another shape in place"),
        ("exchange", "TypeError", "exchange() takes 2 positional arguments but 3 were given",
         "other arguments"),
        ("exchange", "TypeError", NO_TENSOR.format("list"), "list for a tensor"),
        ("exchange", "TypeError", NO_TENSOR.format("int"), "number for a tensor"),
        ("average_gradients", "TypeError", NO_TENSOR.format("NoneType"), "None for a tensor"),
        ("all_gather_rows", "TypeError", "Invalid function argument. Expected parameter "
         "`tensor_list` of type List[torch.Tensor] but got <class 'torch.Tensor'> instead",
         "tensor for a list"),
        ("reduce_max_to", "AttributeError", "type object 'torch._C._distributed_c10d.ReduceOp' has "
         "no attribute 'max'", "no ReduceOp"),
        ("run_all_reduce", "TypeError", "(): incompatible function arguments. The following "
         "argument types are supported:\n 1. (self: AllreduceOptions, arg0: ReduceOp) -> None",
         "no ReduceOp"),
        ("run_blocking", "ValueError", "Invalid source rank 0: that is this rank itself",
         "this rank itself"),
        ("relay", "ValueError", "Invalid source rank -1: this group has ranks 0 to 3",
         "no such rank"),
        ("swap_shards", "ValueError", "Tensors must be contiguous", "not contiguous"),
        ("exchange", "RuntimeError", "input tensor has to be contiguous", "not contiguous"),
        ("same_everywhere", "RuntimeError", "self.stride(-1) must be 1 to view Float as Byte "
         "(different element sizes), but got 2", "bytes apart"),
        ("broadcast_from", "ValueError", "Must specify global_rank or group_rank",
         "rank not named"),
        ("ring_all_gather", "ValueError", "Invalid ``op``. Expected ``op`` to be of type",
         "not an operation"),
        ("group_mean", "TypeError", "unsupported operand type(s) for /=: 'Tensor' and 'method'",
         "not called"),
        ("demo_basic", "RuntimeError", "Boolean value of Tensor with more than one value is "
         "ambiguous", "truth of a tensor"),
        ("scatter_rows", "RuntimeError", "ProcessGroupGloo::scatter: invalid tensor size at index "
         "0 (expected (1, 3), got (3))", "sizes in the list"),
        ("sequence_parallel_mlp", "RuntimeError", "Check failed: outputs[0].sizes().vec() == "
         "inputs[0][i].sizes().vec() (2 3 vs. 4 2)", "sizes in the list"),
        ("demo_checkpoint", "AttributeError", "'_IncompatibleKeys' object has no attribute "
         "'parameters'", "report of load_state_dict"),
        ("make_feeding_loader", "AttributeError", "'str' object has no attribute 'glob'",
         "text for a path"),
        ("scatter_rows", "TypeError", "'NoneType' object is not subscriptable",
         "None on this rank"),
        ("relay", "UnboundLocalError", "cannot access local variable 'received' where it is not "
         "associated with a value", "no value yet"),
        ("exchange", "AttributeError", "module 'torch.distributed' has no attribute 'iSend'",
         "nothing of that name"),
        ("exchange", "ZeroDivisionError", "division by zero", None),
        ("ring_all_gather", "TypeError", "'int' object is not callable", "no function"),
        ("ring_all_reduce", "RuntimeError", "output with shape [1] doesn't match the broadcast "
         "shape [2]", "one length for all chunks"),
        ("ring_all_reduce", "RuntimeError", "The size of tensor a (2) must match the size of "
         "tensor b (1) at non-singleton dimension 0", "one length for all chunks"),
        ("row_parallel_linear", "RuntimeError", "mat2 must be a matrix, got 1-D tensor", "shapes"),
        ("unshard", "RuntimeError", "split_with_sizes expects split_sizes to sum exactly to 10 "
         "(input tensor's size at dimension 0), but got split_sizes=[6, 3]", "lengths of parts"),
        ("clip_sharded", "RuntimeError", "Tensors must have same number of dimensions: got 2 and 1",
         "dimensions in cat"),
        ("evaluate", "RuntimeError", "The size of tensor a (3) must match the size of tensor b (4) "
         "at non-singleton dimension 0", "shapes"),
        ("clip_sharded", "RuntimeError", "output with shape [] doesn't match the broadcast shape "
         "[1]", "another shape in place"),
        ("demo_checkpoint", "EOFError", "EOF when reading a line", "no keyboard"),
        ("relay", "BdbQuit", "", "no keyboard"),
        ("route", "RuntimeError", "Can not infer total number of classes from empty tensor.",
         "classes not told"),
        ("balance_loss", "RuntimeError", "Class values must be non-negative.", "no class"),
        ("relay", "RecursionError", "maximum recursion depth exceeded", "endless recursion"),
    ],
)  # fmt: skip
def test_common_exceptions_get_advice_that_fits_the_exercise(exercise, kind, message, name):
    assert advised(exercise, kind, message) == name


@pytest.mark.parametrize(("line", "name"), [(5, "barrier missed"), (9, "read while written")])
def test_a_barrier_behind_the_line_that_raised_was_not_missed(line, name):
    """Another rank waits in the barrier of that line; this one raised at line 7."""
    waits = event(1, 0, "barrier", function="demo_checkpoint", line=line, state=POSTED)
    run = Run([Outcome(0, "raised"), Outcome(1)], [RankRecord(0, 2), RankRecord(1, 2)], 0, 1)
    run.records[1].events.append(waits)
    what = error("EOFError")
    what["frames"] = [{"function": "demo_checkpoint", "line": 7, "file": "cell", "text": ""}]
    found = raised.advice(raised.Raised(0, what, run, course.find("demo_checkpoint")))
    assert found is not None and found.name == name


@pytest.mark.parametrize(
    ("line", "kind", "attribute", "name"),
    [
        ("dist.send(tensor, 1)", "int", "send", "module replaced"),
        ("dist.send(tensor, 1)", "builtin_function_or_method", "send", "module replaced"),
        ("torch.zeros(1)", "list", "zeros", "module replaced"),
        ("tensor.sned(1)", "Tensor", "sned", None),
        ("work.sum()  # another line has torch.zeros", "Work", "sum", None),
        ("mine.dist.send(tensor, 1)", "int", "send", None),
        ("dist.send(requests.wait, 1)", "method", "clone", "not called"),
    ],
)
def test_a_module_whose_name_was_given_to_something_else_is_told_from_an_object_s_own_lack(
    line, kind, attribute, name
):
    message = f"'{kind}' object has no attribute '{attribute}'"
    assert advised("relay", "AttributeError", message, line=line) == name
