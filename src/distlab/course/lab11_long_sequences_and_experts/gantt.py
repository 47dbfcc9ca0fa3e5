"""A Gantt chart of ranks: when each was busy with what, as measured, drawn to scale."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

#: Okabe and Ito's colours, one for each label, light enough for black figures
COLOURS = ("#56B4E9", "#E69F00", "#009E73", "#CC79A7", "#F0E442", "#D55E00")


@dataclass(frozen=True)
class Work:
    """A piece of work of a rank, from `begin` to `end` seconds of the machine's clock.

    Args:
        label: the number that is written into its box and gives it its colour.
        amount: how much there was to do, in whatever unit; a piece of 0 is not drawn.
    """

    label: int
    amount: float
    begin: float
    end: float


class Chart:
    """The work of all ranks: `logs` has each rank's pieces. Ranks must share a clock."""

    def __init__(self, logs: Sequence[Sequence[Work]]) -> None:
        self.logs = [list(log) for log in logs]
        pieces = [piece for log in self.logs for piece in log]
        self.begin = min((piece.begin for piece in pieces), default=0.0)
        self.end = max((piece.end for piece in pieces), default=0.0)

    @property
    def seconds(self) -> float:
        """From the first piece's begin to the last one's end."""
        return self.end - self.begin

    @property
    def idle(self) -> float:
        """The share of all ranks' time in which they had nothing to do."""
        busy = sum(piece.end - piece.begin for log in self.logs for piece in log)
        return 1 - busy / (len(self.logs) * self.seconds) if self.seconds else 0.0

    @property
    def amounts(self) -> list[float]:
        """For each rank the amount of all its pieces."""
        return [sum(piece.amount for piece in log) for log in self.logs]

    def draw(self, axis, title: str) -> None:
        """A row for each rank, a box for each piece."""
        for rank, log in enumerate(self.logs):
            for piece in log:
                left, width = 1000 * (piece.begin - self.begin), 1000 * (piece.end - piece.begin)
                if piece.amount == 0:
                    continue
                colour = COLOURS[piece.label % len(COLOURS)]
                axis.barh(rank, width, 0.8, left, color=colour, edgecolor="white")
                if width > 40 * self.seconds:
                    place = left + width / 2, rank
                    axis.text(*place, piece.label, ha="center", va="center", color="black")
        axis.set_yticks(range(len(self.logs)), [f"rank {r}" for r in range(len(self.logs))])
        axis.invert_yaxis()
        axis.set_title(
            f"{title}: {1000 * self.seconds:.0f} ms, {self.idle:.0%} of it idle",
            loc="left",
            fontsize=10,
        )
        axis.spines[["top", "right"]].set_visible(False)


def fastest(ranks: Iterable[Sequence[Sequence[Work]]]) -> Chart:
    """The shortest of several runs: for each rank the pieces of each run, in the same order."""
    return min(map(Chart, zip(*ranks, strict=True)), key=lambda chart: chart.seconds)


def compare(charts: Mapping[str, Chart], label: str):
    """A figure of several charts, one below the other, on one scale of time.

    Args:
        label: what the number in a box is.
    """
    import matplotlib.pyplot as plt

    rows = sum(len(chart.logs) for chart in charts.values())
    figure, axes = plt.subplots(
        len(charts),
        1,
        sharex=True,
        squeeze=False,
        layout="constrained",
        figsize=(9, 0.8 + 0.36 * rows + 0.35 * len(charts)),
    )
    for axis, (title, chart) in zip(axes[:, 0], charts.items(), strict=True):
        chart.draw(axis, title)
    axes[-1, 0].set_xlabel(f"time in ms (the number in a box is {label})")
    return figure
