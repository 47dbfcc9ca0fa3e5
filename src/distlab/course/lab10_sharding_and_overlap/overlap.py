"""Communication beside computation: when a step computed, when its link was busy, and how much of
the communication was hidden behind computation.

    with slow_links(latency, bandwidth) as link:
        step = overlap.step(model, model, batch, finish, link)
    overlap.compare({"buckets": step})

The model computes in `distlab.simulation.schedules.Work`, which takes a known time on however few
cores.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import nn

from distlab.rank.recording import paused
from distlab.simulation.schedules import BACKWARD, COLOURS, Slot, Work
from distlab.simulation.slow_links import Link, Transfer

_LINK = "#009E73"  # Okabe and Ito's green


@dataclass(frozen=True)
class Step:
    """A backward pass and what belongs to it, in seconds of the machine's monotonic clock.

    `end` is when every gradient is its mean.
    """

    begin: float
    computing: tuple[Slot, ...]
    transfers: tuple[Transfer, ...]
    end: float

    @property
    def seconds(self) -> float:
        return self.end - self.begin

    @property
    def communicating(self) -> float:
        """Seconds in which the link was busy."""
        return sum(t.end - t.begin for t in self.transfers)

    @property
    def hidden(self) -> float:
        """The share of `communicating` during which this rank computed."""
        last = max((slot.end for slot in self.computing), default=self.begin)
        under = sum(max(0.0, min(t.end, last) - t.begin) for t in self.transfers)
        return under / self.communicating if self.transfers else 0.0


def step(
    forward: Callable[[torch.Tensor], torch.Tensor],
    model: nn.Module,
    batch: torch.Tensor,
    finish: Callable[[], object],
    link: Link,
) -> Step:
    """Take the gradients of one batch, and note what happened when.

    Args:
        forward: the model, or what it is wrapped in.
        model: the model itself; the `Work` in it is what computes.
        finish: called after the backward pass; when it returns, gradients are means.
        link: the slow link that the ranks talk over.
    """
    works = [module for module in model.modules() if isinstance(module, Work)]
    model.zero_grad()
    loss = forward(batch).square().mean()
    for work in works:
        work.noted()
    with paused():
        dist.barrier()
    before, begin = len(link.transfers), time.monotonic()
    loss.backward()
    finish()
    end = time.monotonic()
    slots = [slot for work in works for slot in work.noted() if slot.kind == BACKWARD]
    computing = sorted(slots, key=lambda slot: slot.begin)
    return Step(begin, tuple(computing), tuple(link.transfers[before:]), end)


def fastest(steps: Iterable[Step]) -> Step:
    """The shortest of several: the one least disturbed by other programs."""
    return min(steps, key=lambda one: one.seconds)


def compare(steps: Mapping[str, Step]):
    """A figure of several steps of a rank, one below the other, on one scale of time."""
    import matplotlib.pyplot as plt
    from matplotlib.patches import Patch

    figure, axes = plt.subplots(
        len(steps),
        1,
        sharex=True,
        squeeze=False,
        layout="constrained",
        figsize=(9, 0.7 + 1.15 * len(steps)),
    )
    for axis, (title, one) in zip(axes[:, 0], steps.items(), strict=True):
        _draw(axis, title, one)
    axes[-1, 0].set_xlabel("time in ms since the backward pass began")
    figure.legend(
        handles=[
            Patch(color=COLOURS[BACKWARD], label="a layer's backward pass"),
            Patch(color=_LINK, label="a bucket on its way"),
        ],
        loc="outside lower right",
        ncols=2,
        frameon=False,
    )
    return figure


def _draw(axis, title: str, one: Step) -> None:
    for slot in one.computing:
        _box(axis, 0, slot.begin - one.begin, slot.end - slot.begin, COLOURS[BACKWARD])
    for number, transfer in enumerate(one.transfers):
        left, width = transfer.begin - one.begin, transfer.end - transfer.begin
        _box(axis, 1, left, width, _LINK)
        if width > 0.02 * one.seconds:
            middle = 1000 * (left + width / 2)
            axis.text(middle, 1, number, ha="center", va="center", fontsize=8)
    axis.axvline(1000 * one.seconds, color="black", lw=1)
    axis.set_yticks((0, 1), ("computes", "link"))
    axis.set_ylim(1.6, -0.6)
    axis.set_title(
        f"{title}: {1000 * one.seconds:.0f} ms, {one.hidden:.0%} of the communication hidden",
        loc="left",
        fontsize=10,
    )
    axis.spines[["top", "right"]].set_visible(False)


def _box(axis, row: int, left: float, width: float, colour: str) -> None:
    axis.barh(row, 1000 * width, 0.82, 1000 * left, color=colour, edgecolor="white")
