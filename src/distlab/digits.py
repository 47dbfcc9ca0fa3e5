"""Handwritten digits to train on: MNIST where it is or can be fetched, else scikit-learn's.

Both come as 28×28 grey images, so that one network fits both. scikit-learn's 1,797 digits (the test
half of UCI's "Optical Recognition of Handwritten Digits") are real ones, of 8×8 pixels, and are
enlarged.
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
_TEST = 5  # of scikit-learn's digits one in so many is for testing


@dataclass(frozen=True)
class Digits:
    """A training and a test set of (image of shape (1, 28, 28), label). `source` says which."""

    train: TensorDataset
    test: TensorDataset
    source: str


def load(folder: str | Path | None = None, *, download: bool = False) -> Digits:
    """The digits that are here.

    Args:
        folder: where MNIST lies or is put, as torchvision has it; by default the variable
            DISTLAB_DATA, else ~/.cache/distlab.
        download: fetch MNIST where it is missing and its server answers.
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
    from distlab.vision import datasets

    try:
        train, test = (
            datasets.MNIST(str(where), train=part, download=fetch) for part in (True, False)
        )
    except (RuntimeError, OSError):  # not there, or it could not be fetched
        return None
    return Digits(*(_set(s.data, s.targets, 255) for s in (train, test)), f"MNIST in {where}")


def _sklearn() -> Digits:
    from sklearn.datasets import load_digits

    found = load_digits()
    images, labels = torch.tensor(found.images), torch.tensor(found.target)
    images = torch.nn.functional.interpolate(images[:, None], size=SIDE, mode="bilinear")[:, 0]
    for_test = torch.arange(len(labels)) % _TEST == 0
    sets = (_set(images[part], labels[part], 16) for part in (~for_test, for_test))
    return Digits(*sets, "scikit-learn's digits, enlarged")


def _set(images: torch.Tensor, labels: torch.Tensor, white: int) -> TensorDataset:
    images = (images.float() / white - _MEAN) / _STD
    return TensorDataset(images[:, None], labels.long())
