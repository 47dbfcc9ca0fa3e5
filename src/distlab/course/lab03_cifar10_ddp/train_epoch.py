"""`train_epoch`: an epoch of training."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from distlab.course.lab03_cifar10_ddp.looks import no_float, none_somewhere, unequal_results
from distlab.exercises import epochs
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.rank import world
from distlab.rank.models import in_ddp, parameters, set_to

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
        missing = 0 if case.get("equal") else (rank * 2) % (batch - 1)
        n = batch * batches - missing
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
    from torch import nn

    return nn.Sequential(
        nn.Flatten(),
        set_to(nn.Linear(12, 6), *weights[:2]),
        nn.BatchNorm1d(6),
        nn.ReLU(),
        set_to(nn.Linear(6, 3), *weights[2:]),
    )


def _noting_sampler(n: int, rank: int, size: int, told: list):
    """A sampler of the first `n` samples, like this rank's DistributedSampler, that notes what
    epoch it was told, and when it was used.
    """
    import torch
    from torch.utils.data.distributed import DistributedSampler

    class Sampler(DistributedSampler):
        def __iter__(self):
            told.append(int(self.epoch))
            generator = torch.Generator().manual_seed(5 + int(self.epoch))
            return iter(torch.randperm(n, generator=generator).tolist())

    sampler = Sampler(range(n * size), size, rank, seed=5)
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
    left = {
        "returned": function(model, loader, optimizer, device, inputs["epoch"]),
        "sampler's epoch": told,
        "mean of BatchNorm": bare[2].running_mean.clone(),
        "parameters": parameters(bare),
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


def _figure(name: str, shows: Callable[[Look], bool], says: str) -> Hint:
    """A hint for who trained right and returned another figure."""
    return Hint(
        name,
        lambda look: not look.differs("parameters") and look.differs("returned") and shows(look),
        says,
    )


def _is_times(look: Look, factor: float | np.ndarray, rtol: float = 1e-4) -> bool:
    """Did each rank return the right figure times this factor, or times its own one of several?"""
    figures = np.multiply(look.wanted, factor)
    return all(
        isinstance(got, float) and abs(got - figure) <= rtol * max(abs(figure), 1e-3)
        for got, figure in zip(look.returned, figures, strict=True)
    )


def _samples(look: Look) -> np.ndarray:
    """Each rank's number of samples."""
    return np.array([len(images) for images in look.given("images")])


def _all_by_own(look: Look) -> np.ndarray:
    """By what the figure is too large on each rank that divides by its own number of samples."""
    return _samples(look).sum() / _samples(look)


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
        epochs.PASSED_TWICE,
        epochs.NOT_TOLD,
        Hint(
            "wrong epoch",
            lambda look: look.differs("sampler's epoch"),
            "The sampler was told another epoch than the given one, or only after the loop had "
            "begun.",
        ),
        none_somewhere,
        no_float,
        epochs.EVAL_MODE,
        epochs.NO_STEP,
        _figure(
            "divided by the dataset",
            lambda look: _is_times(look, 1 / _TIMES) or _is_times(look, _all_by_own(look) / _TIMES),
            "Training is right, but the sum was divided by len(loader.dataset): that is the whole "
            "dataset, of which the sampler gives this rank a share. Count the samples that come "
            "out of the loader.",
        ),
        _figure(
            "divided by own samples",
            lambda look: look.size > 1 and _is_times(look, _all_by_own(look)),
            "Training is right, but the sum over all ranks was divided by this rank's own number "
            "of samples: that number has to be added up over the ranks too.",
        ),
        _figure(
            "divided by ranks as well",
            lambda look: look.size > 1 and _is_times(look, 1 / look.size),
            "Training is right, but the figure is the mean, divided by the number of ranks once "
            "more: each sample counts once in what the sum over all ranks is divided by.",
        ),
        _figure(
            "each rank its own",
            unequal_results,
            "Training is right, but each rank returned its own figure: the ranks have to put "
            "theirs together, and each gets the result.",
        ),
        _figure(
            "sum over ranks",
            lambda look: look.size > 1 and _is_times(look, look.size, 0.2),
            "Training is right, but the figure is about as many times too large as there are "
            "ranks: a sum over ranks is no mean.",
        ),
        _figure(
            "not weighted by samples",
            lambda look: _is_times(look, 1, 0.15) and len({*_samples(look)}) > 1,
            "Training is right and the figure nearly. Two things to look at: batches and ranks do "
            "not have equally many samples, so that a mean of means counts some samples more than "
            "others; and each loss is the one before its step.",
        ),
        _figure(
            "loss not that before the step",
            lambda look: True,
            "Training is right, but the figure is another than the cross-entropy before each step.",
        ),
        Hint(
            "BatchNorm moved otherwise",
            lambda look: not look.differs("parameters") and look.differs("mean of BatchNorm"),
            "Parameters and figure are right, BatchNorm's running mean is not: each batch goes "
            "through the model once, in train mode, and DDP takes the mean from rank 0 before each "
            "forward pass. (Within model.join() it takes the last rank's. That is for ranks with "
            "unequal numbers of batches, which there are none of here.)",
        ),
        Hint(
            "learning rate changed",
            lambda look: not look.differs("parameters") and look.differs("learning rate"),
            "This epoch is right, but the optimizer's learning rate is another after it, and the "
            "next epoch goes on with that. Whoever calls train_epoch decides on the learning rate.",
        ),
        Hint(
            "gradients kept",
            lambda look: look.differs("parameters") and not look.ranks_differ("parameters"),
            "The ranks agree on parameters that are not right: look at the order of zero_grad, "
            "backward and step, at the loss, at what it is divided by, and at what else changes "
            "the gradients. The step is the given optimizer's, with its learning rate and the "
            "momentum that it has from before.",
        ),
        Hint(
            "ranks drift apart",
            lambda look: look.ranks_differ("parameters"),
            "The ranks end with unequal parameters: the forward pass has to go through the DDP "
            "module, not through the module inside.",
        ),
    ),
)
