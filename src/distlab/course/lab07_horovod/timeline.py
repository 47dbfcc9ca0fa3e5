"""Read and draw the timeline that Horovod writes (HOROVOD_TIMELINE=FILE).

It is a Chrome trace by rank 0, the coordinator: each tensor is a "process", and its rows are what
Horovod did with it. First it negotiates: ticks show which worker was ready when. Then the tensor is
copied into the fusion buffer together with others, reduced, and copied back.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: phase of an operation → (its colour, its name in the legend)
COLOURS = {
    "NEGOTIATE": ("#CCCCCC", "negotiate: who is ready?"),
    "MEMCPY_IN": ("#56B4E9", "copy into the fusion buffer"),
    "REDUCE": ("#E69F00", "reduce or send"),
    "MEMCPY_OUT": ("#009E73", "copy out again"),
}


@dataclass(frozen=True)
class Activity:
    """One thing that Horovod did with a tensor. Times are seconds since the timeline's begin."""

    tensor: str
    name: str
    begin: float
    end: float


@dataclass(frozen=True)
class Ready:
    """The moment at which the coordinator heard that a worker is ready with a tensor."""

    tensor: str
    rank: int
    time: float


@dataclass(frozen=True)
class Timeline:
    """A timeline as read by `read`."""

    activities: list[Activity]
    ready: list[Ready]
    cycles: list[float]

    def tensors(self) -> list[str]:
        """The tensors in the order in which they appear."""
        return list(dict.fromkeys(a.tensor for a in self.activities))

    def negotiations(self, prefix: str = "allreduce.") -> list[list[float]]:
        """The moments at which negotiations began, a list for each tensor with this prefix."""
        begun: dict[str, list[float]] = {}
        for a in self.activities:
            if a.tensor.startswith(prefix) and a.name.startswith("NEGOTIATE"):
                begun.setdefault(a.tensor, []).append(a.begin)
        return list(begun.values())

    def step(self, number: int) -> Timeline:
        """What happened in one step of training, counted from 0: from its first gradient on until
        the next step's. Of the last step tensors can be missing: Horovod may end before it has
        written all of them.
        """
        steps = itertools.zip_longest(*self.negotiations(), fillvalue=float("inf"))
        starts = [min(times) for times in steps]
        begin, end = starts[number], [*starts, float("inf")][number + 1]
        return Timeline(
            [a for a in self.activities if begin <= a.begin < end],
            [r for r in self.ready if begin <= r.time < end],
            [c for c in self.cycles if begin <= c < end],
        )


def load(path: str | Path) -> list[dict[str, Any]]:
    """The trace events of a timeline file. Horovod may leave its list open, and where it was killed
    the last line may be cut short: that one is left out.

    Raises:
        ValueError: it is no trace.
    """
    text = Path(path).read_text("utf-8").strip()
    if not text.startswith("["):
        raise ValueError(f"{path} is no timeline of Horovod's: it does not begin with [")
    try:
        events = _events(text)
    except ValueError:
        events = _events(text.rpartition("\n")[0] or text)
    return [event for event in events if event]


def _events(text: str) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = json.loads(
        text if text.endswith("]") else text.rstrip(",\n ") + "]"
    )
    return events


def read(path: str | Path) -> Timeline:
    """What happened to each tensor, from a timeline file.

    Raises:
        ValueError: it is no trace.
    """
    names, stacks = {}, {}
    activities, ready, cycles = [], [], []
    for event in load(path):
        tensor, phase, time = names.get(event.get("pid")), event["ph"], event.get("ts", 0) / 1e6
        if phase == "M" and "name" in event.get("args", {}):
            names[event["pid"]] = event["args"]["name"]
        elif phase == "B":
            stacks.setdefault(tensor, []).append((event["name"], time))
        elif phase == "E" and stacks.get(tensor):
            name, begin = stacks[tensor].pop()
            activities.append(Activity(tensor, name, begin, time))
        elif phase == "X" and event.get("name", "").isdigit():
            ready.append(Ready(tensor, int(event["name"]), time))
        elif phase == "i":
            cycles.append(time)
    return Timeline(sorted(activities, key=lambda a: a.begin), ready, cycles)


def kind(name: str) -> str | None:
    """Which of `COLOURS` an activity is drawn in; `None` for one that only holds others."""
    for part in ("NEGOTIATE", "MEMCPY_IN", "MEMCPY_OUT"):
        if name.startswith(part):
            return part
    return "REDUCE" if name.startswith(("GLOO_", "MPI_", "NCCL_", "CCL_")) else None


def draw(timeline: Timeline, axis: Any, tensors: Sequence[str] | None = None) -> None:
    """Draw the tensors as rows on a Matplotlib axis, times in milliseconds."""
    rows = {name: row for row, name in enumerate(tensors or timeline.tensors())}
    start = min((a.begin for a in timeline.activities), default=0.0)
    for activity in timeline.activities:
        what = kind(activity.name)
        if what and activity.tensor in rows:
            begin, width = 1e3 * (activity.begin - start), 1e3 * (activity.end - activity.begin)
            row, colour = rows[activity.tensor], COLOURS[what][0]
            axis.barh(row, max(width, 0.004), 0.7, begin, color=colour)
    for mark in timeline.ready:
        if mark.tensor in rows:
            when = 1e3 * (mark.time - start)
            axis.text(when, rows[mark.tensor], str(mark.rank), fontsize=8, ha="center", va="center")
    axis.set_yticks(range(len(rows)), rows)
    axis.invert_yaxis()
    axis.set_xlabel("milliseconds")
    for colour, name in COLOURS.values():
        axis.barh([0], [0], color=colour, label=name)
    axis.legend(loc="upper center", ncols=4, fontsize=8, bbox_to_anchor=(0.5, 1.16), frameon=False)
