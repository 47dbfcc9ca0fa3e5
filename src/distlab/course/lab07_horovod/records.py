"""Write down every operation of Horovod on this rank, in the record that torch.distributed's go to.

Horovod's functions for PyTorch all end in one extension module. A stand-in for it notes what it is
asked for and passes it on, so that functions imported by name and what `DistributedOptimizer` does
by itself are seen too. TensorFlow's operations run inside its graph: of them the calls that wait
for others are noted, as a whole.

Horovod matches operations by name and not by order: the checksum of the name is the event's tag.
`join` and operations on process sets are not recorded: a rank that waits in one may still answer
other ranks.
"""

from __future__ import annotations

import functools
import sys
import sysconfig
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

from horovod.common import process_sets
from horovod.common.basics import HorovodBasics
from horovod.runner.http import http_server  # noqa: F401  for whoever starts one
from horovod.torch import mpi_ops, optimizer

from distlab.rank import recorder, recording
from distlab.records import events

_HOROVOD = mpi_ops.__file__.removesuffix("torch/mpi_ops.py")
_LIBRARIES = tuple(
    sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")
)
_OPERATIONS = {
    mpi_ops.Average: "avg",
    mpi_ops.Sum: "sum",
    mpi_ops.Min: "min",
    mpi_ops.Max: "max",
    mpi_ops.Product: "product",
}


class _Function(NamedTuple):
    """A function of the extension: our name for it, Horovod's, which its operations' names begin
    with, and where among its arguments the name, the process set, the root and the operation stand.
    """

    op: str
    called: str
    name: int
    members: int
    root: int = -1
    reduction: int = -1


_FUNCTIONS = (
    _Function("all_reduce", "allreduce", 3, 7, reduction=4),
    _Function("all_reduce", "grouped_allreduce", 3, 7, reduction=4),
    _Function("all_gather", "allgather", 2, 3),
    _Function("broadcast", "broadcast", 3, 4, root=2),
    _Function("all_to_all", "alltoall", 4, 5),
    _Function("reduce_scatter", "reducescatter", 2, 4, reduction=3),
)


class _Extension:
    """Stands for Horovod's extension module `mpi_lib_v2`."""

    def __init__(self, real: Any) -> None:
        self._real = real
        self._open: dict[int, tuple[recorder.Recorder, int]] = {}  # by handle

    def __getattr__(self, name: str) -> Any:
        function = getattr(self._real, name)
        for about in _FUNCTIONS:
            if name.startswith(f"horovod_torch_{about.called}_async_"):
                function = functools.partial(self._begin, about, function)
        setattr(self, name, function)
        return function

    def _begin(self, about: _Function, function: Callable, *arguments: Any) -> int:
        handle = function(*arguments)
        record = recording.active()
        if record is not None and arguments[about.members] == 0:
            given = arguments[about.name]
            name = given.decode("utf-8", "replace") if given else f"noname.{handle}"
            self._open[handle] = record, _noted(record, about, f"{about.called}.{name}", arguments)
        return handle

    def horovod_torch_barrier(self, members: int) -> int:
        handle = self._real.horovod_torch_barrier(members)
        record = recording.active()
        if record is not None and members == 0:
            about = _Function("barrier", "barrier", 0, 0)
            self._open[handle] = record, _noted(record, about, "barrier", ())
        return handle

    def horovod_torch_poll(self, handle: int) -> int:
        """What has answered that it is over need not be waited for."""
        over = self._real.horovod_torch_poll(handle)
        record, at = self._open.get(handle, (None, -1))
        if over and record is not None and record is recording.active():
            record.finish(at)
        return over

    def horovod_torch_wait_and_clear(self, handle: int) -> None:
        record, at = self._open.pop(handle, (None, -1))
        if record is None or record is not recording.active():
            return self._real.horovod_torch_wait_and_clear(handle)
        record.wait_begin(at, blocking=True)
        return _ended(record, at, lambda: self._real.horovod_torch_wait_and_clear(handle))

    def horovod_torch_reset(self) -> None:
        self._open.clear()
        self._real.horovod_torch_reset()


def _noted(record: recorder.Recorder, about: _Function, name: str, arguments: tuple) -> int:
    called, internal = _called()
    tensor = arguments[0] if arguments else None
    if about.op in ("all_gather", "all_to_all"):  # their sizes may differ from rank to rank
        tensor = None
    elif isinstance(tensor, (list, tuple)):
        tensor = tensor[0]
    reduction = _OPERATIONS.get(arguments[about.reduction]) if about.reduction >= 0 else None
    return record.begin(
        about.op,
        events.WORLD,
        tensor,
        arguments[about.root] if about.root >= 0 else -1,
        tag=_tag(name),
        reduction=events.REDUCTIONS.index(reduction or ""),
        note=name.partition(".")[2].encode()[-48:],
        called=called,
        also=events.INTERNAL if internal else 0,
    )


def _tag(name: str) -> int:
    return zlib.crc32(name.encode()) & 0x3FFFFFFF | 0x40000000


def _called() -> tuple[str, bool]:
    """The function of Horovod's that the student's code called, and whether the operation was
    started by `DistributedOptimizer` on its own, in `backward` or in `step`.
    """
    frame, name, internal = sys._getframe(3), "", False
    while frame is not None and frame.f_code.co_filename.startswith(_LIBRARIES):
        code = frame.f_code
        if code.co_filename == optimizer.__file__:
            internal = True
            name = code.co_name if code.co_name in ("step", "synchronize") else "backward"
        elif code.co_filename.startswith(_HOROVOD) and not code.co_name.startswith("_"):
            name = code.co_name
        frame = frame.f_back
    return name, internal


def _ended(record: recorder.Recorder, at: int, call: Callable) -> Any:
    """What `call` returns, with the moment at which it did."""
    try:
        result = call()
    except BaseException:
        record.finish(at, events.FAILED, waited=True)
        raise
    record.finish(at, waited=True)
    return result


def _whole(op: str, name: str, function: Callable, root: int = -1):
    """`function`, with each call recorded as one operation that waits for all ranks."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        record = recording.active()
        if record is None:
            return function(*args, **kwargs)
        at = record.begin(op, events.WORLD, peer=root, tag=_tag(name), called=name)
        record.wait_begin(at, blocking=True)
        return _ended(record, at, lambda: function(*args, **kwargs))

    return wrapper


def _watch_init() -> None:
    """Note `hvd.init`, which waits for all ranks, whichever framework's it is.

    Where both PyTorch's and TensorFlow's are imported in a process, Horovod 0.28 takes the members
    of the global process set from the one imported last. It has none, so that the optimizer of the
    other averages nothing.
    """
    real = HorovodBasics.init
    noted = _whole("barrier", "init", real)

    @functools.wraps(real)
    def init(self, *args: Any, **kwargs: Any) -> Any:
        process_sets._setup(self)
        return (real if self.is_initialized() else noted)(self, *args, **kwargs)

    HorovodBasics.init = init


def _watch_tensorflow() -> None:
    """Note what waits for all ranks in `horovod.tensorflow`, where Horovod was built with it."""
    if "tensorflow" not in sys.modules:  # whoever needs it has imported it before
        return
    try:
        import horovod.tensorflow as hvd
    except ImportError:
        return
    name, tape = "broadcast_variables", hvd._DistributedGradientTape
    if hasattr(tape.gradient, "__wrapped__"):
        return
    noted = _whole("broadcast", name, hvd.broadcast_variables, root=0)
    for module in (hvd, hvd.functions):
        module.broadcast_variables = noted
    tape.gradient = _whole("all_reduce", "gradient", tape.gradient)


def watch() -> None:
    """Note the operations of Horovod from now on, TensorFlow's where that has been imported."""
    if not isinstance(mpi_ops.mpi_lib, _Extension):
        mpi_ops.mpi_lib = _Extension(mpi_ops.mpi_lib)
        _watch_init()
    _watch_tensorflow()


watch()
