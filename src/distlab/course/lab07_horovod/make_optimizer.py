"""`make_optimizer`: an optimizer in Horovod's."""

from __future__ import annotations

import numpy as np

from distlab.course.lab07_horovod.looks import initialised
from distlab.course.lab07_horovod.network import data, network, weights
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.rank.models import parameters

AFTER = "parameters after two steps"
_HOROVODS = "DistributedOptimizer"
#: what else the harness reports; `None` where the returned value is no Horovod optimizer
_LEFT = (
    "optimizer", "learning rate", "momentum", "names of the parameters",
    "parameters at the start", "compression", "operation",
)  # fmt: skip


def _optimizer_inputs(case: Case) -> list[dict]:
    momentum = case.get("momentum", 0.5)
    return [
        {
            "weights": weights(case, r),
            **data(case, r, 4),
            # each worker is given another rate, and rank 0's counts: it is part of the optimizer's
            # state (without momentum Horovod takes SGD to have none, and broadcasts no rate)
            "lr": case.get("lr", 0.1) * (1 + r * (momentum > 0)),
            "momentum": momentum,
            "compression": case.get("compression", "none"),
            "op": case.get("op", "Average"),
        }
        for r in range(case.size)
    ]


def _is_horovods(optimizer) -> bool:
    import torch

    return isinstance(optimizer, torch.optim.Optimizer) and hasattr(optimizer, "_requires_update")


def _kind(optimizer) -> str:
    """What it is, and what it does beyond plain SGD with momentum."""
    import torch

    more = [
        name.replace("_", " ")
        for name in ("weight_decay", "nesterov", "dampening", "maximize")
        if any(group.get(name) for group in optimizer.param_groups)
    ]
    of = "" if isinstance(optimizer, torch.optim.SGD) else f" of {type(optimizer).__name__}"
    return f"{_HOROVODS}{of}{' with ' if more else ''}{' and '.join(more)}"


def _call_make_optimizer(function, rank, size, inputs):
    from torch.nn.functional import nll_loss

    hvd = initialised(rank, size)
    model = network(inputs["weights"])
    compression = getattr(hvd.Compression, inputs["compression"])
    op = getattr(hvd, inputs["op"])
    optimizer = function(model, inputs["lr"], inputs["momentum"], compression, op)
    no_steps = inputs["op"] == "Adasum" and size > 1  # Adasum needs MPI to take a step
    if not _is_horovods(optimizer):
        left = _LEFT if no_steps else (*_LEFT, AFTER)
        return {**dict.fromkeys(left), "optimizer": type(optimizer).__name__}
    known = [optimizer._parameter_names.get(p) for p in model.parameters()]
    names = [name for name, _ in model.named_parameters()]
    found = {
        "optimizer": _kind(optimizer),
        "learning rate": float(optimizer.param_groups[0]["lr"]),
        "momentum": float(optimizer.param_groups[0].get("momentum", 0.0)),
        "names of the parameters": "the model's" if known == names else "others",
        "parameters at the start": parameters(model),
        "compression": optimizer._compression.__name__,
        "operation": _operation(hvd, optimizer),
    }
    if no_steps:
        return found
    for _ in range(2):  # momentum shows in the second one
        optimizer.zero_grad()
        nll_loss(model(inputs["images"]), inputs["labels"]).backward()
        optimizer.step()
    return {**found, AFTER: parameters(model)}


def _operation(hvd, optimizer) -> str:
    op = getattr(optimizer, "op", hvd.Adasum)  # Adasum's own optimizer class has no `op`
    return next((n for n in ("Average", "Sum", "Adasum") if getattr(hvd, n) == op), "another")


def _rate(look: Look, factor: int) -> bool:
    """Is the rate of every worker rank 0's times this, and not what it should be?"""
    return look.differs("learning rate") and np.allclose(
        look.left("learning rate"), look.given("lr")[0] * factor
    )


def _own_rate(look: Look) -> bool:
    """Has each worker a rate that was made of its own argument?"""
    ratios = np.divide(look.left("learning rate"), look.given("lr")).round(4)
    return len(set(ratios)) == 1 and look.ranks_differ("learning rate")


exercise = Exercise(
    points=4,
    make=_optimizer_inputs,
    call=_call_make_optimizer,
    deadline=30.0,  # Horovod starts anew in each case
    group=False,
    needs=("horovod",),
    asks="make_optimizer returns SGD inside hvd.DistributedOptimizer, with named parameters, the "
    "given compression and operation, and the rate scaled by the number of workers (not for "
    "Adasum), after parameters and optimizer state were broadcast from rank 0.",
    visible=(
        Case(2, 1),
        Case(2, 2, {"compression": "fp16", "lr": 0.3}),
        Case(2, 3, {"op": "Adasum"}),
        Case(3, 4, {"op": "Sum", "lr": 0.01, "momentum": 0.9}),
    ),
    hints=(
        Hint(
            "not plain SGD",
            lambda look: any(
                str(kind).startswith(f"{_HOROVODS} ") for kind in look.left("optimizer")
            ),
            "SGD with the given rate and momentum is asked for, and nothing else that it can do. "
            "(With weight decay the parameters already move when the optimizer's state is "
            "broadcast: Horovod takes a step with zero gradients to have a state.)",
        ),
        Hint(
            "not wrapped", lambda look: _HOROVODS not in look.left("optimizer"),
            "What came back is no hvd.DistributedOptimizer: is the wrapped one returned?",
        ),
        Hint(
            "parameters not broadcast",
            lambda look: look.ranks_differ("parameters at the start"),
            "The workers start from different parameters. Horovod's optimizer averages gradients, "
            "and never looks at the parameters: rank 0's have to be broadcast.",
        ),
        Hint(
            "other parameters at the start",
            lambda look: look.differs("parameters at the start"),
            "The workers agree on parameters that are not rank 0's: look at root_rank.",
        ),
        Hint(
            "momentum ignored", lambda look: look.differs("momentum"),
            "The optimizer's momentum is not the given one.",
        ),
        Hint(
            "optimizer state not broadcast", _own_rate,
            "The workers' rates differ, because each was given another one in this check. Rate and "
            "momentum belong to the optimizer's state: broadcast that from rank 0, too.",
        ),
        Hint(
            "Adasum scaled",
            lambda look: look.given("op")[0] == "Adasum" and _rate(look, look.size),
            "For Adasum the rate was multiplied by the number of workers. It adds up gradients "
            "that point in different directions and averages those that agree, so that its step "
            "needs no larger rate.",
        ),
        Hint(
            "rate not scaled", lambda look: _rate(look, 1),
            "The rate is the given one. So many workers make a batch that many times larger: "
            "multiply the rate by their number. (In this check they sit on two machines: "
            "hvd.local_size() counts those of one.)",
        ),
        Hint(
            "rate scaled otherwise", lambda look: look.differs("learning rate"),
            "The rate is neither the given one nor that times the number of workers. (In this "
            "check they sit on two machines: hvd.local_size() counts those of one.)",
        ),
        Hint(
            "operation ignored", lambda look: look.differs("operation"),
            "The gradients are combined by another operation than the given one: hand op on.",
        ),
        Hint(
            "compression ignored", lambda look: look.differs("compression"),
            "The gradients travel in another form than the one asked for: hand compression on.",
        ),
        Hint(
            "names missing", lambda look: look.differs("names of the parameters"),
            "The optimizer does not know the model's names for its parameters. Horovod matches "
            "tensors by name: give it model.named_parameters().",
        ),
    ),
)  # fmt: skip
