"""Write down every operation of torch.distributed on this rank.

The recorder sits at the process group, which everything reaches: functions imported by name,
methods of the group object, `batch_isend_irecv`, object collectives, and what DDP calls from C++.
Each group that torch makes is wrapped in a `RecordedGroup`, which logs an operation, hands it to
the real group and returns a `RecordedWork` whose `wait` is logged too.

The cost is a few microseconds an operation (`bench/recorder.py`). The entries go to a mapped file
(`distlab.records`) and so outlive this process, however it ends.
"""

from __future__ import annotations

import contextlib
import itertools
import mmap
import os
import struct
import sys
import sysconfig
import time
import zlib
from pathlib import Path

import torch
import torch.distributed as dist
from torch.distributed import distributed_c10d as c10d

from distlab import records
from distlab.records import ENTRY, HEADER, HEADER_BYTES, OP_CODE, PACK

_TORCH = os.path.dirname(torch.__file__) + os.sep
_INSTALLED = (os.path.dirname(__file__) + os.sep,) + tuple(
    sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib", "purelib", "platlib")
)
_C10D = c10d.__file__
_HERE = __file__
_DTYPE_CODE = {getattr(torch, name): code for code, name in enumerate(records.DTYPES[1:-1], 1)}
_REDUCTION_CODE = {name: code for code, name in enumerate(records.REDUCTIONS)}
_OFFSET = {name: ENTRY.fields[name][1] for name in ENTRY.names}
_now = time.monotonic
_double = struct.Struct("<d").pack_into
_int = struct.Struct("<i").pack_into
_unsigned = struct.Struct("<I").pack_into
_STUDENT, _LIBRARY, _API = 0, 1, 2
_SAMPLE = 2048  # bytes at each end of a buffer that go into its checksum


class Recorder:
    """The record of this process as rank `rank` of `size`, in the file `path`.

    Args:
        strict: fill the buffer of a non-blocking receive only when it is waited for, and with a
        poison
            (NaN, or the smallest integer) until then. A program that reads early is then always
            seen to be wrong, not only by bad luck.
    """

    def __init__(self, path: str | Path, rank: int, size: int, strict: bool = False) -> None:
        self.rank, self.size, self.strict = rank, size, strict
        length = HEADER_BYTES + records.CAPACITY * ENTRY.itemsize
        with open(path, "w+b") as file:
            file.truncate(length)
            self._map = mmap.mmap(file.fileno(), length)
        self._count = 0
        self._indices = itertools.count()  # a student's threads may draw from it at the same time
        self._groups = 0
        self._paused = False
        # requests nobody has waited for: dropped ones would take their messages along
        self.open: dict[int, RecordedWork] = {}
        self._kinds: dict = {}
        HEADER.pack_into(self._map, 0, rank, size, 0, records.NOT_STARTED, 0.0, 0.0)

    def started(self) -> None:
        HEADER.pack_into(
            self._map, 0, self.rank, self.size, self._count, records.RUNNING, _now(), 0.0
        )

    def ended(self, raised: bool) -> None:
        _int(self._map, 12, records.RAISED if raised else records.RETURNED)
        _double(self._map, 24, _now())

    def begin(self, op, group, tensor=None, peer=-1, tag=0, reduction=0, pieces=1, note=b""):
        """Write a new entry; returns its offset, or -1 when the file is full or while paused."""
        if self._paused:
            return -1
        index = next(self._indices)
        self._count = max(self._count, index + 1)
        if index >= records.CAPACITY:
            _int(self._map, 8, self._count)
            return -1
        flags, api, function, file, line = self._caller()
        shape, dtype, nbytes, value, crc = (), 0, 0, float("nan"), 0
        if tensor is not None:
            shape = tuple(tensor.shape)[:6]
            dtype = _DTYPE_CODE.get(tensor.dtype, len(records.DTYPES) - 1)
            nbytes = tensor.numel() * tensor.element_size() * pieces
            if op == "send":
                value, crc = _content(tensor)
        if peer == -2:
            flags, peer = flags | records.ANY_SOURCE, -1
        at = HEADER_BYTES + index * ENTRY.itemsize
        PACK.pack_into(
            self._map, at, records.POSTED, OP_CODE[op], flags, reduction, group, peer, tag, line,
            dtype, len(shape), pieces & 0xFFFF, nbytes, *shape, *(0,) * (6 - len(shape)),
            _now(), 0.0, 0.0, 0.0, value, crc, 0, api, function, file, note,
        )  # fmt: skip
        _int(self._map, 8, self._count)
        return at

    def flag(self, at: int, flag: int) -> None:
        if at >= 0:
            self._map[at + 2] |= flag

    def wait_begin(self, at: int, blocking: bool) -> None:
        if at >= 0:
            self._map[at + 2] |= records.WAITED | (records.BLOCKING if blocking else 0)
            _double(self._map, at + _OFFSET["wait_begin"], _now())

    def finish(self, at: int, state: int = records.DONE, waited: bool = False) -> None:
        if at >= 0:
            now = _now()
            _double(self._map, at + _OFFSET["end"], now)
            if waited:
                _double(self._map, at + _OFFSET["wait_end"], now)
            self._map[at] = state

    def content(self, at: int, tensor: torch.Tensor, sent: bool) -> None:
        """Note what a buffer holds at its wait; a send buffer that has changed is flagged."""
        if at < 0:
            return
        value, crc = _content(tensor)
        _unsigned(self._map, at + _OFFSET["crc_end"], crc)
        if not sent:
            _double(self._map, at + _OFFSET["value"], value)
        elif crc != struct.unpack_from("<I", self._map, at + _OFFSET["crc_begin"])[0]:
            self.flag(at, records.CHANGED)

    def source(self, at: int, rank: int) -> None:
        if at >= 0:
            struct.pack_into("<h", self._map, at + _OFFSET["peer"], rank)

    def next_group(self) -> int:
        self._groups += 1
        return self._groups - 1

    def _caller(self):
        """(flags, API name, function, file, line) of the call in the student's code."""
        kinds, frame, api = self._kinds, sys._getframe(2), None
        outermost = ""
        while frame is not None:
            code = frame.f_code
            kind = kinds.get(code)
            if kind is None:
                kind = kinds[code] = _kind(code)
            if kind == _STUDENT:
                break
            if code.co_filename != _HERE:
                outermost = code
                if kind == _API:
                    api = code
            frame = frame.f_back
        name = api or outermost
        flags = 0 if api else records.INTERNAL
        text = name.co_name.encode()[:24] if name else b""
        if frame is None:
            return flags, text, b"", b"", 0
        return flags, text, *_place(frame.f_code), frame.f_lineno


def _kind(code) -> int:
    if code.co_filename == _C10D and not code.co_name.startswith("_"):
        return _API
    return _LIBRARY if code.co_filename.startswith(_INSTALLED) else _STUDENT


def _place(code) -> tuple[bytes, bytes]:
    return code.co_name.encode()[:40], os.path.basename(code.co_filename).encode()[-32:]


def _content(tensor: torch.Tensor) -> tuple[float, int]:
    """First element and a checksum over both ends; (nan, 0) for what is not in plain CPU memory."""
    if tensor.device.type != "cpu" or not tensor.is_contiguous() or tensor.numel() == 0:
        return float("nan"), 0
    try:
        data = tensor.detach().view(-1).view(torch.uint8).numpy().data
        crc = zlib.crc32(data[:_SAMPLE])
        if len(data) > _SAMPLE:
            crc = zlib.crc32(data[-_SAMPLE:], crc)
        return float(tensor.detach().view(-1)[0].item().real), crc
    except (RuntimeError, TypeError):
        return float("nan"), 0


class RecordedWork(dist.Work):
    """A request whose wait is logged. `after` runs once, when the operation has completed."""

    def __init__(self, work, recorder: Recorder, at: int, after=None) -> None:
        super().__init__()
        self._work, self._recorder, self._at, self._after = work, recorder, at, after

    def wait(self, *timeout):
        recorder, at = self._recorder, self._at
        code = sys._getframe(1).f_code
        recorder.wait_begin(at, code.co_filename.startswith(_TORCH))
        try:
            result = self._work.wait(*timeout)
        except BaseException:
            recorder.finish(at, records.FAILED, waited=True)
            raise
        self._complete()
        recorder.finish(at, waited=True)
        return result

    def _complete(self) -> None:
        self._recorder.open.pop(id(self), None)
        after, self._after = self._after, None
        if after is not None:
            after(self._work)

    def is_completed(self):
        if not self._work.is_completed():
            return False
        self._complete()
        self._recorder.finish(self._at)
        return True

    def is_success(self):
        return self._work.is_success()

    def exception(self):
        return self._work.exception()

    def result(self):
        return self._work.result()

    def synchronize(self):
        return self._work.synchronize()

    def get_future(self):
        future = self._work.get_future()
        recorder, at, key = self._recorder, self._at, id(self)
        # who takes a future waits for that, which can't be seen; `done` may run after their wait
        recorder.flag(at, records.WAITED)

        def done(_):
            recorder.open.pop(key, None)
            recorder.finish(at)

        future.add_done_callback(done)
        return future

    def source_rank(self):
        return self._work._source_rank()

    _source_rank = source_rank


class RecordedGroup(dist.ProcessGroup):
    """A process group that logs each operation and hands it to the group it wraps."""

    def __init__(self, group, recorder: Recorder, index: int, ranks: list[int]) -> None:
        super().__init__(group.rank(), group.size())
        self._group, self._recorder, self._index, self._ranks = group, recorder, index, ranks
        # gloo moves CUDA tensors in a broadcast and an all-reduce alone: the rest goes by the CPU
        self._stages = group.name() == "gloo" and torch.cuda.is_available()

    # what torch asks of a group besides communication
    def getBackendName(self):
        # under the real name DDP's logger would look for a C++ back end in this object
        return "recorded"

    name = getBackendName

    def rank(self):
        return self._group.rank()

    def size(self):
        return self._group.size()

    def shutdown(self):
        return self._group.shutdown()

    def abort(self):
        return self._group.abort()

    def _get_backend(self, device):
        return self._group._get_backend(device)

    @property
    def _device_types(self):
        return self._group._device_types

    @property
    def group_name(self):
        return self._group.group_name

    @property
    def group_desc(self):
        return self._group.group_desc

    @property
    def bound_device_id(self):
        return self._group.bound_device_id

    def getGroupName(self):
        return self._group.group_name

    def _global(self, rank: int) -> int:
        return self._ranks[rank] if 0 <= rank < len(self._ranks) else -1

    def _exists(self, rank: int, what: str) -> None:
        """gloo waits for ever for a rank that there is not."""
        if not 0 <= rank < len(self._ranks):
            raise ValueError(
                f"Invalid {what} rank {rank}: this group has ranks 0 to {len(self._ranks) - 1}."
            )
        if rank == self._group.rank():  # gloo only says that some pair is not connected
            raise ValueError(f"Invalid {what} rank {rank}: that is this rank itself.")

    # point to point
    def send(self, tensors, dst, tag=0):
        self._exists(dst, "destination")
        tensor = tensors[0]
        at = self._recorder.begin("send", self._index, tensor, self._global(dst), tag)
        sent = [tensor.cpu()] if self._stages and tensor.is_cuda else tensors

        def after(_):
            self._recorder.content(at, tensor, sent=True)

        return self._start(at, after, self._group.send, sent, dst, tag)

    def recv(self, tensors, src, tag=0):
        self._exists(src, "source")
        at = self._recorder.begin("recv", self._index, tensors[0], self._global(src), tag)
        return self._receive(at, tensors[0], lambda buffer: self._group.recv([buffer], src, tag))

    def recv_anysource(self, tensors, tag=0):
        at = self._recorder.begin("recv", self._index, tensors[0], -2, tag)
        return self._receive(
            at,
            tensors[0],
            lambda buffer: self._group.recv_anysource([buffer], tag),
            any_source=True,
        )

    def _receive(self, at, tensor, start, any_source=False):
        recorder = self._recorder
        buffer = tensor
        if self._stages and tensor.is_cuda:
            buffer = torch.empty_like(tensor, device="cpu")
        elif recorder.strict and _is_irecv():
            buffer = torch.empty_like(tensor)
            _poison(tensor)

        def after(work):
            if buffer is not tensor:
                with torch.no_grad():
                    tensor.detach().copy_(buffer)
            if any_source:
                recorder.source(at, self._global(work._source_rank()))
            recorder.content(at, tensor, sent=False)

        return self._start(at, after, start, buffer)

    def _start(self, at, after, call, *args):
        if _active not in (None, self._recorder):  # gloo would wait for ever
            raise RuntimeError(
                "this process group is of an earlier call and has ended with it: "
                "use the groups of this call"
            )
        try:
            work = call(*args)
        except BaseException:
            self._recorder.finish(at, records.FAILED)
            raise
        if work is None:
            self._recorder.finish(at)
            return None
        request = RecordedWork(work, self._recorder, at, after)
        self._recorder.open[id(request)] = request
        return request

    def _collective(self, op, method, tensor, args, root=-1, reduction=0, pieces=1):
        at = self._recorder.begin(op, self._index, tensor, root, 0, reduction, pieces)
        after = None
        if self._stages and op not in ("broadcast", "all_reduce", "barrier"):
            args, after = _staged(args)
        return self._start(at, after, getattr(self._group, method), *args)

    # collectives: each method of ProcessGroup once; newer names of the same stand beside the older
    def allreduce(self, tensors, opts=None):
        tensors = [tensors] if isinstance(tensors, torch.Tensor) else tensors
        opts = dist.AllreduceOptions() if opts is None else _options(opts, dist.AllreduceOptions)
        return self._collective(
            "all_reduce", "allreduce", tensors[0], (tensors, opts), reduction=_reduction(opts)
        )

    def allreduce_coalesced(self, tensors, opts):
        return self._collective(
            "all_reduce", "allreduce_coalesced", tensors[0], (tensors, opts),
            reduction=_reduction(opts), pieces=len(tensors),
        )  # fmt: skip

    def broadcast(self, tensors, opts=None):
        tensors = [tensors] if isinstance(tensors, torch.Tensor) else tensors
        if isinstance(opts, int) or opts is None:
            root, opts = opts or 0, dist.BroadcastOptions()
            opts.rootRank = root
        return self._collective(
            "broadcast", "broadcast", tensors[0], (tensors, opts), self._global(opts.rootRank)
        )

    def reduce(self, tensors, opts):
        tensors = [tensors] if isinstance(tensors, torch.Tensor) else tensors
        return self._collective(
            "reduce", "reduce", tensors[0], (tensors, opts), self._global(opts.rootRank),
            _reduction(opts),
        )  # fmt: skip

    def allgather(self, outputs, inputs, *opts):
        first = inputs[0] if isinstance(inputs, (list, tuple)) else inputs
        return self._collective("all_gather", "allgather", first, (outputs, inputs, *opts))

    def allgather_coalesced(self, outputs, inputs, *opts):
        return self._collective(
            "all_gather", "allgather_coalesced", inputs[0], (outputs, inputs, *opts)
        )

    def gather(self, outputs, inputs, opts):
        return self._collective(
            "gather", "gather", inputs[0], (outputs, inputs, opts), self._global(opts.rootRank)
        )

    def scatter(self, outputs, inputs, opts):
        return self._collective(
            "scatter", "scatter", outputs[0], (outputs, inputs, opts), self._global(opts.rootRank)
        )

    def reduce_scatter(self, outputs, inputs, *opts):
        return self._collective(
            "reduce_scatter", "reduce_scatter", outputs[0], (outputs, inputs, *opts),
            reduction=_reduction(*opts),
        )  # fmt: skip

    def alltoall(self, outputs, inputs, *opts):
        return self._collective(
            "all_to_all", "alltoall", inputs[0], (outputs, inputs, *opts), pieces=len(inputs)
        )

    def barrier(self, *args, **kwargs):
        at = self._recorder.begin("barrier", self._index)
        return self._start(at, None, lambda: self._group.barrier(*args, **kwargs))

    def monitored_barrier(self, *args, **kwargs):
        at = self._recorder.begin("barrier", self._index)
        self._recorder.wait_begin(at, True)
        try:
            self._group.monitored_barrier(*args, **kwargs)
        except BaseException:
            self._recorder.finish(at, records.FAILED, waited=True)
            raise
        self._recorder.finish(at, waited=True)


def _flat_collective(op: str, method: str):
    """A collective whose arguments are (output, input, …), one tensor or one list of them each."""

    def call(self, output, input, *rest, **options):
        first = input[0] if isinstance(input, (list, tuple)) else input
        opts = next((r for r in (*rest, *options.values()) if hasattr(r, "reduceOp")), None)
        at_args = (output, input, *rest, *options.values())
        return self._collective(op, method, first, at_args, reduction=_reduction(opts))

    return call


for _op, _names in {
    "all_gather": ("_allgather_base", "all_gather_single", "all_gather_single_coalesced",
                   "allgather_into_tensor_coalesced"),
    "reduce_scatter": ("_reduce_scatter_base", "reduce_scatter_single",
                       "reduce_scatter_single_coalesced", "reduce_scatter_tensor_coalesced"),
    "all_to_all": ("alltoall_base", "all_to_all_single"),
}.items():  # fmt: skip
    for _name in _names:
        if hasattr(dist.ProcessGroup, _name):
            setattr(RecordedGroup, _name, _flat_collective(_op, _name))


def _options(opts, kind):
    """torch also takes a bare ReduceOp where its C++ signature has options."""
    if isinstance(opts, kind):
        return opts
    made = kind()
    made.reduceOp = opts
    return made


def _reduction(opts=None) -> int:
    op = getattr(opts, "reduceOp", None)
    if op is None:
        return 0
    name = str(getattr(op, "op", op)).rsplit(".", 1)[-1].strip("<>: 0123456789").lower()
    return _REDUCTION_CODE.get(name, 0)


def _is_irecv() -> bool:
    """Was the receive under way asked for by `irecv` (and not inside a blocking `recv`)?"""
    frame = sys._getframe(2)
    while frame is not None and (frame.f_code.co_filename.startswith(_TORCH) or
                                 frame.f_code.co_filename == _HERE):  # fmt: skip
        if frame.f_code.co_name == "recv" and frame.f_code.co_filename == _C10D:
            return False
        frame = frame.f_back
    return True


def _poison(tensor: torch.Tensor) -> None:
    with torch.no_grad():
        flat = tensor.detach()
        if flat.is_floating_point() or flat.is_complex():
            flat.fill_(float("nan"))
        elif flat.dtype is not torch.bool and flat.dtype is not torch.uint8:
            flat.fill_(torch.iinfo(flat.dtype).min)


def _staged(args):
    """CUDA tensors of nested lists by way of the CPU: (arguments, what copies them back)."""
    pairs = []

    def down(value):
        if isinstance(value, torch.Tensor) and value.is_cuda:
            pairs.append((value, value.cpu()))
            return pairs[-1][1]
        return [down(v) for v in value] if isinstance(value, (list, tuple)) else value

    args = tuple(down(value) for value in args)

    def up(_):
        with torch.no_grad():
            for device, host in pairs:
                device.copy_(host)

    return args, up


_active: Recorder | None = None
_make_group = c10d._new_process_group_helper


def _recorded_helper(group_size, group_rank, global_ranks_in_group, *args, **kwargs):
    """torch's own maker of groups, with what it makes wrapped and the call itself noted."""
    recorder = _active
    if recorder is None:
        return _make_group(group_size, group_rank, global_ranks_in_group, *args, **kwargs)
    ranks = list(global_ranks_in_group) or list(range(group_size))
    default = not global_ranks_in_group
    member = default or recorder.rank in ranks
    index = (
        (recorder.next_group() if not default else records.WORLD) if member else records.NO_GROUP
    )
    at = recorder.begin(
        "new_group", index, note=records.members_text(ranks).encode()[:48]
    ) if not default else -1  # fmt: skip
    try:
        group, store = _make_group(group_size, group_rank, global_ranks_in_group, *args, **kwargs)
    except BaseException:
        recorder.finish(at, records.FAILED)
        raise
    recorder.finish(at)
    if not isinstance(group, dist.ProcessGroup) or isinstance(group, RecordedGroup):
        return group, store
    return _take_place(group, RecordedGroup(group, recorder, index, ranks)), store


def _take_place(group, recorded):
    """Let torch's tables know the recorded group where they knew the plain one."""
    world = c10d._world
    for table in (world.pg_map, world.pg_names, world.pg_backend_config, world.pg_to_tag):
        if group in table:
            table[recorded] = table.pop(group)
    for groups in world.tags_to_pg.values():
        groups[:] = [recorded if g is group else g for g in groups]
    name = world.pg_names[recorded]
    c10d._unregister_process_group(name)
    c10d._register_process_group(name, recorded)
    return recorded


def install(recorder: Recorder) -> None:
    """Record every group that is made from now on. Call it before `init_process_group`."""
    global _active
    recorder._groups = 1  # 0 is the default group
    _active = recorder
    c10d._new_process_group_helper = _recorded_helper


@contextlib.contextmanager
def paused():
    """Communication of the course's own around a student's function goes unrecorded."""
    recorder = _active
    if recorder is None:
        yield
        return
    recorder._paused = True
    try:
        yield
    finally:
        recorder._paused = False


def uninstall() -> None:
    global _active
    _active = None
    c10d._new_process_group_helper = _make_group
