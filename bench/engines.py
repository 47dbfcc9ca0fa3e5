"""A class graded by the engines of a Slurm job over two nodes: what it costs, and what it brings.

    sudo .venv/bin/python -m bench.engines [--submissions 24] [--engines 2 4 8]

The nodes are those of deploy/slurm, so all of them share this machine's processors, and more
engines than it has cannot be quicker. What can be seen here is what engines cost: seconds of a
processor that a submission takes without them and with them. The efficiency is their ratio.
Each way grades a small class and a larger one; a submission takes the difference, and what is left
is the start. From that follows how long a large class takes where each engine has a processor:

    start + one submission + submissions · max(head's seconds, engines' seconds / engines)

The head is the process that grades, with its pages and gradebook: there is one, whatever computes.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "deploy" / "slurm")]

import cluster as deployed  # noqa: E402

from bench import header  # noqa: E402
from bench.grading import LAB, answers, busy  # noqa: E402
from grader import collected  # noqa: E402

SMALL = 4  # submissions of the class that is mostly start
LARGE, ON = 1000, (8, 16, 32, 64)  # the class of a real cluster, and engines there
PATIENCE = 1800.0  # seconds for a class


class Took(NamedTuple):
    """What grading took, in seconds: by the clock; of a processor by the process that grades and
    what that started; of a processor by all that this machine computed meanwhile.
    """

    clock: float
    head: float
    machine: float

    @property
    def engines(self) -> float:
        """Seconds of a processor by the engines, and by Slurm."""
        return self.machine - self.head


def grade(cluster: deployed.Cluster, name: str, count: int, *words: str) -> Took:
    """Grade a class of so many ordinary submissions as the cluster's student does."""
    folder = cluster.home / name
    for number, sources in enumerate(answers(count, ordinary=True)):
        collected.hand_in(folder, f"s{number:03}", LAB, collected.handed_in(LAB, **sources))
    for path in (folder, *folder.rglob("*")):
        os.chown(path, deployed.UID, deployed.UID)
    began, before, computed = time.perf_counter(), os.times(), busy()
    done = cluster.run(
        "python", "-m", "distlab", "grade", LAB, *words, cwd=ROOT, timeout=PATIENCE,
        DISTLAB_GRADES=str(folder),
    )  # fmt: skip
    seconds, after = time.perf_counter() - began, os.times()
    if done.returncode:
        raise subprocess.CalledProcessError(done.returncode, done.args, done.stdout, done.stderr)
    head = after.children_user + after.children_system
    head -= before.children_user + before.children_system
    return Took(seconds, head, busy() - computed)


def split(small: Took, large: Took, more: int) -> tuple[Took, Took]:
    """(what the start takes, what a submission takes), of two classes, `more` submissions apart."""
    each = Took(*((b - a) / more for a, b in zip(small, large, strict=True)))
    return Took(*(a - SMALL * one for a, one in zip(small, each, strict=True))), each


def forecast(count: int, engines: int, start: float, head: float, each: float) -> float:
    """Seconds by the clock that a class takes where each engine has a processor.

    Args:
        start: seconds until the engines are there.
        head, each: seconds of a processor for a submission, of the head and of an engine.
    """
    return start + each + count * max(head, each / engines)


def measure(submissions: int, engines: Sequence[int]) -> Iterator[tuple[int, Took, Took]]:
    """(engines, 0 for none; the start; a submission)."""
    with deployed.Cluster(deployed.temporary()) as cluster:
        for number in (0, *engines):
            words = ["--jobs", str(number or 2 * (os.cpu_count() or 1))]
            words += ["--cluster", "slurm"] if number else []
            small, large = (
                grade(cluster, f"class-{number}-{count}", count, *words)
                for count in (SMALL, SMALL + submissions)
            )
            yield number, *split(small, large, submissions)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--submissions", type=int, default=24)
    parser.add_argument("--engines", type=int, nargs="+", default=[2, 4, 8])
    options = parser.parse_args()
    if reason := deployed.obstacle():
        raise SystemExit(f"bench.engines: {reason}")
    print(header())
    print(f"{'judges':24} {'start':>7} {'a submission':>13} {'head':>7} {'engines':>8} efficiency")
    found = []
    for number, start, each in measure(options.submissions, sorted(options.engines)):
        found.append((number, start, each))
        told = f"{number} engines on 2 nodes" if number else "this machine's own"
        print(
            f"{told:24} {start.clock:5.1f} s {each.clock:11.2f} s {each.head:5.2f} s "
            f"{each.engines:6.2f} s {found[0][2].machine / each.machine:9.0%}", flush=True,
        )  # fmt: skip
    (fewest, _, each), (_, start, _) = found[1], found[-1]
    print(f"{LARGE:,} submissions by these figures of {fewest} engines, a processor for each:")
    for number in ON:
        seconds = forecast(LARGE, number, start.clock, each.head, each.engines)
        print(f"  {number:3} engines: {seconds / 60:.1f} minutes")


if __name__ == "__main__":
    main()
