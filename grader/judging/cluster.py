"""Judges on the engines of a cluster, each with the GPUs it needs."""

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
from grader import coursedir, secret
from grader.coursedir import GradingFailed, NotGraded
from grader.judging.ledger import Line
from grader.judging.lending import Devices, devices, ranks
from grader.judging.local import LocalJudges
from grader.sandbox import NoSandbox, configured


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
    return Cluster(client, trust, client.close)


def submitted(jobs: int, trust: bool) -> Cluster:
    """Engines as a Slurm job, which ends with the grading."""
    from distlab.engines.slurm.engines import SlurmEngines
    from distlab.engines.slurm.submit import Terminal

    engines = SlurmEngines(jobs, spread=True, says=Terminal().state)
    try:
        return Cluster(engines.client, trust, engines.close)
    except BaseException:
        engines.close()
        raise


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
