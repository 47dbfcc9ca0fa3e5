"""`make_train_loader`: the share of the data of each rank."""

from __future__ import annotations

from distlab.course.lab03_cifar10_ddp.looks import same_on_all
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.raised import Advice


def _read_two_epochs(function, rank, size, inputs):
    import torch
    from torch.utils.data import DataLoader
    from torch.utils.data.distributed import DistributedSampler

    n = inputs["n"]
    dataset = torch.utils.data.TensorDataset(torch.arange(n), torch.arange(n) % 10)
    loader = function(dataset, rank, size, inputs["batch_size"], inputs["seed"])
    if not isinstance(loader, DataLoader):
        return {"returned": type(loader).__name__}
    sampler = loader.sampler
    if not isinstance(sampler, DistributedSampler):
        epochs = [[batch[0].tolist() for batch in loader]]
        return {"returned": "DataLoader", "sampler": type(sampler).__name__, "epochs": epochs}
    epochs = []
    for epoch in (0, 1):
        sampler.set_epoch(epoch)
        epochs.append([[int(i) for i in batch[0]] for batch in loader])
    return {
        "returned": "DataLoader",
        "sampler": "DistributedSampler",
        "share": [int(sampler.rank), int(sampler.num_replicas)],
        "epochs": epochs,
    }


def _orders(look: Look) -> list[list[list[int]]]:
    """The samples of each rank's first epoch, as they follow each other: [asked for, found]."""
    return [
        [[i for batch in epochs[0] for i in batch] for epochs in pair]
        for pair in look.pairs("epochs")
    ]


def _divided(look: Look) -> bool:
    """Did rank 0 go through a share of the dataset?"""
    want, got = _orders(look)[0]
    return len(got) == len(want) < look.inputs[0]["n"]


def _as_in_the_dataset(look: Look) -> bool:
    n, size = look.inputs[0]["n"], look.size
    return all(
        got == [i % n for i in range(rank, rank + size * len(want), size)]
        for rank, (want, got) in enumerate(_orders(look))
    )


exercise = Exercise(
    points=3,
    make=same_on_all,
    call=_read_two_epochs,
    asks="make_train_loader returns a DataLoader of batch_size samples per rank whose sampler is a "
    "shuffling DistributedSampler made from the arguments; nothing is dropped.",
    visible=(
        Case(2, 1, {"n": 21, "batch_size": 4}),
        Case(3, 2, {"n": 12, "batch_size": 2}),
    ),
    hints=(
        Hint(
            "no loader",
            lambda look: look.returned[0] != "DataLoader",
            "Return a torch.utils.data.DataLoader.",
        ),
        Hint(
            "divided without DistributedSampler",
            lambda look: look.left("sampler")[0] != "DistributedSampler" and _divided(look),
            "This rank got a share of the dataset, but loader.sampler is no DistributedSampler: it "
            "is a sampler of your own, or one that a DataLoader makes for itself where it has a "
            "batch_sampler or a part of the dataset. Give the loader the whole dataset and, as "
            "sampler=, a DistributedSampler: train_epoch tells loader.sampler the epoch.",
        ),
        Hint(
            "shuffled without sampler",
            lambda look: look.left("sampler")[0] != "DistributedSampler",
            "loader.sampler is no DistributedSampler: every rank would go through the whole "
            "dataset by itself. The sampler divides and shuffles; the loader then must not.",
        ),
        Hint(
            "wrong share",
            lambda look: look.differs("share"),
            "The sampler's share is not this rank's: it has to be told rank and number of ranks, "
            "each in its place (num_replicas is the number of ranks).",
        ),
        Hint(
            "dropped",
            lambda look: any(len(got) < len(want) for want, got in _orders(look)),
            "Samples were left out: both the sampler and the loader have a drop_last, and neither "
            "may drop here.",
        ),
        Hint(
            "not shuffled",
            _as_in_the_dataset,
            "The order is that of the dataset: the sampler does not shuffle.",
        ),
        Hint(
            "wrong batch size",
            lambda look: any(
                list(map(len, got[0])) != list(map(len, want[0]))
                for want, got in look.pairs("epochs")
            ),
            "batch_size is what each rank takes at a time, not what all take together.",
        ),
        Hint(
            "seed not used",
            lambda look: any(want != got for want, got in _orders(look)),
            "The shares are fine, but the order is not the one of this seed: the sampler has an "
            "argument for it, the same on all ranks.",
        ),
    ),
    advice=(
        Advice(
            "shares not given",
            "process group has not been initialized",
            "A DistributedSampler that is told neither the number of ranks nor the rank asks the "
            "process group for both, and here there is none: tell it both, they are arguments of "
            "this exercise.",
        ),
        Advice(
            "rank and size swapped",
            r"Invalid rank \d+, rank should be in",
            "The sampler takes num_replicas, the number of ranks, before rank. With their names "
            "nothing can be swapped.",
        ),
        Advice(
            "shuffled twice",
            "mutually exclusive with shuffle",
            "The sampler shuffles, and the loader takes its order from there: shuffle belongs to "
            "one of the two.",
        ),
    ),
    group=False,
)
