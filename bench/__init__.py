"""Benchmarks: every figure is a ratio of two things measured in turn in one go.

`distlab bench` runs them all; `python -m bench.startup` runs one. A module of this folder that is
a benchmark has a function `measure()` that yields `Row`s.
"""

from __future__ import annotations

import importlib
import os
import platform
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass

BENCHMARKS = ("startup", "recorder")


@dataclass(frozen=True)
class Row:
    """What was measured, our seconds and those of what one would do instead, one per repeat."""

    what: str
    ours: list[float]
    theirs: list[float]
    instead: str

    @property
    def ratio(self) -> float:
        """How many times longer the other way takes, by medians."""
        return statistics.median(self.theirs) / statistics.median(self.ours)


def in_turn(
    ours: Callable[[], float], theirs: Callable[[], float], repeats: int
) -> tuple[list[float], list[float]]:
    """Measure both alternately: what else the machine does then hits both alike."""
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


def show(rows: Iterator[Row]) -> None:
    print(header())
    print(f"{'what':44} {'ours':>16}   {'instead':>16}   ratio")
    for row in rows:
        print(
            f"{row.what:44} {_spread(row.ours):>16}   {_spread(row.theirs):>16}   "
            f"{row.ratio:6.1f}×  ({row.instead})",
            flush=True,
        )


def _spread(seconds: list[float]) -> str:
    """Median and the range, in a fitting unit."""
    unit, factor = ("s", 1) if statistics.median(seconds) >= 1 else ("ms", 1e3)
    if statistics.median(seconds) < 1e-3:
        unit, factor = "µs", 1e6
    low, middle, high = (
        factor * f(seconds) for f in (min, statistics.median, max)
    )  # fmt: skip
    return f"{middle:.3g} ({low:.3g}–{high:.3g}) {unit}"


def run_all(names: list[str]) -> int:
    """Run benchmarks by name, all by default; returns the exit status."""
    unknown = set(names) - set(BENCHMARKS)
    if unknown:
        raise ValueError(
            f"there is no benchmark {unknown.pop()!r}: choose from {', '.join(BENCHMARKS)}"
        )
    for name in names or BENCHMARKS:
        show(importlib.import_module(f"bench.{name}").measure())
    return 0
