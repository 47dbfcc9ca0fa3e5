"""Batch files for Slurm: what their headers ask for, and what is wrong with them.

sbatch says itself what it cannot read. `faults` finds what it takes without a word and what then
goes wrong in the job: directives that it reads as comments, and numbers of tasks, nodes and GPUs
that do not fit each other.
See https://slurm.schedmd.com/sbatch.html and https://slurm.schedmd.com/srun.html.
"""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

_SHORT = {
    "A": "account", "C": "constraint", "D": "chdir", "G": "gpus", "J": "job-name", "N": "nodes",
    "a": "array", "c": "cpus-per-task", "d": "dependency", "e": "error", "n": "ntasks",
    "o": "output", "p": "partition", "q": "qos", "t": "time", "w": "nodelist", "x": "exclude",
}  # fmt: skip
_COMMENT = re.compile(r"^\s*#\s*([A-Za-z]+)\s*(--?[A-Za-z].*)$")
_LIKE = 0.7  # similarity from which a word is taken for a mistyped SBATCH


@dataclass
class Header:
    """What a batch file asks for: `options` by their long names, numbers where they are plain."""

    options: dict[str, str] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def number(self, name: str) -> int | None:
        value = self.options.get(name, "")
        return int(value) if value.isdecimal() else None

    @property
    def nodes(self) -> int | None:
        """`None` where Slurm decides."""
        if "nodes" in self.options:
            return self.number("nodes")
        return 1 if "ntasks" not in self.options else None

    @property
    def tasks(self) -> int | None:
        """Of a node; `None` where Slurm decides."""
        if "ntasks-per-node" in self.options:
            return self.number("ntasks-per-node")
        if "ntasks" not in self.options:
            return 1
        total, nodes = self.number("ntasks"), self.nodes
        return total // nodes if total and nodes and total % nodes == 0 else None

    @property
    def gpus(self) -> int | None:
        """Of a node; 0 where none are asked for, `None` where Slurm decides."""
        if "gpus-per-node" in self.options:
            return _count(self.options["gpus-per-node"])
        for asked in self.options.get("gres", "").split(","):
            if asked.split(":")[0] == "gpu":
                return _count(asked)
        if "gpus" in self.options:
            total, nodes = _count(self.options["gpus"]), self.nodes
            return total // nodes if total and nodes and total % nodes == 0 else None
        if "gpus-per-task" in self.options:
            each, tasks = _count(self.options["gpus-per-task"]), self.tasks
            return each * tasks if each and tasks else None
        return 0


def _count(asked: str) -> int | None:
    """GPUs of `2`, `a100:2`, `gpu:2`, `gpu:a100:2` and `gpu`."""
    last = asked.rsplit(":", 1)[-1]
    return int(last) if last.isdecimal() else 1 if asked == "gpu" else None


def header(text: str, overrides: Mapping[str, object] | None = None) -> Header:
    """Read the header of a batch file.

    Args:
        overrides: options of the command line by their long names, which win.
    """
    found, begun = Header(), 0  # begun: the line of the first command
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("#SBATCH") and not begun:
            _read(line, number, found)
        elif line.startswith("#SBATCH"):
            found.faults.append(
                f"line {number}: sbatch reads no #SBATCH below the first command, which is in line "
                f"{begun}: move it up"
            )
        elif mistyped := _mistyped(line):
            begins = "a space" if line[0].isspace() else f"`{line.split(' -')[0]}`"
            found.faults.append(
                f"line {number}: to Slurm a line that begins with {begins} is a comment: write "
                f"`#SBATCH {mistyped}`"
            )
        elif line.strip() and not line.lstrip().startswith("#"):
            begun = begun or number
    for name, value in (overrides or {}).items():
        found.options[name] = str(value)
    return found


def _mistyped(line: str) -> str:
    """The options of a line that was meant as a directive; empty where it was not."""
    match = _COMMENT.match(line)
    if not match or line.startswith("#SBATCH"):
        return ""
    like = difflib.SequenceMatcher(None, match[1].upper(), "SBATCH").ratio()
    return match[2] if like >= _LIKE else ""


def _read(line: str, number: int, found: Header) -> None:
    """Enter the options of one directive."""
    try:
        words = shlex.split(line[len("#SBATCH") :], comments=True)
    except ValueError:
        found.faults.append(f"line {number}: a quotation mark is never closed")
        return
    while words:
        name, value = _option(words)
        if found.options.get(name, value) != value:
            found.faults.append(
                f"line {number}: --{name}={value} contradicts --{name}={found.options[name]} above"
            )
        if "$" in value:
            found.faults.append(
                f"line {number}: sbatch puts no variables into its header, so that {value} stays "
                "as it is: write it out, or use sbatch's own %j and %x"
            )
        found.options[name] = value


def _option(words: list[str]) -> tuple[str, str]:
    """Take an option with its value off the front."""
    word = words.pop(0)
    if word.startswith("--"):
        name, given, value = word[2:].partition("=")
    else:
        name, value = _SHORT.get(word[1:2], word[1:2]), word[2:]
        given = value
    if not given and words and not words[0].startswith("-"):
        value = words.pop(0)
    return name, value


def faults(text: str, overrides: Mapping[str, object] | None = None) -> list[str]:
    """What is wrong with a batch file, a sentence each with its line where it has one.

    Args:
        overrides: options of the command line by their long names, which win.
    """
    asked = header(text, overrides)
    first = [] if text.startswith("#!") else ["line 1: a batch file begins with #!/bin/bash"]
    return [*first, *asked.faults, *_misfits(asked), *_misused(text, asked)]


def _misfits(asked: Header) -> Iterator[str]:
    """Numbers that do not fit each other."""
    total, nodes, tasks = asked.number("ntasks"), asked.nodes, asked.tasks
    if total and nodes and tasks and "ntasks-per-node" in asked.options and total != nodes * tasks:
        yield (
            f"--ntasks={total} is not --nodes={nodes} times --ntasks-per-node={tasks}: leave "
            "--ntasks out"
        )
    if total and nodes and total < nodes:
        yield f"--ntasks={total} leaves some of --nodes={nodes} without a task: ask for fewer nodes"
    gpus = asked.gpus
    # one task a node may start a rank for each GPU itself: torchrun, or mp.spawn
    if gpus and tasks and tasks > 1 and (tasks > gpus or gpus % tasks):
        yield (
            f"{tasks} tasks and {gpus} GPU{'s' * (gpus > 1)} on a node: each rank wants a GPU of "
            f"its own (NCCL refuses to share one), so ask for {tasks} GPUs or {gpus} "
            f"task{'s' * (gpus > 1)}"
        )


def _misused(text: str, asked: Header) -> Iterator[str]:
    """Commands that do not fit the header."""
    cpus = asked.number("cpus-per-task") or 1
    told = "SRUN_CPUS_PER_TASK" in text
    for words in _sruns(text):
        own = {name for name, _ in _options(words)}
        # with the job's own --ntasks left as it is, srun ignores --ntasks-per-node=1
        if "torchrun" in words and (asked.tasks or 1) > 1 and "ntasks" not in own:
            yield (
                f"srun starts torchrun {asked.tasks} times on each node, and each of them would "
                "start all ranks of the node: write srun --ntasks=$SLURM_NNODES "
                "--ntasks-per-node=1 torchrun"
            )
        if cpus > 1 and not told and "cpus-per-task" not in own:
            yield (
                f"srun does not take over --cpus-per-task={cpus} (since Slurm 22.05), so that all "
                "threads share one core: export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK"
            )
            told = True


def _sruns(text: str) -> Iterator[list[str]]:
    """The words of each srun command."""
    for line in re.sub(r"\\\n", " ", text).splitlines():
        try:
            words = shlex.split(line, comments=True)
        except ValueError:  # a here-document, say
            continue
        if "srun" in words:
            yield words[words.index("srun") + 1 :]


def _options(words: list[str]) -> Iterator[tuple[str, str]]:
    """srun's own options: those before the program's name."""
    words = list(words)
    while words and words[0].startswith("-"):
        yield _option(words)
