"""`evaluate`: an evaluation that counts each sample once."""

from __future__ import annotations

import os

import numpy as np

from distlab.course.lab03_cifar10_ddp.looks import no_float, none_somewhere, unequal_results
from distlab.exercises.compare import Tolerance
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.raised import Advice
from distlab.rank import world
from distlab.rank.models import in_ddp, set_to

_IN_TRAIN_MODE = "number of samples seen in train mode"


def _labelled(case: Case) -> list[dict]:
    generator = case.generator()
    n = case.get("n", 10)
    images = generator.standard_normal((n, 3, 2, 2)).astype("float32")
    images[:, 0, 0, 0] = np.arange(n)  # a sample's number travels in its first pixel
    weight = generator.standard_normal((3, 11)).astype("float32")
    scores = images.reshape(n, -1)[:, 1:] @ weight.T
    labels = scores.argmax(1)
    wrong = generator.random(n) < np.linspace(0.1, 0.7, n)  # ranks' shares differ in accuracy
    labels = np.where(wrong, (labels + 1) % 3, labels).astype("int64")
    return [
        {
            "images": images,
            "labels": labels,
            "weight": weight,
            "batch_size": case.get("batch_size", 4),
            "wrapped": case.get("wrapped", False),
        }
        for _ in range(case.size)
    ]


class _Marks:
    """A mark by each rank for each of these samples that it has evaluated, in eval mode and in
    train mode. Every rank can read all of them; forked processes, and copies of the model that has
    them, share them.

    They are read without a collective, which would match one of the answer's where a rank returns
    too early. A rank that knows the accuracy over all samples knows that all have been evaluated.
    """

    def __init__(self, samples: int, rank: int, size: int) -> None:
        path = os.path.join(os.environ["DISTLAB_RUN"], "marks")
        with open(path, "a+b") as file:
            file.truncate(size * 2 * samples)  # to the same length, whoever comes first
        self._of_all = np.memmap(path, np.uint8, "r+", shape=(size, 2, samples))
        self._own = self._of_all[rank]

    def __deepcopy__(self, memo: dict) -> _Marks:
        return self

    def add(self, training: bool, samples: np.ndarray) -> None:
        self._own[int(training), samples] = 1

    def ranks(self) -> np.ndarray:
        """By how many ranks each sample was evaluated: a rank may well fill up a batch with a
        sample that it has evaluated already, and not count it again.
        """
        return self._of_all.sum(0, dtype=np.int64)


def _marked_model(weight, samples, rank: int, size: int):
    """A linear model that notes which of the `samples` (n, 12) it saw, and whether any part of it
    was in train mode then.

    Anything else that goes through it, such as the zeros with which an answer fills up a batch, is
    no sample.
    """
    import torch
    from torch import nn

    class Marked(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = set_to(nn.Linear(11, 3, bias=False), weight)
            self.norm = nn.BatchNorm2d(11, affine=False)
            # shared, so that nothing is lost where another process evaluates
            self.marks = _Marks(len(samples), rank, size)

        def forward(self, x):
            x = x.flatten(1)
            numbers = x[:, 0].round().long().clamp(0, len(samples) - 1).cpu()
            if x.shape[1:] == samples.shape[1:]:
                there = torch.isclose(x.float().cpu(), samples[numbers], rtol=0.1, atol=0.1)
                training = any(part.training for part in self.modules())
                self.marks.add(training, numbers[there.all(1)].numpy())
            x = x[:, 1:]
            if len(x) > 1 or not self.norm.training:
                x = self.norm(x[..., None, None]).flatten(1)
            return self.linear(x)

    return Marked()


def _count_evaluated(function, rank, size, inputs):
    import torch
    from torch.utils.data import TensorDataset

    device = world.here().device
    dataset = TensorDataset(inputs["images"], inputs["labels"])
    bare = _marked_model(inputs["weight"], inputs["images"].flatten(1).cpu(), rank, size).to(device)
    model = in_ddp(bare) if inputs["wrapped"] else bare
    model.train()
    result = function(model, dataset, rank, size, inputs["batch_size"], device)
    evaluated, in_train_mode = bare.marks.ranks()
    return {
        "returned": result,
        _IN_TRAIN_MODE: int(in_train_mode.sum()),
        "times each sample was evaluated": torch.tensor(evaluated),
        "BatchNorm statistics": "as they were" if not bare.norm.running_mean.any() else "moved",
    }


def _times(look: Look) -> np.ndarray:
    """By how many ranks each sample was evaluated, as the rank that returned last has seen it."""
    return np.max(look.left("times each sample was evaluated"), axis=0)


def _overflowed(look: Look) -> bool:
    """Is what was returned the right count modulo 256, by the number of samples?"""
    n = len(look.inputs[0]["labels"])
    right, told = (
        [round(each * n) for each in figures] for figures in (look.wanted, look.returned)
    )
    return (_times(look) == 1).all() and right != told and told == [count % 256 for count in right]


exercise = Exercise(
    points=5,
    make=_labelled,
    call=_count_evaluated,
    asks="evaluate returns the exact accuracy over the whole dataset, the same float on every "
    "rank; the model is in eval mode and each sample is evaluated by exactly one rank.",
    visible=(
        Case(2, 4, {"n": 11}),
        Case(3, 2, {"n": 10, "batch_size": 2, "wrapped": True}),
        Case(4, 3, {"n": 3, "wrapped": True}),  # a rank without a sample, as the lab says
    ),
    tolerance=Tolerance(1e-5, 1e-6),
    hints=(
        Hint(
            "train mode",
            lambda look: any(look.left(_IN_TRAIN_MODE)),
            "Samples went through the model in train mode: dropout would drop, and BatchNorm used "
            "and changed the statistics of the batch.",
        ),
        Hint(
            "samples counted twice",
            lambda look: 1 <= _times(look).min() < look.size and _times(look).max() > 1,
            "Some samples were evaluated twice: a DistributedSampler pads its shares to equal "
            "lengths. For training that is harmless, for a test score it is not.",
        ),
        Hint(
            "everybody evaluates everything",
            lambda look: look.size > 1 and (_times(look) == look.size).all(),
            "Every rank evaluated the whole dataset: the ranks are to share the work.",
        ),
        Hint(
            "samples left out",
            lambda look: (_times(look) == 0).any(),
            "Some samples were evaluated by nobody: look at drop_last, and at shares that are cut "
            "to n // size.",
        ),
        none_somewhere,
        no_float,
        Hint(
            "NaN",
            lambda look: any(map(np.isnan, look.returned)),
            "A rank may have no sample at all: nothing divided by nothing is no number.",
        ),
        Hint(
            "a count or percent",
            lambda look: any(figure > 1 for figure in look.returned),
            "An accuracy lies between 0 and 1.",
        ),
        Hint(
            "each rank its own",
            unequal_results,
            "The ranks returned different figures: correct answers and samples have to be added up "
            "over the ranks, and all need the result.",
        ),
        Hint(
            "count too large for its dtype",
            _overflowed,
            "Every sample was evaluated once, but there are more right answers than the dtype in "
            "which they are counted can hold: uint8 ends at 255 and begins anew.",
        ),
        Hint(
            "mean of ranks",
            lambda look: (_times(look) == 1).all(),
            "Every sample was evaluated once, but the figure is not correct/all, unrounded. In a "
            "mean of means, ranks and batches with few samples weigh as much as those with many.",
        ),
    ),
    advice=(
        Advice(
            "no sample",
            "ZeroDivisionError|division by zero",
            "A rank may have no sample at all: add up what the ranks have first, and divide after.",
        ),
    ),
)
