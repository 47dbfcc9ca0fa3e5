"""Reading training images: the loader of lab 05, its shards in workers, against a folder of files.

python -m bench.feeding
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from bench import Row, in_turn, run_all
from distlab import notebook
from grader import coursedir

IMAGES, SHARDS, BATCH = 2048, 8, 32
REPEATS = 3


def measure() -> Iterator[Row]:
    import torch
    from torch.utils.data import DataLoader

    from distlab.training import storage
    from distlab.training.vision import torchvision

    torch.set_num_threads(1)
    lab = notebook.load(coursedir.SOLUTIONS / "05-scaling-up" / "scaling_up.ipynb")
    generator = torch.Generator().manual_seed(0)
    pixels = torch.randint(0, 256, (IMAGES, 3, 32, 32), dtype=torch.uint8, generator=generator)
    samples = [(storage.jpeg(one), number % 10) for number, one in enumerate(pixels)]
    with tempfile.TemporaryDirectory(prefix="bench-feeding-") as name:
        shards, files = Path(name, "shards"), Path(name, "files")
        storage.write_shards(samples, shards, SHARDS)
        for number, (content, label) in enumerate(samples):
            path = files / str(label) / f"{number:06d}.jpg"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        transform = torchvision.transforms.ToTensor()
        folder = torchvision.datasets.ImageFolder(files, transform)
        fed = lab.make_feeding_loader(str(shards), 0, 1, BATCH)
        plain = DataLoader(folder, batch_size=BATCH, shuffle=True)
        ours, theirs = in_turn(lambda: _read(fed), lambda: _read(plain), REPEATS)
        yield Row(
            "an image read and decoded by 2 workers from shards", ours, theirs,
            "ImageFolder in the training process",
        )  # fmt: skip


def _read(loader: Iterable) -> float:
    """Seconds an image of one epoch."""
    begin = time.perf_counter()
    seen = sum(len(labels) for _, labels in loader)
    assert seen == IMAGES
    return (time.perf_counter() - begin) / seen


if __name__ == "__main__":
    raise SystemExit(run_all(["feeding"]))
