"""Run right programs with late ranks on a loaded machine, and count the verdicts: none may fall.

    python bench/false_alarms.py [--runs 202] [--longest 3] [--load 2] [--seed 0] [--schedules]

Each run takes one of the tests' right programs while `load` processes keep the cores busy: those of
`programs/right.py`, with pauses of up to `longest` seconds, and those of `programs/classes.py`.
With `--schedules` each is run under every schedule that it has, 20 at most, and results that differ
count as a verdict. Exit status 1 if there was a verdict or a program failed.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")

import cloudpickle
import torch._dynamo
import torch.fx.experimental.proxy_tensor  # noqa: F401  both once here, not in each rank
from programs.classes import RIGHT
from programs.right import PROGRAMS

from distlab.engines import runs
from distlab.engines.exploring import Explorer
from distlab.engines.forked import ForkedEngines
from distlab.records import deadlock

MOST, SECONDS = 20, 10.0  # schedules of a program, and for how long they are run


@dataclass(frozen=True)
class Right:
    name: str
    run: Callable
    size: int
    pauses: bool


EVERY = [Right(p.name, p.run, p.size, True) for p in PROGRAMS]
EVERY += [Right(p.name, p.run, p.size, False) for p in RIGHT]


def busy() -> int:
    """A process that computes until it is killed; returns its id."""
    pid = os.fork()
    if pid == 0:
        parent = os.getppid()
        while os.getppid() == parent:  # never outlive who started it
            sum(range(100_000))
        os._exit(0)
    return pid


def complaints(engines, program: Right, arguments: tuple, schedules: bool) -> tuple[list[str], int]:
    """Whatever is said of a right program, and in how many schedules it was run."""
    pickled = cloudpickle.dumps(program.run)
    inputs = [
        cloudpickle.dumps(((rank, program.size, *arguments), {})) for rank in range(program.size)
    ]

    def run(schedule=None):
        return runs.drive(
            engines, pickled, inputs, deadline=120, watch=deadlock.Watcher(), strict=schedules,
            schedule=schedule,
        )  # fmt: skip

    every = [run()]
    if schedules:
        found = Explorer(run, MOST, SECONDS).explore(every[0])
        every += [one.run for one in found.explored[1:]]
    said = []
    for one in every:
        if one.finding:
            said.append(f"{one.finding.kind}: {one.finding.message}")
        elif not one.ok:
            said.append(f"failed: {[o.error or o.status for o in one.outcomes]}")
        said += [r.sentence for r in deadlock.remarks(one.records) if r.kind == "race"]
    if len({tuple(bytes(o.output) for o in one.outcomes) for one in every if one.ok}) > 1:
        said.append("its schedules end with different results")
    return said, len(every)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=len(EVERY))
    parser.add_argument("--first", type=int, default=0, help="the program to begin with")
    parser.add_argument("--longest", type=float, default=3.0, help="seconds of the longest pause")
    parser.add_argument("--load", type=int, default=os.cpu_count(), help="busy processes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--schedules", action="store_true", help="under every schedule")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    accused, count, begin = 0, 0, time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        engines = ForkedEngines(max(program.size for program in EVERY), Path(folder))
        load = [busy() for _ in range(options.load)]
        try:
            for number in range(options.first, options.first + options.runs):
                program = EVERY[number % len(EVERY)]
                pauses = options.longest * chance.random(), options.seed + number
                arguments = pauses if program.pauses else ()
                said, ran = complaints(engines, program, arguments, options.schedules)
                count += ran
                accused += bool(said)
                for text in dict.fromkeys(said):
                    print(f"run {number}, {program.name}: {text}", flush=True)
        finally:
            for pid in load:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            engines.close()
    programs = min(options.runs, len(EVERY))
    print(
        f"{programs} right programs, {count} runs, {time.monotonic() - begin:.0f} s, "
        f"{options.load} busy processes: {accused} accused"
    )
    return 1 if accused else 0


if __name__ == "__main__":
    sys.exit(main())
