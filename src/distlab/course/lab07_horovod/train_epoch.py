"""`train_epoch`: an epoch of training."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from distlab.course.lab07_horovod.looks import AS_TENSOR, NOTHING, initialised
from distlab.course.lab07_horovod.network import data, network, weights
from distlab.exercises import epochs
from distlab.exercises.compare import Tolerance
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.rank.models import parameters
from distlab.rank.sharing import Board, among_ranks
from distlab.records import reading

PATIENCE = 30.0  # seconds that ranks wait for the others' losses: a busy machine is slow


def _epoch_inputs(case: Case) -> list[dict]:
    batch, batches = case.get("batch_size", 4), case.get("batches", 2)
    return [
        {
            "weights": weights(case, 0),
            **data(case, r, batch * batches),
            "batch_size": batch,
            "epoch": case.get("epoch", 0),
            "lr": 0.1,
        }
        for r in range(case.size)
    ]


def _noting_sampler(dataset, rank: int, size: int, told: list[int]):
    """A DistributedSampler over the data of all workers that notes the epoch of each pass, and
    gives this worker the first samples, its own.
    """
    import torch
    from torch.utils.data.distributed import DistributedSampler

    class Sampler(DistributedSampler):
        def __iter__(self):
            told.append(int(self.epoch))
            generator = torch.Generator().manual_seed(5 + int(self.epoch))
            return iter(torch.randperm(len(self), generator=generator).tolist())

    sampler = Sampler(dataset, num_replicas=size, rank=rank)
    sampler.epoch = -1  # until set_epoch is called
    return sampler


@contextlib.contextmanager
def _losses(model, images, labels):
    """The mean loss of each batch that goes through the model with gradients meanwhile.

    It is computed from the model's input and output: a backward pass does not tell how the loss was
    divided or scaled.
    """
    from unittest import mock

    import torch

    found: list[float] = []
    forward = model.forward

    def noting(*args, **kwargs):
        rows = next(iter((*args, *kwargs.values()))).detach()
        output = forward(*args, **kwargs)
        if torch.is_grad_enabled():
            which = (rows[:, None] == images[None]).all(-1).int().argmax(1)
            found.append(torch.nn.functional.nll_loss(output.detach(), labels[which]).item())
        return output

    with mock.patch.object(model, "forward", noting):
        yield found


def _train_one_epoch(function, rank, size, inputs):
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    hvd = initialised(rank, size)
    # as long as the data of all workers: what is divided by its length is too small
    dataset = TensorDataset(*(torch.cat([inputs[one]] * size) for one in ("images", "labels")))
    told: list[int] = []
    sampler = _noting_sampler(dataset, rank, size, told)
    loader = DataLoader(dataset, inputs["batch_size"], sampler=sampler)
    model = network(inputs["weights"], normalised=True).eval()
    optimizer = hvd.DistributedOptimizer(
        torch.optim.SGD(model.parameters(), lr=inputs["lr"], momentum=0.5),
        named_parameters=model.named_parameters(),
    )
    with _losses(model, inputs["images"], inputs["labels"]) as losses:
        returned = function(model, loader, optimizer, inputs["epoch"])
    return {
        "returned": _own(returned, losses, rank, size),
        "sampler's epoch": told,
        "mean of BatchNorm": model.norm.running_mean.clone(),
        "parameters": parameters(model),
    }


def _own(returned: Any, losses: list[float], rank: int, size: int) -> Any:
    """What was returned; in place of the mean over all workers, which is as right, this worker's
    own mean loss.
    """
    own = float(np.mean(losses)) if losses else None
    # whatever was returned here, other workers may need this one's loss
    Board(rank, size).note("losses", json.dumps(own))
    if not isinstance(returned, (int, float)) or isinstance(returned, bool) or own is None:
        return returned
    if np.isclose(returned, own, rtol=1e-5) or not _heard_others(rank):
        return returned
    everybody = among_ranks("losses", rank, size, lambda: own, PATIENCE)
    if None not in everybody and np.isclose(returned, np.mean(everybody), rtol=1e-5):
        return own
    return returned


def _heard_others(rank: int) -> bool:
    """Did the function itself call a collective, besides those of the optimizer? Without one it
    cannot know the mean over all workers, and the others may hang for want of its call.
    """
    record = reading.read(Path(os.environ["DISTLAB_RUN"], f"{rank}.rec"))
    return any(not event.internal and event.api != "init" for event in record.events)


def _gave(look: Look, figures: np.ndarray) -> bool:
    """Did every rank return this, or its own one of these, as a plain number?"""
    plain = all(type(figure) in (int, float) for figure in look.returned)
    return plain and np.allclose(look.returned, figures, rtol=1e-4)


def _times(look: Look, factor: float) -> bool:
    """Is every rank's figure so many times too large?"""
    return _gave(look, np.multiply(look.wanted, factor))


def _batches(look: Look) -> int:
    return len(look.inputs[0]["labels"]) // look.inputs[0]["batch_size"]


exercise = Exercise(
    points=3,
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
        epochs.PASSED_TWICE,
        epochs.NOT_TOLD,
        Hint(
            "wrong epoch", lambda look: look.differs("sampler's epoch"),
            "The sampler was told another epoch than the given one.",
        ),
        epochs.EVAL_MODE,
        epochs.NO_STEP,
        Hint(
            "ranks drift apart", lambda look: look.ranks_differ("parameters"),
            "The workers end with different parameters: the gradients of some step were not "
            "averaged. The step has to be that of the optimizer that was passed in, and come after "
            "backward: a closure that is given to `step` runs when the averaging is over.",
        ),
        Hint(
            "other steps", lambda look: look.differs("parameters"),
            "The workers agree on parameters that are not right: look at the order of zero_grad, "
            "backward and step, and at what the loss is divided by.",
        ),
        # those above have shown where anything but the figure is wrong
        Hint(
            "sum over batches", lambda look: _batches(look) > 1 and _times(look, _batches(look)),
            "The steps are right, but the figure is the sum over the batches.",
        ),
        Hint(
            "divided by samples",
            lambda look: any(
                _times(look, 1 / look.inputs[0]["batch_size"] / n) for n in (1, look.size)
            ),
            "The steps are right, but the figure is too small, by the batch size at least: the "
            "loss of a batch is a mean already.",
        ),
        Hint(
            "divided by all workers' samples",
            lambda look: look.size > 1 and _times(look, 1 / look.size),
            "The steps are right, but the figure is too small by the number of workers: it is the "
            "mean of this worker's own losses, and loader.dataset holds the samples of all.",
        ),
        Hint(
            "sum over workers",
            lambda look: look.size > 1 and _gave(look, np.sum(look.wanted)),
            "The steps are right, but the figure is a sum over the workers.",
        ),
        Hint(
            "another figure", lambda look: True,
            "The steps are right, but what was returned is not the mean of the losses that they "
            "began from. (The last batch's loss alone is not the epoch's.)",
        ),
    ),
)  # fmt: skip
