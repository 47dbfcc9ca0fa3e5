"""Judges on the engines of an ipyparallel cluster, each with the GPUs that a lab needs.

The first half runs in the process that grades; what runs on the engines stands below it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import queue
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from distlab.checking.submission import Plan
from distlab.engines.ipyparallel import answering
from distlab.processes.disk_room import NoRoom
from distlab.processes.loopback import Down
from grader import coursedir, secret
from grader.coursedir import GradingFailed, NotGraded
from grader.judging.ledger import Line
from grader.judging.lending import Devices, devices, ranks
from grader.judging.local import LocalJudges
from grader.sandbox import NoSandbox, configured

_Asked = tuple[bool, Path | None, str]  # of `_prepare`


@dataclasses.dataclass(frozen=True)
class _Engine:
    id: int
    place: str  # engines of the same place share its GPUs


class _EngineLost(Exception):
    """An engine has ended."""


class Cluster:
    """Judges on the engines of a running ipyparallel cluster, one submission an engine.

    Every engine needs the course's folder under the same path, and a sandbox.

    Args:
        client: a connected `ipyparallel.Client`.
        trust: judge without a sandbox.
        end: lets go of the cluster.

    Raises:
        GradingFailed: nothing can be judged on its engines.
    """

    def __init__(self, client: Any, trust: bool, end: Callable[[], None]) -> None:
        self._client, self._end = client, end
        used = secret.current()  # engines are told where it lies, never what it is
        self._asked: _Asked = (trust, used.path, used.fingerprint)
        about = self._prepared()
        # a Slurm task may have its own GPUs: it shares them with tasks that see the same ones
        places = {i: f"{one['host']} {one['devices']}" for i, one in about.items()}
        self._devices = Devices({places[i]: one["devices"] for i, one in about.items()})
        self._engines: queue.Queue[_Engine] = queue.Queue()
        for number, place in places.items():
            self._engines.put(_Engine(number, place))
        self.slots = self._left = len(about)
        self._lock, self._closed = threading.Lock(), False

    def _prepared(self) -> dict[int, dict[str, Any]]:
        """Prepare the engines; {engine: what `_ready` says}.

        Raises:
            GradingFailed
        """
        import ipyparallel

        ids = answering(self._client)
        if not ids:
            raise GradingFailed("no engine of the cluster answers: try again later")
        everyone = self._client[ids]
        try:
            everyone.execute(f"import sys; sys.path.insert(0, {str(coursedir.ROOT)!r})", block=True)
            about = dict(zip(ids, everyone.apply_sync(_ready, *self._asked), strict=True))
        except ipyparallel.RemoteError as error:
            why = " ".join(str(error).split())[:300]
            raise GradingFailed(
                f"the engines of the cluster cannot be used ({why}): each needs distlab, and the "
                f"course's folder under {coursedir.ROOT}"
            ) from error
        for number, one in about.items():
            if one["problem"]:
                raise GradingFailed(f"engine {number}: {one['problem']}")
        return about

    def expect(self, lab: str) -> None:
        """Each engine imports what it needs when it is asked."""

    def beside(self) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()

    def lines(self, lab: str, plan: Plan, whose: str | None = None, lanes: int = 1) -> list[Line]:
        while True:
            engine = self._take()
            try:
                found = self._judged(engine, lab, plan, whose)
            except _EngineLost:
                with self._lock:
                    self._left -= 1
                continue  # another engine judges this
            except BaseException:
                self._engines.put(engine)
                raise
            self._engines.put(engine)
            return found

    def _judged(self, engine: _Engine, lab: str, plan: Plan, whose: str | None) -> list[Line]:
        """An engine's verdicts on a submission.

        Raises:
            NotGraded: it cannot be judged there.
            _EngineLost
        """
        import ipyparallel
        from ipyparallel.error import NoEnginesRegistered

        with self._devices.lent(engine.place, ranks(lab)) as lent:
            try:
                view = self._client[engine.id]
            except (IndexError, NoEnginesRegistered) as error:  # it ended with nothing to do
                raise _EngineLost from error
            try:
                told = view.apply_sync(_lines, self._asked, lab, plan, lent, whose)
            except ipyparallel.RemoteError as error:
                if error.ename == "EngineError":
                    raise _EngineLost from error
                if error.ename in (one.__name__ for one in (NotGraded, NoRoom, Down)):
                    raise NotGraded(error.evalue) from error
                raise
        return [Line(**one) for one in told]

    def _take(self) -> _Engine:
        """An engine that judges nothing now."""
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


def attached(profile: str, trust: bool) -> Cluster:
    """The engines of the cluster that `ipcluster start --profile=…` has started."""
    import ipyparallel

    try:
        client = ipyparallel.Client(profile=profile, timeout=10)
    except (OSError, TimeoutError) as error:
        raise GradingFailed(
            f"no cluster runs under the profile {profile!r}: start one with `ipcluster start "
            f"--profile={profile} -n ENGINES`"
        ) from error
    return _or_ended(client, trust, client.close)


def submitted(jobs: int, trust: bool) -> Cluster:
    """Engines as a Slurm job, which ends with the grading."""
    from distlab.engines.slurm.engines import SlurmEngines
    from distlab.engines.slurm.submit import Terminal

    engines = SlurmEngines(jobs, spread=True, says=Terminal().state)
    return _or_ended(engines.client, trust, engines.close)


def _or_ended(client: Any, trust: bool, end: Callable[[], None]) -> Cluster:
    """A cluster's judges; where nothing can be judged on it, it is let go of at once."""
    try:
        return Cluster(client, trust, end)
    except BaseException:
        end()
        raise


# What follows runs on the engines of a cluster.

_on_engine: LocalJudges | None = None


def _ready(*asked: Any) -> dict[str, Any]:
    """Prepare to judge on this engine; says where it is, or what stands in the way."""
    problem = _prepare(*asked)
    return {"host": socket.gethostname(), "devices": devices(), "problem": problem}


def _prepare(trust: bool, secret_path: Path | None, fingerprint: str) -> str:
    """Have this engine's judges, and the secret in use; returns what stands in the way."""
    global _on_engine
    try:
        secret.adopt(secret_path, fingerprint)
        if _on_engine is None:
            _on_engine = LocalJudges(configured(trust=True) if trust else configured())
        _on_engine.ready()
    except (NoSandbox, secret.SecretUnusable) as reason:
        return str(reason)
    return ""


def _lines(
    asked: _Asked, lab: str, plan: Plan, lent: list[str], whose: str | None
) -> list[dict[str, Any]]:
    # another grader on the same engines may have ended these judges, or adopted another secret
    if problem := _prepare(*asked):
        raise NotGraded(problem)
    assert _on_engine is not None
    return [vars(one) for one in _on_engine.lines_on(lab, plan, lent, whose)]


def _end() -> None:
    """End this engine's judges, until somebody asks for some again."""
    global _on_engine
    if _on_engine is not None:
        _on_engine.close()
        _on_engine = None
