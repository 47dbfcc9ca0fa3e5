"""`distlab submit`: a lab's batch file, a script, or a function of a notebook as a Slurm job.

    from distlab import submit

    submit("ring.sbatch", "--repeats", "3")                 # a batch file with its arguments
    submit("ring.py", nodes=2, ranks=4)                     # a script: the batch file is written
    submit("lab.ipynb", function="exchange", ranks=2)       # a function of a saved notebook

It follows the job until its end: its state in words whenever that changes, and what it prints. An
interrupt (Ctrl-C, or the notebook's stop button) cancels the job.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from distlab.engines import notebook_function, progress
from distlab.engines.slurm.batch_file import faults
from distlab.engines.slurm.job import Job, Status, sbatch
from distlab.processes import entry_points
from distlab.processes.wrong_argument import WrongArgument, takes

SHOWN = 20  # lines of the log that a notebook shows while the job runs
FEW = 3  # lines of the log that the message on a failed job ends with

# All ranks meet on the first machine of the job, at a port that no other job of this user has.
_SCRIPT = """#!/bin/bash
{directives}

export MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
export MASTER_PORT=$((20000 + SLURM_JOB_ID % 20000))
export OMP_NUM_THREADS=${{SLURM_CPUS_PER_TASK:-1}}

# srun starts every rank itself and puts its number in front of what it prints. A rank that fails
# ends the others, which would wait for it for ever.
srun --label --kill-on-bad-exit=1 {command}
"""

_FIRST = re.compile(r"srun: error: (?P<node>\S+): tasks? (?P<task>\S+): (?P<end>.+)")


class Refused(WrongArgument):
    """What was asked for cannot become a job; the message says what to change."""


@takes('submit takes a batch file, a script or a notebook, submit("resnet_ddp.sbatch") say')
def submit(
    program: str | Path,
    *arguments: object,
    nodes: int | None = None,
    ranks: int | None = None,
    gpus: int | None = None,
    time: str | None = None,
    partition: str | None = None,
    function: str | None = None,
    follow: bool = True,
) -> Job:
    """Submit a program to Slurm, and follow the job until its end.

    Args:
        program: a batch file (.sbatch), a script (.py), or a notebook (.ipynb) with `function`.
        arguments: the program's own.
        nodes: machines; 1, or what the batch file says.
        ranks: in all; one a node, or what the batch file says.
        gpus: of each node.
        time: the job's limit, as sbatch takes it: minutes, or hours:minutes:seconds.
        partition: Slurm's, its default one where this is left out.
        function: of a notebook, called as `function(rank, size)` in a process group.
        follow: wait for the job's end. An interrupt meanwhile cancels the job.

    Returns:
        the job, whose `ok`, `status` and `log` say how it went.

    Raises:
        Refused: the batch file's header is broken, or the numbers do not fit each other.
        SlurmFailed: Slurm is not here, or refuses.
    """
    words, script = planned(program, arguments, nodes, ranks, gpus, time, partition, function)
    job = sbatch(script, words, Path(program).resolve().parent)
    if follow:
        watch(job, _Display() if progress.in_notebook() else Terminal())
    return job


def planned(
    program: str | Path,
    arguments: Sequence[object] = (),
    nodes: int | None = None,
    ranks: int | None = None,
    gpus: int | None = None,
    time: str | None = None,
    partition: str | None = None,
    function: str | None = None,
) -> tuple[list[str], str | None]:
    """The words for sbatch, and the batch file's text where it is written for the program.

    Raises:
        Refused: see `submit`.
    """
    program = Path(program)
    wanted = _wanted(nodes, ranks, gpus, time, partition)
    own = [str(word) for word in arguments]
    _checked(program, own, function)
    if program.suffix in (".sbatch", ".sh", ".slurm"):
        text = program.read_text("utf-8", "replace")
        if found := faults(text, wanted):
            more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
            raise Refused(f"{program.name}: {found[0]}{more}")
        options = [f"--{name}={value}" for name, value in wanted.items()]
        return [*options, str(program.resolve()), *own], None
    text = batch_file(program.resolve(), own, wanted, function)
    if found := faults(text):
        raise Refused(found[0])
    return [], text


def _checked(program: Path, own: Sequence[str], function: str | None) -> None:
    if not program.is_file():
        what = "is a folder" if program.is_dir() else "is not there"
        raise Refused(
            f"{program} {what}: name a batch file (.sbatch), a script (.py) or a notebook"
        )
    if program.suffix not in (".sbatch", ".sh", ".slurm", ".py", ".ipynb"):
        raise Refused(f"{program} is no batch file (.sbatch), script (.py) or notebook (.ipynb)")
    if program.suffix == ".ipynb" and not function:
        raise Refused(
            f"say by --function which function of {program.name} to run, as NAME(rank, size)"
        )
    if program.suffix != ".ipynb" and function:
        raise Refused(f"--function is for notebooks: {program.name} runs as a whole")
    if function:
        try:
            notebook_function.need(program, function, own)
        except ValueError as error:
            raise Refused(str(error)) from error


def _wanted(
    nodes: int | None,
    ranks: int | None,
    gpus: int | None,
    time: str | None,
    partition: str | None,
) -> dict[str, object]:
    """sbatch's options for what was asked for."""
    for name, value in (("nodes", nodes), ("ranks", ranks), ("gpus", gpus)):
        if value is not None and value < (0 if name == "gpus" else 1):
            raise Refused(f"{value} {name} make no job")
    wanted: dict[str, object] = {"nodes": nodes}
    if ranks is not None:
        if ranks % (nodes or 1):
            raise Refused(f"{ranks} ranks cannot be spread evenly over {nodes} nodes")
        wanted |= {"nodes": nodes or 1, "ntasks-per-node": ranks // (nodes or 1)}
    wanted |= {"gpus-per-node": gpus, "time": time, "partition": partition}
    return {name: value for name, value in wanted.items() if value is not None}


def batch_file(
    program: Path, arguments: Sequence[str], wanted: Mapping[str, object], function: str | None
) -> str:
    """A batch file for a script or notebook; one task a rank."""
    asked = {
        "job-name": re.sub(r"[^\w-]", "_", program.stem), "nodes": 1, "ntasks-per-node": 1,
        "output": "%x-%j.out", "open-mode": "append", **wanted,
    }  # fmt: skip
    words = [sys.executable, "-m", entry_points.SLURM_TASK]
    words += [f"--function={function}"] if function else []
    words += [program.name, *arguments]
    return _SCRIPT.format(
        directives="\n".join(f"#SBATCH --{name}={shlex.quote(str(value))}"
                             for name, value in asked.items()),
        command=shlex.join(words),
    )  # fmt: skip


def watch(job: Job, screen: Terminal | _Display) -> Status:
    """Show a job until its end; an interrupt cancels it."""
    try:
        for news in job.follow():
            screen.line(news) if isinstance(news, str) else screen.state(news)
    except KeyboardInterrupt:
        screen.state(job.cancel())
    return job.status


def verdict(job: Job) -> str:
    """One line on a job that did not end as it should: what happened and where to look."""
    told = job.status.told()
    where = f"; its log is {_near(job.status.log)}" if job.status.log else ""
    if job.status.state != "FAILED":
        return f"{told}{where}"
    cause = end = ""
    lines = [line.strip() for line in job.log.splitlines() if line.strip()]
    if first := next(filter(None, map(_FIRST.match, lines)), None):  # srun ended the others for it
        cause = f"; first of all task {first['task']} on {first['node']}: {first['end']}"
    if last := [line for line in lines if not line.startswith(("srun:", "slurmstepd:"))][-FEW:]:
        end = f", which ends: {' / '.join(last)}"
    return f"{told}{cause}{where}{end}"


def _near(path: Path) -> str:
    """A path as one would type it here."""
    short = os.path.relpath(path)
    return short if not short.startswith("..") else str(path)


class Terminal:
    """States to stderr, the log to stdout."""

    def state(self, status: Status) -> None:
        print(f"distlab: {status.told()}", file=sys.stderr, flush=True)

    def line(self, line: str) -> None:
        from distlab.records import redaction

        print(redaction.visible(line), flush=True)


class _Display:
    """One output of a notebook, written over as the job goes on."""

    def __init__(self) -> None:
        from IPython.display import display

        self._lines: list[str] = []
        self._state = "submitted"
        self._handle = display(self, display_id=True)

    def state(self, status: Status) -> None:
        self._state = status.told()
        self._handle.update(self)

    def line(self, line: str) -> None:
        self._lines.append(line)
        self._handle.update(self)

    def __repr__(self) -> str:
        left = len(self._lines) - SHOWN
        above = [f"… {left} lines above"] if left > 0 else []
        return "\n".join([self._state, *above, *self._lines[-SHOWN:]])

    def _repr_html_(self) -> str:
        import html

        first, *rest = repr(self).split("\n")
        style = "white-space:pre-wrap;overflow-wrap:break-word"
        log = html.escape("\n".join(rest))
        return f"<b>{html.escape(first)}</b><pre style='{style}'>{log}</pre>"
