"""A rank's record: what it wrote down about its communication, and the layout of the file.

The rank maps the file into its memory; whoever watches the run reads it. An entry is written when
an operation begins and completed when it ends, so that the file can be read at any moment: while
the rank runs, while it hangs, and after it was killed.

This module needs NumPy alone: watching a run must not import torch.
"""

from __future__ import annotations

import functools
import math
import re
import struct
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

HEADER_BYTES = 4096
MOST_RANKS = 1 << 15  # what a peer's two bytes can name
CAPACITY = 100_000  # entries; the file is sparse, so that unused ones cost nothing

#: One entry, 272 bytes. Times are seconds on the rank's monotonic clock, 0 where not yet known.
#: `until` is when the operation gives up by itself, if that comes before the run's own end, else 0.
#: `thread` numbers the rank's threads: the one that waits in the operation, or that began it.
#: `polls` counts the calls of `is_completed` that answered False; `seen` is the number of the first
#: that answered True, 0 if none has; `polled` is when the first was made.
ENTRY = np.dtype(
    [
        ("state", "u1"),
        ("op", "u1"),
        ("flags", "u1"),
        ("redop", "u1"),
        ("group", "<i2"),
        ("peer", "<i2"),
        ("tag", "<i4"),
        ("line", "<i4"),
        ("dtype", "u1"),
        ("ndim", "u1"),
        ("pieces", "<u2"),
        ("nbytes", "<i8"),
        ("shape", "<i4", (6,)),
        ("begin", "<f8"),
        ("end", "<f8"),
        ("wait_begin", "<f8"),
        ("wait_end", "<f8"),
        ("value", "<f8"),
        ("crc_begin", "<u4"),
        ("crc_end", "<u4"),
        ("api", "S28"),
        ("function", "S40"),
        ("file", "S32"),
        ("note", "S48"),
        ("until", "<f8"),
        ("thread", "<u2"),
        ("more", "<u2"),
        ("polls", "<u2"),
        ("seen", "<u2"),
        ("polled", "<f8"),
    ]
)
PACK = struct.Struct("<BBBBhhiiBBHq6idddddII28s40s32s48sdHHHHd")
assert PACK.size == ENTRY.itemsize == 272
_NOTE_BYTES = 48

_RACE = re.compile(r"(read|changed) (\d+) ([\w.<>]+)")
_SHARE = r"\d{1,12}(?:/[1-9]\d{0,5})?"  # elements, a fraction of one among them
_EXCHANGED = re.compile(rf"({_SHARE}(?:,{_SHARE})*)>({_SHARE}(?:,{_SHARE})*)(?= |$)", re.ASCII)
_TENSOR_NAME = re.compile(r"[\w./]+")

#: The header: rank, size, number of entries, progress, when the function began and ended, what runs
#: beside it, when the watcher found the rank dead or was about to kill it (on the watcher's clock),
#: and the seconds to add to the rank's times to get that clock's. What runs beside the function: in
#: the low 16 bits threads and callbacks that run, above them callbacks that wait for an operation.
HEADER = struct.Struct("<iiiiddi4xdd")
STOPPED, OFFSET, GOES_ON = HEADER.size - 16, HEADER.size - 8, 32
#: At offset SEEN_AT: the line and function at which the rank was last seen, the function of
#: torch.distributed that it had called there, and whether it stood still there in no operation.
SEEN, SEEN_AT = struct.Struct("<i40s28s?"), 256
#: At offset BESIDE_AT: what a thread raised that nobody has taken notice of: its line and function,
#: its type and its text; all zero where there is nothing.
BESIDE, BESIDE_AT = struct.Struct("<i40s40s240s"), 512

OPS = (
    "none",
    "send",
    "recv",
    "broadcast",
    "all_reduce",
    "reduce",
    "all_gather",
    "gather",
    "scatter",
    "reduce_scatter",
    "all_to_all",
    "barrier",
    "new_group",
)
OP_CODE = {name: code for code, name in enumerate(OPS)}
ROOTED = {"broadcast", "reduce", "gather", "scatter"}

REDUCTIONS = ("", "sum", "avg", "product", "min", "max", "band", "bor", "bxor", "premul_sum")
DTYPES = (
    "",
    "float32",
    "float64",
    "float16",
    "bfloat16",
    "int64",
    "int32",
    "int16",
    "int8",
    "uint8",
    "bool",
    "complex64",
    "complex128",
    "other",
)
_ITEM_BYTES = {"bfloat16": 2} | {
    name: np.dtype(name).itemsize for name in DTYPES[1:-1] if name != "bfloat16"
}

# state of an entry
POSTED, DONE, FAILED = 1, 2, 3
# flags of an entry
BLOCKING = 1  # torch itself waits for it before the call returns
WAITED = 2  # somebody called wait()
INTERNAL = 4  # torch's own (DDP, say), not a call in the student's code
ANY_SOURCE = 8
CHANGED = 16  # a buffer changed between the call and its wait, where torch may not see it
LOCAL = 64  # a group made by its members alone, with use_local_synchronization=True
FUTURE = 128  # its future was taken: torch's own code may wait for that, which is not on record
# these stand in `more`
CALLBACK = 1 << 8  # a callback of the student's runs when it ends, and may communicate
AGAIN = 1 << 9  # a second wait, where each wait needs a completion of its own (gloo's messages)
FORCED = 1 << 10  # a schedule chose its source
MADE_TRUE = 1 << 11  # a schedule made `is_completed` wait until it could answer True
RACED = 1 << 13  # its buffer was touched before its wait: `note` says how and where
INDIRECT = 1 << 14  # called by a library (DDP's join, say), not by the student's own code
GIVEN = 1 << 16  # a group that was made while nothing is recorded: its members alone are noted
FROM_START = 1 << 15  # its place is where its thread was started: the thread has no own line
BUFFERED = 1 << 12  # a send that ended before it was received, as a schedule asked for
#: Seconds from which on a timeout counts as none: torch's own are 10 minutes (NCCL) and 30 (gloo).
LONG = 600.0
# progress of a rank, in the header
NOT_STARTED, RUNNING, RETURNED, RAISED = 0, 1, 2, 3
ELSEWHERE = 4  # in no operation, in a dump of what it has done so far
UNKNOWN = 5  # there is no dump of it

GIVEN_GROUPS = 1 << 20  # the number of the first given group among those of the same members
WORLD = 0  # the group index of the default group
NO_GROUP = -1  # a `new_group` that this rank is not a member of


@dataclass(frozen=True)
class Held:
    """What a tensor held: all its values where they are few, else how large it was.

    `norm`: the Euclidean one, NaN where it was not computed.
    """

    values: tuple[float, ...] = ()
    norm: float = math.nan


@dataclass
class Event:
    """One operation of one rank."""

    rank: int
    index: int
    op: str
    api: str  # the function of torch.distributed that was called: "isend", "all_gather_object", …
    group: tuple[int, ...]  # global ranks of the group it ran in
    group_index: int
    peer: int | None  # the other rank (send, recv), the root (broadcast, reduce, …), else None
    tag: int
    nbytes: int
    dtype: str
    shape: tuple[int, ...]
    pieces: int
    reduction: str
    function: str
    file: str
    line: int
    state: int
    flags: int
    begin: float
    end: float
    wait_begin: float
    wait_end: float
    value: float
    note: str = ""
    until: float = 0.0  # when its own timeout ends it; 0 where that is after the run's deadline
    thread: int = 0  # which of the rank's threads waits in it, or began it; 0 runs the function
    polls: int = 0  # calls of `is_completed` that answered False
    seen: int = 0  # which call of `is_completed` was the first to answer True
    polled: float = 0.0  # when it was called first
    before: Held | None = None  # what its tensor held when it began, in runs that keep that
    after: Held | None = None  # and what it held, or its results did, when it had ended

    @property
    def done(self) -> bool:
        return self.state == DONE

    @property
    def elements(self) -> int:
        """How many elements the rank gave. `shape` is that of the first of `pieces` tensors, which
        need not be alike, and has no more than six lengths.
        """
        if self.nbytes and self.dtype in _ITEM_BYTES:
            return self.nbytes // _ITEM_BYTES[self.dtype]
        return math.prod(self.shape) * max(self.pieces, 1)

    @property
    def gave_up(self) -> bool:
        """Did it fail because its own timeout had passed?"""
        return self.state == FAILED and 0 < self.until <= self.end + 0.02

    @property
    def blocking(self) -> bool:
        return bool(self.flags & BLOCKING)

    @property
    def waited(self) -> bool:
        return bool(self.flags & WAITED)

    @property
    def internal(self) -> bool:
        return bool(self.flags & INTERNAL)

    @property
    def is_message(self) -> bool:
        return self.op in ("send", "recv")

    @property
    def is_collective(self) -> bool:
        return self.op not in ("send", "recv", "new_group")

    @property
    def is_named(self) -> bool:
        """Is it a collective of Horovod's, which meets those of the same name (`note`)?"""
        return self.is_collective and self.tag > 0

    @property
    def chosen(self) -> int | None:
        """The source that a schedule chose for this receive."""
        first = self.note.partition(" ")[0]
        return int(first) if self.flags & FORCED and first.isdecimal() else None

    @property
    def exchanged(self) -> tuple[dict[int, Fraction], dict[int, Fraction]] | None:
        """Elements that this rank gives to each member in an all-to-all, and has room for from
        each, where its note says that. Equal shares need not be whole: gloo cuts bytes.
        """
        told = _exchanged(self.note) if self.op == "all_to_all" else None
        if told is None:
            return None
        given, room = told
        if len(given) == len(room) == 1:  # as much for each
            given, room = given * len(self.group), room * len(self.group)
        if not len(given) == len(room) == len(self.group):
            return None
        return dict(zip(self.group, given, strict=True)), dict(zip(self.group, room, strict=True))

    @property
    def race(self) -> tuple[str, str] | None:
        """How its buffer was touched before its wait, "read" or "changed", and where."""
        found = _RACE.search(self.note) if self.flags & RACED else None
        return (found[1], f"{found[3]}:{found[2]}") if found else None

    @property
    def place(self) -> str:
        """Where the call stands, as a student sees it: function and line in its cell or file."""
        if not self.function:
            return "?"
        started = " (where its thread was started)" if self.flags & FROM_START else ""
        return f"{self.function}:{self.line}{started}"

    def __str__(self) -> str:
        named = {"send": "dst", "recv": "src"}.get(self.op)
        # what torch calls by itself has no name in the student's code: "backward" says too little
        name = self.op if self.internal else self.api or self.op
        if named:
            peer = "any" if self.peer is None else self.peer
            return f"{name}({named}={peer})"
        if self.op in ROOTED and self.peer is not None:
            return f"{name}(root={self.peer}{self._called(', ')})"
        if self.op == "new_group":
            return f"new_group({list(self.group)})"
        return f"{name}({self._called()})"

    def _called(self, before: str = "") -> str:
        """The name of a Horovod operation; a name that is not plain was scribbled there."""
        plain = self.is_named and _TENSOR_NAME.fullmatch(self.note)
        return f"{before}name={self.note}" if plain else ""


@dataclass
class RankRecord:
    """All that one rank wrote down in one run."""

    rank: int
    size: int
    progress: int = NOT_STARTED
    begin: float = 0.0
    end: float = 0.0
    events: list[Event] = field(default_factory=list)
    dropped: int = 0
    shortened: bool = False  # earlier events may have been forgotten, of all ranks equally
    agents: int = 0  # threads of the function's beside it, and callbacks that run
    pending: int = 0  # callbacks that wait for an operation to end
    computes: str = ""  # "function:line" where it was seen last, and computed
    stands: str = ""  # or stood still, in no operation that is recorded
    stands_in: str = ""  # the function of torch.distributed's that it called there, if any
    #: what a thread raised that nobody has taken notice of, told by `exceptions.describe`
    beside: dict[str, Any] | None = None
    stopped: float = 0.0  # when its process was ended, if it was
    offset: float = 0.0  # seconds by which all its times were moved to get the watcher's
    #: members and number, by index, of groups that were made while nothing was recorded
    given: dict[int, tuple[tuple[int, ...], int]] = field(default_factory=dict)
    alike: Counter[tuple[int, ...]] = field(default_factory=Counter)  # of these, by their members

    @property
    def over(self) -> bool:
        """Has the function ended, and nothing of it goes on?"""
        if self.progress in (ELSEWHERE, UNKNOWN):
            return True
        return self.ended and not (self.agents or self.pending)

    @property
    def ended(self) -> bool:
        return self.progress in (RETURNED, RAISED)

    def sends(self) -> list[Event]:
        return [e for e in self.events if e.op == "send"]

    def receives(self) -> list[Event]:
        return [e for e in self.events if e.op == "recv"]

    def collectives(self) -> list[Event]:
        return [e for e in self.events if e.is_collective]

    def gave_up(self) -> Event | None:
        """The operation that this rank did last, if its own timeout ended it."""
        return self.events[-1] if self.events and self.events[-1].gave_up else None

    def waiting(self) -> Event | None:
        """The operation that this rank sits in now, if it sits in one."""
        for event in reversed(self.events):
            if (
                event.state == POSTED
                and (event.wait_begin or event.blocking)
                and not event.wait_end
            ):
                return event
        return None


@functools.lru_cache(4096)
def _exchanged(note: str) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]] | None:
    """The two halves of what `exchanged_text` wrote down. A loop notes the same thousands of times,
    each of which is compared with those of all other ranks.
    """
    told = _EXCHANGED.match(note)
    if told is None:
        return None
    given, room = (tuple(Fraction(count) for count in half.split(",")) for half in told.groups())
    return given, room


def exchanged_text(given: Sequence[Fraction | int], received: Sequence[Fraction | int]) -> bytes:
    """A note of how many elements a rank gives to each member in an all-to-all, and has room for
    from each. Equal numbers are written once; empty where the note would be too long.
    """
    if not given or not received:
        return b""
    if len({*given}) == len({*received}) == 1:
        given, received = given[:1], received[:1]
    text = ">".join(",".join(map(str, counts)) for counts in (given, received))
    return text.encode() if len(text) <= 24 else b""  # a race is noted behind it


def members_text(ranks: Sequence[int]) -> bytes:
    """The ranks of a group as a note: "0,2,5", "0-15" where they are consecutive, "0-30/2" where
    they are evenly spaced. Empty where that is too long: what a rank does in such a group cannot be
    matched, which is better than to match it with the wrong members.
    """
    text = ",".join(map(str, ranks))
    if len(ranks) > 2:
        first, last, step = ranks[0], ranks[-1], max(ranks[1] - ranks[0], 1)
        if list(ranks) == list(range(first, last + 1, step)):
            text = f"{first}-{last}" if step == 1 else f"{first}-{last}/{step}"
    return text.encode() if len(text) <= _NOTE_BYTES else b""
