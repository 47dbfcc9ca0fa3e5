"""The tricks by which the CIFAR-10 record needs fewer epochs, one option each.

The options of `distlab.training.speedups` make a step quicker and do not change what is learned.
These change what is learned, so that fewer steps are enough. Each works alone and with all others;
`resnet_ddp.py --help` shows them. The record: Jordan, "94% on CIFAR-10 in 3.29 seconds on a single
GPU", 2024 (https://arxiv.org/abs/2404.00498), which names who found what.
"""

from __future__ import annotations

import argparse
import copy
import itertools
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from distlab.training import Refused, augment, data, flag, muon, positive, whitening
from distlab.training.small_net import SmallNet

MODELS = ("resnet18", "small")
FLIPS = ("random", "alternating")
OPTIMIZERS = ("sgd", "muon")
FIRST_LAYER_TRAINS = 3 / 8  # the part of all epochs in which the first layer's biases are learned
#: the record's own, for a loss that is a sum over images, where this course's is their mean
SMALL_BIAS_LR, SMALL_HEAD_LR, SMALL_DECAY = 0.053, 0.67, 2e-6


def _share(text: str) -> float:
    value = float(text)
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not from 0 to below 1")
    return value


def flags(parser: argparse.ArgumentParser) -> None:
    """Add the options, all off by default."""
    group = parser.add_argument_group("what needs fewer epochs (bench/speedrun.py measures each)")
    flag(group, "--model", choices=MODELS, default="resnet18",
         help="yours, or the small network of the record")  # fmt: skip
    flag(group, "--optimizer", choices=OPTIMIZERS, default="sgd",
         help="muon makes the step of each convolution orthogonal (Newton-Schulz)")  # fmt: skip
    flag(group, "--whiten", action="store_true",
         help="the first layer whitens patches of the images, and is not trained")  # fmt: skip
    flag(group, "--flip", choices=FLIPS, default="random",
         help="with --augment, images are mirrored at random, or seen both ways in every two "
              "epochs")  # fmt: skip
    flag(group, "--shift", type=int, choices=range(augment.PADDING + 1), default=augment.PADDING,
         help="with --augment, by how many pixels images are shifted at most (4)")  # fmt: skip
    flag(group, "--border", choices=augment.BORDERS, default="zeros",
         help="with --augment, what a shifted image shows at its edge: black, or its "
              "reflection")  # fmt: skip
    flag(group, "--label-smoothing", type=_share, default=0.0, metavar="E",
         help="so much of the label is spread over all classes (0.2)")  # fmt: skip
    flag(group, "--test-flip", action="store_true",
         help="guess by the mean over the image and its mirror image")  # fmt: skip
    flag(group, "--warm-up", type=positive(int), metavar="STEPS",
         help="take so many steps beforehand and undo them, so that compiling is not "
              "measured")  # fmt: skip


def check(options: argparse.Namespace) -> None:
    """Refuse options that have no effect.

    Raises:
        Refused: one of them needs another, or another excludes it. The message says which.
    """
    changes = options.flip, options.shift, options.border
    if not options.augment and changes != ("random", augment.PADDING, "zeros"):
        raise Refused(
            "--flip, --shift and --border say how --augment changes images: add --augment"
        )
    if options.model == "small" and options.stem != "imagenet":
        raise Refused("--stem changes ResNet-18, and --model small has a first layer of its own")


def make_model(
    options: argparse.Namespace, classes: int, yours: Callable[[int], nn.Module]
) -> nn.Module:
    """The network that the options name: the small one, or what the student's function makes."""
    return SmallNet(classes) if options.model == "small" else yours(classes)


def whiten(model: nn.Module, images: data.Images) -> None:
    """Freeze whitening filters into a network's first layer, in place, before DDP wraps it.

    Raises:
        Refused: its first layer is not that of the small network or of torchvision's ResNets.
    """
    layer = getattr(model, "first", None) or getattr(model, "conv1", None)
    if not isinstance(layer, nn.Conv2d):
        raise Refused("--whiten fills the first convolution of a ResNet, and this model has none")
    whitening.whiten(layer, whitening.of_training_set(images))


def make_optimizer(
    model: nn.Module, options: argparse.Namespace, momentum: float, images: int
) -> torch.optim.Optimizer:
    """SGD or Muon over what a model trains.

    Args:
        images: of one step on all ranks, for the small network (`small_groups`).
    """
    lr, decay = options.learning_rate, options.weight_decay
    if options.optimizer == "sgd":
        trained = [one for one in model.parameters() if one.requires_grad]
        return torch.optim.SGD(
            trained, lr=lr, momentum=momentum, weight_decay=decay, fused=options.fused or None
        )
    if options.model == "resnet18":
        return muon.Muon(muon.parameter_groups(model, lr, weight_decay=decay))
    return muon.Muon(small_groups(model, images))


def small_groups(model: nn.Module, images: int) -> list[dict[str, Any]]:
    """The small network's parameters with the rates of the record (airbench94_muon).

    The loss there is a sum over the images of a step and here a mean, which SGD's rates make up
    for; Muon's step has the same length either way. The first layer's biases stop learning early.
    """
    trained = {name: one for name, one in model.named_parameters() if one.requires_grad}
    filters = [one for one in trained.values() if one.dim() == 4]
    first = [one for name, one in trained.items() if "first.bias" in name]
    head = [one for name, one in trained.items() if "head" in name]
    known = {id(one) for one in (*filters, *first, *head)}
    shifts = [one for one in trained.values() if id(one) not in known]

    def by_sgd(some: list[nn.Parameter], lr: float, until: float = 1.0) -> dict[str, Any]:
        lr *= images
        return {"params": some, "lr": lr, "momentum": 0.85, "until": until,
                "weight_decay": SMALL_DECAY * images / lr}  # fmt: skip

    return [
        {"params": filters, "lr": 0.24, "momentum": 0.6, "orthogonal": True},
        by_sgd(first, SMALL_BIAS_LR, FIRST_LAYER_TRAINS),
        by_sgd(shifts, SMALL_BIAS_LR),
        by_sgd(head, SMALL_HEAD_LR),
    ]


class Smoothed:
    """A loader whose labels are probabilities: 1 − e + e/classes for the label, e/classes each for
    the others. `cross_entropy` takes such labels, and so what trains need not know of it.

    A network that is never asked for certainty generalises better (Szegedy et al., 2015,
    section 7, https://arxiv.org/abs/1512.00567).
    """

    def __init__(self, loader: Any, share: float, classes: int) -> None:
        self._loader, self._share, self._classes = loader, share, classes

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def __len__(self) -> int:
        return len(self._loader)

    def __iter__(self) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        for images, labels in self._loader:
            yield images, smoothed(labels, self._share, self._classes)


def smoothed(labels: torch.Tensor, share: float, classes: int) -> torch.Tensor:
    """Labels of shape (b,) as probabilities of shape (b, classes)."""
    certain = functional.one_hot(labels, classes).float()
    return (1 - share) * certain + share / classes


class Both(nn.Module):
    """A network that looks at an image and at its mirror image: the mean of both logits.

    For evaluation alone: it takes twice as long (Krizhevsky et al., 2012, section 4.1).
    """

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = (self.model(images) + self.model(images.flip(-1))) / 2
        return found


class First:
    """The first batches of a loader, and its sampler."""

    def __init__(self, loader: Any, batches: int) -> None:
        self._loader, self._batches = loader, batches

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def __len__(self) -> int:
        return min(self._batches, len(self._loader))

    def __iter__(self) -> Iterator[Any]:
        return itertools.islice(iter(self._loader), self._batches)


def warm_up(
    train: Callable[[Any], object], model: nn.Module, optimizer: torch.optim.Optimizer,
    loader: Iterable[Any], steps: int,
) -> None:  # fmt: skip
    """Take some steps, then restore model and optimizer: compiling and choosing kernels are done.

    The record is measured like this too: the time of these steps does not count as training.

    Args:
        train: trains on the loader that it is given.
    """
    torch.backends.cudnn.benchmark = True  # on a GPU: try each convolution's kernels, keep the best
    before = copy.deepcopy(model.state_dict()), copy.deepcopy(optimizer.state_dict())
    train(First(loader, steps))
    model.load_state_dict(before[0])
    optimizer.load_state_dict(before[1])
    optimizer.zero_grad()


def check_checkpoint(path: Path, model: str) -> None:
    """Refuse a checkpoint of the other network.

    Raises:
        Refused: it is one. Whatever else is wrong with the file shows when it is loaded.
    """
    try:
        names = torch.load(path, map_location="meta", mmap=True)["model"].keys()
    except Exception:
        return
    if ("first.weight" in names) != (model == "small"):
        other = "small" if "first.weight" in names else "resnet18"
        raise Refused(
            f"{path} was written with --model {other} and cannot go on with --model {model}: "
            f"say --model {other}, or name another --model-filename"
        )
