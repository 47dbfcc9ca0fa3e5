"""Defects of every class that the MPI Bugs Initiative knows: which are found, and what that costs.

    python bench/schedules.py [--only NAME] [--most 60] [--seconds 20] [--quiet]

Runs the programs of `tests/programs/classes.py`, each under every schedule that it has. A defect
counts as found if a run cannot end well or does not end, if a rank raises, if a run that ended
deserves a remark, or if two schedules end with different results. Exit status 1 if one is missed
or a right one accused.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import statistics
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")

import cloudpickle
import torch._dynamo  # noqa: F401  once here, not in each rank
from programs.classes import PROGRAMS, Program

from distlab.engines import runs
from distlab.engines.exploring import Exploration, Explored, Explorer, nearest, told
from distlab.engines.forked import ForkedEngines
from distlab.engines.outcomes import Run
from distlab.records import deadlock


@dataclasses.dataclass
class Seen:
    """What was said of a program. `first`: of its first run alone."""

    program: Program
    first: bool
    said: list[str]
    schedules: int
    complete: bool
    seconds: float

    @property
    def found(self) -> bool:
        return bool(self.said)

    @property
    def right(self) -> bool:
        return self.found == self.program.wrong

    @property
    def names_the_line(self) -> bool:
        return any(place in text for place in self.program.places for text in self.said)


def observe(engines, program: Program, most: int, seconds: float) -> Seen:
    """Run a program under all its schedules and collect what is said of them."""
    pickled = cloudpickle.dumps(program.run)
    inputs = [cloudpickle.dumps(((rank, program.size), {})) for rank in range(program.size)]

    def run(schedule=None):
        return runs.drive(
            engines, pickled, inputs, deadline=10.0, watch=deadlock.Watcher(), strict=True,
            schedule=schedule,
        )  # fmt: skip

    begin = time.monotonic()
    first = run()
    explored = Explorer(run, most, seconds).explore(first)
    spent = time.monotonic() - begin
    said = said_of(explored)
    count = len(explored.explored)
    return Seen(program, bool(said_of_run(first)), said, count, explored.complete, spent)


def said_of(explored: Exploration) -> list[str]:
    """What is wrong with a program, from all of its schedules that were run."""
    said = [text for one in explored.explored for text in said_of_run(one.run)]
    ended = [one for one in explored.explored if one.run.ok]
    said += [
        told(one, nearest(one, ended)) for one in explored.explored if not one.run.ok and ended
    ]
    by_result = defaultdict(list)
    for one in ended:
        by_result[tuple(bytes(outcome.output) for outcome in one.run.outcomes)].append(one)
    for other in list(by_result.values())[1:]:
        usual: Explored = nearest(other[0], next(iter(by_result.values())))
        said.append(told(other[0], usual))
    return list(dict.fromkeys(said))


def said_of_run(run: Run) -> list[str]:
    said = [run.finding.message] if run.finding else []
    if run.timed_out:
        waits = [record.waiting() for record in run.records]
        said += [f"rank {e.rank} still waits in {e} at {e.place}" for e in waits if e is not None]
    for outcome in run.outcomes:
        if outcome.error and not run.finding:
            frames = "".join(f" {f['function']}:{f['line']}" for f in outcome.error["frames"])
            said.append(f"rank {outcome.rank} raised {outcome.error['message']} at{frames}")
    if run.ok:
        said += [remark.sentence for remark in deadlock.remarks(run.records)]
    return said


def observe_all(programs, most: int, seconds: float, shows) -> list[Seen]:
    every = []
    with tempfile.TemporaryDirectory() as folder:
        engines = ForkedEngines(max(program.size for program in programs), Path(folder))
        try:
            for program in programs:
                every.append(observe(engines, program, most, seconds))
                shows(every[-1])
        finally:
            engines.close()
    return every


def table(every: list[Seen]) -> str:
    """The figures by class, and over all."""
    groups = list(dict.fromkeys(seen.program.group for seen in every))
    row = "{:24} {:>12} {:>10} {:>14} {:>13} {:>8}".format
    lines = [row("class", "found", "at first", "line is named", "false alarms", "median")]
    for group in [*groups, "all"]:
        some = [seen for seen in every if group in ("all", seen.program.group)]
        wrong = [seen for seen in some if seen.program.wrong]
        right = [seen for seen in some if not seen.program.wrong]
        found = [seen for seen in wrong if seen.found]
        lines.append(
            row(
                group, f"{len(found)} of {len(wrong)}", sum(seen.first for seen in wrong),
                f"{sum(seen.names_the_line for seen in found)} of {len(found)}",
                f"{sum(seen.found for seen in right)} of {len(right)}",
                f"{statistics.median(seen.seconds for seen in some):.2f} s",
            )
        )  # fmt: skip
    depends = [seen for seen in every if seen.program.depends]
    counts = Counter(seen.schedules for seen in every)
    lines.append(
        f"{sum(seen.found for seen in depends)} of {len(depends)} that depend on the schedule are "
        f"found, {sum(seen.first for seen in depends)} of them by one run; "
        f"{sum(seen.schedules for seen in every)} schedules were run, "
        f"{sum(not seen.complete for seen in every)} programs have more; "
        f"{counts[1]} programs have one schedule, at most {max(counts)}."
    )
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", help="programs whose name has this in it")
    parser.add_argument("--most", type=int, default=60, help="schedules of a program")
    parser.add_argument(
        "--seconds", type=float, default=20.0, help="for the schedules of a program"
    )
    parser.add_argument("--quiet", action="store_true", help="the table alone")
    options = parser.parse_args()
    programs = [program for program in PROGRAMS if options.only in program.name]

    def shows(seen: Seen) -> None:
        named = seen.names_the_line or not seen.program.wrong
        if not options.quiet and not (seen.right and named):
            verdict = "no line named" if seen.right else "missed" if seen.program.wrong else "FALSE"
            print(f"{verdict}: {seen.program.name}: {seen.said}", flush=True)

    every = observe_all(programs, options.most, options.seconds, shows)
    print(table(every))
    return 0 if all(seen.right for seen in every) else 1


if __name__ == "__main__":
    sys.exit(main())
