"""Lab 07: a model, its optimizer in Horovod's, and an epoch with it."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from distlab.course.lab07_horovod.looks import (
    AS_TENSOR,
    LAB,
    NOTHING,
    differs,
    initialised,
    left,
    numbers,
    ranks_differ,
)
from distlab.exercises.compare import Tolerance
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.rank.sharing import among_ranks

PATIENCE = 2.0  # seconds that ranks wait for the others' losses
_INPUTS, _HIDDEN, _CLASSES = 6, 5, 3
_SHAPES = ((_HIDDEN, _INPUTS), (_HIDDEN,), (_CLASSES, _HIDDEN), (_CLASSES,))


def _weights(case: Case, rank: int) -> list[np.ndarray]:
    generator = case.generator(100 + rank)
    return [generator.standard_normal(shape).astype("float32") for shape in _SHAPES]


def _data(case: Case, rank: int, rows: int) -> dict[str, np.ndarray]:
    generator = case.generator(rank)
    return {
        "images": (2 * generator.standard_normal((rows, _INPUTS))).astype("float32"),
        "labels": generator.integers(0, _CLASSES, rows),
    }


def _network(weights, normalised: bool = False):
    """Two layers that end in log-probabilities, so that NLL and cross-entropy are the same."""
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc1 = nn.Linear(_INPUTS, _HIDDEN)
            self.norm = nn.BatchNorm1d(_HIDDEN) if normalised else nn.Identity()
            self.fc2 = nn.Linear(_HIDDEN, _CLASSES)

        def forward(self, x):
            return self.fc2(torch.relu(self.norm(self.fc1(x)))).log_softmax(1)

    model = Net()
    with torch.no_grad():
        for layer, (weight, bias) in ((model.fc1, weights[:2]), (model.fc2, weights[2:])):
            layer.weight.copy_(weight)
            layer.bias.copy_(bias)
    return model


def _parameters(model) -> list:
    return [p.detach().clone() for p in model.parameters()]


# --- make_optimizer -------------------------------------------------------------------------------


def _optimizer_inputs(case: Case) -> list[dict]:
    momentum = case.get("momentum", 0.5)
    return [
        {"weights": _weights(case, r), **_data(case, r, case.get("rows", 4)),
         # rank 0's counts: a worker that was told otherwise gets it with the optimizer's state
         # (without momentum Horovod takes SGD to have no state, and sends no rate)
         "lr": case.get("lr", 0.1) * (1 + r * (momentum > 0)), "momentum": momentum,
         "compression": case.get("compression", "none"), "op": case.get("op", "Average")}
        for r in range(case.size)
    ]  # fmt: skip


def _is_horovods(optimizer) -> bool:
    import torch

    return isinstance(optimizer, torch.optim.Optimizer) and hasattr(optimizer, "_requires_update")


def _call_make_optimizer(function, rank, size, inputs):
    hvd = initialised(rank, size)
    model = _network(inputs["weights"])
    compression = getattr(hvd.Compression, inputs["compression"])
    op = getattr(hvd, inputs["op"])
    optimizer = function(model, inputs["lr"], inputs["momentum"], compression, op)
    if not _is_horovods(optimizer):
        return {"optimizer": type(optimizer).__name__}
    names = [optimizer._parameter_names.get(p) for p in model.parameters()]
    result = {
        "optimizer": "DistributedOptimizer",
        "learning rate": float(optimizer.param_groups[0]["lr"]),
        "momentum": float(optimizer.param_groups[0].get("momentum", 0.0)),
        "names of the parameters": "the model's"
        if names == [name for name, _ in model.named_parameters()] else "others",
        "parameters at the start": _parameters(model),
        "compression": optimizer._compression.__name__,
        "operation": _operation(hvd, optimizer),
    }  # fmt: skip
    if inputs["op"] == "Adasum" and size > 1:  # without MPI its steps cannot be taken
        return result
    for _ in range(2):  # the first one does not yet show the momentum
        optimizer.zero_grad()
        _loss(model, inputs["images"], inputs["labels"]).backward()
        optimizer.step()
    return {**result, "parameters after two steps": _parameters(model)}


def _operation(hvd, optimizer) -> str:
    op = getattr(optimizer, "op", hvd.Adasum)  # the optimizer for Adasum has no other
    return next((n for n in ("Average", "Sum", "Adasum") if getattr(hvd, n) == op), "another")


def _loss(model, images, labels):
    import torch

    return torch.nn.functional.nll_loss(model(images), labels)


def _rate(look: Look, factor) -> bool:
    """Is the rate of every worker rank 0's times this, and not what it should be?"""
    if not differs(look, "learning rate"):
        return False
    return all(
        np.isclose(look.got[r]["learning rate"], look.inputs[0]["lr"] * factor(r))
        for r in look.ranks
    )


def _own_rate(look: Look) -> bool:
    """Has each worker a rate that was made of its own argument?"""
    ratios = {round(look.got[r]["learning rate"] / look.inputs[r]["lr"], 4) for r in look.ranks}
    return look.size > 1 and len(ratios) == 1 and ranks_differ(look, "learning rate")


make_optimizer = Exercise(
    "make_optimizer", LAB, 4,
    make=_optimizer_inputs,
    call=_call_make_optimizer,
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
            "not wrapped", lambda look: not left("optimizer", "DistributedOptimizer")(look),
            "What came back is no hvd.DistributedOptimizer: is the wrapped one returned?",
        ),
        Hint(
            "parameters not broadcast",
            lambda look: ranks_differ(look, "parameters at the start"),
            "The workers start from different parameters. Horovod's optimizer averages gradients, "
            "and never looks at the parameters: rank 0's have to be broadcast.",
        ),
        Hint(
            "other parameters at the start",
            lambda look: differs(look, "parameters at the start"),
            "The workers agree on parameters that are not rank 0's: look at root_rank.",
        ),
        Hint(
            "momentum ignored", lambda look: differs(look, "momentum"),
            "The optimizer's momentum is not the given one.",
        ),
        Hint(
            "optimizer state not broadcast", _own_rate,
            "The workers' rates differ, because each was given another one in this check. Rate and "
            "momentum belong to the optimizer's state: broadcast that from rank 0, too.",
        ),
        Hint(
            "Adasum scaled",
            lambda look: look.inputs[0]["op"] == "Adasum" and _rate(look, lambda r: look.size),
            "For Adasum the rate was multiplied by the number of workers. It adds up gradients "
            "that point in different directions and averages those that agree, so that its step "
            "needs no larger rate.",
        ),
        Hint(
            "rate not scaled", lambda look: _rate(look, lambda r: 1),
            "The rate is the given one. So many workers make a batch that many times larger: "
            "multiply the rate by their number.",
        ),
        Hint(
            "rate scaled otherwise", lambda look: differs(look, "learning rate"),
            "The rate is neither the given one nor that times the number of workers.",
        ),
        Hint(
            "operation ignored", lambda look: differs(look, "operation"),
            "The gradients are combined by another operation than the given one: hand op on.",
        ),
        Hint(
            "compression ignored", lambda look: differs(look, "compression"),
            "The gradients travel in another form than the one asked for: hand compression on.",
        ),
        Hint(
            "names missing", lambda look: differs(look, "names of the parameters"),
            "The optimizer does not know the model's names for its parameters. Horovod matches "
            "tensors by name: give it model.named_parameters().",
        ),
    ),
)  # fmt: skip


# --- train_epoch ----------------------------------------------------------------------------------


def _epoch_inputs(case: Case) -> list[dict]:
    batch, batches = case.get("batch_size", 4), case.get("batches", 2)
    return [
        {"weights": _weights(case, 0), **_data(case, r, batch * batches), "batch_size": batch,
         "epoch": case.get("epoch", 0), "lr": case.get("lr", 0.1)}
        for r in range(case.size)
    ]  # fmt: skip


def _noting_sampler(dataset, told: list[int]):
    """A DistributedSampler over this worker's own data that notes the epoch of each pass."""
    import torch
    from torch.utils.data.distributed import DistributedSampler

    class Sampler(DistributedSampler):
        def __iter__(self):
            told.append(int(self.epoch))
            generator = torch.Generator().manual_seed(5 + int(self.epoch))
            return iter(torch.randperm(len(dataset), generator=generator).tolist())

    sampler = Sampler(dataset, num_replicas=1, rank=0)
    sampler.epoch = -1  # nobody has told it yet
    return sampler


@contextlib.contextmanager
def _losses():
    """The losses that a backward pass begins from meanwhile."""
    from unittest import mock

    import torch

    found: list[float] = []
    backward = torch.autograd.backward

    def noting(tensors, *args, **kwargs):
        if isinstance(tensors, torch.Tensor) and tensors.numel() == 1:
            found.append(tensors.item())
        return backward(tensors, *args, **kwargs)

    with mock.patch.object(torch.autograd, "backward", noting):
        yield found


def _train_one_epoch(function, rank, size, inputs):
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    hvd = initialised(rank, size)
    dataset = TensorDataset(inputs["images"], inputs["labels"])
    told: list[int] = []
    loader = DataLoader(dataset, inputs["batch_size"], sampler=_noting_sampler(dataset, told))
    model = _network(inputs["weights"], normalised=True).eval()
    optimizer = hvd.DistributedOptimizer(
        torch.optim.SGD(model.parameters(), lr=inputs["lr"], momentum=0.5),
        named_parameters=model.named_parameters(),
    )
    with _losses() as losses:
        returned = function(model, loader, optimizer, inputs["epoch"])
    return {
        "returned": _own(returned, losses, rank, size),
        "sampler's epoch": told,
        "mean of BatchNorm": model.norm.running_mean.clone(),
        "parameters": _parameters(model),
    }


def _own(returned: Any, losses: list[float], rank: int, size: int) -> Any:
    """This worker's own mean loss also where the mean over all workers was returned, which is as
    right.
    """
    if not isinstance(returned, (int, float)) or isinstance(returned, bool) or not losses:
        return returned
    own = float(np.mean(losses))
    if np.isclose(returned, own, rtol=1e-5):
        return returned
    everybody = among_ranks("losses", rank, size, lambda: own, PATIENCE)
    if None not in everybody and np.isclose(returned, np.mean(everybody), rtol=1e-5):
        return own
    return returned


def _trained_right(look: Look) -> bool:
    return not differs(look, "parameters") and not differs(look, "sampler's epoch")


def _times(look: Look, factor: float) -> bool:
    """Is everything right but the figure, which is so many times too large?"""
    return _trained_right(look) and np.allclose(
        numbers(look), [factor * look.expected[r]["returned"] for r in look.ranks], rtol=1e-4
    )


def _batches(look: Look) -> int:
    return len(look.inputs[0]["labels"]) // look.inputs[0]["batch_size"]


train_epoch = Exercise(
    "train_epoch", LAB, 3,
    make=_epoch_inputs,
    call=_train_one_epoch,
    group=False,
    needs=("horovod",),
    tolerance=Tolerance(rtol=1e-4, atol=5e-5),
    asks="train_epoch tells the sampler the epoch, makes a step on each batch in train mode, and "
    "returns the mean of this worker's losses as a float.",
    visible=(
        Case(2, 1, {"epoch": 3}),
        Case(3, 2, {"epoch": 0, "batches": 3}),
    ),
    hints=(
        NOTHING,
        AS_TENSOR,
        Hint(
            "epoch passed twice",
            lambda look: any(len(look.got[r]["sampler's epoch"]) != 1 for r in look.ranks),
            "One call is one pass over the loader: here it was begun another number of times.",
        ),
        Hint(
            "set_epoch forgotten",
            lambda look: any(look.got[r]["sampler's epoch"] == [-1] for r in look.ranks),
            "The sampler was not told the epoch before the loop over the loader began: every epoch "
            "would have the same order.",
        ),
        Hint(
            "wrong epoch", lambda look: differs(look, "sampler's epoch"),
            "The sampler was told another epoch than the given one.",
        ),
        Hint(
            "eval mode",
            lambda look: any(not look.got[r]["mean of BatchNorm"].any() for r in look.ranks),
            "BatchNorm has not moved its running mean: the model was in eval mode. Whoever "
            "evaluated before left it there.",
        ),
        Hint(
            "no step",
            lambda look: all(
                look.same(look.inputs[r]["weights"][0], look.got[r]["parameters"][0])
                for r in look.ranks
            ),
            "The parameters are those from before: the optimizer has not made a step.",
        ),
        Hint(
            "ranks drift apart", lambda look: ranks_differ(look, "parameters"),
            "The workers end with different parameters: the gradients of some step were not "
            "averaged. The step has to be that of the optimizer that was passed in.",
        ),
        Hint(
            "other steps", lambda look: differs(look, "parameters"),
            "The workers agree on parameters that are not right: look at the order of zero_grad, "
            "backward and step, and at what the loss is divided by.",
        ),
        Hint(
            "sum over batches", lambda look: _batches(look) > 1 and _times(look, _batches(look)),
            "The steps are right, but the figure is the sum over the batches.",
        ),
        Hint(
            "divided by samples",
            lambda look: _times(look, 1 / look.inputs[0]["batch_size"]),
            "The steps are right, but the figure is too small by the batch size: the loss of a "
            "batch is a mean already.",
        ),
        Hint(
            "sum over workers",
            lambda look: look.size > 1 and _trained_right(look) and np.allclose(
                numbers(look), sum(look.expected[r]["returned"] for r in look.ranks), rtol=1e-4
            ),
            "The steps are right, but the figure is a sum over the workers.",
        ),
        Hint(
            "another figure", _trained_right,
            "The steps are right, but what was returned is not the mean of the losses that they "
            "began from. (The last batch's loss alone is not the epoch's.)",
        ),
    ),
)  # fmt: skip
