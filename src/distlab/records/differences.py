"""How two operations that ought to match differ: in the call, in sizes, in splits."""

from __future__ import annotations

from distlab.records.events import Event

#: collectives in which every member hands in as many bytes as the others
_EVEN = {"broadcast", "all_reduce", "reduce", "all_gather", "gather", "scatter", "reduce_scatter"}


def message_sizes(send: Event, receive: Event) -> str:
    """The bytes of a message that is too large, and those of its receive."""
    return f"the message has {send.nbytes} bytes and the buffer {receive.nbytes}"


def call_difference(one: Event, other: Event) -> tuple[str, str] | None:
    """(kind, how) two calls that ought to be one collective differ; None when they agree."""
    if one.op != other.op:
        return "order", f"{one.op} and {other.op}"
    if one.op == "barrier" and one.note != other.note:
        return "order", "barrier and monitored_barrier"
    if one.dtype != other.dtype:
        return "mismatch", f"types {one.dtype} and {other.dtype}"
    if one.peer != other.peer:
        return "mismatch", f"roots {one.peer} and {other.peer}"
    if one.reduction != other.reduction:
        return "mismatch", f"operations {one.reduction} and {other.reduction}"
    if one.op in _EVEN and one.nbytes != other.nbytes:
        told = one.shape != other.shape and max(len(one.shape), len(other.shape)) < 6
        if told and one.pieces == other.pieces:
            return "mismatch", f"shapes {list(one.shape)} and {list(other.shape)}"
        return "mismatch", f"{one.nbytes} and {other.nbytes} bytes"
    return None


def too_much_for(one: Event, other: Event) -> str:
    """The piece of an all-to-all that does not fit on the rank that gets it; empty if all fit.

    A piece smaller than its room is fine with gloo.
    """
    for giver, taker in ((one, other), (other, one)):
        if giver.exchanged is None or taker.exchanged is None:
            continue
        given, room = giver.exchanged[0][taker.rank], taker.exchanged[1][giver.rank]
        if given > room:
            return (
                f"splits that do not fit: rank {giver.rank} gives rank {taker.rank} {given} "
                f"elements where it has room for {room}"
            )
    return ""
