"""PyTorch's Flight Recorder dumps as records of ranks: why a job on a real cluster stands still.

Set `TORCH_FR_BUFFER_SIZE=2000` (and, for NCCL, `TORCH_NCCL_DUMP_ON_TIMEOUT=1`), and each rank
leaves a dump when it hangs; `torch._C._distributed_c10d._dump_fr_trace()` gives one at any time. A
dump holds the collectives of gloo and NCCL, and NCCL's messages; no root and no reduce operation,
and none of gloo's messages nor the members of its groups. Written for dumps of version 2.10, as
torch 2.11 to 2.13 write them.

All dumps are taken to be of one moment, in which the job stood still. An operation that has not
ended holds its rank up; a rank without one is elsewhere. A collective that every member has called
and that has ended for one of them has ended for all, whatever a dump says (gloo notes the end a
little later). One that gave its result to a rank without the data of another can only have failed.

A dump is a ring buffer. Collectives are numbered, so that the calls of all ranks are compared from
the first one that nobody has forgotten. Of a rank that has forgotten all of its calls in a group,
and of which no count is left either, nothing is said.
"""

from __future__ import annotations

import io
import json
import math
import pickle
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from distlab.records import events, reading
from distlab.records.deadlock import Watcher
from distlab.records.events import DONE, FAILED, POSTED, ROOTED, Event, RankRecord
from distlab.records.explain import Deadlock
from distlab.records.matching import Group, Ledger
from distlab.records.phrases import ranks_text

_DTYPES = {
    "Float": ("float32", 4), "Double": ("float64", 8), "Half": ("float16", 2),
    "BFloat16": ("bfloat16", 2), "Long": ("int64", 8), "Int": ("int32", 4), "Short": ("int16", 2),
    "Char": ("int8", 1), "Byte": ("uint8", 1), "Bool": ("bool", 1),
}  # fmt: skip
#: what back ends call their operations, without underlines
_OPS = {
    "allreduce": "all_reduce", "broadcast": "broadcast", "reducescatter": "reduce_scatter",
    "allgather": "all_gather", "alltoall": "all_to_all", "gather": "gather", "scatter": "scatter",
    "reduce": "reduce", "barrier": "barrier", "send": "send", "recv": "recv",
}  # fmt: skip
_PEERS = re.compile(r"(send|recv) (\d+)(?:->|<-)(\d+)")
_TORCH = re.compile(r"[/\\]torch[/\\]|[/\\]distlab[/\\]|^<")


Dump = dict[str, Any]  # of a rank, or one of its entries, which are dicts too


class Unreadable(ValueError):
    """A file that is no dump."""


class _Plain(pickle.Unpickler):
    """Reads lists, dicts, numbers and text, of which dumps are made, and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        raise Unreadable(f"it wants {module}.{name}")


def read(paths: Sequence[str | Path]) -> list[RankRecord]:
    """The records of all ranks, in their order, from one dump each.

    Raises:
        Unreadable: a file is no dump, or two are of one rank.
    """
    dumps: dict[int, Dump] = {}
    for number, path in enumerate(map(Path, paths)):
        rank = _rank(path, number)
        if rank in dumps:
            raise Unreadable(f"{path.name}: there is a dump of rank {rank} already")
        dumps[rank] = _loaded(path)
    try:
        return _records(dumps)
    except Unreadable:
        raise
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        raise Unreadable(f"no Flight Recorder dump: {error!r}") from error


def _records(dumps: dict[int, Dump]) -> list[RankRecord]:
    size = max([rank + 1 for rank in dumps] + [len(_members(d)) for d in dumps.values()])
    if not 0 < size <= events.MOST_RANKS:
        raise Unreadable(f"{size} ranks")
    first, members = _first(dumps), _groups(dumps)
    full = any(map(_overwritten, dumps.values()))
    found = [
        _record(rank, size, dumps[rank], first, members, full)
        if rank in dumps
        else RankRecord(rank, size, events.UNKNOWN)
        for rank in range(size)
    ]
    _settle(found, set(dumps))
    return found


def explain(found: Sequence[RankRecord]) -> Deadlock | None:
    """Why the ranks cannot go on, if their dumps show it."""
    if conflict := Watcher().conflict(found):
        return conflict
    clock = iter((0.0, 3600.0))  # a dump stands still: no patience is needed
    watch = Watcher(clock=lambda: next(clock))
    waiting = [_before_it_failed(record) for record in found]
    watch(waiting, set())
    told = watch(waiting, set())
    failed = {record.rank for record in found if any(e.state == FAILED for e in record.events)}
    if told is None or not failed & {wait.rank for wait in told.waits}:
        return told
    ranks = sorted(failed & {wait.rank for wait in told.waits})
    wait = "wait of" if len(ranks) == 1 else "waits of"
    since = f" The {wait} {ranks_text(ranks)} ended later, by an error."
    return replace(told, message=told.message + since)


def unexplained(found: Sequence[RankRecord]) -> str:
    """What can be said where `explain` finds no reason."""
    if lost := [record.rank for record in found if record.dropped]:
        return (
            f"No reason shows: the buffer of {ranks_text(lost)} has lost calls that count. Set "
            "TORCH_FR_BUFFER_SIZE to more."
        )
    if any(event.state == POSTED for record in found for event in record.events):
        return (
            "No reason shows: all ranks concerned have called what has not ended. Look for it in "
            "the network or on a device, or in how far apart the dumps were taken."
        )
    return "Nothing stands still: every operation in the dumps has ended."


def _before_it_failed(record: RankRecord) -> RankRecord:
    """The record as it was while its first wait that then failed went on."""
    failed = next((e for e in record.events if e.state == FAILED), None)
    if failed is None:
        return record
    waits = replace(failed, state=POSTED, end=0.0, wait_begin=failed.begin)
    rest = [waits if event is failed else event for event in record.events]
    return replace(record, progress=events.RUNNING, events=rest)


def _rank(path: Path, number: int) -> int:
    """The rank in a file's name, as torch puts it at the end; else its place."""
    found = re.findall(r"\d+", path.stem if path.suffix in (".pkl", ".json") else path.name)
    return int(found[-1]) if found else number


def _loaded(path: Path) -> Dump:
    if path.is_dir():
        raise Unreadable(f"{path} is a folder: name the dumps of all ranks, or one folder alone")
    data = path.read_bytes()
    try:
        text = data.lstrip()[:1] == b"{"
        dump = json.loads(data) if text else _Plain(io.BytesIO(data)).load()
    except Unreadable as error:
        raise Unreadable(f"{path.name} is no Flight Recorder dump: {error}") from error
    except Exception as error:  # whatever else unpickling nonsense raises
        said = f"{path.name} is no Flight Recorder dump: name those of the ranks, and nothing else"
        raise Unreadable(said) from error
    if not isinstance(dump, dict) or not isinstance(dump.get("entries"), list):
        raise Unreadable(f"{path.name} is no Flight Recorder dump: it has no entries")
    return dump


def _members(dump: Dump, name: str = "0") -> list[int]:
    """The ranks of a group; of the default one, which some dumps know by no name, all."""
    config = dump.get("pg_config") or {}
    found = config.get(name) or (config.get("") if name == "0" else None) or {}
    try:
        return [int(rank) for rank in json.loads(found.get("ranks") or "[]")]
    except (ValueError, TypeError):
        return []


def _group(entry: Dump) -> str:
    return str(entry["process_group"][0])


def _groups(dumps: dict[int, Dump]) -> dict[str, list[int]]:
    """The members of each group by its name; gloo's dumps do not tell them, only who called."""
    found: dict[str, list[int]] = {}
    for rank, dump in sorted(dumps.items()):
        for name in {_group(entry) for entry in dump["entries"]}:
            told = _members(dump, name)
            found[name] = told or sorted({*found.get(name, ()), rank})
    return found


def _first(dumps: dict[int, Dump]) -> dict[str, int]:
    """For each group the first collective that all dumps still hold: they are ring buffers."""
    first: dict[str, int] = {}
    for dump in dumps.values():
        oldest: dict[str, int] = {}
        for entry in dump["entries"]:
            if not entry.get("is_p2p"):
                oldest.setdefault(_group(entry), entry["collective_seq_id"])
        for name, number in oldest.items():
            first[name] = max(first.get(name, 0), number)
    return first


def _overwritten(dump: Dump) -> bool:
    """Has its ring buffer forgotten anything?"""
    return min((entry.get("record_id", 0) for entry in dump["entries"]), default=0) > 0


def _calls_known(dump: Dump, name: str, first: int) -> bool:
    """Does a dump tell which collectives of a group its rank has called, from the first one that
    is compared? Its newest calls it never forgets; but those of another group may have pushed out
    all that it knew of this one.
    """
    if not _overwritten(dump) or any(_group(entry) == name for entry in dump["entries"]):
        return True
    called = ((dump.get("pg_status") or {}).get(name) or {}).get("last_enqueued_collective")
    return called is not None and called < first


def _record(
    rank: int, size: int, dump: Dump, first: dict[str, int], known: dict[str, list[int]], full: bool
) -> RankRecord:
    """Args: `full`: some buffer has forgotten calls, so that messages cannot be counted."""
    record = RankRecord(rank, size, events.RUNNING)
    names = sorted({_group(entry) for entry in dump["entries"]} - {"0"}, key=lambda n: (len(n), n))
    groups = {"0": (events.WORLD, tuple(range(size)))}
    for index, name in enumerate(names, 1):
        members = tuple(known[name])
        groups[name] = index, members
        record.events.append(_made(record, index, members))
    for entry in dump["entries"]:
        if entry.get("is_p2p"):
            counts = not (full and _ended(entry))
        else:
            counts = entry["collective_seq_id"] >= first.get(_group(entry), 0)
        op = _op(entry["profiling_name"])
        if counts and op:
            record.events.append(_event(record, entry, op, *groups[_group(entry)]))
    record.shortened = any(number > 1 for number in first.values())
    record.dropped = sum(
        not _calls_known(dump, name, first[name])
        for name in first
        if name == "0" or rank in known.get(name, ())
    )
    if record.events:
        record.begin = min((e.begin for e in record.events if e.begin), default=0.0)
    return record


def _settle(found: list[RankRecord], dumped: set[int]) -> None:
    """Decide by all dumps together which calls have ended, and where each rank waits."""
    ledger = Ledger(len(found))
    ledger.update(found)
    rows: dict[tuple[Group, int], list[Event]] = {}
    absent: dict[tuple[Group, int], bool] = {}
    for record in found:
        for at, event in enumerate(record.events):
            if event.is_collective and (group := ledger.group_of(event)) is not None:
                place = group, ledger.place(record.rank, at)
                rows.setdefault(place, []).append(event)
                absent[place] = any(
                    rank in dumped and not found[rank].dropped
                    for rank in ledger.absentees(record.rank, at)
                )
    for place, calls in rows.items():
        if len(calls) == len(place[0][0]) and any(event.done for event in calls):
            for event in calls:
                event.state, event.end = DONE, event.end or event.begin + 1e-6
        elif absent[place]:
            for event in calls:
                if event.done and event.op not in ROOTED:
                    event.state, event.wait_begin = FAILED, event.begin
    for record in (found[rank] for rank in dumped):
        held = next((e for e in record.events if e.state == POSTED), None)
        if held is None:
            record.progress = events.ELSEWHERE
        else:
            held.wait_begin = held.begin


def _op(name: str) -> str:
    plain = name.partition(":")[2].partition(" ")[0].replace("_", "").lower()
    return next((op for start, op in _OPS.items() if plain.startswith(start)), "")


def _ended(entry: Dump) -> bool:
    return bool(entry.get("retired")) or entry.get("state") == "completed"


def _event(record: RankRecord, entry: Dump, op: str, index: int, members: tuple[int, ...]) -> Event:
    frame: Dump = next(
        (f for f in entry.get("frames") or () if not _TORCH.search(f["filename"])), {}
    )
    side = "output" if op == "scatter" else "input"  # what each member of the group has
    shape = tuple((entry.get(f"{side}_sizes") or [[]])[0])
    dtype, item = _DTYPES.get((entry.get(f"{side}_dtypes") or [""])[0], ("other", 0))
    done = _ended(entry)
    begin = entry["time_created_ns"] / 1e9
    ended = entry.get("time_discovered_completed_ns")
    peer = None
    if found := _PEERS.search(entry["profiling_name"]):
        here, there = int(found[2]), int(found[3])
        peer = members[there if found[1] == "send" or here == members.index(record.rank) else here]
    return Event(
        rank=record.rank, index=len(record.events), op=op, api=op, group=members,
        group_index=index, peer=peer, tag=0, nbytes=item * math.prod(shape) if shape else 0,
        dtype=dtype, shape=shape[:6], pieces=len(entry.get(f"{side}_sizes") or [0]), reduction="",
        function=reading.plain_name(frame.get("name", "")), line=int(frame.get("line", 0)),
        file=Path(frame.get("filename", "")).name, flags=events.BLOCKING | events.WAITED,
        state=events.DONE if done else events.POSTED, begin=begin,
        end=(ended / 1e9 if ended else begin + 1e-6) if done else 0.0, wait_begin=0.0,
        wait_end=0.0, value=float("nan"),
    )  # fmt: skip


def _made(record: RankRecord, index: int, members: tuple[int, ...]) -> Event:
    return Event(
        rank=record.rank, index=len(record.events), op="new_group", api="new_group", group=members,
        group_index=index if record.rank in members else events.NO_GROUP, peer=None, tag=0,
        nbytes=0, dtype="", shape=(), pieces=1, reduction="", function="", file="", line=0,
        state=events.DONE, flags=events.LOCAL, begin=0.0, end=0.0, wait_begin=0.0, wait_end=0.0,
        value=float("nan"),
    )  # fmt: skip
