"""Judges in sandboxes of this machine."""

from __future__ import annotations

import concurrent.futures
import contextlib
import dataclasses
import functools
import socket
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from distlab import course
from distlab.checking.judge_notebook import Grader, Lab
from distlab.checking.lanes import CellsDoubtful, LaneEnded, Lanes
from distlab.checking.session import SessionLost, Source
from distlab.checking.submission import Plan
from distlab.exercises.verdict import Verdict
from distlab.processes import frameworks
from distlab.processes.isolation import Limits
from distlab.processes.zygote import TRAINS, Forked, Zygote, ZygoteLost
from grader import coursedir
from grader.coursedir import NotGraded
from grader.judging.ledger import Line, line
from grader.judging.lending import Devices, Turns, Users, devices, ranks
from grader.sandbox import WITHOUT_TRAINING, Grading, Sandbox, cgroup
from grader.sandbox.ahead import Ahead, tried
from grader.variants import references
from grader.variants.variant import Variant, variant

HOLD = 30.0  # seconds, at most, for which a zygote imports nothing while a submission is judged


class LocalJudges:
    """Judges in sandboxes of this machine, `slots` at once.

    Args:
        ahead: the sandbox of these settings, if it is being tried out already.
    """

    def __init__(self, settings: Grading, slots: int = 1, ahead: Ahead | None = None) -> None:
        self.slots = slots
        self._settings, self._ahead = settings, ahead
        self.sandbox: Sandbox | None = None
        self._zygotes: dict[tuple[str, ...], Zygote] = {}  # shared ones, by their extra modules
        self._started: list[Zygote] = []  # these, and those of single submissions
        self._closed = False
        self._lock = threading.RLock()
        self._devices = Devices({"here": devices()})
        self._turns = Turns()
        self._users = Users(None)
        self._groups: cgroup.Groups | None = None

    def ready(self) -> Sandbox:
        """The sandbox, tried out when this is called first.

        Raises:
            NoSandbox: none works.
        """
        with self._lock:
            if self.sandbox is None:
                sandbox, self._groups = (
                    self._ahead.tried() if self._ahead else tried(self._settings)
                )
                self._users = Users(sandbox.users)
                self.sandbox = sandbox
            return self.sandbox

    def expect(self, lab: str) -> None:
        """Begin to import what submissions of this lab need: it takes seconds."""
        sandbox = self.ready()
        if sandbox.shared:
            with contextlib.suppress(OSError, ZygoteLost):  # said when a submission is judged
                self._shared(sandbox, frameworks.preload(course.needs(lab)))

    def beside(self) -> contextlib.AbstractContextManager[None]:
        """Other work on this machine: not while a submission is judged alone."""
        return self._turns.shared()

    def lines(self, lab: str, plan: Plan, whose: str | None = None, lanes: int = 1) -> list[Line]:
        with self._devices.lent("here", ranks(lab)) as lent:
            return self.lines_on(lab, plan, lent, whose, 1 if lent else lanes)

    def lines_on(
        self, lab: str, plan: Plan, devices: Sequence[str], whose: str | None = None,
        lanes: int = 1,
    ) -> list[Line]:  # fmt: skip
        """The verdicts on a submission, its ranks on these devices.

        Args:
            lanes: how many exercises are judged at once, as if they were of several submissions.

        Raises:
            NotGraded: not even in a sandbox of its own.
        """
        own, asked = _asked(lab, whose)
        return [line(one) for one in self._verdicts(lab, asked, own, plan, devices, lanes)]

    def again(self, lab: str, plan: Plan, exercise: str, whose: str | None = None) -> Verdict:
        """The verdict on one exercise of a submission, with what its ranks did.

        Raises:
            NotGraded: it could not be judged.
        """
        own, asked = _asked(lab, whose, [exercise])
        with self._devices.lent("here", ranks(lab)) as lent:
            (found,) = self._verdicts(lab, asked, own, plan, lent)
        return found

    def _verdicts(
        self, lab: str, asked: Lab, own: Variant | None, plan: Plan, devices: Sequence[str],
        lanes: int = 1,
    ) -> list[Verdict]:  # fmt: skip
        sandbox, more = self.ready(), frameworks.preload(course.needs(lab))
        if own:
            with self._admitted(asked, devices) as grader:
                self._need(own, [name for name in plan.answered if name in asked.exercises], grader)
        if sandbox.shared:
            # if the sandbox ends, the submission is judged in one of its own: another one may
            # have ended the sandbox that they shared
            with contextlib.suppress(SessionLost, ZygoteLost):
                shared = self._shared(sandbox, more)
                waits = shared.complete or course.trains(lab) or _trains(plan)
                if lanes > 1 and not waits:
                    return self._soon(asked, plan, shared, devices, lanes)
                return self._beside(asked, plan, shared, devices, lanes)
        with self._admitted(asked, devices) as grader, self._lone(sandbox, more) as lone:
            return grader.grade(plan, lone, lone=True)

    def _soon(
        self, asked: Lab, plan: Plan, shared: Zygote, devices: Sequence[str], lanes: int
    ) -> list[Verdict]:
        """The verdicts on a submission that need not wait until the zygote has imported everything.
        What its ranks return is believed; an exercise that ends otherwise is judged again, with
        everything imported.
        """
        try:
            found = self._beside(asked, plan, _Early(shared), devices, lanes, once=True)
        except CellsDoubtful:
            return self._beside(asked, plan, shared, devices, 1)
        doubtful = {
            one.exercise.name: one.exercise
            for one in found
            if one.status not in ("passed", "wrong", "unanswered")
        }
        if not doubtful:
            return found
        again = dataclasses.replace(asked, exercises=doubtful)
        second = {
            one.exercise.name: one for one in self._beside(again, plan, shared, devices, lanes)
        }
        return [second.get(one.exercise.name, one) for one in found]

    def _beside(
        self, asked: Lab, plan: Plan, shared: Source, devices: Sequence[str], lanes: int,
        once: bool = False,
    ) -> list[Verdict]:  # fmt: skip
        """The verdicts on a submission, in a sandbox that others use as well.

        Args:
            once: nothing is judged a second time: whoever asks will.

        Raises:
            CellsDoubtful: with `once`, in lanes.
            SessionLost, ZygoteLost.
        """
        # without walls the cells of one lane could be in the way of another's
        parts = _parts(asked, plan, lanes if self.ready().walls else 1)
        if len(parts) > 1:
            seconds = self._grader(asked, devices).seconds
            try:
                found = self._in_lanes(parts, plan, shared, devices, seconds, once)
                return [found[name] for name in asked.exercises]
            except CellsDoubtful:
                if once:
                    raise
        with self._admitted(asked, devices) as grader:
            return grader.grade(plan, shared, self._turns, once=once)

    def _in_lanes(
        self, parts: Sequence[Lab], plan: Plan, shared: Source, devices: Sequence[str],
        seconds: float, once: bool,
    ) -> dict[str, Verdict]:  # fmt: skip
        """The verdicts, by exercise, on a submission that is judged as if it were several, each
        with a part of the exercises. Its cells run in each of them.

        Args:
            seconds: that each may take.

        Raises:
            CellsDoubtful: its cells are to be run again, alone.
            SessionLost, ZygoteLost.
        """
        lanes = Lanes(len(parts))

        def judged(part: Lab) -> list[Verdict]:
            try:
                with self._admitted(part, devices) as grader:
                    grader.seconds = seconds
                    return grader.grade(plan, shared, self._turns, lanes=lanes, once=once)
            except BaseException:
                lanes.end()
                raise

        with concurrent.futures.ThreadPoolExecutor(len(parts)) as pool:
            found = [pool.submit(judged, part) for part in parts]
        # first the lane that failed by itself: the others have only been told to end
        found.sort(key=lambda lane: isinstance(lane.exception(), LaneEnded))
        return {verdict.exercise.name: verdict for lane in found for verdict in lane.result()}

    def prepare(self, lab: str, student: str) -> None:
        """Have the references of a student's own inputs of a lab.

        Raises:
            NotGraded: they cannot be made.
        """
        own = variant(lab, student)
        with (
            self._devices.lent("here", ranks(lab)) as lent,
            self._admitted(references.lab(own), lent) as grader,
        ):
            self._need(own, course.exercises(lab), grader)

    def _need(self, own: Variant, names: Collection[str], grader: Grader) -> None:
        sandbox, more = self.ready(), frameworks.preload(course.needs(own.lab))
        if sandbox.shared:
            with contextlib.suppress(SessionLost, ZygoteLost):
                references.need(own, names, grader, self._shared(sandbox, more), self._turns)
                return
        if references.missing(own, names):
            with self._lone(sandbox, more) as source:
                references.need(own, names, grader, source)

    @contextlib.contextmanager
    def _admitted(self, asked: Lab, devices: Sequence[str]) -> Iterator[Grader]:
        """What judges a submission, as a user and in a control group of its own."""
        limits = self.ready().limits
        with self._users.lent() as user, self._grouped(limits) as admit:
            yield self._grader(asked, devices, user, admit)

    def _grader(
        self, asked: Lab, devices: Sequence[str], user: int | None = None,
        admit: Callable[[int], None] | None = None,
    ) -> Grader:  # fmt: skip
        sandbox = self.ready()
        visible = ",".join(devices) or None
        return Grader(asked, sandbox.limits, sandbox.walls, visible, user, admit)

    @contextlib.contextmanager
    def _lone(self, sandbox: Sandbox, more: tuple[str, ...]) -> Iterator[_Own]:
        """A sandbox that nobody else uses.

        Raises:
            NotGraded: it was lost.
        """
        turn = self._turns.alone() if sandbox.shared else contextlib.nullcontext()
        start = functools.partial(self._zygote, sandbox, more)
        try:
            with turn, contextlib.closing(_Own(start)) as own:
                yield own
        except (SessionLost, ZygoteLost) as error:
            raise NotGraded(
                f"its sandbox did not start ({error}): look whether memory or disk are "
                "full, then grade it again"
            ) from error

    @contextlib.contextmanager
    def _grouped(self, limits: Limits | None) -> Iterator[Callable[[int], None] | None]:
        """Puts a process into a new control group, as long as this lasts; `None` where there can be
        no groups.
        """
        if self._groups is None or limits is None:
            yield None
            return
        with self._groups.made(limits) as group:
            yield group.add

    def _shared(self, sandbox: Sandbox, more: tuple[str, ...]) -> Zygote:
        """The zygote in the sandbox that all submissions of such labs are judged in."""
        with self._lock:
            shared = self._zygotes.get(more)
            if shared is None or not shared.alive:
                shared = self._zygotes[more] = self._zygote(sandbox, more)
        return shared

    def _zygote(self, sandbox: Sandbox, more: tuple[str, ...]) -> Zygote:
        """A new zygote, which ends with these judges at the latest.

        Raises:
            ZygoteLost: they have ended.
        """
        with self._lock:
            if self._closed:
                raise ZygoteLost("the grading has been ended")
            for lost in [one for one in self._started if not one.alive]:
                self._started.remove(lost)
                lost.close()  # its folder is there still
            begun = self._ahead.zygote(more) if self._ahead and sandbox.shared else None
            self._started.append(begun or sandbox.zygote(more))
            return self._started[-1]

    def close(self) -> None:
        """End all sandboxes; what is judged in them now is not graded."""
        with self._lock:
            self._closed = True
        for one in self._started:
            one.close()
        self._turns.end()


def _trains(plan: Plan) -> bool:
    """Does a submission's code name what each of its ranks would import for itself?"""
    return any(TRAINS.search(cell.source.encode()) for cell in plan.cells)


class _Early:
    """A zygote whose children do not wait until it has imported what training needs. It imports
    nothing while they are judged, unless somebody asks for more.
    """

    def __init__(self, zygote: Zygote) -> None:
        self._zygote = zygote

    @property
    def folder(self) -> Path:
        return self._zygote.folder

    def connect(self, entry: str, **arguments: Any) -> tuple[Forked, socket.socket]:
        return self._zygote.connect(entry, after=WITHOUT_TRAINING, hold=HOLD, **arguments)

    def kill(self, pid: int) -> None:
        self._zygote.kill(pid)


def _parts(lab: Lab, plan: Plan, lanes: int) -> list[Lab]:
    """A lab in parts, a lane each; the exercises that are answered are dealt out evenly."""
    names = sorted(lab.exercises, key=lambda name: name not in plan.answered)
    lanes = max(1, min(lanes, sum(name in plan.answered for name in names)))
    dealt = [names[lane::lanes] for lane in range(lanes)]
    return [
        dataclasses.replace(lab, exercises={name: lab.exercises[name] for name in part})
        for part in dealt
    ]


def _asked(lab: str, whose: str | None, only: Collection[str] = ()) -> tuple[Variant | None, Lab]:
    """A student's variant of a lab, if they have one, and what their submission is judged by."""
    own = variant(lab, whose) if whose is not None else None
    return own, references.lab(own, only) if own else coursedir.lab(lab, only)


class _Own:
    """The zygote of one submission, started again when that has ended it."""

    def __init__(self, start: Callable[[], Zygote]) -> None:
        self._start, self._zygote = start, start()

    @property
    def folder(self) -> Path:
        return self._zygote.folder

    def connect(self, entry: str, **arguments: Any) -> tuple[Forked, socket.socket]:
        if not self._zygote.alive:
            self._zygote.close()
            self._zygote = self._start()
        return self._zygote.connect(entry, **arguments)

    def kill(self, pid: int) -> None:
        self._zygote.kill(pid)

    def close(self) -> None:
        self._zygote.close()
