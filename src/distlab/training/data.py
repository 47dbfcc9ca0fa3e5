"""Images to train on: CIFAR-10 if it is here or can be fetched, a folder of images, or generated.

    images = data.load()              # what there is here, else a generated set
    images = data.load("~/pictures")  # train/<class>/*.jpg and test/<class>/*.jpg

All of them come in the same form, as 32×32 RGB.
"""

from __future__ import annotations

import functools
import io
import os
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
from torch.utils.data import Dataset

SIDE = 32  # pixels
_HOST = "www.cs.toronto.edu"  # where torchvision fetches CIFAR-10 (Krizhevsky, 2009)
_PATIENCE = 10.0  # seconds that a server may take to answer
_MEAN = torch.tensor([0.4914, 0.4822, 0.4465]).view(3, 1, 1)
_STD = torch.tensor([0.2470, 0.2435, 0.2616]).view(3, 1, 1)


class NoData(RuntimeError):
    """There are no images here that can be used, and none could be fetched. The message says what
    to do.
    """


class Images(Dataset[tuple[torch.Tensor, int]]):
    """Images as (float32 tensor of shape (3, 32, 32), label), read once and kept as bytes.

    Args:
        read: gives image i as a uint8 array of shape (32, 32, 3). It can be pickled: where a
            `DataLoader`'s workers are spawned, they are sent it.
        labels: the class number of every image.
        chosen: which images, in order; all by default.
    """

    def __init__(
        self,
        read: Callable[[int], np.ndarray],
        labels: Sequence[int] | np.ndarray,
        chosen: Sequence[int] | np.ndarray | None = None,
    ) -> None:
        self._read = read
        self._chosen = np.arange(len(labels)) if chosen is None else np.asarray(chosen)
        self.labels = torch.as_tensor(np.asarray(labels)[self._chosen], dtype=torch.int64)
        self._pixels = torch.empty(len(self._chosen), 3, SIDE, SIDE, dtype=torch.uint8)
        self._known = np.zeros(len(self._chosen), dtype=bool)

    def __len__(self) -> int:
        return len(self._chosen)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        return normalised(self.pixels(index)), int(self.labels[index])

    def pixels(self, index: int) -> torch.Tensor:
        """Image `index` as bytes, shape (3, 32, 32)."""
        if not 0 <= index < len(self):
            raise IndexError(index)
        if not self._known[index]:
            image = self._read(int(self._chosen[index]))
            self._pixels[index] = torch.from_numpy(np.ascontiguousarray(image)).permute(2, 0, 1)
            self._known[index] = True
        return self._pixels[index]

    def all_pixels(self) -> torch.Tensor:
        """All images as bytes, shape (n, 3, 32, 32)."""
        for index in np.flatnonzero(~self._known).tolist():
            self.pixels(index)
        return self._pixels


def normalised(pixels: torch.Tensor) -> torch.Tensor:
    """Bytes of shape (…, 3, h, w) as float32 with mean 0 and deviation 1 over CIFAR-10."""
    mean, std = _statistics(pixels.device)
    return (pixels.float() / 255 - mean) / std


@functools.lru_cache(maxsize=8)
def _statistics(device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean and deviation on a device. Copied once: a copy waits until the GPU has nothing to do."""
    return _MEAN.to(device), _STD.to(device)


@dataclass(frozen=True)
class Split:
    """A training and a test set. `source` says in a few words what they are."""

    train: Images
    test: Images
    classes: list[str]
    source: str


def load(
    folder: str | Path | None = None,
    *,
    synthetic: bool | None = None,
    download: bool = False,
    limit: int | None = None,
    test_limit: int | None = None,
) -> Split:
    """The images that are here.

    Args:
        folder: where to look; by default the variable DISTLAB_DATA, else ~/.cache/distlab. It holds
            torchvision's CIFAR-10, or `train/` and `test/` with a folder for each class, or a
            folder that holds one of these.
        synthetic: take generated images (`True`), images that are found (`False`), or (`None`)
            generated ones if none are found.
        download: fetch CIFAR-10 if nothing is there: rank 0 does so while the others wait.
        limit: take only so many images of the training set, the same ones on every rank.
        test_limit: the same of the test set.

    Raises:
        NoData: nothing was found, or what was found cannot be read; on every rank.
    """
    if synthetic:
        return _generated(limit, test_limit)
    where = Path(folder or os.environ.get("DISTLAB_DATA") or "~/.cache/distlab").expanduser()
    problem = ""
    if download:
        problem = _on_rank_zero(lambda: _fetch(where))
    found = _find(where)
    if found is not None:
        kind, place = found
        return (_archive if kind == "archive" else _tree)(place, limit, test_limit)
    if synthetic is None and folder is None:
        return _generated(limit, test_limit)
    raise NoData(
        f"there are no images in {where}{problem and ' (' + problem + ')'}: put CIFAR-10 there "
        "(torchvision's cifar-10-python.tar.gz, or train/ and test/ with a folder a class), name "
        "another folder with --data-dir or DISTLAB_DATA, or use --synthetic"
    )


def _find(where: Path) -> tuple[str, Path] | None:
    """("archive" or "tree", its folder), `where` itself first, then the folders in it."""
    inside = sorted(p for p in where.iterdir() if p.is_dir()) if where.is_dir() else []
    for place in (where, *inside):
        if (place / "cifar-10-batches-py").is_dir():
            return "archive", place
        if (place / "train").is_dir() and (place / "test").is_dir():
            return "tree", place
    return None


def _on_rank_zero(action: Callable[[], str]) -> str:
    """Let rank 0 call `action` while the others wait; every rank gets what it returned."""
    if not dist.is_initialized():
        return action()
    told = [action() if dist.get_rank() == 0 else None]
    dist.broadcast_object_list(told, src=0)
    return told[0] or ""


def _fetch(where: Path) -> str:
    """Download CIFAR-10 unless something is there; returns what went wrong, in a few words."""
    if _find(where) is not None:
        return ""
    from distlab.training.vision import datasets

    before = socket.getdefaulttimeout()
    try:
        if not (where / "cifar-10-python.tar.gz").exists():
            socket.create_connection((_HOST, 443), timeout=_PATIENCE).close()
        socket.setdefaulttimeout(_PATIENCE)
        where.mkdir(parents=True, exist_ok=True)
        datasets.CIFAR10(str(where), download=True)
    except Exception as error:  # no route, a proxy's page, a broken archive, a full disk
        return f"CIFAR-10 could not be downloaded: {' '.join(str(error).split())[:100]}"
    finally:
        socket.setdefaulttimeout(before)
    return ""


def _chosen(n: int, limit: int | None) -> np.ndarray:
    """`limit` of n numbers, spread over all of them and the same everywhere."""
    if limit is None or limit >= n:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).permutation(n)[:limit])


def _archive(place: Path, limit: int | None, test_limit: int | None) -> Split:
    from distlab.training.vision import datasets

    try:
        train, test = (datasets.CIFAR10(str(place), train=part) for part in (True, False))
    except (RuntimeError, OSError) as error:  # a download or an extraction was interrupted
        raise NoData(
            f"the CIFAR-10 in {place} is incomplete or damaged: remove its folder "
            "cifar-10-batches-py, and start again"
        ) from error
    sets = [
        Images(whole.data.__getitem__, whole.targets, _chosen(len(whole.data), most))
        for whole, most in ((train, limit), (test, test_limit))
    ]
    return Split(sets[0], sets[1], train.classes, f"CIFAR-10 in {place}")


def _tree(place: Path, limit: int | None, test_limit: int | None) -> Split:
    from distlab.training.vision import datasets

    try:
        train, test = (datasets.ImageFolder(str(place / name)) for name in ("train", "test"))
    except FileNotFoundError as error:  # no class, or a class without an image
        raise NoData(f"the images in {place} cannot be used: {error}") from error
    if unknown := set(test.classes) - set(train.classes):
        raise NoData(
            f"{place / 'test'} has a folder {min(unknown)!r} and {place / 'train'} has none: the "
            "classes are those of train/"
        )
    numbers = [train.class_to_idx[name] for name in test.classes]  # where test/ lacks some of them
    sets = [
        Images(_Files(train.samples), train.targets, _chosen(len(train), limit)),
        Images(
            _Files(test.samples), [numbers[own] for own in test.targets],
            _chosen(len(test), test_limit),
        ),
    ]  # fmt: skip
    return Split(sets[0], sets[1], train.classes, f"images in {place}")


@dataclass(frozen=True)
class _Files:
    """Reads image i of a folder, scaled to 32×32."""

    samples: Sequence[tuple[str, int]]  # path and class

    def __call__(self, index: int) -> np.ndarray:
        from PIL import Image

        with open(self.samples[index][0], "rb") as file:  # PIL would seek in the file itself
            image = Image.open(io.BytesIO(file.read())).convert("RGB")
        return np.array(image if image.size == (SIDE, SIDE) else image.resize((SIDE, SIDE)))


def _generated(limit: int | None, test_limit: int | None) -> Split:
    """Ten blurred colour patterns, each shown shifted and under noise: easy for a convolution."""
    patterns = np.random.default_rng(0).uniform(40, 215, (10, 8, 8, 3))
    patterns = patterns.repeat(4, axis=1).repeat(4, axis=2)
    sets = []
    for salt, n, most in ((1, 50_000, limit), (2, 10_000, test_limit)):
        labels = np.random.default_rng(salt).integers(0, 10, n)
        sets.append(Images(_Patterns(patterns, labels, salt), labels, _chosen(n, most)))
    return Split(sets[0], sets[1], [f"pattern {i}" for i in range(10)], "generated patterns")


@dataclass(frozen=True)
class _Patterns:
    """Generates image i: the pattern of its label. `salt` tells one set's images from another's."""

    patterns: np.ndarray
    labels: np.ndarray
    salt: int

    def __call__(self, index: int) -> np.ndarray:
        generator = np.random.default_rng([self.salt, index])
        shift = tuple(generator.integers(-4, 5, 2))
        image = np.roll(self.patterns[self.labels[index]], shift, axis=(0, 1))
        noisy: np.ndarray = image + generator.normal(0, 50, image.shape)
        return noisy.clip(0, 255).astype(np.uint8)
