"""Judge all exercises of one notebook, whose code runs in a session.

The same `Grader` serves `distlab check` (visible cases), the grader (hidden ones too) and the
recording of references for students' own inputs: what differs is the cases and what they are
compared with.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import itertools
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from distlab.checking import problems, submission
from distlab.checking.lanes import CellsDoubtful, Lanes
from distlab.checking.room import is_fatal
from distlab.checking.session import NotBegun, RoomLost, Session, SessionLost, Source
from distlab.engines.outcomes import Run
from distlab.exercises.exercise import Case, Exercise
from distlab.exercises.judge import Judging
from distlab.exercises.sources import Sources
from distlab.exercises.verdict import Verdict
from distlab.notebook import Cell
from distlab.processes import disk_room, loopback
from distlab.processes.isolation import Limits
from distlab.processes.stopped import Stopwatch
from distlab.processes.zygote import ZygoteLost
from distlab.records.choices import Schedule

CELL_LIMIT = 10.0  # seconds that a cell may take
TRIES = 2  # of cells whose room or sandbox was lost while nothing else was judged
TURN = 10.0  # seconds after which exercises that share a room make way for other submissions
#: what may have been the fault of the machine or of a neighbour is judged once more before it costs
#: points
_DOUBTFUL = ("timeout", "crashed", "tampered")
_OF_THE_MACHINE = ("error", "timeout", "crashed")
#: errors that say something is used up that the kernel may count for several submissions together
_USED_UP = tuple(
    f"[Errno {number}]"
    for number in (
        errno.EAGAIN, errno.ENOMEM, errno.ENFILE, errno.ENOSPC, errno.ENOBUFS, errno.ETOOMANYREFS
    )
)  # fmt: skip


class Code(Protocol):
    """Where a submission's code runs: a `Session`, or what stands for one.

    Attributes:
        reuses: ranks keep their connections from run to run, until their room ends.
    """

    reuses: bool

    def cells(
        self, cells: Sequence[Cell], limit: float, answers: Iterable[str] = ()
    ) -> dict[str, dict[str, Any]]: ...
    def run(
        self, exercise: str, inputs: Sequence[bytes], deadline: float,
        schedule: Schedule | None = None,
    ) -> Run: ...  # fmt: skip
    def end_room(self) -> None: ...
    def close(self) -> None: ...
    def __enter__(self) -> Code: ...
    def __exit__(self, *exc: object) -> None: ...


class Turns(Protocol):
    """Who may use the machine while several submissions are judged; gives context managers."""

    def shared(self) -> contextlib.AbstractContextManager[None]: ...  # beside others
    def alone(self) -> contextlib.AbstractContextManager[None]: ...  # while no other does


class AlwaysFree:
    """The turns of whoever judges one notebook and nothing beside it: each of them is alone."""

    shared = alone = contextlib.nullcontext


_ALWAYS = AlwaysFree()


@dataclasses.dataclass(frozen=True)
class Lab:
    """What notebooks of a lab are judged by.

    Args:
        notebook: the released notebook, parsed.
        exercises: what to judge, by name.
        cases: the cases of an exercise.
        reference: the expected outputs of a case, by rank.
    """

    notebook: dict[str, Any]
    exercises: Mapping[str, Exercise]
    cases: Callable[[Exercise], Iterable[Case]]
    reference: Callable[[Exercise, Case], list[Any]]

    def plan(self, rebuilt: dict[str, Any]) -> submission.Plan:
        """What of a rebuilt notebook is run."""
        return submission.plan(self.notebook, rebuilt, self.exercises)


class Grader:
    """Grades notebooks of one lab.

    Attributes:
        together: sessions have rooms, in which exercises can be judged one after the other.

    Args:
        limits: what each submission may use; `None` for code that is trusted.
        walls: submissions share the zygote's sandbox, with walls between them.
        devices: the GPUs that the ranks may use, as `CUDA_VISIBLE_DEVICES` names them.
        user, admit: of each `Session`.
    """

    together = True

    def __init__(
        self,
        lab: Lab,
        limits: Limits | None = None,
        walls: bool = False,
        devices: str | None = None,
        user: int | None = None,
        admit: Callable[[int], None] | None = None,
    ) -> None:
        self._lab = lab
        self._limits, self._walls, self._devices = self._enough(limits), walls, devices
        self._user, self._admit = user, admit
        most = (limits or Limits()).seconds
        self.seconds = max(most, sum(exercise.deadline for exercise in lab.exercises.values()))

    def _enough(self, limits: Limits | None) -> Limits | None:
        """The limits, with room for the processes that the runtimes of exercises start."""
        if limits is None:
            return None
        most = max((exercise.processes for exercise in self._lab.exercises.values()), default=0)
        return dataclasses.replace(limits, processes=max(limits.processes, most))

    def plan(self, rebuilt: dict[str, Any]) -> submission.Plan:
        """What of a rebuilt notebook is run."""
        return self._lab.plan(rebuilt)

    def grade(
        self, plan: submission.Plan, source: Source, turns: Turns = _ALWAYS, lone: bool = False,
        lanes: Lanes | None = None, once: bool = False,
    ) -> list[Verdict]:  # fmt: skip
        """The verdicts on a submission, in the order of the exercises; its code is run in sessions
        forked from `source`.

        Args:
            lone: nobody else uses `source`: whatever ends it was this submission.
            lanes: this is one lane of several, which judge other parts of the submission meanwhile.
            once: what may have been the machine's fault is not judged a second time.

        Raises:
            CellsDoubtful: in a lane, the cells are to be run again while nothing else is judged.
            LaneEnded: another lane has raised something.
            NoRoom: trusted code has failed, and the machine's disk is full.
            Down: trusted code has failed, and the machine does not reach itself.
            SessionLost, ZygoteLost: the sandbox was lost, perhaps to another submission; with
                `lone`, it could not be started.
        """
        if all(cell.kind == "given" for cell in plan.cells):
            return [self.unanswered(exercise) for exercise in self.exercises]
        with _Sitting(self, plan, source, turns, lone, lanes, once) as sitting:
            sitting.judge_together()
            # what is judged now has visible cases and hidden ones
            with lanes.alone() if lanes else contextlib.nullcontext():
                found = [sitting.verdict(exercise) for exercise in self.exercises]
        if self._limits is None and any(one.status in _OF_THE_MACHINE for one in found):
            # what has limits has a disk and a network of its own
            disk_room.need(Path(tempfile.gettempdir()))
            loopback.need()
        return found

    def session(self, source: Source) -> Code:
        return Session(source, self._limits, self._walls, self._devices, self._user, self._admit)

    def judged(self, exercise: Exercise, session: Code, plan: submission.Plan) -> Verdict:
        """The verdict on one exercise, in a room of its own.

        Raises:
            SessionLost, ZygoteLost.
        """
        cases = self.cases(exercise)
        try:
            return self.judging(exercise, len(cases), session, plan).judged(cases)
        except RoomLost:
            return problems.cell_verdict(exercise, problems.taken_along())
        finally:
            session.end_room()

    @property
    def exercises(self) -> list[Exercise]:
        return list(self._lab.exercises.values())

    def cases(self, exercise: Exercise) -> list[Case]:
        return list(self._lab.cases(exercise))

    def judging(
        self, exercise: Exercise, total: int, session: Code, plan: submission.Plan
    ) -> Judging:
        """What judges an exercise of `total` cases, in whatever room the session has then."""

        def run(
            exercise: Exercise,
            case: Case,
            inputs: list[bytes],
            left: float,
            schedule: Schedule | None = None,
        ) -> Run:
            return session.run(exercise.id, inputs, left, schedule)

        return Judging(exercise, total, self._lab.reference, run, plan.sources)

    @staticmethod
    def unanswered(exercise: Exercise, sources: Sources | None = None) -> Verdict:
        """The verdict where no cell defines what is asked for."""
        others = sources.defined_in(exercise.name) if sources else []
        said = f"{exercise.name} is still to be written."
        if others and exercise.name not in others:
            said = f"No cell defines {exercise.name}; the cell for it defines {others[-1][:80]}. "
            said += "The function has to keep its name."
        return Verdict(exercise, "unanswered", exercise.asks, said)


@dataclasses.dataclass(frozen=True)
class _First:
    """The verdict on an exercise that was judged in a room which others of its notebook shared.

    Args:
        own: it counts as if the exercise had had the room to itself: it passed, or nothing else had
            run there before.
    """

    verdict: Verdict
    own: bool


@dataclasses.dataclass(frozen=True)
class _Step:
    """An exercise whose visible, or hidden, cases are run in a shared room."""

    exercise: Exercise
    hidden: bool


@dataclasses.dataclass
class _Go:
    """An exercise that is judged in shared rooms, and its verdict so far."""

    judging: Judging
    cases: list[Case]
    verdict: Verdict


class _Sitting:
    """The judging of one submission, exercise by exercise. A context manager."""

    def __init__(
        self, grader: Grader, plan: submission.Plan, source: Source, turns: Turns, lone: bool,
        lanes: Lanes | None, once: bool,
    ) -> None:  # fmt: skip
        self._grader, self._plan, self._source = grader, plan, source
        self._turns, self._lone, self._lanes, self._once = turns, lone, lanes, once
        self._session: Code | None = None
        self._problems: dict[str, dict[str, Any]] = {}
        self._first: dict[str, _First] = {}
        self._took: dict[str, float] = {}  # seconds, by exercise; those of the cells by ""

    def __enter__(self) -> _Sitting:
        try:
            self._begin()
        except BaseException:  # then nobody else closes it
            self.__exit__()
            raise
        return self

    def _begin(self) -> None:
        """Have the cells run in a session, a second time where the first was in doubt.

        Raises:
            CellsDoubtful: in a lane, which leaves that to who has started the lanes.
        """
        with self._clocked(self._turns.shared()):
            self._open()
            doubtful = self._ask_cells()
        if doubtful and self._lanes:  # each lane would do it, one after the other
            raise CellsDoubtful
        if doubtful and self._turns is not _ALWAYS and not self._once:
            with self._clocked(self._turns.alone()):
                self._ask_cells()

    def __exit__(self, *exc: object) -> None:
        if self._session is not None:
            self._session.close()

    @contextlib.contextmanager
    def _clocked(
        self, turn: contextlib.AbstractContextManager[None], name: str = ""
    ) -> Iterator[None]:
        with turn:
            watch = Stopwatch()  # time in which the grader itself is stopped is nobody's
            try:
                yield
            finally:
                self._took[name] = self._took.get(name, 0.0) + watch.seconds()

    def _is_late(self, exercise: Exercise) -> bool:
        """Have the cells and the exercises before this one used up the time of the submission?
        Later exercises do not count, though some of their cases have been run already: judged one
        after the other, this one would have had its turn.
        """
        names = [one.name for one in self._grader.exercises]
        before = ["", *names[: names.index(exercise.name)]]
        return sum(self._took.get(name, 0.0) for name in before) > self._grader.seconds

    def _open(self) -> Code:
        self._session = self._grader.session(self._source)
        return self._session

    def _ask_cells(self) -> bool:
        """Have the cells run. True where something went wrong that may be the machine's fault."""
        plan = self._plan
        for _ in range(TRIES if self._turns is _ALWAYS else 1):  # else the caller tries again
            session = self._session or self._open()
            try:
                self._problems = session.cells(plan.cells, CELL_LIMIT, plan.answered)
                break
            except RoomLost:
                self._problems = dict.fromkeys(plan.answered, problems.taken_along())
            except NotBegun:  # whatever is used up here, it was not by this submission
                raise
            except (SessionLost, ZygoteLost):
                self._lose()
                self._problems = dict.fromkeys(plan.answered, problems.taken_along())
        return any(problem["status"] in _DOUBTFUL for problem in self._problems.values())

    def _lose(self) -> None:
        """In an `except` block: give the session up, and go on with another.

        Raises:
            SessionLost, ZygoteLost: others use the sandbox as well, and may have ended it.
        """
        if not self._lone:
            raise
        self.__exit__()
        self._session = None

    def judge_together(self) -> None:
        """Judge exercises one after the other in shared rooms, on ranks that are kept: starting new
        ranks for each exercise would take longer than all the rest.

        What passes there has passed. What does not is judged again where nothing else has run, so
        that what one exercise leaves behind in the ranks costs no other a point. The visible cases
        of all exercises come before the hidden ones of any: nothing that ranks have seen of a
        hidden input reaches a run that is told in full.
        """
        # with a sandbox of its own, only rooms of their own would tell which exercise has lost it
        together = self._grader.together and not self._lone
        found = [
            exercise
            for exercise in (self._grader.exercises if together else ())
            if exercise.shares_ranks
            and self._is_judged(exercise)
            and _comes_again(self._grader.cases(exercise))
        ]
        # exercises share a room only where what their ranks send is measured in the same way
        alike = itertools.groupby(sorted(found, key=_measured), _measured)
        kinds = [some for _, some in ((kind, list(of)) for kind, of in alike) if len(some) > 1]
        goes = {e.name: self._go(e) for some in kinds for e in some}
        visible = [_Step(e, hidden=False) for some in kinds for e in some]
        # the last room goes on with hidden cases of its kind
        hidden = [_Step(e, hidden=True) for some in reversed(kinds) for e in some]
        for waiting in [visible, hidden] if self._lanes else [visible + hidden]:
            while waiting:
                # a turn lasts until the room has ended: what an answer has left running there
                # would go on beside somebody who was promised the machine alone
                with self._turns.shared():
                    self._fill_room(waiting, goes)
            if self._lanes:
                self._lanes.meet()
        self._first |= {name: _First(go.verdict, own=True) for name, go in goes.items()}

    def _go(self, exercise: Exercise) -> _Go:
        session, cases = self._session, self._grader.cases(exercise)
        assert session is not None  # it is lost with the sandbox alone
        judging = self._grader.judging(exercise, len(cases), session, self._plan)
        return _Go(judging, cases, Verdict(exercise, "passed"))

    def _fill_room(self, waiting: list[_Step], goes: dict[str, _Go]) -> None:
        """Judge exercises of one kind in a new room until one fails, or its turn has lasted long
        enough. Those that do not pass, or that there is no time for, are not gone on with.

        An exercise that fails a visible case after others have run in the room is judged again by
        itself, and that failure is told. This comes before any hidden case is run, because how long
        those take must not show in it. The first exercise in a room has new connections in each
        run: how it fails is final.
        """
        assert self._session is not None
        alone, begin, kind = True, time.monotonic(), _measured(waiting[0].exercise)
        while waiting and (alone or time.monotonic() - begin < TURN):
            exercise, hidden = waiting[0].exercise, waiting[0].hidden
            if _measured(exercise) != kind:
                break
            step = waiting.pop(0)
            if exercise.name in goes and self._is_late(exercise):
                del goes[exercise.name]
            if exercise.name not in goes:
                continue
            go = goes[exercise.name]
            cases = [case for case in go.cases if case.hidden is hidden]
            if not cases:  # nothing runs: the next exercise may still be the first in the room
                continue
            with self._clocked(contextlib.nullcontext(), exercise.name):
                go.verdict = self._beside(go.judging, cases)
            if go.verdict.status != "passed":
                del goes[exercise.name]
                quiet = _tried_alone(go.verdict) and self._turns is not _ALWAYS
                if hidden or alone or quiet:
                    self._first[exercise.name] = _First(go.verdict, own=alone)
                else:
                    goes[exercise.name] = self._go(exercise)
                    waiting.insert(0, step)
                break
            alone, self._session.reuses = False, True
        self._session.end_room()

    @staticmethod
    def _beside(judging: Judging, cases: list[Case]) -> Verdict:
        try:
            return judging.judged(cases)
        except RoomLost:
            return problems.cell_verdict(judging.exercise, problems.taken_along())

    def _is_judged(self, exercise: Exercise) -> bool:
        """Is there an answer that can be run?"""
        problem = self._problems.get(exercise.name)
        return exercise.name in self._plan.answered and not is_fatal(problem)

    def verdict(self, exercise: Exercise) -> Verdict:
        problem = self._problems.get(exercise.name)
        answered = exercise.name in self._plan.answered
        if problem and not self._is_judged(exercise):
            return problems.cell_verdict(exercise, problem)
        if not answered:
            return self._grader.unanswered(exercise, self._plan.sources)
        # alone, only what was lost is judged again: a second try shows whether the answer ended its
        # room or its sandbox, or memory was short, or the machine too slow
        alone = self._turns is _ALWAYS
        first, late = self._first.get(exercise.name), self._is_late(exercise)
        if first is not None and (first.own or (_tried_alone(first.verdict) and not alone)):
            verdict = first.verdict
            if late:
                return verdict
        elif late:
            return problems.cell_verdict(exercise, problems.out_of_time(self._grader.seconds))
        else:
            with self._clocked(self._turns.shared(), exercise.name):
                verdict = self._judged(exercise)
        if _doubtful(verdict) and not (self._once or (alone and not _is_lost(verdict))):
            again = self._turns.alone() if _tried_alone(verdict) else self._turns.shared()
            with self._clocked(again, exercise.name):
                verdict = self._judged(exercise)
        if problem and verdict.status == "unanswered":
            verdict = problems.cell_verdict(exercise, problem)
        return verdict

    def _judged(self, exercise: Exercise) -> Verdict:
        """The verdict on an exercise in its own room; in a new session where the last was lost."""
        if (session := self._session) is None:
            session = self._open()  # that it does not begin is not this submission's fault
            self._ask_cells()
            if not self._is_judged(exercise):
                return problems.cell_verdict(exercise, self._problems[exercise.name])
        try:
            return self._grader.judged(exercise, self._session or session, self._plan)
        except (SessionLost, ZygoteLost):
            self._lose()
            return problems.cell_verdict(exercise, problems.taken_along())


def _measured(exercise: Exercise) -> tuple[bool, bool]:
    """How what its ranks send is measured: the same for all exercises that share a room."""
    return not exercise.measured, exercise.unrecorded


def _comes_again(cases: Sequence[Case]) -> bool:
    """Do the hidden cases call the function twice on some number of ranks above 1? Only there does
    it show what a function wrongly keeps from one call to the next, groups above all.
    """
    sizes = [case.size for case in cases if case.hidden]
    return not sizes or any(sizes.count(size) > 1 for size in sizes if size > 1)


def _doubtful(verdict: Verdict) -> bool:
    if verdict.status == "error" and verdict.run is not None:
        errors = [outcome.error for outcome in verdict.run.outcomes if outcome.error]
        return any(sign in error["message"] for error in errors for sign in _USED_UP)
    return verdict.status in _DOUBTFUL


def _tried_alone(verdict: Verdict) -> bool:
    """Is it judged once more while nothing else is? One such try is as good as two others."""
    return _doubtful(verdict) and verdict.status != "crashed"


def _is_lost(verdict: Verdict) -> bool:
    """Is there no run to tell of, because its room was gone?"""
    return verdict.status == "crashed" and verdict.run is None
