"""Sharded checkpoints as this lab's exercises write and read them:

folder/step-{step}/rank-{rank}.pt   the rank's consecutive piece of one flat float32 tensor
folder/step-{step}/index.json       {"step": step, "lengths": [of each rank's piece]}
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    """A new folder, which is removed afterwards. It lies in the run's own folder, so that it goes
    with the run also where the rank is killed.
    """
    folder = Path(tempfile.mkdtemp(prefix="checkpoints-", dir=os.environ["DISTLAB_RUN"])).resolve()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def step_folder(folder: str | Path, step: int) -> Path:
    return Path(folder) / f"step-{step}"


def rank_file(folder: str | Path, step: int, rank: int) -> Path:
    return step_folder(folder, step) / f"rank-{rank}.pt"


def index_file(folder: str | Path, step: int) -> Path:
    return step_folder(folder, step) / "index.json"


def rank_of(path: str) -> int | None:
    """The rank whose file has this name."""
    found = re.fullmatch(r"rank-(\d+)\.pt", os.path.basename(path))
    return int(found[1]) if found else None


def flat_of(lengths: Sequence[int], seed: int) -> np.ndarray:
    """The whole tensor that such a checkpoint holds, shape (sum(lengths),)."""
    generator = np.random.default_rng([seed, sum(lengths)])
    return generator.standard_normal(sum(lengths)).astype("float32")


def lay_down(
    folder: str | Path, step: int, lengths: Sequence[int], seed: int, whole: bool = True
) -> None:
    """A whole checkpoint, or one without its index."""
    import torch

    step_folder(folder, step).mkdir(parents=True, exist_ok=True)
    pieces = np.split(flat_of(lengths, seed), np.cumsum(lengths)[:-1])
    for rank, piece in enumerate(pieces):
        torch.save(torch.from_numpy(piece.copy()), rank_file(folder, step, rank))
    if whole:
        index_file(folder, step).write_text(json.dumps({"step": step, "lengths": list(lengths)}))


def halve(path: Path) -> None:
    """Cut the second half of a file off."""
    os.truncate(path, path.stat().st_size // 2)


def content(folder: str | Path) -> dict[str, bytes]:
    """The bytes of all files below a folder by their paths; folders end in a slash."""
    return dict(_content(Path(folder)))


def _content(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path, folders, files in os.walk(folder):
        for name in folders:
            yield os.path.join(path, name) + "/", b""
        for name in files:
            yield os.path.join(path, name), Path(path, name).read_bytes()
