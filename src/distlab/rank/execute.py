"""What runs on a rank: one function, once, in a process group of its own, recorded.

A task arrives as bytes and its reply leaves as bytes, so that any kind of engine can carry them: an
ipyparallel engine, or a bare process of a notebook or of the grader.
"""

from __future__ import annotations

import contextlib
import datetime
import functools
import io
import linecache
import os
import random
import resource
import select
import socket
import sys
import time
import traceback
import types
import warnings
from collections.abc import Callable
from typing import Any

import cloudpickle
import torch
import torch.distributed as dist

from distlab.processes import entry_points, framing, payload
from distlab.rank import (
    clocks,
    connections,
    exceptions,
    group_maker,
    leaving,
    own_modules,
    recorder,
    recording,
    reports,
    store,
    world,
)
from distlab.records import choices
from distlab.records.reports import SUFFIX

PRINTED_LIMIT = 64_000  # characters that a rank may print in one run
_DESCRIPTORS = 32  # that a run needs
_MOST_DESCRIPTORS = 1 << 16  # a system may grant fewer than a limit that is larger
_GROUP_TIMEOUT = datetime.timedelta(minutes=30)  # deadlines are the watcher's business
#: inputs of exercises lie on the CPU, where NCCL alone could not carry them
_BACKENDS = {"gloo": "gloo", "nccl": "cpu:gloo,cuda:nccl"}
#: what a call gives of a function with `yield` in it, or of an `async def`
_NOT_BEGUN = types.GeneratorType, types.CoroutineType
_COMPUTES_NOTHING = ". It has computed nothing yet: `return` a list, from a plain `def`"
_store: dist.Store | None = None  # of the default group


def execute(task: tuple[Any, ...]) -> list[payload.Block]:
    """Run one task, as `payload.receive` tells it. The parts of its reply: whether the function
    returned or raised, and what.

    Never raises for what the student's function does. `SystemExit` counts as an exception, and so
    does whatever else is raised.
    """
    tree, function, inputs = task
    leaving.end_group(tree["kept"])
    rank, folder = tree["rank"], tree["folder"]
    files = os.path.join(folder, str(rank))
    torch.set_num_threads(1)
    for name, text in tree["sources"].items():
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    # not `update`: what it asks of its argument takes half a millisecond in a new process
    os.environ["RANK"], os.environ["WORLD_SIZE"] = str(rank), str(tree["size"])
    os.environ["LOCAL_RANK"], os.environ["DISTLAB_RUN"] = str(tree["local_rank"]), folder
    record = recorder.Recorder(
        f"{files}.rec", rank, tree["size"], tree["strict"], tree["lasts"],
        tree.get("keeps", False),
    )  # fmt: skip
    record.plan = choices.Plan(tree.get("schedule"))
    if tree.get("keeps"):
        reports.begin(f"{files}{SUFFIX}")
        if own_modules.forget_changed():
            _functions.clear()
    status, error, output, overwritten = "returned", None, b"", False
    process = os.getpid()
    with _printed_to(f"{files}.out"), _warned_as_usual(tree):
        begin = time.monotonic()
        try:
            call, arguments = _unpickled(tree, function, inputs)
            group_maker.install(record)
            _seed(tree["seed"])
            _join(tree)
            _align(tree["clock"], record)
            record.started()
            begin = time.monotonic()
            with leaving.put_back():
                result = call(*arguments)
            _end_child(process)
            record.ended(raised=False)
            output = payload.encode(result, arrays=False) if tree["harness"] else _sent_back(result)
            overwritten = tree["harness"] and _kept.changed_by(tree, result, output)
        except BaseException as raised:  # `CancelledError` of asyncio is no `Exception`
            _end_child(process, raised)
            traceback.clear_frames(raised.__traceback__)  # what they hold may be all the memory
            status, error = "raised", exceptions.describe(raised)
            record.ended(raised=True)  # at last: who sees it expects the reply at once
        seconds = time.monotonic() - begin
        group_maker.uninstall()
        reports.end()
    if tree.get("keeps"):
        own_modules.note()
    reply = {
        "status": status, "error": error, "seconds": seconds, "overwritten": overwritten,
        "usable": connections.usable(record),
    }  # fmt: skip
    return payload.parts(reply, output)


def _sent_back(result: Any) -> bytes:
    """What the function returned, for the notebook.

    Raises:
        TypeError: there is something in it that cannot leave this process.
    """
    try:
        pickled: bytes = cloudpickle.dumps(result)
        return pickled
    except Exception as error:
        why = str(error) or type(error).__name__  # a MemoryError has no text
        said = f"what the function returned cannot be sent to the notebook: {why}"
        raise TypeError(f"{said}{_COMPUTES_NOTHING * isinstance(result, _NOT_BEGUN)}") from None


def _end_child(process: int, raised: BaseException | None = None) -> None:
    """End this process, as Python would, if it is a child that the function has forked and let
    return or raise. It is no rank, though it has the rank's record before it.
    """
    if os.getpid() == process:
        return
    status = 0
    if isinstance(raised, SystemExit):
        status = raised.code if isinstance(raised.code, int) else int(raised.code is not None)
        if status == 1 and raised.code != 1:
            print(raised.code, file=sys.stderr)
    elif raised is not None:
        traceback.print_exception(raised)
        status = 1
    os._exit(status & 0xFF)


class _Kept:
    """What the last call on each number of ranks returned, and as what it was sent: did this call
    change it?
    """

    def __init__(self) -> None:
        self._harness, self._by_size = "", dict[int, tuple[Any, bytes]]()

    def changed_by(self, tree: dict[str, Any], result: Any, output: bytes) -> bool:
        if tree["harness"] != self._harness:
            self._harness, self._by_size = tree["harness"], {}
        before = self._by_size.get(tree["size"])
        self._by_size[tree["size"]] = result, output
        return before is not None and payload.encode(before[0], arrays=False) != before[1]


class _Functions:
    """The last function that was sent here: the same object for the same bytes, because what it
    keeps between calls must show. For each number of ranks it is another object, whose globals
    begin anew: that is another job, in which not all ranks have been called as often.
    """

    def __init__(self) -> None:
        self._pickled, self._by_size = b"", dict[int, Any]()

    def get(self, pickled: bytes, size: int) -> Any:
        if pickled != self._pickled:
            self._pickled, self._by_size = pickled, {}
        if size not in self._by_size:
            self._by_size[size] = cloudpickle.loads(pickled)
        return self._by_size[size]

    def clear(self) -> None:
        self._pickled = b""


_kept, _functions = _Kept(), _Functions()


def _unpickled(tree: dict[str, Any], pickled: bytes, inputs: bytes):
    function = _functions.get(bytes(pickled), tree["size"])
    if not tree["harness"]:
        args, kwargs = cloudpickle.loads(inputs)
        return functools.partial(function, *args, **kwargs), ()
    exercise = entry_points.load(entry_points.EXERCISE)(tree["harness"])
    values = payload.decode(inputs, as_torch=True)
    call = exercise.call
    if tree.get("device"):
        kind, new_ones = tree["device"]
        device = _own(kind, tree["local_rank"])
        call, values = _on(device, call) if new_ones else call, _moved(values, device)
    return call, (function, tree["rank"], tree["size"], values)


def _own(kind: str, local_rank: int) -> torch.device:
    """This rank's device of a kind."""
    if kind == "cuda":
        return torch.device("cuda", local_rank % torch.cuda.device_count())
    return torch.device(kind)


def _moved(value: Any, device: torch.device) -> Any:
    """A tree of plain values with its tensors on a device."""
    if isinstance(value, torch.Tensor):
        return value.to(device)
    if isinstance(value, dict):
        return {key: _moved(one, device) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_moved(one, device) for one in value)
    return value


def _on(device: torch.device, call: Callable[..., Any]) -> Callable[..., Any]:
    """The call with new tensors on a device, where it does not say another one."""

    def there(*arguments: Any) -> Any:
        with device:
            return call(*arguments)

    return there


def _seed(seed: int | None) -> None:
    if seed is not None:
        random.seed(seed)
        torch.manual_seed(seed)
        with contextlib.suppress(ImportError):
            import numpy

            numpy.random.seed(seed % 2**32)


def _join(tree: dict[str, Any]) -> None:
    """Make the default process group of this run."""
    if torch.cuda.is_available():
        torch.cuda.set_device(tree["local_rank"] % torch.cuda.device_count())
    if not tree["group"]:
        return
    global _store  # what torch keeps of it would not keep the Python in it
    backend = tree["backend"] or _BACKENDS[world.backend_for(tree["size"])]
    kind, *where = tree["store"]
    if kind == "file":
        # NCCL asks its store from threads of its own, also while Python ends
        of = dist.FileStore if "nccl" in backend else store.PromptStore
        _store = of(where[0], tree["size"])
    else:
        host, port = where
        _store = dist.TCPStore(host, port, tree["size"], is_master=tree["rank"] == 0)
    again = tree["size"] in tree["kept"]
    with connections.used_again(tree["size"]) if again else contextlib.nullcontext():
        dist.init_process_group(
            backend, store=_store, rank=tree["rank"], world_size=tree["size"],
            timeout=_GROUP_TIMEOUT,
        )  # fmt: skip
    connections.joined(_store, _GROUP_TIMEOUT)
    if again:
        return
    # gloo lets a rank go on before the others have met: one that leaves at once, or dies, would
    # take its connections from those that are still about to
    _store.set(f"joined {tree['rank']}", "")
    _store.wait([f"joined {rank}" for rank in range(tree["size"])], _GROUP_TIMEOUT)


def _align(clock: dict[str, Any] | None, record: recorder.Recorder) -> None:
    """Have this rank's times on the clock of who watches, where ranks run on other machines."""
    if clock is None:
        return
    offset = clock["offset"]
    if len(set(clock["machines"])) > 1 and dist.is_initialized():
        with recording.paused():
            offset += clocks.over_group(record.rank, clock["hub"], clock["machines"])
    record.align(offset)


class _Printed(io.TextIOBase):
    """Standard output and error of a rank, in a file that outlives it, cut at a limit.

    They are the same in all runs: `logging` keeps what it found in the first. Text goes to the file
    as it comes: one that collects and encodes it takes longer to be opened than most runs print.
    """

    _file: io.FileIO | None = None
    _left = 0

    def to(self, file: io.FileIO | None) -> None:
        """What is printed from now on goes into this file."""
        self._file, self._left = file, PRINTED_LIMIT

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        """What goes past Python is printed there, as by `faulthandler` and by programs."""
        return 2

    def write(self, text: str) -> int:
        file = self._file  # a thread of the function's may print while its run ends
        if file is not None and self._left > 0:
            taken = text[: self._left]
            self._left -= len(text)
            if self._left <= 0:
                taken += f"\n… cut after {PRINTED_LIMIT} characters\n"
            data = taken.encode("utf-8", "replace")
            while data:  # of what a full disk takes a part only, the rest is an error
                data = data[file.write(data) :]
        return len(text)

    def flush(self) -> None:
        """Nothing waits to be written."""

    def close(self) -> None:
        """A function may close what it prints to; the next one prints all the same."""


_printed = _Printed()


@contextlib.contextmanager
def _printed_to(path: str):
    with io.FileIO(path, "w") as file:
        _printed.to(file)
        try:
            with contextlib.redirect_stdout(_printed), contextlib.redirect_stderr(_printed):
                yield
        finally:
            _printed.to(None)


# either name is right: torch's advice would stand below what the function has printed itself
warnings.filterwarnings(
    "ignore", r"`torch\.distributed\.(all_gather_into|reduce_scatter)_tensor` is", FutureWarning
)


@contextlib.contextmanager
def _warned_as_usual(tree: dict[str, Any]):
    """In a check warnings are no exceptions, whatever PYTHONWARNINGS asks for: torch warns of what
    right answers do.
    """
    if not tree["harness"] or not any(one.startswith("e") for one in sys.warnoptions):
        yield
        return
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        yield


def serve(connection: socket.socket) -> None:
    """Execute tasks that arrive on a socket until it closes: a rank without ipyparallel."""
    own_modules.find_beside()
    while (task := payload.receive(connection)) is not None:
        if world.LEAVE in task[0]:
            leaving.end_group(task[0]["kept"])
            continue
        reply = execute(task)
        framing.write(connection, *reply)
        if not _can_open(connection):  # the next run could not begin here
            connection.close()
            return


def _can_open(connection: socket.socket) -> bool:
    """Has the function left as many descriptors as a run needs at least?"""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if _DESCRIPTORS <= limit <= _MOST_DESCRIPTORS:
        last = select.poll()
        for number in range(limit - _DESCRIPTORS, limit):
            last.register(number, 0)
        # mostly all of these are free, which is seen at once; else none may be, or others are
        if sum(bool(found & select.POLLNVAL) for _, found in last.poll(0)) == _DESCRIPTORS:
            return True
    opened: list[int] = []
    try:
        while len(opened) < _DESCRIPTORS:
            opened.append(os.dup(connection.fileno()))
        return True
    except OSError:
        return False
    finally:
        for one in opened:
            os.close(one)
