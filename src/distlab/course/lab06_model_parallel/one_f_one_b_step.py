"""`one_f_one_b_step`: a pipeline in the order of 1F1B, and the memory that this saves.

What autograd keeps is seen by `saved_tensors_hooks`: each tensor that a forward pass saves is held
by an object of ours for as long as the graph holds it. Received inputs are seen by their storages.
What nobody can reach any more does not count, whenever the garbage collector comes round to it.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import weakref
from collections import Counter
from collections.abc import Iterator
from typing import Any

from distlab.course.lab06_model_parallel import pipeline
from distlab.exercises import hints, traffic
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.raised import Advice
from distlab.records.events import Event

_KEPT = "number of micro-batches whose activations were kept beyond the size − rank of 1F1B"
_INPUTS = "number of received inputs that were kept beyond those and one more"


# on a rank


class _Saved:
    """Stands in the graph for a tensor that a forward pass has saved for its backward pass."""

    def __init__(self, tensor: Any, part: int) -> None:
        self.tensor, self.part = tensor, part


@contextlib.contextmanager
def _giving_way(ours: Any) -> Iterator[None]:
    """Meanwhile `torch.func`, which refuses to run under hooks, runs without ours. Of what it keeps
    only the received inputs are seen.
    """
    from unittest import mock

    from torch._C._autograd import _top_saved_tensors_default_hooks as top_hooks
    from torch.autograd import graph

    disabled = graph.disable_saved_tensors_hooks

    @contextlib.contextmanager
    def disabled_after_ours(message: str) -> Iterator[None]:
        top = top_hooks(True)
        on_top = top is not None and top[0] == ours.pack_hook
        if on_top:
            ours.__exit__()
        try:
            with disabled(message):
                yield
        finally:
            if on_top:
                ours.__enter__()

    with mock.patch.object(graph, "disable_saved_tensors_hooks", disabled_after_ours):
        yield


class _Memory:
    """How many micro-batches a stage holds at once; `allowed` is how many 1F1B does."""

    def __init__(self, allowed: int) -> None:
        self._allowed = allowed
        self.part = 0  # number of the forward pass under way, from 1
        self.most_kept = self.most_inputs = 0
        self._saved: weakref.WeakSet = weakref.WeakSet()
        self._inputs: set = set()  # (storage, where in it): one that goes forward again is one

    @contextlib.contextmanager
    def watching(self, stage: Any, receives: bool) -> Iterator[None]:
        import torch

        hooks = [stage[-1].register_forward_hook(lambda *_: self._count())]
        hooks.append(stage[0].register_forward_pre_hook(lambda _, given: self._begin(*given)))
        self._receives = receives
        try:
            ours = torch.autograd.graph.saved_tensors_hooks(self._save, lambda saved: saved.tensor)
            with _giving_way(ours), ours:
                yield
        finally:
            for hook in hooks:
                hook.remove()

    def _begin(self, given: Any) -> None:
        import torch
        from torch.multiprocessing.reductions import StorageWeakRef

        if torch._C._current_graph_task_id() != -1:  # on the way back, to be recomputed
            return
        self.part += 1
        if self._receives:
            while torch._C._functorch.is_functorch_wrapped_tensor(given):
                given = torch._C._functorch.get_unwrapped(given)
            self._inputs.add((StorageWeakRef(given.untyped_storage()), given.storage_offset()))
            if self._inputs_there() > self._allowed + 1:
                gc.collect()
            self.most_inputs = max(self.most_inputs, self._inputs_there())

    def _inputs_there(self) -> int:
        self._inputs = {one for one in self._inputs if not one[0].expired()}
        return len(self._inputs)

    def _save(self, tensor: Any) -> _Saved:
        saved = _Saved(tensor, self.part)
        self._saved.add(saved)
        return saved

    def _count(self) -> None:
        if self._kept() > self._allowed:
            gc.collect()
        self.most_kept = max(self.most_kept, self._kept())

    def _kept(self) -> int:
        return len({saved.part for saved in self._saved})


def _call_step(function, rank, size, inputs):
    allowed = min(size - rank, inputs["microbatches"])
    memory = _Memory(allowed)
    watching = functools.partial(memory.watching, receives=rank > 0)
    return pipeline.call_step(function, rank, size, inputs, watching) | {
        _KEPT: max(0, memory.most_kept - allowed),
        _INPUTS: max(0, memory.most_inputs - allowed - 1),
    }


# the order of a rank's calls


def _passes(rank: int, size: int, parts: int) -> str:
    """F for each forward and B for each backward pass of a rank, in the order of 1F1B."""
    ahead = min(size - 1 - rank, parts)
    return "F" * ahead + "FB" * (parts - ahead) + "B" * ahead


def _calls(passes: str, rank: int, size: int) -> list[tuple[str, int]]:
    """(operation, peer) of each message that these passes receive and send, in order."""
    of = {
        "F": (("recv", rank - 1), ("send", rank + 1)),
        "B": (("recv", rank + 1), ("send", rank - 1)),
    }
    return [call for one in passes for call in of[one] if 0 <= call[1] < size]


def _call(event: Event) -> tuple[str, int | None]:
    return event.op, event.peer


def _groups(events: list[Event]) -> list[list[Event]]:
    """The calls of a rank; those of one `batch_isend_irecv`, which have no order, together."""
    groups: list[list[Event]] = []
    for event in events:
        if groups and _of_one_batch(groups[-1], event):
            groups[-1].append(event)
        else:
            groups.append([event])
    return groups


def _of_one_batch(group: list[Event], event: Event) -> bool:
    last = group[-1]
    return (
        event.api == last.api == "batch_isend_irecv"
        and event.place == last.place
        and _call(event) not in map(_call, group)
        and not any(0 < one.wait_begin <= event.begin for one in group)
    )


def _messages(look: Look, rank: int) -> list[Event]:
    return [event for event in look.records[rank].events if event.is_message]


def _as_programmed(events: list[Event], wanted: list[tuple[str, int]]) -> list[Event]:
    """The calls of a rank, with late sends of another thread moved to where they belong.

    When a sending thread gets to run is up to the machine. The calls of each thread stay in their
    order, and a receive that is begun early stays early.
    """
    left, found = list(events), []
    for call in wanted[: len(events)]:
        at = next((n for n, event in enumerate(left) if _call(event) == call), 0)
        overtaken = {event.thread for event in left[:at]}
        late = call[0] == "send" and left[at].thread not in overtaken
        found.append(left.pop(at if late else 0))
    return found + left


def _out_of_order(look: Look, rank: int) -> tuple[Event, tuple[str, int] | None] | None:
    """The first call that is not in the order of 1F1B, and the one that should be there."""
    wanted = _calls(_passes(rank, look.size, pipeline.microbatches(look)), rank, look.size)
    for group in _groups(_as_programmed(_messages(look, rank), wanted)):
        expected, wanted = wanted[: len(group)], wanted[len(group) :]
        missing = Counter(expected) - Counter(map(_call, group))
        for event in group:
            if _call(event) not in expected:
                return event, next(iter(missing), None)
    return None


def _in_order(look: Look) -> str | None:
    for rank in look.ranks:
        if found := _out_of_order(look, rank):
            event, wanted = found
            return f"rank {rank} called {event} at {event.place}, where 1F1B {_told(wanted)}."
    return None


def _told(call: tuple[str, int] | None) -> str:
    if call is None:
        return "has no call left"
    op, peer = call
    return f"sends to rank {peer}" if op == "send" else f"receives from rank {peer}"


def _forwards_first(look: Look, rank: int) -> int:
    """How many micro-batches a rank took forward before it began with a backward pass."""
    # the last rank sends nothing forward, and its backward pass begins with what it sends back
    last = rank == look.size - 1
    forward = 0
    for event in _messages(look, rank):
        if event.op == "send" if last else _call(event) == ("recv", rank + 1):
            break
        forward += last or _call(event) == ("send", rank + 1)
    return forward


def _began_with(look: Look, forwards) -> bool:
    """Is the number of forward passes that each rank began with what `forwards(rank)` says?"""
    if look.size == 1 or not pipeline.as_many_as_asked(look):
        return False
    parts = pipeline.microbatches(look)
    began = [_forwards_first(look, rank) for rank in look.ranks]
    if began == [min(look.size - rank, parts) for rank in look.ranks]:  # as in 1F1B
        return False
    return began == [min(max(forwards(rank), 1), parts) for rank in look.ranks]


def _received_out_of_turn(look: Look, step: int) -> bool:
    """Is a receive from this neighbour what some rank called first out of order?"""
    return pipeline.as_many_as_asked(look) and any(
        found is not None and _call(found[0]) == ("recv", rank + step)
        for rank in look.ranks
        for found in [_out_of_order(look, rank)]
    )


exercise = Exercise(
    points=4,
    make=pipeline.model_inputs,
    call=_call_step,
    asks="In one_f_one_b_step, rank r takes size − 1 − r micro-batches forward, then one forward "
    "and one back in turn, then back those that are left; gradients and loss are those of "
    "pipeline_step, and no rank remembers more than size − r micro-batches.",
    visible=(
        Case(4, 1, {"widths": [2, 6, 3, 4, 1], "rows": [12], "microbatches": 6}),
        Case(2, 2, {"widths": [3, 5, 2], "rows": [8], "microbatches": 4}),
    ),
    traffic=(
        traffic.no_collective_but_barrier,
        traffic.messages(pipeline.both_ways),
        _in_order,
    ),
    hints=(
        hints.EARLY,
        Hint(
            "GPipe",
            lambda look: (
                pipeline.microbatches(look) > look.size
                and _began_with(look, lambda rank: pipeline.microbatches(look))
            ),
            "Every rank took all micro-batches forward before the first came back: that is GPipe. "
            "Here a rank goes back as soon as it can.",
        ),
        Hint(
            "one micro-batch at a time",
            lambda look: _began_with(look, lambda rank: 1),
            "Every rank waits for the gradient of a micro-batch before it takes the next one "
            "forward, so only one rank works at any time. The ranks in front need a few to fill "
            "the pipeline: how many are there behind rank r?",
        ),
        Hint(
            "one too many to begin with",
            lambda look: _began_with(look, lambda rank: look.size - rank + 1),
            "Each rank begins with one forward pass more than it should. In the part that takes "
            "turns, forward comes first: that pass is not one of those that fill the pipeline.",
        ),
        Hint(
            "one too few to begin with",
            lambda look: _began_with(look, lambda rank: look.size - rank - 1),
            "Each rank goes back one forward pass too early. Behind rank r there are size − 1 − r "
            "ranks: as many forward passes fill the pipeline, and then in each turn forward comes "
            "before backward.",
        ),
        Hint(
            "filled from the wrong end",
            lambda look: _began_with(look, lambda rank: rank + 1),
            "The last rank takes most micro-batches forward before it goes back, and rank 0 "
            "fewest. It is rank 0 that has to wait longest for its first gradient.",
        ),
        Hint(
            "as many on every rank",
            lambda look: _began_with(look, lambda rank: look.size),
            "Every rank begins with the same number of forward passes. A gradient reaches rank "
            "r after a way through the ranks behind it, and there are fewer the larger r is.",
        ),
        Hint(
            "backward first",
            lambda look: _received_out_of_turn(look, 1),
            "A rank received a gradient, or began to, before its turn. In each turn forward comes "
            "before backward, and a receive is begun where its message is needed, not earlier.",
        ),
        Hint(
            "received ahead",
            lambda look: _received_out_of_turn(look, -1),
            "A rank received a micro-batch, or began to, before its turn: a receive is begun where "
            "its message is needed, and the buffer takes memory from then on.",
        ),
        Hint(
            "graphs kept",
            lambda look: pipeline.as_many_as_asked(look) and any(look.left(_KEPT)),
            "The order is right, but the graphs of more micro-batches are alive than are under "
            "way. backward() lets go of a graph, unless it is told to retain it, and a loss that "
            "is added up as a tensor holds on to all of them.",
        ),
        Hint(
            "inputs kept",
            lambda look: pipeline.as_many_as_asked(look) and any(look.left(_INPUTS)),
            "The order is right, but what was received is still there after its backward pass: a "
            "list that only grows keeps every tensor in it, and a loss that stays a tensor what it "
            "came from. Take out what has come back.",
        ),
        *pipeline.OF_A_STEP,
    ),
    advice=(
        *pipeline.RAISED_IN_A_STEP,
        Advice(
            "fewer micro-batches than ranks",
            "IndexError|StopIteration|KeyError",
            "A rank asks for a micro-batch that is not there. In each turn forward comes before "
            "backward. And there can be fewer micro-batches than ranks: a rank in front then takes "
            "all of them forward to begin with, and none is left for the turns.",
            lambda raised: raised.run.size > 2,
        ),
    ),
)
