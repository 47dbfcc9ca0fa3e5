"""Commands that run beside a notebook, as they would in a terminal: to look at, and to kill."""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import weakref
from pathlib import Path

from distlab.engines import progress
from distlab.processes import wrong_argument
from distlab.processes.environment import interface
from distlab.processes.told_alone import ToldAlone
from distlab.processes.wrong_argument import WrongArgument

PATIENCE = 300.0  # seconds to wait for something at most
_WORKER = re.compile(r"rank (\d+)(?: of \d+)? is process (\d+)")
_MARK = "DISTLAB_JOB"  # variable of the environment: the folder of the job's output
_ERROR = re.compile(r"^.*\b\w*(?:Error|Exception): \S.*$", re.M)


class JobFailed(ToldAlone, RuntimeError):
    """A job did not do what it was waited for; the message ends with what it has printed."""


class Job:
    """A command that runs in the background; it ends with this process at the latest.

    Args:
        command: as it would be typed. Programs installed beside this Python are found.
        environment: further variables.

    Raises:
        WrongArgument: it is no command, or there is no such program.
    """

    @wrong_argument.takes(f"Job {wrong_argument.A_COMMAND}")
    def __init__(self, command: str, **environment: str) -> None:
        words = _words(wrong_argument.text(command, "Job"))
        self.command, self._maker = command, os.getpid()
        folder = tempfile.mkdtemp(prefix="job-")
        weakref.finalize(self, _remove, folder, self._maker)
        self._log = Path(folder, "output")
        beside = os.path.dirname(sys.executable)
        env = os.environ | {
            "PATH": os.pathsep.join([beside, os.environ.get("PATH", "")]),
            # on a machine without a network gloo has to be told which interface to use
            "GLOO_SOCKET_IFNAME": interface(os.environ),
            "OMP_NUM_THREADS": "1",
            "PYTHONUNBUFFERED": "1",
            _MARK: folder,  # all that it starts inherits this
        }
        env.pop("TORCH_DISTRIBUTED_DEBUG", None)
        env |= environment
        if shutil.which(words[0], path=env["PATH"]) is None:
            raise WrongArgument(f"there is no program {words[0]!r}, or it may not be executed")
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                words,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=env,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        atexit.register(self.end)

    @property
    def output(self) -> str:
        """All that it has printed until now."""
        return self._log.read_text("utf-8", "replace")

    @property
    def workers(self) -> dict[int, int]:
        """Rank → process id, as printed by the workers that were started last."""
        return {int(rank): int(pid) for rank, pid in _WORKER.findall(self.output)}

    def lines(self, *words: str) -> str:
        """The lines of the output that hold one of these words."""
        return "\n".join(
            line for line in self.output.splitlines() if any(word in line for word in words)
        )

    @progress.interruptible("the job is waited for")
    def until(self, text: str, times: int = 1) -> None:
        """Wait until it has printed `text` that many times, in lines that it has ended.

        So what follows `text` in its line, such as a process id, has been printed too: without a
        buffer one `print` of several things is several writes.

        Raises:
            JobFailed: it ended before that, or has not done so within `PATIENCE` seconds.
        """
        deadline = time.monotonic() + PATIENCE
        while True:
            over = self.process.poll() is not None  # asked first: it may print and end at once
            output = self.output
            lines = output if over else output[: output.rfind("\n") + 1]
            if lines.count(text) >= times:
                return
            if over or time.monotonic() > deadline:
                what = "ended early" if over else f"has not printed {text!r}"
                raise JobFailed(f"{self.command} {what}:\n{output[-3000:]}")
            time.sleep(0.02)

    @progress.interruptible("the job is waited for")
    def wait(self, patience: float = PATIENCE) -> int:
        """Wait for its end; returns the exit status.

        Raises:
            JobFailed: it had not ended after `patience` seconds, and was ended.
        """
        try:
            return self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.end()
            what = f"had not ended after {patience:.0f} s"
            raise JobFailed(f"{self.command} {what}:\n{self.output[-3000:]}") from None

    @wrong_argument.takes("kill takes the number of a worker, kill(rank=1) say")
    def kill(self, rank: int) -> int:
        """`kill -9` for one worker; returns its process id.

        Raises:
            JobFailed: the job is over, has no such worker yet, or has lost it; with the first
                error that it has printed, else with the end of its output.
        """
        pid = self.workers.get(rank)
        if self.process.poll() is not None:
            raise self._nobody_to_kill("is over already")
        if pid is None:
            raise self._nobody_to_kill(f"has not started rank {rank} yet")
        try:
            if not self._started(pid):
                raise ProcessLookupError(pid)
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:  # the job itself goes on for a while, or starts another one
            raise self._nobody_to_kill(f"goes on, but its rank {rank} has ended") from None
        return pid

    def _nobody_to_kill(self, why: str) -> JobFailed:
        output = self.output
        said = _ERROR.search(output)
        return JobFailed(
            f"{self.command} {why}, so there is nobody to kill. "
            + (f"Its first error: {said[0]}" if said else f"It said:\n{output[-3000:]}")
        )

    def end(self) -> None:
        """End it and all that it has started."""
        if os.getpid() != self._maker:  # a process that was forked from this one, at its own exit
            return
        atexit.unregister(self.end)
        if self.process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        for pid in self.workers.values():  # torchrun gives each worker a session of its own
            if self._started(pid):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def _started(self, pid: int) -> bool:
        """Is this process the job's, and not a later one that was given the same number?"""
        if not os.path.exists("/proc/self/environ"):
            return True
        with contextlib.suppress(OSError):
            mark = f"{_MARK}={self._log.parent}".encode()
            return mark in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        return False

    def __repr__(self) -> str:
        return f"$ {self.command}\n{self.output}"


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError as error:
        raise WrongArgument(f"{command!r} is no command: {error}") from None


def _remove(folder: str, maker: int) -> None:
    if os.getpid() == maker:
        shutil.rmtree(folder, ignore_errors=True)
