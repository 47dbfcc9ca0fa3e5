"""Have every group that torch makes recorded while a function runs on this rank."""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Callable
from typing import Any

import torch.distributed as dist
from torch.distributed import distributed_c10d as c10d

from distlab.rank import futures, recording
from distlab.rank.process_group import RecordedGroup
from distlab.rank.recorder import Recorder
from distlab.records import events

make_group = c10d._new_process_group_helper
make_new_group = c10d._new_group_with_tag
#: called with each new group, which `distlab.simulation.slow_links` puts on links of a cluster
made: Callable[[RecordedGroup], None] | None = None
_following: contextlib.AbstractContextManager[None] = contextlib.nullcontext()


def install(recorder: Recorder) -> None:
    """Record every group that is made from now on. Call it before `init_process_group`."""
    global _following
    _following = futures.collected()
    _following.__enter__()
    recording.begin(recorder)
    c10d._new_process_group_helper = _recorded
    c10d._new_group_with_tag = _also_from_outside


def uninstall() -> None:
    """Record no group that is made from now on, and nothing of those that were."""
    if recording.active() is not None:
        recording.end()
        _following.__exit__(None, None, None)
    c10d._new_process_group_helper = make_group
    c10d._new_group_with_tag = make_new_group


def _recorded(group_size, group_rank, global_ranks_in_group, *args, **kwargs):
    """torch's `_new_process_group_helper`, with what it makes wrapped and the call noted."""
    recorder = recording.active()
    if recorder is None:
        return make_group(group_size, group_rank, global_ranks_in_group, *args, **kwargs)
    ranks = list(global_ranks_in_group) or list(range(group_size))
    default = not global_ranks_in_group
    if default:  # torch does not tell which ranks of the run meet here, under which numbers
        recorder.apart = (group_size, group_rank) != (recorder.size, recorder.rank)
    member = default or recorder.apart or recorder.rank in ranks
    index, at = events.WORLD, -1
    if recorder.apart:
        index = recorder.next_group()  # which the record does not know
    elif not default:
        index = recorder.next_group() if member else events.NO_GROUP
        timeout = kwargs.get("timeout") or datetime.timedelta.max
        at = recorder.begin(
            "new_group", index, note=events.members_text(ranks),
            lasts=timeout.total_seconds(),
            also=(0 if _is_counted(*args, **kwargs) else events.LOCAL)
            | (events.GIVEN if recorder.paused and member else 0),
        )  # fmt: skip
    try:
        group, store = make_group(group_size, group_rank, global_ranks_in_group, *args, **kwargs)
    except BaseException:
        recorder.finish(at, events.FAILED)
        raise
    recorder.finish(at)
    if not isinstance(group, dist.ProcessGroup) or isinstance(group, RecordedGroup):
        return group, store
    recorded = RecordedGroup(group, recorder, index, ranks)
    _take_place(group, recorded)
    if made is not None and member:
        made(recorded)
    return recorded, store


def _also_from_outside(ranks=None, *args, **kwargs):
    """torch's `new_group`, with the call noted of a rank that is no member and makes nothing."""
    group, recorder = make_new_group(ranks, *args, **kwargs), recording.active()
    by_members_alone = kwargs.get("use_local_synchronization", False)
    outside = by_members_alone and not isinstance(group, dist.ProcessGroup)
    if outside and recorder is not None and not recorder.apart:
        note = events.members_text(sorted(ranks))
        at = recorder.begin("new_group", events.NO_GROUP, note=note, also=events.LOCAL)
        recorder.finish(at)
    return group


def _is_counted(backend, store, group_name, **_) -> bool:
    """Is a group known to torch by its number among all that were made, or else by its members?"""
    return str(group_name).isdecimal()


def _take_place(group, recorded) -> None:
    """Let torch's tables know the recorded group where they knew the plain one."""
    world = c10d._world
    tables: tuple[Any, ...] = (
        world.pg_map, world.pg_names, world.pg_backend_config, world.pg_to_tag
    )  # fmt: skip
    for table in tables:
        if group in table:
            table[recorded] = table.pop(group)
    for groups in world.tags_to_pg.values():
        groups[:] = [recorded if g is group else g for g in groups]
    name = world.pg_names[recorded]
    c10d._unregister_process_group(name)
    c10d._register_process_group(name, recorded)
