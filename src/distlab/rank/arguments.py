"""What torch hands a process group with a call: ranks, tags and options, and what they ask for."""

from __future__ import annotations

import operator
from typing import Any

import torch.distributed as dist

from distlab.records import events

_LARGEST_TAG = 2**31 - 1
#: by torch's own number
_REDUCTION_CODE = {
    int(op): events.REDUCTIONS.index(name.lower())  # type: ignore[call-overload]  # it is
    for name, op in dist.ReduceOp.RedOpType.__members__.items()
    if name.lower() in events.REDUCTIONS
}


def whole(number: Any, what: str) -> int:
    """A rank or tag as an int: of anything else torch says only which C++ signatures it has.

    Raises:
        TypeError: it is no whole number.
    """
    try:
        return operator.index(number)
    except TypeError:
        raise TypeError(
            f"Invalid {what} {number!r}: it has to be an int, not {type(number).__name__}."
        ) from None


def tag(number: Any) -> int:
    """A tag that gloo can send.

    Raises:
        TypeError, ValueError: it is none.
    """
    found = whole(number, "tag")
    if not 0 <= found <= _LARGEST_TAG:
        raise ValueError(f"Invalid tag {found}: it has to be from 0 to {_LARGEST_TAG}.")
    return found


def waits(opts) -> bool:
    """Does this call return when it has ended, rather than with a request?"""
    return not getattr(opts, "asyncOp", True)


def options(opts, kind):
    """Options of this kind: torch also takes none, or a bare ReduceOp in their place."""
    if isinstance(opts, kind):
        return opts
    made = kind()
    if opts is not None:
        made.reduceOp = opts
    return made


def reduction(opts=None) -> int:
    """The number by which entries name the reduction that is asked for; 0 for none that has one."""
    op = getattr(opts, "reduceOp", None)
    return 0 if op is None else _REDUCTION_CODE.get(int(getattr(op, "op", op)), 0)
