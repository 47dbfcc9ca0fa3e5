"""`evaluate`: an evaluation that counts each sample once."""

from __future__ import annotations

import mmap
import os

import numpy as np

from distlab.course.lab03_cifar10_ddp.looks import no_float, none_somewhere, unequal_results
from distlab.exercises.compare import Tolerance
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.raised import Advice
from distlab.rank import world
from distlab.rank.models import in_ddp

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
    """`count` counters for each rank of a run, which every rank can read. Forked processes, and
    copies of the model that has them, share them.

    They are read without a collective, which would match one of the answer's where a rank returns
    too early. A rank that knows the accuracy over all samples knows that all have been evaluated.
    """

    def __init__(self, count: int, rank: int, size: int) -> None:
        self._begin, self._shape = rank * count, (size, count)
        with open(os.path.join(os.environ["DISTLAB_RUN"], "marks"), "a+b") as file:
            file.truncate(size * count)  # to the same length, whoever comes first
            self._counters = mmap.mmap(file.fileno(), size * count)

    def __deepcopy__(self, memo: dict) -> _Marks:
        return self

    def count(self, place: int) -> None:
        place += self._begin
        self._counters[place] = min(self._counters[place] + 1, 255)

    def of_all_ranks(self) -> np.ndarray:
        """How many ranks have counted at each place: a rank may well fill up a batch with a sample
        that it has evaluated already, and not count it again.
        """
        found = np.frombuffer(bytes(self._counters), dtype=np.uint8)
        return (found.reshape(self._shape) > 0).sum(0, dtype=np.int64)


def _marked_model(weight, samples, rank: int, size: int):
    """A linear model that notes which of the `samples` (n, 12) it saw, and whether any part of it
    was in train mode then.

    Anything else that goes through it, such as the zeros with which an answer fills up a batch, is
    no sample.
    """
    import torch
    from torch import nn

    n = len(samples)

    def is_sample(row, i: int) -> bool:
        if not 0 <= i < n or row.shape != samples[i].shape:
            return False
        return torch.allclose(row.float().cpu(), samples[i], rtol=0.1, atol=0.1)

    class Marked(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(11, 3, bias=False)
            self.norm = nn.BatchNorm2d(11, affine=False)
            self.norm.running_mean.zero_()
            # shared, so that nothing is lost where another process evaluates
            self.marks = _Marks(2 * n, rank, size)

        def forward(self, x):
            x = x.flatten(1)
            training = any(part.training for part in self.modules())
            for row, i in zip(x, x[:, 0].round().long().tolist(), strict=True):
                if is_sample(row, i):
                    self.marks.count(i + (n if training else 0))
            x = x[:, 1:]
            if len(x) > 1 or not self.norm.training:
                x = self.norm(x[..., None, None]).flatten(1)
            return self.linear(x)

    model = Marked()
    with torch.no_grad():
        model.linear.weight.copy_(weight)
    return model


def _count_evaluated(function, rank, size, inputs):
    import torch
    from torch.utils.data import TensorDataset

    device, n = world.here().device, len(inputs["labels"])
    dataset = TensorDataset(inputs["images"], inputs["labels"])
    bare = _marked_model(inputs["weight"], inputs["images"].flatten(1).cpu(), rank, size).to(device)
    model = in_ddp(bare) if inputs["wrapped"] else bare
    model.train()
    result = function(model, dataset, rank, size, inputs["batch_size"], device)
    marks = torch.from_numpy(bare.marks.of_all_ranks())
    return {
        "returned": result,
        _IN_TRAIN_MODE: int(marks[n:].sum()),
        "times each sample was evaluated": marks[:n].clone(),
        "BatchNorm statistics": "as they were" if not bare.norm.running_mean.any() else "moved",
    }


def _times(look: Look) -> np.ndarray:
    """By how many ranks each sample was evaluated, as the rank that returned last has seen it."""
    return np.max([got["times each sample was evaluated"] for got in look.got], axis=0)


def _overflowed(look: Look) -> bool:
    """Is what was returned the right count modulo 256, by the number of samples?"""
    n = len(look.inputs[0]["labels"])
    right, told = (
        [round(each["returned"] * n) for each in those] for those in (look.expected, look.got)
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
            "train mode", lambda look: any(got[_IN_TRAIN_MODE] for got in look.got),
            "Samples went through the model in train mode: dropout would drop, and BatchNorm used "
            "and changed the statistics of the batch.",
        ),
        Hint(
            "samples counted twice",
            lambda look: (_times(look) > 1).any() and (_times(look) >= 1).all()
            and _times(look).min() < look.size,
            "Some samples were evaluated twice: a DistributedSampler pads its shares to equal "
            "lengths. For training that is harmless, for a test score it is not.",
        ),
        Hint(
            "everybody evaluates everything",
            lambda look: (_times(look) == look.size).all() and look.size > 1,
            "Every rank evaluated the whole dataset: the ranks are to share the work.",
        ),
        Hint(
            "samples left out", lambda look: (_times(look) == 0).any(),
            "Some samples were evaluated by nobody: look at drop_last, and at shares that are cut "
            "to n // size.",
        ),
        none_somewhere,
        no_float,
        Hint(
            "NaN", lambda look: any(
                isinstance(value := look.got[r]["returned"], float) and value != value
                for r in look.ranks
            ),
            "A rank may have no sample at all: nothing divided by nothing is no number.",
        ),
        Hint(
            "a count or percent", lambda look: any(look.got[r]["returned"] > 1 for r in look.ranks),
            "An accuracy lies between 0 and 1.",
        ),
        Hint(
            "each rank its own", unequal_results,
            "The ranks returned different figures: correct answers and samples have to be added up "
            "over the ranks, and all need the result.",
        ),
        Hint(
            "count too large for its dtype", _overflowed,
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
            "no sample", "ZeroDivisionError|division by zero",
            "A rank may have no sample at all: add up what the ranks have first, and divide after.",
        ),
    ),
)  # fmt: skip
