"""Rules on what ranks may send each other, for exercises that ask for more than values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from distlab.exercises.compare import counted
from distlab.exercises.exercise import Case, Look, Rule
from distlab.records import events

if TYPE_CHECKING:
    import numpy as np

Pair = tuple[int, int]
_Counts = Counter[tuple[int | None, int | None]]  # a receive may name no source


def messages(pairs: Callable[[Case], Iterable[Pair]]) -> Rule:
    """Exactly these messages (src, dst), each as often as it is listed, and each received."""

    def rule(look: Look) -> str | None:
        wanted: _Counts = Counter(pairs(look.case))
        sent: _Counts = Counter((e.rank, e.peer) for e in look.events("send"))
        received: _Counts = Counter((e.peer, e.rank) for e in look.events("recv"))
        for pair in sorted((wanted | sent).keys(), key=str):
            if sent[pair] != wanted[pair]:
                return _told(pair, wanted[pair], sent[pair], look)
        for pair in sorted((wanted | received).keys(), key=str):
            if received[pair] != wanted[pair]:
                source = "any rank" if pair[0] is None else f"rank {pair[0]}"
                return (
                    f"rank {pair[1]} received {counted(received[pair], 'message')} from {source} "
                    f"where {wanted[pair]} should be."
                )
        return None

    return rule


def _told(pair: tuple[int | None, int | None], wanted: int, sent: int, look: Look) -> str:
    source, target = pair
    if wanted == 0:
        event = next(e for e in look.events("send") if (e.rank, e.peer) == pair)
        return f"rank {source} sent to rank {target} at {event.place}, which nobody asked for."
    if sent == 0:
        return f"rank {source} sent nothing to rank {target}."
    messages = counted(sent, "message")
    why = twice(e for e in look.events("send") if (e.rank, e.peer) == pair)
    return f"rank {source} sent {messages} to rank {target} where {wanted} should be.{why}"


def twice(sent: Iterable[events.Event]) -> str:
    """Why there are more messages than calls, if some of them were sent as objects."""
    if not any(event.api == "send_object_list" for event in sent):
        return ""
    return (
        " (send_object_list sends two messages: how long the pickled list is, and the list. A "
        "tensor by itself is one.)"
    )


def numbers(event: events.Event, like: np.dtype) -> float:
    """How many numbers of this dtype a rank sent, or passed in. They may travel as their bytes, in
    whatever dtype these are, or as numbers of a wider one.
    """
    return min(event.elements, event.nbytes / like.itemsize)


def called(event: events.Event) -> str:
    """An operation of a rank for a sentence: "rank 1 called all_reduce at f:3"."""
    return f"rank {event.rank} called {event.api or event.op} at {event.place}"


def silent(name: str, because: str = "") -> Rule:
    """A function that communicates in no way at all."""
    why = f", {because}" if because else ""

    def rule(look: Look) -> str | None:
        for event in look.events():
            return f"{called(event)}: {name} needs no communication{why}."
        return None

    return rule


def no_collectives(look: Look) -> str | None:
    """Messages between two ranks alone: no collective of any group."""
    return _collective(event for event in look.events() if event.is_collective)


def no_collective_but_barrier(look: Look) -> str | None:
    """Data travels in messages between two ranks; a barrier carries none."""
    return _collective(
        event for event in look.events() if event.is_collective and event.op != "barrier"
    )


def _collective(found: Iterable[events.Event]) -> str | None:
    """What is said of the first of these collectives, if there is one."""
    for event in found:
        return (
            f"{called(event)}: this exercise asks for messages between two ranks, not for a "
            "collective."
        )
    return None


def all_waited(look: Look) -> str | None:
    """Every request of a non-blocking send or receive is waited for."""
    return _unwaited(event for event in look.events("send", "recv") if not event.waited)


def blocking(look: Look) -> str | None:
    """Messages by `dist.send` and `dist.recv`, not by their non-blocking forms."""
    for event in look.events("send", "recv"):
        if not event.blocking:
            return f"rank {event.rank} called {event.api} at {event.place}, which does not block."
    return None


def non_blocking(look: Look) -> str | None:
    """Messages by `dist.isend` and `dist.irecv`."""
    for event in look.events("send", "recv"):
        if event.blocking:
            return f"rank {event.rank} called {event.api} at {event.place}, which blocks."
    return None


def sends_unchanged(look: Look) -> str | None:
    """No tensor is changed between its send and the end of the wait for it."""
    for event in look.events("send"):
        if event.flags & events.CHANGED:
            # a call that returns when all is sent leaves the tensor to other threads alone
            when = "in another thread" if event.blocking else "before it had waited for the request"
            return (
                f"rank {event.rank} changed the tensor of {event} at {event.place} {when}: what "
                "then arrives is a matter of luck."
            )
    return None


def nothing_left_open(look: Look) -> str | None:
    """Whatever was begun was waited for, by its request or by the future of that."""
    return _unwaited(event for event in look.events() if not (event.waited or event.done))


def _unwaited(found: Iterable[events.Event]) -> str | None:
    """What is said of the first of these operations, if there is one."""
    for event in found:
        return f"rank {event.rank} never waited for the request of {event} at {event.place}."
    return None


#: asked of every exercise that has rules on traffic
SOUND = (nothing_left_open, sends_unchanged)
