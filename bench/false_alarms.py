"""Run right programs with late ranks on a loaded machine, and count the verdicts: none may fall.

    python bench/false_alarms.py --runs 200 [--longest 3] [--load 2] [--seed 0]

Each run takes one of the tests' right programs with pauses of up to `longest` seconds while `load`
processes keep the cores busy. Exit status 1 if there was a verdict or a program failed.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from programs.right import PROGRAMS
from programs.runner import observe

from distlab.forked import ForkedEngines


def busy() -> int:
    """A process that computes until it is killed; returns its id."""
    pid = os.fork()
    if pid == 0:
        parent = os.getppid()
        while os.getppid() == parent:  # never outlive who started it
            sum(range(100_000))
        os._exit(0)
    return pid


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--longest", type=float, default=3.0, help="seconds of the longest pause")
    parser.add_argument("--load", type=int, default=os.cpu_count(), help="busy processes")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    alarms, failures, looks, begin = [], [], 0, time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        forked = ForkedEngines(max(program.size for program in PROGRAMS), Path(folder))
        load = [busy() for _ in range(options.load)]
        try:
            for number in range(options.runs):
                program = PROGRAMS[number % len(PROGRAMS)]
                longest = options.longest * chance.random()
                arguments = longest, options.seed + number
                seen = observe(
                    forked, program.name, program.run, program.size, arguments, deadline=120
                )
                looks += seen.looks
                if seen.kind:
                    alarms.append(seen)
                    print(f"run {number}, {program.name}: {seen.kind}: {seen.message}", flush=True)
                elif set(seen.statuses) != {"returned"}:
                    failures.append(seen)
                    print(
                        f"run {number}, {program.name}: {seen.statuses} {seen.errors}", flush=True
                    )
        finally:
            for pid in load:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            forked.close()
    print(
        f"{options.runs} runs, {looks} looks, {time.monotonic() - begin:.0f} s, "
        f"{options.load} busy processes: "
        f"{len(alarms)} verdicts, {len(failures)} failures"
    )
    return 1 if alarms or failures else 0


if __name__ == "__main__":
    sys.exit(main())
