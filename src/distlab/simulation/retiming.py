"""A recorded run, timed again on other links and other numbers of ranks.

A run whose ranks all call the same collectives in the same order, as in data-parallel training, is
carried over to any number of ranks (`Carried`): rank r computes for as long as rank r mod size of
the recorded run did, and hands in as many bytes. What ranks of one kind do is worked out once, for
all numbers of ranks together, so that 1,000 ranks cost no more than four. The times are those of
`replay`.

Messages name their partners. So a run with messages stays on its own ranks, where it is replayed
(`Fixed`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from distlab.records.events import Event, RankRecord
from distlab.simulation.collectives import seconds_of
from distlab.simulation.cost_model import Link
from distlab.simulation.network import Cluster
from distlab.simulation.programs import Compute, Post, Program, Wait
from distlab.simulation.replay import replay

COMPUTES, WAITS, MOVES = "computes", "waits", "moves"
MOST_ROWS = 12  # ranks of a picture
MOST_SPANS = 120  # of a rank in it


@dataclass(frozen=True)
class Setting:
    """What a run is timed for. One rank may be slow: the last one that was recorded.

    Args:
        ranks: how many there are, each on a node of its own.
        link: what connects two of them.
        slowness: how many times as long the slow rank computes.
        algorithm: of all-reduces, one of `distlab.simulation.collectives.ALL_REDUCES`.
    """

    ranks: int
    link: Link
    slowness: float = 1.0
    algorithm: str = "ring"

    def cluster(self, size: int, slow: int | None = None) -> Cluster:
        """A cluster of `size` ranks on this network; `slow` is the number of the slow one."""
        slowness = {} if slow is None else {slow: self.slowness}
        return Cluster(size, 1, between=self.link, slow=slowness)


@dataclass(frozen=True)
class Span:
    """What a rank did from `begin` to `end`, in seconds after the start. `of`: in which operation.

    Kinds: `COMPUTES`; `WAITS`, for a rank that has not called the collective yet; `MOVES`, while
    bytes are on their way.
    """

    kind: str
    begin: float
    end: float
    of: str = ""


@dataclass
class Row:
    """One rank, and how many there are of its kind.

    `spans`: the first ones: those that are drawn, and one more. `totals`: seconds of all spans, by
    kind. `end`: when the last one ends.
    """

    rank: int
    like: int = 1
    slow: bool = False
    spans: list[Span] = field(default_factory=list)
    totals: dict[str, float] = field(default_factory=dict)
    end: float = 0.0

    def seconds(self, kind: str) -> float:
        return self.totals.get(kind, 0.0)

    def add(self, kind: str, begin: float, end: float, of: str = "") -> None:
        if end > begin:
            if len(self.spans) <= MOST_SPANS:
                self.spans.append(Span(kind, begin, end, of))
            self.totals[kind] = self.seconds(kind) + end - begin
            self.end = end


def retimed(records: Iterable[RankRecord]) -> list[Row]:
    """What ranks did according to their records: wait in operations, or compute."""
    rows = []
    for record in records:
        row, now = Row(record.rank), 0.0
        for event in sorted(record.events, key=lambda e: e.wait_begin):
            if event.wait_end > now:
                row.add(COMPUTES, now, event.wait_begin)
                row.add(MOVES, max(now, event.wait_begin), event.wait_end, str(event))
                now = event.wait_end
        row.add(COMPUTES, now, record.end)
        rows.append(row)
    return rows


class Fixed:
    """A run with messages, or of ranks that call different collectives, on its own ranks."""

    def __init__(self, programs: Sequence[Program]) -> None:
        self.programs, self.size = programs, len(programs)
        posts = (one.event for program in programs for one in program if isinstance(one, Post))
        self.has_messages = any(event.is_message for event in posts)

    def rows(self, setting: Setting) -> list[Row]:
        """What its ranks do; at most `MOST_ROWS` of them, the last one included."""
        cluster = setting.cluster(self.size, self.size - 1)
        rows = retimed(replay(self.programs, cluster, setting.algorithm))
        rows[-1].slow = setting.slowness != 1
        return rows if len(rows) <= MOST_ROWS else [*rows[: MOST_ROWS - 1], rows[-1]]


class Carried:
    """A run of collectives alone, on any number of ranks."""

    def __init__(self, programs: Sequence[Program]) -> None:
        """
        Raises:
            ValueError: the ranks did not all call the same collectives, with all ranks as members.
        """
        self.size = len(programs)
        self._steps = [one for one in programs[0] if not isinstance(one, Compute)]
        calls = [
            [_call(one.event, self.size) for one in program if isinstance(one, Post)]
            for program in programs
        ]
        if any(other != calls[0] for other in calls) or None in calls[0]:
            raise ValueError("these ranks do not all call the same collectives of all ranks")
        #: seconds before each step, and after the last, by rank
        self._work = np.array([_work(program, self._steps) for program in programs]).T

    def seconds(self, sizes: Sequence[int], setting: Setting) -> list[float]:
        """When the last rank is done, for each of these numbers of ranks.

        `nan` where the algorithm cannot be run on so many.
        """
        return self._play(sizes, setting)

    def alone(self) -> float:
        """Seconds of rank 0 by itself, not slowed down: nothing is sent."""
        return float(self._work[:, 0].sum())

    def rows(self, setting: Setting) -> list[Row]:
        """What its ranks do: a row for each kind of rank, at most `MOST_ROWS`."""
        return self.timed([setting.ranks], setting)[1]

    def timed(self, sizes: Sequence[int], setting: Setting) -> tuple[list[float], list[Row]]:
        """`seconds` of all sizes, and `rows` of the chosen one, which must be one of these.

        There are no rows where the algorithm cannot be run on so many ranks.
        """
        here = sizes.index(setting.ranks)
        notes = _Notes(here)
        seconds = self._play(sizes, setting, notes)
        if math.isnan(seconds[here]):
            return seconds, []
        kinds = _Kinds([setting.ranks], self.size, setting.slowness)
        rows = [
            Row(
                rank=int(kinds.first[0, k]),
                like=int(kinds.count[0, k]),
                slow=k == self.size and setting.slowness != 1,
            )
            for k in range(self.size + 1)
        ]
        notes.tell(rows)
        there = [row for row in rows if row.like]
        if len(there) > MOST_ROWS:
            there = [*there[: MOST_ROWS - 1], there[-1]]
        return seconds, sorted(there, key=lambda row: (row.rank, row.slow))

    def _play(
        self, sizes: Sequence[int], setting: Setting, notes: _Notes | None = None
    ) -> list[float]:
        """When the last rank of each size is done."""
        kinds = _Kinds(sizes, self.size, setting.slowness)
        now, costs = np.zeros(kinds.base.shape), _Costs(sizes, setting)
        calls: list[Event] = []
        begins: list[np.ndarray] = []
        ends: list[np.ndarray] = []
        work = self._work[:, kinds.base] * kinds.slowness
        computes = self._work.any(axis=1).tolist()
        for number, step in enumerate([*self._steps, None]):
            if computes[number]:
                now = now + work[number]
                if notes:
                    notes.add(COMPUTES, now)
            if isinstance(step, Post):
                begins.append((now + kinds.absent).max(axis=1))
                ends.append(begins[-1] + costs(step.event))
                calls.append(step.event)
            elif isinstance(step, Wait):
                here, now, of = now, np.maximum(now, ends[step.number][:, None]), calls[step.number]
                if notes:
                    notes.add(WAITS, np.maximum(here, begins[step.number][:, None]), of)
                    notes.add(MOVES, now, of)
        done: list[float] = (now + kinds.absent).max(axis=1).tolist()
        return done


class _Notes:
    """What ranks of each kind do, one thing after the other, for one number of ranks.

    Args:
        place: the index of that number among all numbers for which the run is timed.
    """

    def __init__(self, place: int) -> None:
        self._place = place
        self._what: list[tuple[str, Event | None]] = []
        self._until: list[np.ndarray] = []

    def add(self, kind: str, until: np.ndarray, of: Event | None = None) -> None:
        """All ranks did this until these moments, by (number of ranks, kind of rank)."""
        self._what.append((kind, of))
        self._until.append(until[self._place])

    def tell(self, rows: Sequence[Row]) -> None:
        """Write the notes into rows, one for each kind of rank."""
        if not self._until:
            return
        moments = np.vstack([np.zeros(len(rows)), *self._until])
        lasted = np.diff(moments, axis=0)
        kinds = np.array([kind for kind, _ in self._what])
        for kind in (COMPUTES, WAITS, MOVES):
            totals = lasted[kinds == kind].sum(axis=0).tolist()
            for row, total in zip(rows, totals, strict=True):
                row.totals[kind] = total
        for place, row in enumerate(rows):
            row.end = float(moments[-1, place])
            for number in np.flatnonzero(lasted[:, place] > 0)[: MOST_SPANS + 1].tolist():
                kind, of = self._what[number]
                begin, end = moments[number : number + 2, place].tolist()
                row.spans.append(Span(kind, begin, end, str(of) if of else ""))


class _Kinds:
    """Kinds of ranks that compute alike: one for each recorded rank, and one for the slow rank.

    Attributes, all by (size, kind):
        base: the recorded rank that they compute like.
        count: how many ranks of that kind there are.
        first: the lowest number among them.
        absent: −inf if there are none, else 0; added where a maximum over ranks is taken.
    """

    def __init__(self, sizes: Sequence[int], recorded: int, slowness: float) -> None:
        sizes_ = np.array(sizes)[:, None]
        kinds = np.arange(recorded)[None, :]
        slow = np.minimum(sizes_, recorded) - 1
        apart = (kinds == slow) * (slowness != 1)  # the slow rank is of a kind of its own
        count = np.maximum(0, -(-(sizes_ - kinds) // recorded)) - apart
        self.count = np.hstack([count, np.full_like(slow, slowness != 1)])
        self.base = np.hstack([np.broadcast_to(kinds, count.shape), slow])
        self.first = self.base + recorded * np.hstack([apart, np.zeros_like(slow)])
        self.slowness = np.where(np.arange(recorded + 1) == recorded, slowness, 1.0)
        self.absent = np.where(self.count > 0, 0.0, -np.inf)


class _Costs:
    """How long each collective takes on each of these numbers of ranks."""

    def __init__(self, sizes: Sequence[int], setting: Setting) -> None:
        self._sizes, self._setting = sizes, setting
        self._known: dict[tuple[str, int, int | None], np.ndarray] = {}

    def __call__(self, event: Event) -> np.ndarray:
        key = (event.op, event.nbytes, event.peer)
        if key not in self._known:
            self._known[key] = np.array(
                [collective_seconds(*key, size, self._setting) for size in self._sizes]
            )
        return self._known[key]


def collective_seconds(
    op: str, n_bytes: int, root: int | None, size: int, setting: Setting
) -> float:
    """Seconds of one collective on `size` ranks; `nan` where its algorithm cannot be run on them.

    Args:
        root: the rank that gives or takes all; rank 0 if there are too few ranks for it.
    """
    members, cluster = tuple(range(size)), setting.cluster(size)
    try:
        return seconds_of(op, n_bytes, root, members, cluster, setting.algorithm)
    except ValueError:
        return float("nan")


def _work(program: Program, steps: Sequence[Post | Wait]) -> list[float]:
    """Seconds that a rank computes before each of `steps`, and after the last.

    Where torch waits for several operations at once, a rank may have waited at another place among
    its calls than the rank that `steps` are of. Then all that it computed between two calls counts
    as before the second one.
    """
    own = [one for one in program if not isinstance(one, Compute)]
    alike = [_place(one) for one in own] == [_place(one) for one in steps]
    found = [0.0]
    for one in program:
        if isinstance(one, Compute):
            found[-1] += one.seconds
        elif alike or isinstance(one, Post):
            found.append(0.0)
    if alike:
        return found
    before = iter(found)
    return [*(next(before) if isinstance(one, Post) else 0.0 for one in steps), next(before)]


def _place(one: Post | Wait) -> int:
    """−1 for a call, the number of the operation for a wait."""
    return one.number if isinstance(one, Wait) else -1


def _call(event: Event, size: int) -> tuple[object, ...] | None:
    """What must be equal on all ranks; `None` for a message, or a collective of some ranks only."""
    if event.is_message or len(set(event.group)) not in (0, size):
        return None
    return event.op, event.nbytes, event.peer, event.group_index
