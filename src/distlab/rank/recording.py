"""The recorder of the function that runs on this rank, for those who have no group at hand."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from distlab.rank.recorder import Recorder
from distlab.rank.stamps import Stamps

_active: Recorder | None = None


def active() -> Recorder | None:
    """The recorder of the function that runs on this rank."""
    return _active


def begin(recorder: Recorder) -> None:
    """This is the recorder, until `end`."""
    global _active
    _active = recorder
    recorder.watch()


def end() -> None:
    """The function has ended: what goes on is not recorded."""
    global _active
    if _active is not None:
        _active.closed()
    _active = None


@contextlib.contextmanager
def paused() -> Iterator[None]:
    """Communication of the course's own around a student's function goes unrecorded."""
    with contextlib.nullcontext() if _active is None else _active.pausing():
        yield


@contextlib.contextmanager
def as_internal() -> Iterator[None]:
    """Operations that this thread begins meanwhile count as torch's own, whoever wrote the call:
    what DDP's hooks do is DDP's.
    """
    with contextlib.nullcontext() if _active is None else _active.internally():
        yield


@contextlib.contextmanager
def stamped(number: int | None, more: int = 0) -> Iterator[list[int]]:
    """Meanwhile messages carry `number`, and have `more` added to them where they arrive
    (`distlab.rank.stamps`); gives the list of the numbers that arrive here.
    """
    recorder = _active
    if recorder is None:  # nobody wraps what torch sends
        yield []
        return
    recorder.stamps = Stamps(number, more)
    try:
        yield recorder.stamps.arrived
    finally:
        recorder.stamps = None
