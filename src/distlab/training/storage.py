"""Images on a disk in four forms: JPEG files, tar shards, HDF5 and LMDB; and a slow disk."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import sys
import tarfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch.utils.data import Dataset

Sample = tuple[bytes, int]  # an image file's bytes, and its label


def jpeg(pixels: torch.Tensor) -> bytes:
    """Encode a uint8 tensor of shape (3, height, width) as JPEG: the file's bytes."""
    content = io.BytesIO()
    Image.fromarray(pixels.permute(1, 2, 0).numpy()).save(content, "JPEG", quality=95)
    return content.getvalue()


def decode(content: bytes) -> torch.Tensor:
    """Turn an image file's bytes into a float32 tensor of shape (3, height, width) in 0..1."""
    pixels = np.asarray(Image.open(io.BytesIO(content)).convert("RGB"), dtype=np.float32)
    return torch.from_numpy(pixels.transpose(2, 0, 1) / 255)


def write_shards(samples: Sequence[Sample], folder: Path, shards: int) -> None:
    """Write samples into `shards` tar files of uneven lengths, in WebDataset's form.

    Shards that an earlier call wrote into this folder are replaced.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("images-*.tar"):
        old.unlink()
    bounds = np.linspace(0, len(samples), shards + 1).astype(int)
    bounds[1:-1] += np.random.default_rng(0).integers(-9, 10, shards - 1)
    bounds = np.maximum.accumulate(bounds.clip(0, len(samples)))  # of few samples: empty shards
    for number in range(shards):
        with tarfile.open(folder / f"images-{number:04d}.tar", "w") as tar:
            for key in range(bounds[number], bounds[number + 1]):
                content, label = samples[key]
                for suffix, stored in (("jpg", content), ("cls", str(label).encode())):
                    entry = tarfile.TarInfo(f"{key:06d}.{suffix}")
                    entry.size = len(stored)
                    tar.addfile(entry, io.BytesIO(stored))


def samples(path: Path) -> list[Sample]:
    """Read a shard: its samples, in the order of the tar file."""
    images, labels = {}, {}
    with tarfile.open(path) as tar:
        for entry in tar:
            key, _, suffix = entry.name.partition(".")
            file = tar.extractfile(entry)
            content = file.read() if file else b""
            if suffix == "cls":
                labels[key] = int(content)
            else:
                images[key] = content
    return [(images[key], labels[key]) for key in images]


def write_files(samples: Sequence[Sample], folder: Path) -> None:
    """Write one file for each image, LABEL/NUMBER.jpg."""
    for number, (content, label) in enumerate(samples):
        path = folder / str(label) / f"{number:06d}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


class Files(Dataset[tuple[torch.Tensor, int]]):
    """A folder of JPEG files LABEL/NUMBER.jpg, one for each image."""

    def __init__(self, folder: Path) -> None:
        self._paths = sorted(folder.glob("*/*.jpg"))

    def __len__(self) -> int:
        return len(self._paths)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        path = self._paths[index]
        return decode(path.read_bytes()), int(path.parent.name)


_slow: dict[str, float] = {}  # names of slow folders → seconds


def slow_disk(folder: Path, seconds: float) -> Path:
    """Make a second name for a folder; opening a file by that name takes so many seconds longer.

    That is so in this process and in those that it forks. Of several calls for a folder the last
    one counts.
    """
    slow = folder.with_name("slow-" + folder.name)
    with contextlib.suppress(FileExistsError):  # another rank may have been quicker
        slow.symlink_to(folder.name)  # beside it, wherever both are seen from
    if not _slow:  # a hook stays for good: one is enough
        sys.addaudithook(_wait)  # Python calls it before it opens any file, in the workers too
    _slow[f"{slow}{os.sep}"] = seconds
    return slow


def _wait(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open":
        path = str(arguments[0])
        for folder, seconds in list(_slow.items()):
            if path.startswith(folder):
                time.sleep(seconds)


def _write_hdf5(samples: Sequence[Sample], place: Path) -> None:
    import h5py

    place.mkdir()
    with h5py.File(place / "images.h5", "w") as file:
        pixels = np.stack([np.array(Image.open(io.BytesIO(content))) for content, _ in samples])
        file["images"], file["labels"] = pixels, [label for _, label in samples]


def _write_lmdb(samples: Sequence[Sample], place: Path) -> None:
    import lmdb

    with lmdb.open(str(place), map_size=1 << 28) as database, database.begin(write=True) as entry:
        for number, (content, label) in enumerate(samples):
            entry.put(b"%06d" % number, bytes([label]) + content)


def _read_files(place: Path, order: Sequence[int]) -> Iterator[Sample]:
    paths = sorted(place.glob("*/*.jpg"))
    for index in order:
        yield paths[index].read_bytes(), int(paths[index].parent.name)


def _read_hdf5(place: Path, order: Sequence[int]) -> Iterator[tuple[np.ndarray, int]]:
    import h5py

    with h5py.File(place / "images.h5") as file:
        images, labels = file["images"], file["labels"]
        for index in order:
            yield images[index], int(labels[index])


def _read_lmdb(place: Path, order: Sequence[int]) -> Iterator[Sample]:
    import lmdb

    with lmdb.open(str(place), readonly=True, lock=False) as database, database.begin() as entry:
        for index in order:
            value: Any = entry.get(b"%06d" % index)
            yield value[1:], value[0]


def _read_shards(place: Path, order: Sequence[int]) -> Iterator[Sample]:
    """From beginning to end, which is the only order that a shard has."""
    for path in sorted(place.glob("*.tar")):
        yield from samples(path)


_Write = Callable[[Sequence[Sample], Path], None]
_Read = Callable[[Path, Sequence[int]], Iterable[tuple[Any, int]]]

#: name → how it is written and how it is read
FORMATS: dict[str, tuple[_Write, _Read]] = {
    "JPEG folder": (write_files, _read_files),
    "HDF5": (_write_hdf5, _read_hdf5),
    "LMDB": (_write_lmdb, _read_lmdb),
    "WebDataset": (lambda samples, place: write_shards(samples, place, 12), _read_shards),
}


def _pixels(content: bytes | np.ndarray) -> torch.Tensor:
    """The tensor that a model is given, from an image file's bytes or from an array of pixels."""
    if isinstance(content, bytes):
        return decode(content)
    return torch.from_numpy(content.transpose(2, 0, 1) / np.float32(255))


def compare(samples: Sequence[Sample], folder: Path, repeats: int = 3) -> dict[str, dict[str, Any]]:
    """Write samples in each form and read them back.

    Args:
        samples: of 32×32 images, with labels below 256.
        folder: in which a folder is made for each form, in place of an earlier call's.
        repeats: how often each is read and measured, after one reading that does not count.

    Returns:
        For each form {"files": their number, "kilobytes": on disk for an image, in whole blocks,
        "fetched": images per second of each reading, "fetched and decoded": the same}.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return {
            name: _measured(samples, folder / f"format-{name}", repeats, write, read)
            for name, (write, read) in FORMATS.items()
        }
    finally:
        torch.set_num_threads(threads)


def _measured(
    samples: Sequence[Sample], place: Path, repeats: int, write: _Write, read: _Read
) -> dict[str, Any]:
    """One form's row of the table that `compare` returns."""
    shutil.rmtree(place, ignore_errors=True)
    write(samples, place)
    files = [path for path in place.rglob("*") if path.is_file()]
    disk = sum(path.stat().st_blocks * 512 for path in files)
    speeds: dict[str, list[float]] = {"fetched": [], "fetched and decoded": []}
    for repeat in range(repeats + 1):
        order = np.random.default_rng(repeat).permutation(len(samples)).tolist()
        for how, ready in zip(speeds, (lambda content: content, _pixels), strict=True):
            begin = time.perf_counter()
            count = sum(ready(content) is not None for content, _ in read(place, order))
            speeds[how].append(count / (time.perf_counter() - begin))
    row: dict[str, Any] = {how: rates[1:] for how, rates in speeds.items()}
    return row | {"files": len(files), "kilobytes": disk / 1000 / len(samples)}
