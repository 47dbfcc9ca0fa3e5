"""`make_loader`: a worker's share of the data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from distlab.course.lab07_horovod.looks import initialised
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.rank.sharing import among_ranks

#: what the harness reports; `None` where the returned value has no such thing
SEEN = "number of samples seen by all workers"
_LEFT = ("loader", "sampler", "share", "sizes of the batches", SEEN)
PATIENCE = 30.0  # seconds that ranks wait for what the others were given: a busy machine is slow


def _loader_inputs(case: Case) -> list[dict]:
    return [dict(case.params)] * case.size


def _call_make_loader(function, rank, size, inputs):
    import torch
    from torch.utils.data import DataLoader
    from torch.utils.data.distributed import DistributedSampler

    initialised(rank, size)
    n = inputs["n"]
    dataset = torch.utils.data.TensorDataset(torch.arange(n), torch.arange(n) % 10)
    loader: object = None
    seen: list[list[int]] = []

    def given() -> list[int]:  # [] where it is no loader: the other ranks wait for an answer
        nonlocal loader
        loader = function(dataset, inputs["batch_size"])
        if isinstance(loader, DataLoader):
            seen.extend([int(i) for i in batch[0]] for batch in loader)
        return sum(seen, [])

    everybody = among_ranks("seen", rank, size, given, PATIENCE)
    if not isinstance(loader, DataLoader):
        return {**dict.fromkeys(_LEFT), "loader": type(loader).__name__}
    sampler: Any = loader.sampler
    divides = isinstance(sampler, DistributedSampler)
    return {
        "loader": "DataLoader",
        "sampler": "DistributedSampler" if divides else type(sampler).__name__,
        "share": f"{int(sampler.rank)} of {int(sampler.num_replicas)}" if divides else None,
        "sizes of the batches": [len(batch) for batch in seen],
        SEEN: len(set().union(*(s or () for s in everybody))),
    }


def _samples(look: Look) -> Iterator[tuple[int, int]]:
    """How many samples each rank should have had, and has had."""
    return ((sum(want), sum(got)) for want, got in look.pairs("sizes of the batches"))


exercise = Exercise(
    points=2,
    make=_loader_inputs,
    call=_call_make_loader,
    group=False,
    needs=("horovod",),
    deadline=40.0,  # workers that a forkserver starts import torch anew
    asks="make_loader returns a DataLoader of batch_size samples per worker whose sampler is a "
    "DistributedSampler over Horovod's ranks; nothing is dropped.",
    visible=(
        Case(2, 1, {"n": 21, "batch_size": 4}),
        Case(3, 2, {"n": 12, "batch_size": 2}),
    ),
    hints=(
        Hint(
            "no loader",
            lambda look: "DataLoader" not in look.left("loader"),
            "Return a torch.utils.data.DataLoader.",
        ),
        Hint(
            "no DistributedSampler",
            lambda look: "DistributedSampler" not in look.left("sampler"),
            "loader.sampler is no DistributedSampler: hand one to the loader as its sampler. It "
            "divides the whole set among the workers, shuffles, and is told the epoch later on; "
            "the loader itself must not shuffle then.",
        ),
        Hint(
            "wrong share",
            lambda look: look.differs("share"),
            "The sampler's share is not this worker's. It has to be told num_replicas, how many "
            "workers there are, and rank, which of them this is: both by Horovod. (In this check "
            "the workers sit on two machines, and what begins with local_ counts those of one.)",
        ),
        Hint(
            "divided twice",
            lambda look: (
                look.size > 1
                and all(got * look.size < want + look.size for want, got in _samples(look))
            ),
            "Each worker has only a share of a share: the sampler divides the set that it is given "
            "among the workers, and that has to be the whole one.",
        ),
        Hint(
            "dropped",
            lambda look: any(got < want for want, got in _samples(look)),
            "Samples were left out: both the sampler and the loader have a drop_last, and neither "
            "may drop here.",
        ),
        Hint(
            "orders differ",
            lambda look: all(got == want for want, got in _samples(look)) and look.differs(SEEN),
            "Some samples are seen by several workers, and others by none: each worker's sampler "
            "deals out an order of its own. The order has to be the same everywhere, so that the "
            "shares do not overlap: give all samplers the same seed.",
        ),
        Hint(
            "wrong batch size",
            lambda look: any(
                sum(got) == sum(want) and got != want
                for want, got in look.pairs("sizes of the batches")
            ),
            "batch_size is what each worker takes at a time, not what all take together.",
        ),
    ),
)
