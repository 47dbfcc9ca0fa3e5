"""Messages sent in one dtype and received in another: their bytes mean other numbers there."""

from __future__ import annotations

from collections.abc import Sequence

from distlab.records.events import Event, RankRecord
from distlab.records.pairing import match_messages
from distlab.records.phrases import named

#: dtypes of one byte, which agree on the values that are usually sent as bytes
_BYTES = {"bool", "int8", "uint8"}


def misread(records: Sequence[RankRecord], first: int = 0) -> str:
    """A sentence on a message that was received as another dtype; empty where there is none. Of
    several it is the first that rank `first` received, or else the lowest rank.

    A program may read bytes as another dtype on purpose: only a caller who knows that the result is
    wrong can name this as the cause.
    """
    found = [
        (receive.rank != first, receive.rank, receive.index, send, receive)
        for send, receive in match_messages(records)
        if receive is not None and receive.done and _other_numbers(send.dtype, receive.dtype)
    ]
    if not found:
        return ""
    *_, send, receive = min(found, key=lambda one: one[:3])
    return f"{other_dtype(send, receive)}: the bytes arrive and mean other numbers there."


def _other_numbers(one: str, other: str) -> bool:
    """Do the same bytes mean other numbers in these dtypes?"""
    return one != other and not {one, other} <= _BYTES and not {one, other} & {"", "other"}


def other_dtype(send: Event, receive: Event) -> str:
    """ "rank 0's send(dst=1) at f:3 sends float32, but rank 1's recv(src=0) at f:5 wants int32"."""
    return (
        f"rank {send.rank}'s {named(send)} at {send.place} sends {send.dtype}, but rank "
        f"{receive.rank}'s {named(receive)} at {receive.place} wants {receive.dtype}"
    )
