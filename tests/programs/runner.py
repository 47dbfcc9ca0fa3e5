"""Run the programs on forked ranks, from a process of its own that has used torch for nothing else.

`python -m programs.runner hanging|right|remarked` prints a line of JSON for each program.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import os
import tempfile
import time
from pathlib import Path

os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")

import cloudpickle
import torch._dynamo  # noqa: F401  DDP imports it; once here, not in each rank

from distlab.engines import forked, runs
from distlab.records import deadlock

AGAIN = 7  # times that a program is run again whose verdict was late


@dataclasses.dataclass
class Seen:
    """What came of one program. `lag` is the time from the last rank blocking to the verdict."""

    name: str
    kind: str | None
    message: str
    lag: float
    seconds: float
    looks: int
    slowest_look: float
    statuses: list[str]
    errors: list[str]
    waits: list[str]  # the places in the wait-for graph, which the live picture draws
    remarks: list[tuple[str, str]]


class Timed(deadlock.Watcher):
    """Notes how long each look took, and when the last one ended."""

    def __init__(self) -> None:
        super().__init__()
        self.times, self.last = [0.0], 0.0

    def _timed(self, look, *arguments):
        begin = time.monotonic()
        found = look(*arguments)
        self.last = time.monotonic()
        self.times.append(self.last - begin)
        return found

    def __call__(self, records, dead):
        return self._timed(super().__call__, records, dead)

    def conflict(self, records, dead=()):
        return self._timed(super().conflict, records, dead)


def observe(forked, name, function, size, arguments=(), deadline=20.0) -> Seen:
    watch = Timed()
    inputs = [cloudpickle.dumps(((rank, size, *arguments), {})) for rank in range(size)]
    run = runs.drive(forked, cloudpickle.dumps(function), inputs, deadline=deadline, watch=watch)
    found = run.finding
    lag = watch.last - blocked_since(run.records, found) if found else 0.0
    return Seen(
        name, found.kind if found else None, found.message if found else "", lag, run.seconds,
        len(watch.times) - 1, max(watch.times), [outcome.status for outcome in run.outcomes],
        [outcome.error["message"] for outcome in run.outcomes if outcome.error],
        [wait.event.place for wait in found.waits] if found else [],
        [(remark.kind, remark.sentence) for remark in deadlock.remarks(run.records)],
    )  # fmt: skip


def soonest(soon, *asked) -> Seen:
    """What came of a program, run again where its verdict was late: what else the machine does only
    makes it later. A run with another verdict is the one to tell.
    """
    seen = observe(*asked)
    for _ in range(AGAIN):
        if seen.lag < soon:
            break
        again = observe(*asked)
        if again.kind != seen.kind:
            return again
        seen = min(seen, again, key=lambda one: one.lag)
    return seen


def blocked_since(records, found) -> float:
    """When the last of the ranks in a verdict blocked or ended."""
    moments = [wait.event.wait_begin or wait.event.begin for wait in found.waits]
    # records are from after the run: stuck ranks may have raised since, as others were killed
    stuck = {wait.rank for wait in found.waits}
    partners = {rank for wait in found.waits for rank in wait.on_ranks} - stuck
    return max(moments + [records[rank].end for rank in partners])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("which", choices=("hanging", "right", "remarked"))
    parser.add_argument("--longest", type=float, default=0.3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--soon", type=float, default=math.inf)
    options = parser.parse_args()
    if options.which == "hanging":
        from programs.hanging import PROGRAMS
    elif options.which == "right":
        from programs.right import PROGRAMS
    else:
        from programs.remarked import PROGRAMS
    arguments = (options.longest, options.seed) if options.which == "right" else ()
    with tempfile.TemporaryDirectory() as folder:
        found = forked.ForkedEngines(max(program.size for program in PROGRAMS), Path(folder))
        try:
            for program in PROGRAMS:
                about = found, program.name, program.run, program.size, arguments
                seen = soonest(options.soon, *about)
                print(json.dumps(dataclasses.asdict(seen)), flush=True)
        finally:
            found.close()


if __name__ == "__main__":
    main()
