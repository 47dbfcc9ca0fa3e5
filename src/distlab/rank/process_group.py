"""Process groups that write down what they are asked for, and then do it.

Each group that torch makes is wrapped in a `RecordedGroup`, which logs an operation, hands it to
the real group and returns a `RecordedWork` (`distlab.rank.work`) whose `wait` is logged too.
"""

from __future__ import annotations

import contextlib
import datetime
import functools
import math
import sys
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed import distributed_c10d as c10d

from distlab.rank import arguments, buffers, recording
from distlab.rank.amounts import bytes_of, elements, shares
from distlab.rank.recorder import Recorder
from distlab.rank.uncompiled import uncompiled
from distlab.rank.work import NO_TIMEOUT, From, RecordedWork, Sent, waited
from distlab.records import events

_CONNECTION = "gloo/transport/"  # what gloo's errors on connections have in them


class RecordedGroup(dist.ProcessGroup):
    """A process group that logs each operation and hands it to the group it wraps."""

    slow_links = 0  # how often `distlab.simulation.slow_links` has given it links

    def __init__(self, group, recorder: Recorder, index: int, ranks: list[int]) -> None:
        super().__init__(group.rank(), group.size())  # type: ignore[call-arg]  # not in the stub
        self._group, self._recorder, self._index, self._ranks = group, recorder, index, ranks
        self._limits = _limits_of(group)
        self._patience: float | None = None  # the group's own timeout, once it was asked for
        self._message_lasts = self._lasts()  # gloo's messages keep to it when the group's changes
        # gloo moves CUDA tensors in a broadcast and an all-reduce alone: the rest goes by the CPU
        self._gloo = group.name() == "gloo"
        self.handed_out = False  # can somebody have changed the group below, or used it unseen?
        self._stages = self._gloo and torch.cuda.is_available()

    def __repr__(self) -> str:
        members = "" if self._index == events.WORLD else f", ranks {self._ranks}"
        back_end = self._group.name()
        return f"<recorded {back_end} group: rank {self.rank()} of {self.size()}{members}>"

    # what torch asks of a group besides communication
    def getBackendName(self):
        # under the real name DDP's logger would look for a C++ back end in this object
        return "recorded"

    name = getBackendName

    def rank(self):
        return self._group.rank()

    def size(self):
        return self._group.size()

    def set_timeout(self, timeout):
        self._of_now()
        self._patience, self.handed_out = None, True
        return self._group.set_timeout(timeout)

    def shutdown(self):
        self.handed_out = True
        left = self._recorder.left
        left.append(self._group)  # another rank may still be connecting to it: gloo would raise
        if self is c10d._world.default_pg:
            left.clear()  # the program may begin anew, at the same port
        return self._group.shutdown()

    def abort(self):
        self._of_now()
        self.handed_out = True
        return self._group.abort()

    def _get_backend(self, device):
        self._of_now()
        self._patience = None  # its timeout may be about to be changed
        # torch asks what the back end can do, and lets nobody have it
        self.handed_out |= sys._getframe(1).f_code.co_filename != c10d.__file__
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

    def _lasts(self, opts=None) -> float:
        """Seconds after which an operation gives up: its own timeout, or else the group's."""
        own = getattr(opts, "timeout", None)
        if own is not None and own > NO_TIMEOUT:  # torch's for "not given" is negative
            seconds: float = own.total_seconds()
            return seconds
        patience = self._patience
        if patience is None:
            limits = self._limits
            patience = limits._timeout.total_seconds() if limits else math.inf
            self._patience = patience
        return patience

    def _global(self, rank: int) -> int:
        return self._ranks[rank] if 0 <= rank < len(self._ranks) else -1

    def _of_now(self) -> None:
        """Refuse to use a group of an earlier call: gloo would wait for ever, or its operations
        would meet those of this call on the same connections.
        """
        if recording.active() not in (None, self._recorder):
            raise RuntimeError(
                "this process group is of an earlier call and has ended with it: "
                "use the groups of this call"
            )

    def _partner(self, number: Any, what: str) -> int:
        """The rank of a message's other end: gloo waits for ever for one that there is not."""
        rank = arguments.whole(number, f"{what} rank")
        if not 0 <= rank < len(self._ranks):
            raise ValueError(
                f"Invalid {what} rank {rank}: this group has ranks 0 to {len(self._ranks) - 1}."
            )
        if rank == self._group.rank():  # gloo only says that some pair is not connected
            raise ValueError(f"Invalid {what} rank {rank}: that is this rank itself.")
        return rank

    # point to point
    def send(self, tensors, dst, tag=0):
        dst, tag, tensor = self._partner(dst, "destination"), arguments.tag(tag), tensors[0]
        at = self._begin_message("send", tensor, self._global(dst), tag)
        if self._recorder.strict:
            self._recorder.touches(tensors, ())
        sent = [tensor.cpu()] if self._stages and tensor.is_cuda else tensors
        if self._recorder.plan.buffered:
            return self._buffer(at, tensor, dst, tag)
        if self._recorder.stamps is not None:
            sent = [self._recorder.stamps.put_on(sent[0])]

        def after(_):
            self._recorder.content(at, tensor, sent=True)

        request = self._recorder.strict and buffers.is_request()
        made = self._start(at, after, self._group.send, sent, dst, tag, counts_from_wait=True)
        if request:
            made.watch(tensors, ())
        return made

    def _buffer(self, at, tensor, dst, tag):
        """A send that ends as soon as it has begun, because its tensor is copied."""
        recorder = self._recorder
        recorder.flag(at, events.BUFFERED)
        copy = tensor.detach().cpu().clone()
        self._start(at, None, lambda: recorder.buffered.append(self._group.send([copy], dst, tag)))
        return RecordedWork(Sent(), recorder, at)

    def recv(self, tensors, src, tag=0):
        src, tag = self._partner(src, "source"), arguments.tag(tag)
        at = self._begin_message("recv", tensors[0], self._global(src), tag)
        return self._receive(at, tensors[0], lambda buffer: self._group.recv([buffer], src, tag))

    def recv_anysource(self, tensors, tag=0):
        tag, chosen = arguments.tag(tag), self._recorder.plan.source()
        if chosen not in self._ranks:
            at = self._begin_message("recv", tensors[0], -2, tag)

            def from_any(buffer):
                # gloo refuses an empty buffer here, and nowhere else
                room = buffer if buffer.numel() else buffer.new_empty(1)
                return self._group.recv_anysource([room], tag)

            return self._receive(at, tensors[0], from_any, any_source=True)
        at = self._begin_message(
            "recv", tensors[0], -2, tag, also=events.FORCED, note=str(chosen).encode()
        )
        src = self._ranks.index(chosen)

        def start(buffer):
            return From(self._group.recv([buffer], src, tag), src)

        return self._receive(at, tensors[0], start, any_source=True)

    def _begin_message(self, op, tensor, peer, tag, **more):
        lasts = self._message_lasts
        return self._recorder.begin(op, self._index, tensor, peer, tag, lasts=lasts, **more)

    def _receive(self, at, tensor, start, any_source=False):
        recorder = self._recorder
        buffer = tensor
        request = recorder.strict and buffers.is_request()
        if recorder.strict:
            recorder.touches((), [tensor])
        if self._stages and tensor.is_cuda:
            buffer = torch.empty_like(tensor, device="cpu")
        elif request and tensor.is_contiguous():  # else gloo is to refuse it
            buffer = torch.empty_like(tensor)
            buffers.poison(tensor)
        stamps = recorder.stamps
        if stamps is not None:
            buffer = stamps.room_for(buffer)

        def after(work):
            content = buffer if stamps is None else stamps.taken_off(buffer)
            if buffer is not tensor:
                with torch.no_grad():
                    tensor.detach().copy_(content.view(tensor.shape))
            if any_source:
                recorder.source(at, self._global(work._source_rank()))
            recorder.content(at, tensor, sent=False)

        made = self._start(at, after, start, buffer, counts_from_wait=True)
        if request:
            made.watch((), [tensor], kept=[tensor])
        return made

    def _start(self, at, after, call, *args, counts_from_wait=False, waits=False, results=()):
        recorder = self._recorder
        self._of_now()
        try:
            work = call(*args)
        except BaseException as error:
            if broken := _CONNECTION in str(error):  # the call was right: its peer is gone
                recorder.wait_begin(at, blocking=False)
            recorder.finish(at, events.FAILED, waited=broken)
            raise
        if work is None:
            recorder.finish(at)
            return None
        if waits:  # torch would wait at once; that nothing is returned tells it that this was done
            waited(recorder, at, True, None, work.wait)
            if after is not None:
                after(work)
            recorder.finish(at, waited=True)
            recorder.results(at, results)
            return None
        lasts = self._message_lasts if counts_from_wait else None
        single = counts_from_wait and self._gloo
        request = RecordedWork(work, recorder, at, after, lasts, single, results)
        recorder.open[id(request)] = request
        return request

    def _collective(
        self, op, method, tensor, args, root=-1, reduction=0, pieces=1, nbytes=None, note=b""
    ):
        opts, after = args[-1], None
        lasts = self._lasts(opts)
        at = self._recorder.begin(
            op, self._index, tensor, root, 0, reduction, pieces, lasts=lasts, nbytes=nbytes,
            note=note,
        )  # fmt: skip
        if self._stages and method not in ("broadcast", "allreduce"):
            args, after = buffers.staged(args)
        own = not self._recorder.is_internal(at)
        shown = own and self._recorder.holdings is not None and self._has_result(op, root)
        results = buffers.tensors(args[0]) if shown else ()
        students = self._recorder.strict and own
        kept: list[torch.Tensor] = []
        if students:
            read, written = self._touched(op, args, root)
            self._recorder.touches(read, written)
            if after is None and not arguments.waits(opts) and self._has_result(op, root):
                args, after = buffers.apart(args)
                kept = written if after is not None else kept
        made = self._start(
            at, after, getattr(self._group, method), *args, waits=arguments.waits(opts),
            results=results,
        )  # fmt: skip
        if students and made is not None:
            made.watch(read, written, kept)
        return made

    def _has_result(self, op: str, root: int) -> bool:
        """Does this rank get a result?"""
        # not the recorder's: a default group of the function's own may number ranks in another way
        rank = self._global(self.rank())
        if op == "broadcast":
            return root != rank
        return root in (-1, rank) or op == "scatter"

    def _touched(self, op, args, root):
        """What a collective reads on this rank, and what it writes."""
        results, given = buffers.tensors(args[0]), buffers.tensors(args[1:])
        # gloo reduces in place on all ranks: what others than the root have afterwards is no result
        if self._has_result(op, root) or op == "reduce":
            return given, results
        return [*results, *given], []

    # collectives: each method of ProcessGroup once; newer names of the same stand beside the older
    def allreduce(self, tensors, opts=None):
        tensors = [tensors] if isinstance(tensors, torch.Tensor) else tensors
        opts = arguments.options(opts, dist.AllreduceOptions)
        return self._collective(
            "all_reduce", "allreduce", tensors[0], (tensors, opts),
            reduction=arguments.reduction(opts),
        )  # fmt: skip

    def allreduce_coalesced(self, tensors, opts):
        return self._collective(
            "all_reduce", "allreduce_coalesced", tensors[0], (tensors, opts),
            reduction=arguments.reduction(opts), pieces=len(tensors), nbytes=bytes_of(tensors),
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
            arguments.reduction(opts),
        )  # fmt: skip

    def allgather(self, outputs, inputs, *opts):
        first = inputs[0] if isinstance(inputs, (list, tuple)) else inputs
        return self._collective("all_gather", "allgather", first, (outputs, inputs, *opts))

    def allgather_coalesced(self, outputs, inputs, *opts):
        return self._collective(
            "all_gather", "allgather_coalesced", inputs[0], (outputs, inputs, *opts),
            pieces=len(inputs), nbytes=bytes_of(inputs),
        )  # fmt: skip

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
            reduction=arguments.reduction(*opts), pieces=len(inputs[0]), nbytes=bytes_of(inputs[0]),
        )  # fmt: skip

    def alltoall(self, outputs, inputs, *opts):
        return self._collective(
            "all_to_all", "alltoall", inputs[0], (outputs, inputs, *opts), pieces=len(inputs),
            nbytes=bytes_of(inputs),  # NCCL takes pieces of different lengths
            note=events.exchanged_text(elements(inputs), elements(outputs)),
        )  # fmt: skip

    def barrier(self, *args, **kwargs):
        opts = next((one for one in (*args, *kwargs.values())), None)
        at = self._recorder.begin("barrier", self._index, lasts=self._lasts(opts))
        call = functools.partial(self._group.barrier, *args, **kwargs)
        return self._start(at, None, call, waits=arguments.waits(opts))

    def monitored_barrier(self, timeout=None, wait_all_ranks=False):
        self._of_now()
        self.handed_out = True  # its messages have calls of this back end, counted, for tags
        lasts = self._lasts() if timeout is None else timeout.total_seconds()
        at = self._recorder.begin("barrier", self._index, note=b"monitored", lasts=lasts)
        wait = self._group.monitored_barrier
        waited(self._recorder, at, True, None, wait, timeout, wait_all_ranks)
        self._recorder.finish(at, waited=True)


def _flat_collective(op: str, method: str):
    """A collective whose arguments are (output, input, …), one tensor or one list of them each."""

    def call(self, output, input, *rest, **options):
        listed = list(input) if isinstance(input, (list, tuple)) else [input]
        opts = next((r for r in (*rest, *options.values()) if hasattr(r, "reduceOp")), None)
        at_args = (output, input, *rest, *options.values())
        return self._collective(
            op, method, listed[0], at_args, reduction=arguments.reduction(opts), pieces=len(listed),
            nbytes=bytes_of(listed),
        )  # fmt: skip

    return call


def _exchange(method: str):
    """An all-to-all of (output, input, rows received from each, rows given to each, …)."""

    def call(self, output, input, received=(), given=(), *rest, **options):
        size = self.size()
        note = events.exchanged_text(shares(input, given, size), shares(output, received, size))
        return self._collective(
            "all_to_all", method, input,
            (output, input, received, given, *rest, *options.values()), note=note,
        )  # fmt: skip

    return call


for _name in ("alltoall_base", "all_to_all_single"):
    if hasattr(dist.ProcessGroup, _name):
        setattr(RecordedGroup, _name, _exchange(_name))

for _op, _names in {
    "all_gather": ("_allgather_base", "all_gather_single", "all_gather_single_coalesced",
                   "allgather_into_tensor_coalesced"),
    "reduce_scatter": ("_reduce_scatter_base", "reduce_scatter_single",
                       "reduce_scatter_single_coalesced", "reduce_scatter_tensor_coalesced"),
}.items():  # fmt: skip
    for _name in _names:
        if hasattr(dist.ProcessGroup, _name):
            setattr(RecordedGroup, _name, _flat_collective(_op, _name))


uncompiled(RecordedGroup)  # and these methods


def _limits_of(group):
    """The options of a group's back end, which hold its timeout also when that is changed."""
    for device in group._device_types:
        with contextlib.suppress(RuntimeError, AttributeError):
            options = group._get_backend(device).options
            if isinstance(options._timeout, datetime.timedelta):
                return options
    return None
