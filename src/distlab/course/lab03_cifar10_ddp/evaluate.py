"""`evaluate`: an evaluation that counts each sample once."""

from __future__ import annotations

import mmap
import os
import tempfile

import numpy as np

from distlab.course.lab03_cifar10_ddp.looks import no_float, none_somewhere, unequal_results
from distlab.exercises.compare import Tolerance
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.raised import Advice


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
    """So many zeros, the same ones in forked processes and in copies of the model that has them."""

    def __init__(self, count: int) -> None:
        with tempfile.TemporaryFile(dir=os.environ["DISTLAB_RUN"]) as file:  # for sandboxes
            file.truncate(count)
            self.bytes = mmap.mmap(file.fileno(), count)

    def __deepcopy__(self, memo: dict) -> _Marks:
        return self


def _marked_model(weight, n: int):
    """A linear model that notes which samples it saw, and in which mode."""
    import torch
    from torch import nn

    class Marked(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(11, 3, bias=False)
            self.norm = nn.BatchNorm1d(11, affine=False)
            self.norm.running_mean.zero_()
            # shared, so that nothing is lost where another process evaluates
            self.marks = _Marks(2 * max(n, 1))

        def forward(self, x):
            x = x.flatten(1)
            for i in x[:, 0].round().long().tolist():
                place = i + (n if self.training else 0)
                self.marks.bytes[place] = min(self.marks.bytes[place] + 1, 255)
            return self.linear(self.norm(x[:, 1:]) if len(x) > 1 or not self.training else x[:, 1:])

    model = Marked()
    with torch.no_grad():
        model.linear.weight.copy_(weight)
    return model


def _count_evaluated(function, rank, size, inputs):
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel
    from torch.utils.data import TensorDataset

    from distlab.rank import recorder, world

    device, n = world.here().device, len(inputs["labels"])
    dataset = TensorDataset(inputs["images"], inputs["labels"])
    bare = _marked_model(inputs["weight"], n).to(device)
    model = bare
    if inputs["wrapped"]:
        with recorder.paused():
            model = DistributedDataParallel(
                bare, device_ids=[device.index] if device.type == "cuda" else None
            )
    model.train()
    result = function(model, dataset, rank, size, inputs["batch_size"], device)
    marks = torch.tensor(list(bare.marks.bytes[: 2 * n]), dtype=torch.int64)
    with recorder.paused():
        dist.all_reduce(marks)
    return {
        "returned": result,
        "samples seen in train mode": int(marks[n:].sum()),
        "times each sample was evaluated": marks[:n].clone(),
        "BatchNorm statistics": "as they were" if not bare.norm.running_mean.any() else "moved",
    }


def _times(look: Look) -> np.ndarray:
    return np.asarray(look.got[0]["times each sample was evaluated"])


exercise = Exercise(
    points=5,
    make=_labelled,
    call=_count_evaluated,
    asks="evaluate returns the exact accuracy over the whole dataset, the same float on every "
    "rank; "
    "the model is in eval mode and each sample is evaluated by exactly one rank.",
    visible=(
        Case(2, 4, {"n": 11}),
        Case(3, 2, {"n": 10, "batch_size": 2, "wrapped": True}),
        Case(4, 3, {"n": 3, "wrapped": True}),  # a rank without a sample, as the lab says
    ),
    tolerance=Tolerance(1e-5, 1e-6),
    hints=(
        Hint(
            "train mode", lambda look: look.got[0]["samples seen in train mode"] > 0,
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
            "mean of ranks",
            lambda look: (_times(look) == 1).all(),
            "Every sample was evaluated once, but the figure is not correct/all: ranks and batches "
            "with few samples must not weigh as much as those with many.",
        ),
    ),
    advice=(
        Advice(
            "no sample", "ZeroDivisionError|division by zero",
            "A rank may have no sample at all: add up what the ranks have first, and divide after.",
        ),
    ),
)  # fmt: skip
