"""Those who judge: this process, or the engines of a cluster, each with the GPUs it needs.

A judge runs the exercises of one submission in its sandbox and says how each was answered. The
ledger, the gradebook and the order of things are the main process's business.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import dataclasses
import functools
import os
import queue
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from distlab import course
from distlab.checking.judge_notebook import Grader, Lab
from distlab.checking.lanes import CellsDoubtful, LaneEnded, Lanes
from distlab.checking.session import SessionLost, Source
from distlab.checking.submission import Plan
from distlab.engines.ipyparallel import answering
from distlab.engines.ranks import SLURM
from distlab.exercises.judge import Verdict
from distlab.processes import frameworks
from distlab.processes.forkserver import TRAINS, Forked, Zygote, ZygoteLost
from distlab.processes.isolation import Limits
from grader import coursedir, secret
from grader.coursedir import GradingFailed, NotGraded
from grader.judging.ledger import Line, line
from grader.judging.lending import Devices, Turns, Users
from grader.sandbox import WITHOUT_TRAINING, Grading, NoSandbox, Sandbox, cgroup, configured
from grader.sandbox.ahead import Ahead, tried
from grader.variants import references
from grader.variants.variant import Variant, variant

HOLD = 30.0  # seconds, at most, in which a single submission is judged before more is imported


class Judges(Protocol):
    """Takes submissions from as many threads as it has `slots`.

    Where students have inputs of their own, `lines` is told with whose a submission is judged, and
    of how many slots it may take up, where there are more than submissions. It raises `NotGraded`
    where a submission cannot be judged through no fault of its own.
    """

    slots: int

    def expect(self, lab: str) -> None: ...  # submissions, as soon as they have been read
    def beside(self) -> contextlib.AbstractContextManager[None]: ...  # other work on their machine
    def lines(
        self, lab: str, plan: Plan, whose: str | None = None, lanes: int = 1
    ) -> list[Line]: ...
    def close(self) -> None: ...  # from any thread, more than once


class LocalJudges:
    """Judges in sandboxes of this machine, `slots` at once.

    Args:
        ahead: the sandbox of these settings, where somebody has begun to try it out.
    """

    def __init__(self, settings: Grading, slots: int = 1, ahead: Ahead | None = None) -> None:
        self.slots = slots
        self._settings, self._ahead = settings, ahead
        self.sandbox: Sandbox | None = None
        self._zygotes: dict[tuple[str, ...], Zygote] = {}  # by what they have imported besides
        self._started: list[Zygote] = []  # these, and those of one submission
        self._closed = False
        self._lock = threading.RLock()
        self._devices = Devices({"here": devices()})
        self._turns = Turns()
        self._users = Users(None)
        self._groups: cgroup.Groups | None = None

    def ready(self) -> Sandbox:
        """The sandbox, which is tried out unless that was done.

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
        """What takes seconds to be imported for them is imported from now on."""
        sandbox = self.ready()
        if sandbox.shared:
            with contextlib.suppress(OSError, ZygoteLost):  # said of whoever is judged
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
            lanes: exercises that are judged at once, each lane as if it were a submission.

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
        more = frameworks.preload(course.needs(lab))
        with self._admitted(asked, devices) as (sandbox, grader):
            if own:
                self._need(own, [name for name in plan.answered if name in asked.exercises], grader)
            if sandbox.shared:
                # what ends a sandbox that others use as well may be one of them
                with contextlib.suppress(SessionLost, ZygoteLost):
                    shared = self._shared(sandbox, more)
                    waits = shared.complete or course.trains(lab) or _trains(plan)
                    if lanes > 1 and not waits:
                        return self._soon(asked, plan, shared, devices, lanes)
                    return self._beside(asked, plan, shared, devices, lanes)
            with self._lone(sandbox, more) as lone:
                return grader.grade(plan, lone, lone=True)

    def _soon(
        self, asked: Lab, plan: Plan, shared: Zygote, devices: Sequence[str], lanes: int
    ) -> list[Verdict]:
        """The verdicts on a submission that need not wait for what the zygote has not imported yet.
        What the ranks return is to be believed; else the exercise is judged again, with everything.
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
        with self._admitted(asked, devices) as (sandbox, grader):
            # without walls the cells of one lane could be in the way of another's
            parts = _parts(asked, plan, lanes if sandbox.walls else 1)
            if len(parts) > 1:
                try:
                    found = self._in_lanes(parts, plan, shared, devices, grader.seconds, once)
                    return [found[name] for name in asked.exercises]
                except CellsDoubtful:
                    if once:
                        raise
            return grader.grade(plan, shared, self._turns, once=once)

    def _in_lanes(
        self, parts: Sequence[Lab], plan: Plan, shared: Source, devices: Sequence[str],
        seconds: float, once: bool,
    ) -> dict[str, Verdict]:  # fmt: skip
        """The verdicts, by exercise, of a submission that is judged as if it were several, each
        with a part of the exercises: its cells run in each.

        Args:
            seconds: that each may take.

        Raises:
            CellsDoubtful: its cells are to be run again, alone.
            SessionLost, ZygoteLost.
        """

        lanes = Lanes(len(parts))

        def judged(part: Lab) -> list[Verdict]:
            try:
                with self._admitted(part, devices) as (_, grader):
                    grader.seconds = seconds
                    return grader.grade(plan, shared, self._turns, lanes=lanes, once=once)
            except BaseException:
                lanes.end()
                raise

        with concurrent.futures.ThreadPoolExecutor(len(parts)) as pool:
            found = [pool.submit(judged, part) for part in parts]
        # of those that ended one because of another, the other says why
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
            self._admitted(references.lab(own), lent) as (_, grader),
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
    def _admitted(self, asked: Lab, devices: Sequence[str]) -> Iterator[tuple[Sandbox, Grader]]:
        """The sandbox, and what judges in it with a user and a control group of its own."""
        sandbox = self.ready()
        with self._users.lent() as user, self._grouped(sandbox.limits) as admit:
            yield (
                sandbox,
                Grader(
                    asked, sandbox.limits, sandbox.walls, ",".join(devices) or None, user, admit
                ),
            )

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
        """What puts a submission into a control group of its own, where there can be some."""
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
            self._started = [one for one in self._started if one.alive]
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
    """A zygote whose children need not wait until it has imported what trains. It imports nothing
    while they are judged, unless somebody asks for more.
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
    """A lab in parts, one a lane, among which the exercises that are answered are dealt out."""
    names = sorted(lab.exercises, key=lambda name: name not in plan.answered)
    lanes = max(1, min(lanes, sum(name in plan.answered for name in names)))
    dealt = [names[lane::lanes] for lane in range(lanes)]
    return [
        dataclasses.replace(lab, exercises={name: lab.exercises[name] for name in part})
        for part in dealt
    ]


def _asked(lab: str, whose: str | None, only: Collection[str] = ()) -> tuple[Variant | None, Lab]:
    """A student's variant of a lab, where they have one, and what it is judged by."""
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


@dataclasses.dataclass(frozen=True)
class _Engine:
    id: int
    place: str  # those that share GPUs are at the same


class Cluster:
    """Judges on the engines of a running ipyparallel cluster, one submission an engine.

    Every engine needs the course's folder under the same path, and a sandbox.

    Args:
        client: a connected `ipyparallel.Client`.
        trust: judge without a sandbox.
        end: what lets go of the cluster.

    Raises:
        GradingFailed: nothing can be judged on its engines.
    """

    def __init__(self, client: Any, trust: bool, end: Callable[[], None]) -> None:
        self._client, self._end = client, end
        ids = answering(self._client)
        if not ids:
            raise GradingFailed("no engine of the cluster answers: try again later")
        everyone = self._client[ids]
        everyone.execute(f"import sys; sys.path.insert(0, {str(coursedir.ROOT)!r})", block=True)
        used = secret.current()  # where it lies is told, never what it is
        asked = everyone.apply_sync(_ready, trust, used.path, used.fingerprint)
        told = dict(zip(ids, asked, strict=True))
        if reasons := [f"engine {i}: {about['problem']}" for i, about in told.items()
                       if about["problem"]]:  # fmt: skip
            raise GradingFailed(reasons[0])
        # a Slurm task may have been given GPUs of its own: it shares with those that see the same
        places = {i: f"{about['host']} {about['devices']}" for i, about in told.items()}
        self._devices = Devices({places[i]: about["devices"] for i, about in told.items()})
        self._engines: queue.Queue[_Engine] = queue.Queue()
        for number, place in places.items():
            self._engines.put(_Engine(number, place))
        self.slots = self._left = len(told)
        self._lock, self._closed = threading.Lock(), False

    def expect(self, lab: str) -> None:
        """Each engine imports what it needs when it is asked."""

    def beside(self) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()

    def lines(self, lab: str, plan: Plan, whose: str | None = None, lanes: int = 1) -> list[Line]:
        import ipyparallel

        while True:
            engine = self._take()
            try:
                with self._devices.lent(engine.place, ranks(lab)) as lent:
                    view = self._client[engine.id]
                    told = view.apply_sync(_lines, lab, plan, lent, whose)
            except ipyparallel.RemoteError as error:
                if error.ename == "NotGraded":
                    self._engines.put(engine)
                    raise NotGraded(error.evalue) from error
                if error.ename != "EngineError":
                    raise
                with self._lock:
                    self._left -= 1  # its node is lost: another one judges this
                continue
            self._engines.put(engine)
            return [Line(**one) for one in told]

    def _take(self) -> _Engine:
        while self._left:
            with contextlib.suppress(queue.Empty):
                return self._engines.get(timeout=1.0)
        raise GradingFailed(
            "all engines of the cluster are gone: start it again and run the same command, which "
            "goes on where it stopped"
        )

    def close(self) -> None:
        """Let go of the cluster, once its engines have judged what is in work."""
        if self._closed:
            return
        self._closed = True
        with contextlib.suppress(Exception):
            self._client[answering(self._client)].apply_sync(_end)
        self._end()


def _attached(profile: str, trust: bool) -> Cluster:
    """The engines of the cluster that `ipcluster start --profile=…` has started."""
    import ipyparallel

    try:
        client = ipyparallel.Client(profile=profile, timeout=10)
    except (OSError, TimeoutError) as error:
        raise GradingFailed(
            f"no cluster runs under the profile {profile!r}: start one with `ipcluster start "
            f"--profile={profile} -n ENGINES`"
        ) from error
    return Cluster(client, trust, client.close)


def _submitted(jobs: int, trust: bool) -> Cluster:
    """Engines as a Slurm job, which ends with the grading."""
    from distlab.engines.slurm.engines import SlurmEngines
    from distlab.engines.slurm.submit import Terminal

    engines = SlurmEngines(jobs, spread=True, says=Terminal().state)
    try:
        return Cluster(engines.client, trust, engines.close)
    except BaseException:
        engines.close()
        raise


def make_judges(jobs: int, cluster: str | None = None, ahead: Ahead | None = None) -> Judges:
    """Who judges a class: `jobs` at once on this machine, or the engines of a cluster.

    Args:
        ahead: of `LocalJudges`.
        cluster: the ipyparallel profile whose engines judge, one submission an engine, or "slurm"
            for `jobs` engines that are a Slurm job.

    Raises:
        NoSandbox: no sandbox works, and nobody has said that the code can be trusted.
        GradingFailed: there is no such cluster, or nothing can be judged on its engines.
        SlurmFailed: Slurm is not here, refuses, or ended the job.
    """
    settings = configured()
    if cluster == SLURM:
        return _submitted(jobs, settings.trust)
    if cluster is not None:
        return _attached(cluster, settings.trust)
    return local_judges(jobs, ahead)


def local_judges(jobs: int, ahead: Ahead | None = None) -> LocalJudges:
    """`jobs` at once on this machine.

    Raises:
        NoSandbox: no sandbox works, and nobody has said that the code can be trusted.
    """
    local = LocalJudges(configured(), jobs, ahead)
    local.ready()
    return local


@functools.cache
def ranks(lab: str) -> int:
    """Ranks that the largest case of a lab needs."""
    return max(
        (
            case.size
            for exercise in course.exercises(lab).values()
            for case in coursedir.cases(exercise)
        ),
        default=1,
    )


def devices() -> list[str]:
    """The GPUs of this process: those it was given, else all of the machine."""
    given = os.environ.get("CUDA_VISIBLE_DEVICES")
    if given is not None:
        return [name for name in given.split(",") if name and name != "-1"]
    if not shutil.which("nvidia-smi"):
        return []
    told = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=False)
    return [str(n) for n, said in enumerate(told.stdout.splitlines()) if said.startswith("GPU ")]


# What follows runs on the engines of a cluster.

_on_engine: LocalJudges | None = None


def _ready(trust: bool, secret_path: Path | None, fingerprint: str) -> dict[str, Any]:
    """Prepare to judge on this engine; says where it is, or what stands in the way."""
    global _on_engine
    if _on_engine is None:
        _on_engine = LocalJudges(configured(trust=True) if trust else configured())
    problem = ""
    try:
        secret.adopt(secret_path, fingerprint)
        _on_engine.ready()
    except (NoSandbox, secret.SecretUnusable) as reason:
        problem = str(reason)
    return {"host": socket.gethostname(), "devices": devices(), "problem": problem}


def _lines(lab: str, plan: Plan, lent: list[str], whose: str | None) -> list[dict[str, Any]]:
    assert _on_engine is not None  # `_ready` was called before
    return [vars(one) for one in _on_engine.lines_on(lab, plan, lent, whose)]


def _end() -> None:
    global _on_engine
    if _on_engine is not None:
        _on_engine.close()
        _on_engine = None
