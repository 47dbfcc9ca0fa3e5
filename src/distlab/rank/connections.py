"""gloo's connections between ranks, which later runs of as many ranks may use again.

To meet, to connect and to start gloo's threads is a good part of what a run costs a warm rank
besides its function. A run has a process group of its own all the same, with a store of its own and
all that torch knows of it: what is kept is the back end below it, where nothing that has happened
in the run can be left on it. Whoever hands out the runs says which are kept, on all ranks alike.
"""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch.distributed import distributed_c10d as c10d

from distlab.rank.process_group import RecordedGroup
from distlab.rank.recorder import Recorder

_CPU = torch.device("cpu")


class _Kept(NamedTuple):
    back_end: Any
    store: dist.Store  # in which its ranks have met: torch keeps only what of it is C++


class _Joined(NamedTuple):
    """The default group of a run that is under way, or has not been left yet."""

    group: dist.ProcessGroup
    store: dist.Store
    timeout: datetime.timedelta


class _Again(type):
    """Stands for torch's class and returns the kept back end in place of a new one. There is one
    such class: one for each run, which is in a cycle of references with itself, would hold on to
    connections that were let go of until Python looks for cycles.
    """

    made: Any = None
    back_end: Any = None

    def __instancecheck__(cls, one: object) -> bool:
        return isinstance(one, _Again.made)

    def __call__(cls, *args: object, **kwargs: object) -> Any:
        return _Again.back_end


class _ProcessGroupGloo(metaclass=_Again):
    pass


_joined: _Joined | None = None
_kept: dict[int, _Kept] = {}  # by number of ranks


def joined(store: dist.Store, timeout: datetime.timedelta) -> None:
    """The default group has been made, of ranks that have met in this store."""
    global _joined
    assert c10d._world.default_pg is not None
    _joined = _Joined(c10d._world.default_pg, store, timeout)


def keep(sizes: Collection[int]) -> None:
    """Before groups are left: keep what has connected so many ranks, and let go of all else."""
    global _joined
    if _joined is not None and _joined.group.size() in sizes:
        back_end = _joined.group._group._get_backend(_CPU)  # type: ignore[attr-defined]
        # those that have been used again have met in the store of an earlier run
        _kept.setdefault(_joined.group.size(), _Kept(back_end, _joined.store))
    _joined = None
    for size in _kept.keys() - set(sizes):
        del _kept[size]


@contextlib.contextmanager
def used_again(size: int) -> Iterator[None]:
    """A group of gloo's that is made meanwhile gets the connections that are kept for its size.

    Raises:
        RuntimeError: there are none.
    """
    kept = _kept.get(size)
    if kept is None:
        raise RuntimeError(f"this rank has kept no connections to {size - 1} others")
    _Again.made, _Again.back_end = c10d.ProcessGroupGloo, kept.back_end
    c10d.ProcessGroupGloo = _ProcessGroupGloo  # type: ignore[misc, assignment]
    try:
        yield
    finally:
        c10d.ProcessGroupGloo = _Again.made  # type: ignore[misc]
        _Again.back_end = None


def usable(record: Recorder) -> bool:
    """Are the connections of this run's default group as they were when it was made, as far as one
    rank can tell? `distlab.records.leftovers` says what the records of all ranks tell of it.
    """
    with contextlib.suppress(Exception):  # of what a function may have put in place of torch's own
        return _unchanged(record)
    return False


def _unchanged(record: Recorder) -> bool:
    if _joined is None or torch.cuda.is_available():
        return False
    group = _joined.group
    if group is not c10d._world.default_pg:
        return False
    if not isinstance(group, RecordedGroup) or group.handed_out or record.buffered:
        return False
    if dist.get_debug_level() == dist.DebugLevel.DETAIL:  # torch would wrap them in a next run
        return False
    back_end: Any = group._group._get_backend(_CPU)
    return (
        type(back_end) is c10d.ProcessGroupGloo
        and back_end.options._timeout == _joined.timeout
        and not record.apart
    )
