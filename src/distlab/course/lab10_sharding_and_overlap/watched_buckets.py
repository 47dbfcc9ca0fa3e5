"""Models whose gradients and steps are noted, and what that says of buckets: began early or late?

The model's own hooks, which run before any others, note when each gradient is there; the record
says when each all-reduce began and was waited for. Both are on one clock, so that "as soon as" can
be judged.
"""

from __future__ import annotations

import functools
import os
import time
from dataclasses import dataclass, field
from pathlib import Path

from distlab.rank.models import linear
from distlab.records import reading

LATE = "number of buckets that began later than they could"
EARLY = "number of buckets that began before their gradients were there"
WAITED = "number of all-reduces that were waited for before finish"
IN_FINISH = "number of operations that finish began"
COUNTS = (EARLY, LATE, WAITED, IN_FINISH)


@dataclass
class _Marks:
    """When things happened in one step of one model, on the machine's monotonic clock."""

    ready: list[tuple[int, float]] = field(default_factory=list)  # (number of the parameter, when)
    backward: tuple[float, float] = (0.0, 0.0)
    finish: tuple[float, float] = (0.0, 0.0)


class Watched:
    """A model of a case, the bytes of a bucket, and the marks of each step that it went through."""

    def __init__(self, described: dict, weights: list) -> None:
        self.module, self.limit = _network(described, weights), described["bytes"]
        self.buckets = buckets_of(bytes_of(described, weights), self.limit)
        self.steps: list[_Marks] = []
        trained = [p for p in self.module.parameters() if p.requires_grad]
        for number, parameter in enumerate(trained):
            parameter.register_hook(functools.partial(self._note, number))

    def _note(self, number: int, _gradient) -> None:
        if self.steps:
            self.steps[-1].ready.append((number, time.monotonic()))

    def begin(self, set_to_none: bool) -> None:
        """A step begins, with gradients that are None or zero."""
        self.module.zero_grad(set_to_none=set_to_none)
        self.steps.append(_Marks())

    def forward(self, batch, scale: float):
        return self.module(batch).square().sum() * scale

    def backward(self, loss) -> None:
        begin = time.monotonic()
        loss.backward()
        self.steps[-1].backward = begin, time.monotonic()

    def finish(self, finish) -> None:
        begin = time.monotonic()
        finish()
        self.steps[-1].finish = begin, time.monotonic()


def _network(described: dict, weights: list):
    import torch
    from torch import nn

    count, empty = len(weights), described.get("empty", False)
    frozen, twice = described.get("frozen", []), described.get("twice", [])

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            if empty:
                self.nothing = nn.Parameter(weights[0][0].new_empty(0))
            for number in described.get("order", range(count)):
                layer = linear(*weights[number])
                layer.weight.requires_grad_(number not in frozen)
                self.add_module(f"layer{number}", layer)

        def forward(self, x):
            for number in range(count):
                for _ in range(2 if number in twice else 1):
                    x = torch.tanh(getattr(self, f"layer{number}")(x))
            return torch.cat([x.flatten(), self.nothing]) if empty else x

    return Network()


def bytes_of(described: dict, weights: list) -> list[int]:
    """The bytes of each parameter that requires a gradient, from the first to the last."""
    found = [0] if described.get("empty") else []
    for number in described.get("order", range(len(weights))):
        weight, bias = weights[number]
        if number not in described.get("frozen", []):
            found.append(weight.nbytes)
        found.append(bias.nbytes)
    return found


def buckets_of(nbytes: list[int], limit: int) -> list[list[int]]:
    """The numbers of the parameters in each bucket, from the last parameter to the first."""
    buckets, held = [[]], 0
    for number in reversed(range(len(nbytes))):
        if held >= limit:
            buckets.append([])
            held = 0
        buckets[-1].append(number)
        held += nbytes[number]
    return buckets


def told_by_record(models: list[Watched], rank: int, size: int) -> dict[str, int]:
    """The `COUNTS` of all steps, from marks and record. One rank alone need not reduce anything."""
    if size == 1:
        return dict.fromkeys(COUNTS, 0)
    record = reading.read(Path(os.environ["DISTLAB_RUN"], f"{rank}.rec"))
    events = [
        (event.begin - record.offset, event.wait_begin and event.wait_begin - record.offset)
        for event in record.events
        if event.op != "new_group"
    ]
    found = [_of_step(model.buckets, marks, events) for model in models for marks in model.steps]
    return {name: sum(counts[name] for counts in found) for name in COUNTS}


def _of_step(buckets, marks: _Marks, events) -> dict[str, int]:
    begin, end = marks.backward
    begun = [event for event in events if begin <= event[0] < end]
    place = {number: at for at, (number, _) in enumerate(marks.ready)}
    moments = [moment for _, moment in marks.ready] + [end]
    early = late = complete = 0
    for number, bucket in enumerate(buckets):
        # the gradient that completes this bucket and all before it: they begin in their order
        complete = max(complete, *(place.get(parameter, 0) for parameter in bucket))
        if number >= len(begun):
            late += 1
        elif begun[number][0] < moments[complete]:
            early += 1
        elif begun[number][0] >= moments[complete + 1]:
            late += 1
    return {
        EARLY: early,
        LATE: late,
        WAITED: sum(0 < wait < marks.finish[0] for _, wait in begun),
        IN_FINISH: sum(marks.finish[0] <= event[0] < marks.finish[1] for event in events),
    }
