"""A Slurm job: its state in words, its log as it grows, its end.

The state comes from `scontrol show job`, asked again and again: `sbatch --wait` notices the end of
a job up to half a minute late. https://slurm.schedmd.com/job_state_codes.html and
https://slurm.schedmd.com/job_reason_codes.html list what can come.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from distlab.processes.told_alone import ToldAlone

POLL = 1.0  # seconds between two questions to Slurm in the first minute of a job
POLL_LATER = 5.0  # seconds, from then on
LOOK = 0.25  # seconds between two looks at the log
ANSWER = 30.0  # seconds in which Slurm's commands have to answer
PATIENCE = 120.0  # seconds for which a controller that is restarted may be silent
PARTING = 30.0  # seconds that a cancelled job may take to end

_ELSEWHERE = (
    "log in to the cluster's head node, or run the program on this machine with `distlab run`"
)


class SlurmFailed(ToldAlone, RuntimeError):
    """Slurm could not do what it was asked for; the message says why, and what to do."""


class NoSlurm(SlurmFailed):
    """There is no Slurm here, or none that knows of a cluster."""


def call(name: str, *words: str, given: str | None = None, cwd: Path | None = None) -> str:
    """What one of Slurm's commands prints.

    Raises:
        NoSlurm: it is not here, or knows of no cluster.
        SlurmFailed: it refuses, or does not answer.
    """
    return _answer(name, words, given, cwd).stdout


def _answer(
    name: str, words: Sequence[str], given: str | None, cwd: Path | None
) -> subprocess.CompletedProcess[str]:
    if not shutil.which(name):
        raise NoSlurm(f"there is no {name} here: {_ELSEWHERE}")
    try:
        done = subprocess.run(
            [name, *words], input=given, cwd=cwd, capture_output=True, text=True, timeout=ANSWER,
            stdin=subprocess.DEVNULL if given is None else None,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise SlurmFailed(f"{name} did not answer within {ANSWER:.0f} s: try again later") from None
    if "Could not establish a configuration source" in done.stderr:
        raise NoSlurm(f"{name} knows of no cluster here: {_ELSEWHERE}")
    if done.returncode:
        refusal = _sentences(name, done.stderr) or "it did not say why"
        raise SlurmFailed(f"{name} refused: {refusal}")
    return done


def _sentences(name: str, said: str) -> str:
    """What a command says beside its output, without the names in front and the advice behind."""
    found = []
    for line in said.splitlines():
        line = re.sub(rf"^{name}: (error: )?", "", line).strip()
        line = re.sub(r"^\w+ error: ", "", line)
        if line and not line.startswith("Try "):
            found.append(line)
    return "; ".join(dict.fromkeys(found))


@dataclass(frozen=True)
class Status:
    """What Slurm knows of a job at a moment."""

    id: int
    state: str
    reason: str = ""
    exit_code: int = 0
    signal: int = 0
    restarts: int = 0
    nodes: str = ""
    partition: str = ""
    limit: str = ""
    ran: str = ""
    log: Path | None = None

    @property
    def over(self) -> bool:
        """Has it come to an end from which it does not go on by itself?"""
        return self.state not in _UNDER_WAY

    @property
    def ok(self) -> bool:
        return self.state == "COMPLETED"

    def told(self) -> str:
        """One sentence."""
        if self.state == "PENDING":
            back = f"is back in the queue (restart {self.restarts}) and " if self.restarts else ""
            return f"job {self.id} {back}{_waits(self)}"
        words = _WORDS.get(self.state)
        if words is None:
            return f"job {self.id} is in the state {self.state}"
        return f"job {self.id} {words(self)}"


#: PREEMPTED is not among them: a job that is to be queued again does not stay in that state
_UNDER_WAY = (
    "PENDING", "CONFIGURING", "RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "SIGNALING",
    "RESIZING", "STAGE_OUT", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "RESV_DEL_HOLD",
    "SPECIAL_EXIT",
)  # fmt: skip
_AGAIN = "submit it again; a program that saves checkpoints goes on with --resume"


def _failed(status: Status) -> str:
    if status.signal:
        return f"was killed by signal {status.signal} ({_signal(status.signal)})"
    if status.exit_code > 128:  # a shell's way to say it
        number = status.exit_code - 128
        return f"failed: a program of it was killed by signal {number} ({_signal(number)})"
    return f"failed with exit status {status.exit_code}"


def _signal(number: int) -> str:
    with contextlib.suppress(ValueError):
        return signal.Signals(number).name
    return "unknown"


_WORDS: dict[str, Callable[[Status], str]] = {
    "CONFIGURING": lambda s: f"gets its nodes {s.nodes} ready",
    "RUNNING": lambda s: f"runs on {s.nodes}" + (f" (restart {s.restarts})" * bool(s.restarts)),
    "COMPLETING": lambda s: f"is ending on {s.nodes}",
    "SUSPENDED": lambda s: "is suspended until its nodes are free again",
    "STOPPED": lambda s: "is stopped until its nodes are free again",
    "REQUEUED": lambda s: "goes back into the queue",
    "REQUEUE_HOLD": lambda s: f"is held back: let it go with `scontrol release {s.id}`",
    "SPECIAL_EXIT": lambda s: f"is held back: let it go with `scontrol release {s.id}`",
    "COMPLETED": lambda s: f"is done after {s.ran}",
    "FAILED": _failed,
    "TIMEOUT": lambda s: f"was ended at its time limit of {s.limit}: ask for more with --time, or "
    "let a program that saves checkpoints go on with --resume",
    "PREEMPTED": lambda s: f"had to give its nodes to a job that goes before it: {_AGAIN}",
    "CANCELLED": lambda s: "was cancelled",
    "NODE_FAIL": lambda s: f"lost a node of {s.nodes}: {_AGAIN}",
    "BOOT_FAIL": lambda s: f"was given nodes that did not start ({s.nodes}): submit it again",
    "OUT_OF_MEMORY": lambda s: "used more memory than it had asked for: ask for more with --mem",
    "DEADLINE": lambda s: "could not end before its deadline: ask for a later one or less time",
    "REVOKED": lambda s: "runs on another cluster",
    "FORGOTTEN": lambda s: "is over, and Slurm has forgotten how it ended: see its log",
}  # fmt: skip


def _waits(status: Status) -> str:
    reason = status.reason
    for beginning, words in _REASONS.items():
        if reason.startswith(beginning):
            return words.format(
                id=status.id, limit=status.limit, partition=status.partition, reason=reason
            )
    return f"waits ({reason})" if reason not in ("", "None") else "waits"


#: by how the reason begins; the first that fits counts
_REASONS = {
    "Resources": "waits for nodes that are busy now",
    "Priority": "waits for jobs that are before it in the queue",
    "BeginTime": "waits until its time to begin has come",
    "DependencyNeverSatisfied": "can never start, because a job that it depends on failed: cancel "
    "it with `scancel {id}`",
    "Dependency": "waits for the jobs that it depends on",
    "JobHeldUser": "is held by you: let it go with `scontrol release {id}`",
    "JobHeldAdmin": "is held by an administrator: ask them",
    "PartitionTimeLimit": "can never start, because partition {partition} has no job run for "
    "{limit}: cancel it with `scancel {id}` and ask for less with --time",
    "PartitionNodeLimit": "can never start, because partition {partition} gives no job that many "
    "nodes: cancel it with `scancel {id}` and ask for fewer with --nodes",
    "BadConstraints": "can never start, because no node has what it asks for: cancel it with "
    "`scancel {id}`",
    "Partition": "waits until partition {partition} is up again",
    "ReqNodeNotAvail": "waits for nodes that are down or reserved",
    "Nodes_required": "waits for nodes that are down, drained or reserved",
    "QOS": "waits, because a limit is reached ({reason}): until other jobs of yours have ended, or "
    "for ever if it alone asks for more",
    "Assoc": "waits, because a limit of your account is reached ({reason}): until other jobs have "
    "ended, or for ever if it alone asks for more",
    "Licenses": "waits for a licence",
    "Reservation": "waits for its reservation to begin",
}  # fmt: skip


def status(job: int) -> Status:
    """What Slurm knows of a job now.

    Raises:
        SlurmFailed: Slurm does not answer.
    """
    try:
        return read(call("scontrol", "show", "job", "-o", str(job)))
    except SlurmFailed as refused:
        if "Invalid job id" in str(refused):
            return Status(job, "FORGOTTEN")
        raise


def read(said: str) -> Status:
    """The first job of what `scontrol show job -o` prints."""
    line = said.strip().splitlines()[0]
    pairs = re.split(r"\s+(?=[A-Z][\w/:]*=)", line)  # a value may contain spaces
    known = dict(pair.partition("=")[::2] for pair in pairs)
    code, _, killed_by = known.get("ExitCode", "0:0").partition(":")
    log = known.get("StdOut", "")
    nodes = known.get("NodeList", "")
    return Status(
        id=int(known["JobId"]), state=known["JobState"].split(",")[0].rstrip("+"),
        reason=known.get("Reason", ""), exit_code=int(code), signal=int(killed_by or 0),
        restarts=int(known.get("Restarts", 0)), nodes="" if nodes == "(null)" else nodes,
        partition=known.get("Partition", ""), limit=known.get("TimeLimit", ""),
        ran=known.get("RunTime", ""), log=Path(log) if log else None,
    )  # fmt: skip


class Job:
    """A job that was submitted. `follow` waits for its end, `cancel` ends it."""

    def __init__(self, id: int) -> None:
        self.id = id
        self._last = Status(id, "PENDING")

    @property
    def status(self) -> Status:
        """Its state now; the last that Slurm told, once it is over."""
        if not self._last.over:
            fresh = status(self.id)
            if fresh.log is None:
                fresh = Status(**{**vars(fresh), "log": self._last.log})
            self._last = fresh
        return self._last

    @property
    def ok(self) -> bool:
        """Has it ended as it should?"""
        return self.status.ok

    @property
    def log(self) -> str:
        """What it has printed so far."""
        path = self.status.log
        try:
            return path.read_text("utf-8", "replace") if path else ""
        except OSError:  # it has not begun to print
            return ""

    def cancel(self) -> Status:
        """End it; returns its state afterwards."""
        if not self.status.over:
            call("scancel", str(self.id))
            deadline = time.monotonic() + PARTING
            while not self.status.over and time.monotonic() < deadline:
                time.sleep(LOOK)
        return self.status

    def follow(self) -> Iterator[Status | str]:
        """Every new state and every new line of its log, until it is over.

        Raises:
            SlurmFailed: Slurm does not answer any more.
        """
        told, log, begin = None, Tail(), time.monotonic()
        now, asked = self._asked(), time.monotonic()
        while True:
            if now.told() != told:
                told = now.told()
                yield now
            yield from log.lines(now.log)
            if now.over:
                yield from log.rest()
                return
            time.sleep(LOOK)
            pause = POLL if asked - begin < 60 else POLL_LATER
            if time.monotonic() - asked >= pause:
                now, asked = self._asked(), time.monotonic()

    def _asked(self) -> Status:
        """Its state, from a controller that may be silent for a while."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                return self.status
            except SlurmFailed:
                if time.monotonic() > deadline or not shutil.which("scontrol"):
                    raise
                time.sleep(POLL_LATER)

    def _repr_html_(self) -> str:
        import html

        return f"<p>{html.escape(repr(self))}</p>"

    def __repr__(self) -> str:
        return self.status.told()


class Tail:
    """The lines of a file that grows, each once."""

    def __init__(self) -> None:
        self._read, self._left = 0, b""

    def lines(self, path: Path | None) -> Iterator[str]:
        """The lines that have been completed since the last call."""
        try:
            size = os.stat(path).st_size if path else 0
            if size < self._read:  # a job that begins again writes its log anew
                self._read, self._left = 0, b""
            if path is None or size <= self._read:
                return
            with path.open("rb") as file:
                file.seek(self._read)
                data = file.read()
        except OSError:  # not there yet
            return
        self._read += len(data)
        *complete, self._left = (self._left + data).split(b"\n")
        yield from map(_line, complete)

    def rest(self) -> Iterator[str]:
        """The last line, which nobody ended."""
        if (last := _line(self._left)).strip():  # a progress bar wipes itself out
            yield last
        self._left = b""


def _line(data: bytes) -> str:
    # a progress bar returns the carriage without a new line: keep its last state
    return data.decode("utf-8", "replace").rstrip("\r").rsplit("\r", 1)[-1]


def sbatch(script: str | None, words: Sequence[str], cwd: Path | None = None) -> Job:
    """Hand a job to sbatch.

    Args:
        script: its batch file's text, where that is none of the `words`.
        words: sbatch's options, then the batch file and its arguments.

    Raises:
        SlurmFailed: sbatch is not here, or refuses.
    """
    said = call("sbatch", "--parsable", *words, given=script, cwd=cwd)
    return Job(int(said.strip().split(";")[0]))


def tested(script: str | None, words: Sequence[str], cwd: Path | None = None) -> str:
    """What `sbatch --test-only` says: when and where such a job would start. Nothing is submitted.

    Args:
        as for `sbatch`.

    Returns:
        a sentence, empty where there is no Slurm.

    Raises:
        SlurmFailed: sbatch would refuse the job.
    """
    try:
        said = _answer("sbatch", ["--test-only", *words], script, cwd)
    except NoSlurm:
        return ""
    return _sentences("sbatch", said.stderr)
