"""Run a program under every schedule that can make a difference.

Each run is examined: wherever a receive from any source could have taken another message, or
`is_completed` could have given the other answer, the same run up to that point with that other
choice is another schedule. Two schedules differ if some receive gets another message. Those that
differ only in the order of independent messages are one, and no schedule is run twice
(Vakkalanka, Gopalakrishnan and Kirby, "Dynamic Verification of MPI Programs with Reductions in
Presence of Split Operations and Relaxed Orderings", 2008; Vo and others, 2010).

Why none is missed. Take any schedule that exists, and of the runs so far the one that agrees with
it longest; of the choices in which the two part, take one that depends on no other such choice. The
message that the schedule takes there was sent in that run as well, so it is among the alternatives
of this choice, and the run that forces it keeps all choices that do not come after this one: among
them all those on which the two agree.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from distlab.engines.outcomes import Run
from distlab.records.causality import Choice, choices, has_choices
from distlab.records.choices import POLL, SOURCE, Key, Schedule
from distlab.records.events import BUFFERED, Event

IMPOSSIBLE = "impossible"  # the finding on a run whose schedule cannot be
NO_CHOICE = "no other schedule exists: the program takes no message from anybody and polls nothing"


@dataclass
class Explored:
    """A schedule that was run: its choices, and the run."""

    schedule: Schedule
    run: Run
    choices: list[Choice] = field(default_factory=list, repr=False)

    @property
    def name(self) -> str:
        return self.schedule.name

    def event(self, key: Key) -> Event | None:
        """The operation in which a choice fell."""
        return next((c.event for c in self.choices if c.key == key), None)


@dataclass
class Exploration:
    """The schedules of a program that were run, the first one as it came.

    Attributes:
        left: schedules that are known to exist and were not run because the budget was used up.
        undecided: schedules that could not be run to an end, for reasons outside the records.
        why: why no further schedules could be found, if so.
        seconds: what the runs took.
    """

    explored: list[Explored] = field(default_factory=list)
    left: int = 0
    undecided: int = 0
    why: str = ""
    seconds: float = 0.0

    @property
    def complete(self) -> bool:
        """Were all schedules run that there are?"""
        return not (self.left or self.undecided or self.why)

    def coverage(self) -> str:
        """What was covered, in a sentence."""
        count = len(self.explored)
        if self.complete and count == 1 and not self.explored[0].choices:
            return f"One run is proof for all: {NO_CHOICE}."
        ran = "1 schedule was run" if count == 1 else f"{count} schedules were run"
        if self.complete:
            every = "the only one there is" if count == 1 else "all there are"
            return f"{ran}: {every}."
        reasons = [self.why] * bool(self.why)
        if self.left:
            reasons.append(f"at least {self.left} more exist, for which there was no time")
        if self.undecided:
            reasons.append(f"{self.undecided} more could not be run to an end")
        return f"{ran}; {' and '.join(reasons)}."


class Explorer:
    """Runs schedule after schedule.

    Args:
        run: runs the program under a schedule; choices that it does not name are free.
        most: schedules to run, the first one included.
        seconds: after which no other run is begun.
        buffered: explore also what can happen only where sends are buffered.
    """

    def __init__(
        self, run: Callable[[Schedule], Run], most: int = 500, seconds: float = 30.0,
        buffered: bool = True,
    ) -> None:  # fmt: skip
        self._run, self._most, self._seconds, self._buffered = run, most, seconds, buffered
        self._known: list[dict[Key, int]] = []
        self._tried: set[tuple[frozenset[tuple[Key, int]], bool]] = set()
        self._ahead: deque[Schedule] = deque()

    def explore(self, first: Run) -> Exploration:
        """All schedules of the program that `first` is a run of."""
        found = Exploration()
        begin = time.monotonic()
        self._take(found, first, Schedule())
        while self._ahead and not found.why:
            schedule = self._ahead.popleft()
            if self._covered(schedule):
                continue
            late = time.monotonic() - begin > self._seconds
            if late or len(found.explored) + found.undecided >= self._most:
                found.left = 1 + sum(not self._covered(other) for other in self._ahead)
                break
            run = self._run(schedule)
            if run.finding is not None and run.finding.kind == IMPOSSIBLE:
                continue
            if run.timed_out or any(record.gave_up() for record in run.records):
                found.undecided += 1
            else:
                self._take(found, run, schedule)
        found.seconds = time.monotonic() - begin
        return found

    def _take(self, found: Exploration, run: Run, schedule: Schedule) -> None:
        some = choices(run.records, run.causes)
        if isinstance(some, str):
            if not found.explored:
                found.explored.append(Explored(schedule, run))
            found.why = some if has_choices(run.records) else ""
            return
        values = {choice.key: choice.value for choice in some}
        if not all(_followed(values, key, run) for key in schedule.values.items()):
            found.undecided += 1  # the program did something else this time
            return
        if values in self._known:
            return
        self._known.append(values)
        buffered = schedule.buffered or _is_buffered(run)
        found.explored.append(Explored(Schedule(values, buffered), run, some))
        for choice in some:
            kept = {
                other.key: other.value
                for other in some
                if other is not choice and other.key not in choice.after
            }
            for value, needs_buffer in choice.alternatives.items():
                if not needs_buffer or self._buffered:
                    other = Schedule({**kept, choice.key: value}, buffered or needs_buffer)
                    self._ahead.append(other)

    def _covered(self, schedule: Schedule) -> bool:
        """Has some run made all these choices, or was this schedule tried before?"""
        wanted = schedule.values.items()
        tried = (frozenset(wanted), schedule.buffered)
        if tried in self._tried:
            return True
        self._tried.add(tried)
        return any(wanted <= known.items() for known in self._known)


def _followed(values: dict[Key, int], wanted: tuple[Key, int], run: Run) -> bool:
    """Did a choice go the way that the schedule wanted, if the run came to it?"""
    key, value = wanted
    if key not in values:  # ended before
        return run.finding is not None or not run.ok
    # a program that stops polling before that call never sees it true
    return values[key] == value or (key.kind == POLL and values[key] == 0)


def _is_buffered(run: Run) -> bool:
    return any(e.flags & BUFFERED for record in run.records for e in record.events)


def parting(wrong: Explored, right: Explored) -> Key | None:
    """The first choice, in the order of the wrong run, in which two schedules part."""
    for choice in wrong.choices:
        if right.schedule.values.get(choice.key, choice.value) != choice.value:
            return choice.key
    return None


def nearest(wrong: Explored, right: list[Explored]) -> Explored | None:
    """The right schedule that agrees longest with a wrong one."""

    def agreed(other: Explored) -> int:
        key = parting(wrong, other)
        keys = [choice.key for choice in wrong.choices]
        return keys.index(key) if key in keys else len(keys)

    return max(right, key=agreed, default=None)


def told(wrong: Explored, right: Explored) -> str:
    """How two schedules part: "rank 0's recv(src=any) at f:3 takes …, not …"."""
    key = parting(wrong, right)
    if key is None:
        return "sends return before they are received" if wrong.schedule.buffered else ""
    mine, other = wrong.event(key), right.event(key)
    assert mine is not None and other is not None  # both runs have come to this choice
    if key.kind == SOURCE:
        return (
            f"rank {key.rank}'s {mine.api}(src=any) at {mine.place} takes the message of rank "
            f"{mine.peer} before that of rank {other.peer}"
        )
    number = wrong.schedule.values[key]
    when = f"at call {number}" if number else "at no call before its wait"
    return (
        f"is_completed() of rank {key.rank}'s {mine.api or mine.op} at {mine.place} is true {when}"
    )
