"""A model and an optimizer that were trained a little, and a path to save them at."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np

from distlab.exercises.exercise import Case
from distlab.rank import world
from distlab.rank.models import in_ddp


class PathText(str):
    """A string with the methods of a `pathlib.Path`: the contract leaves open what a path is."""

    def __getattr__(self, name):
        return getattr(Path(str.__str__(self)), name)

    def __truediv__(self, other):
        return Path(str.__str__(self)) / other


def trained(case: Case) -> list[dict]:
    """Seeds of a model and an optimizer: `seed` each rank's own, `shared` the same on all ranks."""
    told = {"width": 4, "epoch": 2, "wrapped": False, "file": "older", **case.params}
    return [
        {"seed": case.number(2**31, rank), "shared": case.number(2**31), **told}
        for rank in range(case.size)
    ]


def model_and_optimizer(seed: int, width: int, lr: float):
    """A model with BatchNorm and an SGD with momentum that has made a step, out of a seed."""
    import torch
    from torch import nn

    generator = np.random.default_rng(seed)

    def filled(tensor):
        return torch.from_numpy(generator.standard_normal(tensor.shape)).to(tensor)

    layers = {
        "layer": nn.Linear(3, width),
        "norm": nn.BatchNorm1d(width),
        "out": nn.Linear(width, 2),
    }
    model = nn.Sequential(OrderedDict(layers))
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    with torch.no_grad():
        for tensor in (*model.parameters(), model.norm.running_mean):
            tensor.copy_(filled(tensor))
        for parameter in model.parameters():
            parameter.grad = filled(parameter)
    optimizer.step()
    optimizer.zero_grad()
    return model, optimizer


def on_device(model, wrapped: bool):
    """The model on this rank's device, bare or wrapped in DDP."""
    return in_ddp(model) if wrapped else model.to(world.here().device)


def state_of(model, optimizer) -> dict[str, Any]:
    """What a checkpoint has to bring back, in a form that no version of torch changes."""
    bare = getattr(model, "module", model)
    return {
        "model": {name: value.clone() for name, value in bare.state_dict().items()},
        "momentum": [optimizer.state[p].get("momentum_buffer") for p in bare.parameters()],
        "learning rate": float(optimizer.param_groups[0]["lr"]),
    }
