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
        epochs = [[b[0].tolist() for b in loader]]
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


def _batches(look: Look, rank: int, epoch: int = 0) -> list[list[int]]:
    return look.got[rank]["epochs"][epoch]


def _indices(look: Look, rank: int, epoch: int = 0) -> list[int]:
    return [i for batch in _batches(look, rank, epoch) for i in batch]


def _expected_count(look: Look, rank: int) -> int:
    return sum(map(len, look.expected[rank]["epochs"][0]))


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
            lambda look: look.got[0]["returned"] != "DataLoader",
            "Return a torch.utils.data.DataLoader.",
        ),
        Hint(
            "divided without DistributedSampler",
            lambda look: (
                look.got[0]["sampler"] != "DistributedSampler"
                and len(_indices(look, 0)) == _expected_count(look, 0) < look.inputs[0]["n"]
            ),
            "This rank got a share of the dataset, but loader.sampler is no DistributedSampler: it "
            "is a sampler of your own, or one that a DataLoader makes for itself where it has a "
            "batch_sampler or a part of the dataset. Give the loader the whole dataset and, as "
            "sampler=, a DistributedSampler: train_epoch tells loader.sampler the epoch.",
        ),
        Hint(
            "shuffled without sampler",
            lambda look: look.got[0]["sampler"] != "DistributedSampler",
            "loader.sampler is no DistributedSampler: every rank would go through the whole "
            "dataset by itself. The sampler divides and shuffles; the loader then must not.",
        ),
        Hint(
            "wrong share",
            lambda look: any(look.got[r]["share"] != [r, look.size] for r in look.ranks),
            "The sampler's share is not this rank's: it has to be told rank and number of ranks, "
            "each in its place (num_replicas is the number of ranks).",
        ),
        Hint(
            "dropped",
            lambda look: any(len(_indices(look, r)) < _expected_count(look, r) for r in look.ranks),
            "Samples were left out: both the sampler and the loader have a drop_last, and neither "
            "may drop here.",
        ),
        Hint(
            "not shuffled",
            lambda look: all(
                _indices(look, r)
                == [
                    i % look.inputs[0]["n"]
                    for i in range(r, r + look.size * _expected_count(look, r), look.size)
                ]
                for r in look.ranks
            ),
            "The order is that of the dataset: the sampler does not shuffle.",
        ),
        Hint(
            "wrong batch size",
            lambda look: any(
                [len(b) for b in _batches(look, r)]
                != [len(b) for b in look.expected[r]["epochs"][0]]
                for r in look.ranks
            ),
            "batch_size is what each rank takes at a time, not what all take together.",
        ),
        Hint(
            "seed not used",
            lambda look: any(
                _indices(look, r) != [i for b in look.expected[r]["epochs"][0] for i in b]
                for r in look.ranks
            ),
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
