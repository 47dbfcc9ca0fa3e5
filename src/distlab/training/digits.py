"""Handwritten digits to train on: MNIST if it is here or can be fetched, else scikit-learn's.

Both come as 28×28 grey images, so that one network fits both. scikit-learn's 1,797 digits (the test
half of UCI's "Optical Recognition of Handwritten Digits") are real ones, of 8×8 pixels, and are
enlarged. The training set has each of them in several positions, so that an epoch has enough steps.
"""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from pathlib import Path

import torch
from torch.utils.data import TensorDataset

SIDE = 28  # pixels
_HOST = "ossci-datasets.s3.amazonaws.com"  # from where torchvision fetches MNIST
_PATIENCE = 3.0  # seconds that the server may take to answer
_MEAN, _STD = 0.1307, 0.3081  # of MNIST
_SHIFTS = [(0, 0), *((y, x) for y in (-2, 0, 2) for x in (-2, 0, 2) if (y, x) != (0, 0))]
_TEST = 5  # one in so many of scikit-learn's digits is for testing


@dataclass(frozen=True)
class Digits:
    """A training and a test set of (image of shape (1, 28, 28), label). `source` says which."""

    train: TensorDataset
    test: TensorDataset
    source: str


def load(folder: str | Path | None = None, *, download: bool = False) -> Digits:
    """The digits that are here.

    Args:
        folder: where MNIST is or is to be put, in torchvision's form; by default the variable
            DISTLAB_DATA, else ~/.cache/distlab.
        download: fetch MNIST if it is missing and its server answers.
    """
    where = Path(folder or os.environ.get("DISTLAB_DATA") or "~/.cache/distlab").expanduser()
    found = _mnist(where, fetch=False) or (download and _answers() and _mnist(where, fetch=True))
    return found or _sklearn()


def _answers() -> bool:
    try:
        socket.create_connection((_HOST, 443), timeout=_PATIENCE).close()
    except OSError:
        return False
    return True


def _mnist(where: Path, fetch: bool) -> Digits | None:
    from distlab.training.vision import datasets

    try:
        train, test = (
            datasets.MNIST(str(where), train=part, download=fetch) for part in (True, False)
        )
    except Exception:  # not there, not to be fetched, or files that an interrupted download left:
        return None  # what torchvision raises for these it does not say
    first, second = (_set(s.data, s.targets, 255) for s in (train, test))
    return Digits(first, second, f"MNIST in {where}")


def _sklearn() -> Digits:
    from sklearn.datasets import load_digits

    found = load_digits()
    images, labels = torch.tensor(found.images), torch.tensor(found.target)
    images = torch.nn.functional.interpolate(images[:, None], size=SIDE, mode="bilinear")[:, 0]
    for_test = torch.arange(len(labels)) % _TEST == 0
    shown = torch.cat([_shifted(images[~for_test], *shift) for shift in _SHIFTS])
    train = _set(shown, labels[~for_test].repeat(len(_SHIFTS)), 16)
    test = _set(images[for_test], labels[for_test], 16)
    return Digits(train, test, f"scikit-learn's digits, enlarged, in {len(_SHIFTS)} positions")


def _shifted(images: torch.Tensor, down: int, right: int) -> torch.Tensor:
    """The images moved by so many pixels, black where nothing is left."""
    padded = torch.nn.functional.pad(images, (2, 2, 2, 2))
    return padded[:, 2 - down : 2 - down + SIDE, 2 - right : 2 - right + SIDE]


def _set(images: torch.Tensor, labels: torch.Tensor, white: int) -> TensorDataset:
    images = (images.float() / white - _MEAN) / _STD
    return TensorDataset(images[:, None], labels.long())
