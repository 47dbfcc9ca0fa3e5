"""Ranks as a Slurm job: `Ranks(4, cluster="slurm")`, `distlab grade --cluster slurm`.

The controller runs here and ends with this process. The engines are one job, submitted by
ipyparallel's own launcher for Slurm, a task a rank. A task starts its engine again when that was
killed, so that a rank is back on its node without another wait in the queue, and ends when the
folder that it shares with this process is gone: also when this process is killed.

sbatch's own variables say what else is asked for: SBATCH_PARTITION, SBATCH_ACCOUNT,
SBATCH_TIMELIMIT, SBATCH_GPUS_PER_TASK (https://slurm.schedmd.com/sbatch.html, "Input environment
variables").
"""

from __future__ import annotations

import atexit
import contextlib
import os
import shlex
import signal
import socket
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from distlab.engines.ipyparallel import AttachedEngines, cache, start_controller
from distlab.engines.slurm.job import LOOK, Job, SlurmFailed, Status, call
from distlab.processes.zygote import Zygote

START = 120.0  # seconds in which the engines of a job that runs have to be there
PERIOD = 500  # milliseconds between two heartbeats of the controller
MISSES = 20  # heartbeats without which an engine takes the controller for dead

Says = Callable[[Status], object]

_JOB = """#!/bin/bash
#SBATCH --job-name=distlab-ranks
#SBATCH --ntasks={{n}}
#SBATCH --no-requeue
#SBATCH --output={folder}/engines.log
{spread}
srun --kill-on-bad-exit=0 sh -c 'while [ -e "$0" ]; do "$@" || sleep 1; done' \\
    {folder}/security {{program_and_args}}
"""


class SlurmEngines(AttachedEngines):
    """`size` ipyparallel engines as tasks of one Slurm job.

    Args:
        spread: over as many nodes as there are, instead of as few as can be.
        says: told a job's `Status` whenever that changes while it starts.

    Raises:
        SlurmFailed: Slurm is not here, refuses, or the job ended before its engines were there.
    """

    def __init__(self, size: int, spread: bool = False, says: Says | None = None) -> None:
        call("sbatch", "--version")  # that there is none is said before anything starts
        self._zygote = Zygote(("ipyparallel.controller.app",), within=cache())
        self.client, self._pending, self.job = None, {}, None
        self._seen: set[int] = set()  # ids of dead engines stay listed for seconds
        atexit.register(self.close)
        try:
            start_controller(self._zygote, ip="*", location=socket.gethostname(), period=PERIOD)
            self.job = self._submitted(size, spread)
            self._connect(size, says or (lambda status: None))
        except BaseException:  # an interrupt too: nothing is left in the queue
            self.close()
            raise

    def _submitted(self, size: int, spread: bool) -> Job:
        from ipyparallel.cluster.launcher import SlurmEngineSetLauncher

        folder = str(self._zygote.folder)
        launcher = SlurmEngineSetLauncher(
            work_dir=folder, profile_dir=folder, cluster_id="", engine_set_id="ranks",
            engine_cmd=[sys.executable, "-m", "ipyparallel.engine"],
            engine_args=["--log-level=40", f"--IPEngine.max_heartbeat_misses={MISSES}"],
            batch_template=_JOB.format(
                folder=shlex.quote(folder), spread="#SBATCH --spread-job" * spread
            ),
        )  # fmt: skip
        launcher.submit_command = ["sbatch", "--parsable"]
        return Job(int(launcher.start(size)))

    def _connect(self, size: int, says: Says) -> None:
        import ipyparallel

        folder = self._zygote.folder
        client = ipyparallel.Client(str(folder / "security" / "ipcontroller-client.json"))
        super().__init__(client, folder)
        self.ids = [-1] * size
        self._gather(set(range(size)), says)

    def _gather(self, missing: set[int], says: Says = lambda status: None) -> None:
        """Find the engines of these ranks, which are starting; a rank is its task's number."""
        told: str | None = None
        running: float | None = None  # since when the job does
        asked: dict[int, Any] = {}  # engine → ipyparallel's `AsyncResult`
        while missing:
            for engine in sorted(set(self.client.ids) - self._seen):
                self._seen.add(engine)
                asked[engine] = self.client[engine].apply_async(_task)
            for engine in [engine for engine, answer in asked.items() if answer.ready()]:
                with contextlib.suppress(Exception):  # it may have died meanwhile
                    rank = asked.pop(engine).get()
                    if rank in missing:
                        missing.remove(rank)
                        self.ids[rank] = engine
            if not missing:
                return
            assert self.job is not None  # these engines are its tasks
            status = self.job.status
            if status.over:
                raise SlurmFailed(f"{status.told()}{self._complaint()}")
            if status.told() != told:
                told = status.told()
                says(status)
            if status.state == "RUNNING":
                running = running or time.monotonic()
                if time.monotonic() - running > START:
                    raise SlurmFailed(
                        f"{len(missing)} ranks of job {self.job.id} did not start within "
                        f"{START:.0f} s{self._complaint()}"
                    )
            if not self.client.wait([], timeout=LOOK):
                time.sleep(LOOK)

    def _complaint(self) -> str:
        """The last line that the engines printed."""
        with contextlib.suppress(OSError):
            said = (self.folder / "engines.log").read_text(errors="replace").strip()
            return f": {said.splitlines()[-1]}" if said else ""
        return ""

    def settle(self) -> None:
        """Before a run: tasks whose engine has ended meanwhile have started another."""
        if gone := self._gone():
            self._gather(gone)

    def replace(self, ranks: Sequence[int]) -> None:
        """Kill the engines of these ranks; their tasks start new ones."""
        for rank in ranks:
            with contextlib.suppress(Exception):
                self.client.send_signal(signal.SIGKILL, targets=[self.ids[rank]], block=True)
        self._forget(ranks)
        self._gather(set(ranks))

    def close(self) -> None:
        """End the job, then the controller."""
        atexit.unregister(self.close)
        if self.job is not None:
            with contextlib.suppress(SlurmFailed):
                call("scancel", str(self.job.id))
        if self.client is not None:
            with contextlib.suppress(Exception):
                self.client.close()
        self._zygote.close()


def _task() -> int:
    """The number of this engine's task."""
    return int(os.environ["SLURM_PROCID"])
