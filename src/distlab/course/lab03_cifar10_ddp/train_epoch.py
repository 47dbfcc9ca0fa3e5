"""`train_epoch`: an epoch of training."""

from __future__ import annotations

import numpy as np

from distlab.course.lab03_cifar10_ddp.looks import (
    no_float,
    none_somewhere,
    returned_number,
    unequal_results,
)
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.rank import world
from distlab.rank.models import in_ddp

#: the dataset holds this many times the samples of a rank's share. No number of ranks or batches:
#: a figure that was divided by one of these is told apart
_TIMES = 7


def _shares(case: Case) -> list[dict]:
    """Per rank: equally many batches, the last ones of unequal sizes."""
    batch, batches = case.get("batch_size", 4), case.get("batches", 2)
    shared = case.generator()
    weights = [
        shared.standard_normal(shape).astype("float32") * 0.5
        for shape in ((6, 12), (6,), (3, 6), (3,))
    ]
    inputs = []
    for rank in range(case.size):
        n = batch * batches
        if not case.get("equal"):
            n -= (rank * 2) % (batch - 1)
        generator = case.generator(rank)
        inputs.append(
            {
                "images": generator.standard_normal((n, 3, 2, 2)).astype("float32") * (1 + rank),
                "labels": generator.integers(0, 3, n),
                "weights": weights,
                "batch_size": batch,
                "lr": case.get("lr", 0.1),
                "epoch": case.get("epoch", 0),
                "momentum": case.get("momentum", 0.0),
            }
        )
    return inputs


def _network(weights):
    import torch
    from torch import nn

    model = nn.Sequential(
        nn.Flatten(), nn.Linear(12, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 3)
    )
    with torch.no_grad():
        for layer, (weight, bias) in ((1, weights[:2]), (4, weights[2:])):
            model[layer].weight.copy_(weight)
            model[layer].bias.copy_(bias)
    return model


def _noting_sampler(n: int, rank: int, size: int, told: list):
    """A sampler of the first `n` samples, like this rank's DistributedSampler, that notes what
    epoch it was told, and when it was used.
    """
    import torch
    from torch.utils.data.distributed import DistributedSampler

    class Sampler(DistributedSampler):
        def __init__(self):
            super().__init__(range(n * size), num_replicas=size, rank=rank, seed=5)

        def set_epoch(self, epoch):
            self.epoch = epoch

        def __iter__(self):
            told.append(int(self.epoch))
            generator = torch.Generator().manual_seed(5 + int(self.epoch))
            return iter(torch.randperm(n, generator=generator).tolist())

        def __len__(self):
            return n

    sampler = Sampler()
    sampler.epoch = -1  # nobody has told it yet
    return sampler


def _train_one_epoch(function, rank, size, inputs):
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    device = world.here().device
    images, labels = inputs["images"], inputs["labels"]
    # longer than this rank's share, as a dataset is that a sampler divides
    dataset = TensorDataset(images.repeat(_TIMES, 1, 1, 1), labels.repeat(_TIMES))
    told: list[int] = []
    sampler = _noting_sampler(len(labels), rank, size, told)
    loader = DataLoader(dataset, inputs["batch_size"], sampler=sampler)
    bare = _network(inputs["weights"])
    model = in_ddp(bare)
    model.eval()
    optimizer = torch.optim.SGD(model.parameters(), lr=inputs["lr"], momentum=inputs["momentum"])
    if inputs["momentum"]:
        _one_step_before(bare, optimizer)
    epoch = inputs["epoch"]
    result = function(model, loader, optimizer, device, epoch)
    left = {
        "returned": result,
        "sampler's epoch": told,
        "mean of BatchNorm": bare[2].running_mean.clone(),
        "parameters": [p.detach().clone() for p in bare.parameters()],
    }
    if inputs["momentum"]:
        left["learning rate"] = float(optimizer.param_groups[0]["lr"])
    return left


def _one_step_before(model, optimizer) -> None:
    """A step as of an epoch before, whose momentum the optimizer holds. No gradients are left."""
    for parameter in model.parameters():
        parameter.grad = parameter.detach() * 0.5
    optimizer.step()
    optimizer.zero_grad()


def _told_no_epoch(look: Look) -> bool:
    return any(set(look.got[r]["sampler's epoch"]) == {-1} for r in look.ranks)


def _trained_right(look: Look) -> bool:
    return not look.differs("parameters") and not look.differs("sampler's epoch")


def _values_right(look: Look) -> bool:
    """Training is right, and what is returned is not."""
    return _trained_right(look) and look.differs("returned")


def _over_own_samples(look: Look) -> list[float]:
    """For each rank the sum of all ranks' losses by its own number of samples."""
    counts = [len(inputs["images"]) for inputs in look.inputs]
    return [look.expected[r]["returned"] * sum(counts) / counts[r] for r in look.ranks]


exercise = Exercise(
    points=4,
    make=_shares,
    call=_train_one_epoch,
    asks="train_epoch trains one epoch in train mode, tells the sampler the epoch first, and "
    "returns on every rank the mean loss over all samples of all ranks, each taken before its "
    "step.",
    visible=(
        Case(2, 1, {"epoch": 3}),
        Case(3, 2, {"epoch": 0, "batches": 3}),
        Case(2, 3, {"epoch": 1, "lr": 0.5, "equal": True}),
    ),
    hints=(
        Hint(
            "epoch passed twice",
            lambda look: any(len(look.got[r]["sampler's epoch"]) != 1 for r in look.ranks),
            "One call is one pass over the loader: here it was begun another number of times.",
        ),
        Hint(
            "set_epoch forgotten", _told_no_epoch,
            "The sampler was not told the epoch before the loop over the loader began: every epoch "
            "would have the same order.",
        ),
        Hint(
            "wrong epoch", lambda look: look.differs("sampler's epoch"),
            "The sampler was told another epoch than the given one, or only after the loop had "
            "begun.",
        ),
        none_somewhere,
        no_float,
        Hint(
            "eval mode",
            lambda look: any(
                not np.asarray(look.got[r]["mean of BatchNorm"]).any() for r in look.ranks
            ),
            "BatchNorm has not moved its running mean: the model was in eval mode. Whoever "
            "evaluated before left it there.",
        ),
        Hint(
            "no step",
            lambda look: all(
                look.same(list(look.inputs[r]["weights"][:1]), look.got[r]["parameters"][:1])
                for r in look.ranks
            ),
            "The parameters are those from before: the optimizer has not made a step.",
        ),
        Hint(
            "divided by the dataset",
            lambda look: _values_right(look)
            and (
                returned_number(look, [e["returned"] / _TIMES for e in look.expected])
                or returned_number(look, [figure / _TIMES for figure in _over_own_samples(look)])
            ),
            "Training is right, but the sum was divided by len(loader.dataset): that is the whole "
            "dataset, of which the sampler gives this rank a share. Count the samples that come "
            "out of the loader.",
        ),
        Hint(
            "divided by own samples",
            lambda look: _values_right(look) and look.size > 1
            and returned_number(look, _over_own_samples(look), 1e-4),
            "Training is right, but the sum over all ranks was divided by this rank's own number "
            "of samples: that number has to be added up over the ranks too.",
        ),
        Hint(
            "divided by ranks as well",
            lambda look: _values_right(look) and look.size > 1
            and returned_number(look, [e["returned"] / look.size for e in look.expected]),
            "Training is right, but the figure is the mean, divided by the number of ranks once "
            "more: each sample counts once in what the sum over all ranks is divided by.",
        ),
        Hint(
            "each rank its own", lambda look: _values_right(look) and unequal_results(look),
            "Training is right, but each rank returned its own figure: the ranks have to put "
            "theirs together, and each gets the result.",
        ),
        Hint(
            "sum over ranks",
            lambda look: _values_right(look) and look.size > 1
            and returned_number(
                look, [look.expected[r]["returned"] * look.size for r in look.ranks], 0.2
            ),
            "Training is right, but the figure is about as many times too large as there are "
            "ranks: a sum over ranks is no mean.",
        ),
        Hint(
            "not weighted by samples",
            lambda look: _values_right(look)
            and returned_number(look, [look.expected[r]["returned"] for r in look.ranks], 0.15)
            and len({len(i["images"]) for i in look.inputs}) > 1,
            "Training is right and the figure nearly. Two things to look at: batches and ranks do "
            "not have equally many samples, so that a mean of means counts some samples more than "
            "others; and each loss is the one before its step.",
        ),
        Hint(
            "loss not that before the step", _values_right,
            "Training is right, but the figure is another than the cross-entropy before each step.",
        ),
        Hint(
            "BatchNorm moved otherwise",
            lambda look: _trained_right(look) and look.differs("mean of BatchNorm"),
            "Parameters and figure are right, BatchNorm's running mean is not: each batch goes "
            "through the model once, in train mode, and DDP takes the mean from rank 0 before each "
            "forward pass. (Within model.join() it takes the last rank's. That is for ranks with "
            "unequal numbers of batches, which there are none of here.)",
        ),
        Hint(
            "learning rate changed",
            lambda look: look.case.get("momentum")
            and not look.differs("parameters")
            and look.differs("learning rate"),
            "This epoch is right, but the optimizer's learning rate is another after it, and the "
            "next epoch goes on with that. Whoever calls train_epoch decides on the learning rate.",
        ),
        Hint(
            "gradients kept",
            lambda look: not look.differs("sampler's epoch") and look.differs("parameters")
            and not _unequal_parameters(look),
            "The ranks agree on parameters that are not right: look at the order of zero_grad, "
            "backward and step, at the loss, at what it is divided by, and at what else changes "
            "the gradients. The step is the given optimizer's, with its learning rate and the "
            "momentum that it has from before.",
        ),
        Hint(
            "ranks drift apart",
            lambda look: _unequal_parameters(look),
            "The ranks end with unequal parameters: the forward pass has to go through the DDP "
            "module, not through the module inside.",
        ),
    ),
)  # fmt: skip


def _unequal_parameters(look: Look) -> bool:
    return any(
        not look.same(look.got[0]["parameters"], look.got[r]["parameters"]) for r in look.ranks
    )
