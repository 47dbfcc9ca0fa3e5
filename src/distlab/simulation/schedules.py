"""Who worked when in a pipeline, measured and drawn.

`Work` is a layer that takes a known time: it sleeps. More ranks than cores cannot compute at once,
but they can sleep at once, so that a picture shows the schedule and not a crowded processor. Ranks
must share a clock, so they run on one machine.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORWARD, BACKWARD = "forward", "backward"
#: Okabe and Ito's blue and orange, light enough for black figures on them
COLOURS = {FORWARD: "#56B4E9", BACKWARD: "#E69F00"}


@dataclass(frozen=True)
class Slot:
    """One micro-batch's forward or backward work on a rank, in seconds of the machine's clock."""

    kind: str
    number: int
    begin: float
    end: float


class Work(nn.Module):
    """Passes on what it gets after `seconds` for each row; backward takes twice as long.

    `log` has a `Slot` for each piece of work. Put it behind a layer that has parameters.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds
        self.log: list[Slot] = []
        self._count = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self._count += 1
        passed: torch.Tensor = _Sleep.apply(x, self, self._count - 1)
        return passed

    def noted(self) -> list[Slot]:
        """What was noted since the last call; micro-batches count from 0 again."""
        log, self.log, self._count = self.log, [], 0
        return log

    def sleep(self, kind: str, number: int, rows: int) -> None:
        begin = time.monotonic()
        time.sleep(self.seconds * rows * (2 if kind == BACKWARD else 1))
        self.log.append(Slot(kind, number, begin, time.monotonic()))


class _Sleep(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, work: Work, number: int) -> torch.Tensor:
        ctx.work, ctx.number = work, number
        if not x.is_meta:  # some ask a model for its shapes with tensors that hold nothing
            work.sleep(FORWARD, number, len(x))
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, down: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        ctx.work.sleep(BACKWARD, ctx.number, len(down))
        return down, None, None


class Schedule:
    """The work of all ranks in one step: `logs` has each rank's slots."""

    def __init__(self, logs: Sequence[Sequence[Slot]]) -> None:
        self.logs = [sorted(log, key=lambda slot: slot.begin) for log in logs]
        slots = [slot for log in self.logs for slot in log]
        self.begin = min((slot.begin for slot in slots), default=0.0)
        self.end = max((slot.end for slot in slots), default=0.0)

    @property
    def seconds(self) -> float:
        """From the first piece of work to the end of the last."""
        return self.end - self.begin

    @property
    def idle(self) -> float:
        """The share of all ranks' time in which they did not work."""
        busy = sum(slot.end - slot.begin for log in self.logs for slot in log)
        return 1 - busy / (len(self.logs) * self.seconds) if self.seconds else 0.0

    @property
    def in_flight(self) -> list[int]:
        """For each rank, how many micro-batches at most had gone forward and not yet back."""
        found = []
        for log in self.logs:
            depth = most = 0
            for slot in log:
                depth += 1 if slot.kind == FORWARD else -1
                most = max(most, depth)
            found.append(most)
        return found

    def draw(self, axis: Axes, title: str) -> None:
        """A row for each rank, a numbered box for each piece of work."""
        for rank, log in enumerate(self.logs):
            for slot in log:
                left, width = 1000 * (slot.begin - self.begin), 1000 * (slot.end - slot.begin)
                axis.barh(rank, width, 0.82, left, color=COLOURS[slot.kind], edgecolor="white")
                if width > 18 * self.seconds:
                    axis.text(
                        left + width / 2, rank, str(slot.number), ha="center", va="center",
                        fontsize=8, color="black",
                    )  # fmt: skip
        axis.set_yticks(range(len(self.logs)), [f"rank {r}" for r in range(len(self.logs))])
        axis.invert_yaxis()
        axis.set_title(
            f"{title}: {1000 * self.seconds:.0f} ms, {self.idle:.0%} of it idle",
            loc="left", fontsize=10,
        )  # fmt: skip
        for side in ("top", "right"):
            axis.spines[side].set_visible(False)


def fastest(ranks: Iterable[Sequence[Sequence[Slot]]]) -> Schedule:
    """The shortest of several steps: for each rank the slots of each step, in the same order."""
    return min(map(Schedule, zip(*ranks, strict=True)), key=lambda schedule: schedule.seconds)


def compare(schedules: Mapping[str, Schedule]) -> Figure:
    """A figure of several schedules, one below the other, on one scale of time."""
    import matplotlib.pyplot as plt
    from matplotlib.patches import Patch

    rows = sum(len(s.logs) for s in schedules.values())
    figure, axes = plt.subplots(
        len(schedules), 1, sharex=True, squeeze=False, layout="constrained",
        figsize=(9, 0.8 + 0.36 * rows + 0.35 * len(schedules)),
    )  # fmt: skip
    for axis, (title, schedule) in zip(axes[:, 0], schedules.items(), strict=True):
        schedule.draw(axis, title)
    axes[-1, 0].set_xlabel("time in ms (the number in a box is the micro-batch)")
    handles = [Patch(color=colour, label=kind) for kind, colour in COLOURS.items()]
    figure.legend(handles=handles, loc="outside lower right", ncols=2, frameon=False)
    return figure
