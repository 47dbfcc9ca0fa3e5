"""Benchmarks: every figure is a ratio of two things measured in turn in one go.

`distlab bench` runs them all; `python -m bench.startup` runs one. A module of this folder that is
a benchmark has a function `measure()` that yields `Row`s.
"""

from __future__ import annotations

import importlib
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

BENCHMARKS = (
    "startup", "recorder", "ring", "scaling", "feeding", "script", "sharding", "choices", "grading",
    "alone",
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """What was measured, our figures and those of what one would do instead, one per repeat.

    `note`: what else these measurements say, a sentence. `unit`: seconds ("s"), bytes ("B"), or
    shares of one, which are shown in percent ("%").
    """

    what: str
    ours: list[float]
    theirs: list[float]
    instead: str
    note: str = ""
    unit: str = "s"

    @property
    def ratio(self) -> float:
        """How many times as much the other way takes, by medians."""
        return statistics.median(self.theirs) / statistics.median(self.ours)


def in_turn(
    ours: Callable[[], float], theirs: Callable[[], float], repeats: int
) -> tuple[list[float], list[float]]:
    """Measure both in turn, so that whatever else the machine does slows both alike."""
    pairs = [(ours(), theirs()) for _ in range(repeats)]
    return [a for a, _ in pairs], [b for _, b in pairs]


def header() -> str:
    """The machine and the versions that figures hold for."""
    import ipyparallel
    import torch

    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else "no GPU"
    return (
        f"{os.cpu_count()} cores ({platform.machine()}), {gpu}, "
        f"Python {platform.python_version()}, torch {torch.__version__}, "
        f"ipyparallel {ipyparallel.__version__}"
    )


def show(rows: Iterable[Row]) -> list[Row]:
    """Print rows as they come; returns them."""
    shown = []
    for row in rows:
        print(
            f"{row.what:50} {spread(row.ours, row.unit):>22}   "
            f"{spread(row.theirs, row.unit):>22}   "
            f"{row.ratio:6.3g}×  ({row.instead})",
            flush=True,
        )
        if row.note:
            print(f"  {row.note}", flush=True)
        shown.append(row)
    return shown


def spread(figures: Sequence[float], unit: str = "s") -> str:
    """Median and, of several, the range, in a fitting size of the unit."""
    typical = statistics.median(figures)
    sizes = {
        "s": [("s", 1, 1.0), ("ms", 1e3, 1e-3), ("µs", 1e6, 0.0)],
        "B": [("MB", 1e-6, 1e6), ("kB", 1e-3, 0.0)],
        "%": [("%", 100, 0.0)],
    }[unit]
    shown, factor = next((name, factor) for name, factor, least in sizes if typical >= least)
    low, middle, high = (factor * f(figures) for f in (min, statistics.median, max))
    if len(figures) == 1:
        return f"{middle:.3g} {shown}"
    return f"{middle:.3g} ({low:.3g}–{high:.3g}) {shown}"


def run_all(names: Sequence[str] = (), json_file: str = "") -> int:
    """Run benchmarks by name, all by default; returns the exit status.

    Args:
        json_file: where every measurement is written as data; what it has of other benchmarks
            stays.

    Raises:
        ValueError: there is no such benchmark, or the file holds something else.
    """
    from bench.page import Measured, keep, read

    unknown = set(names) - set(BENCHMARKS)
    if unknown:
        raise ValueError(
            f"there is no benchmark {unknown.pop()!r}: choose from {', '.join(BENCHMARKS)}"
        )
    if json_file:
        read(Path(json_file))  # what cannot be kept is said before it is measured
    machine, day = header(), time.strftime("%Y-%m-%d")
    print(machine)
    print(f"{'what':50} {'ours':>22}   {'instead':>22}    ratio")
    for name in names or BENCHMARKS:
        rows = show(importlib.import_module(f"bench.{name}").measure())
        if json_file:  # at once: the next may take long, or fail
            keep(Path(json_file), {name: Measured(day, machine, rows)})
    return 0
