"""Files that a notebook's cells have written, for the exercises, which run somewhere else."""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path

MOST_BYTES = 32 << 20  # of all files together
MOST_FILES = 2_000  # files and folders
MOST_DEPTH = 30  # folders in each other


def packed(folder: Path) -> bytes:
    """What lies in a folder, as one block; nothing where that is too much or cannot be read.

    Files, folders and links; of a file what it holds now, whatever changes meanwhile.
    """
    target, size = io.BytesIO(), 0
    try:
        with tarfile.open(fileobj=target, mode="w") as archive:
            for number, entry in enumerate(_entries(folder)):
                about = archive.gettarinfo(entry.path, os.path.relpath(entry.path, folder))
                if about is None or not (about.isreg() or about.isdir() or about.issym()):
                    continue
                size += about.size
                if number >= MOST_FILES or size > MOST_BYTES:
                    return b""
                if about.isreg():
                    with open(os.open(entry.path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
                        archive.addfile(about, file)
                else:
                    archive.addfile(about)
    except (OSError, ValueError, tarfile.TarError, RecursionError):
        return b""
    return target.getvalue() if size or target.tell() > tarfile.RECORDSIZE else b""


def _entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    left = [(str(folder), 0)]
    while left:
        path, depth = left.pop()
        with os.scandir(path) as entries:
            for entry in entries:
                yield entry
                if entry.is_dir(follow_symlinks=False):
                    if depth == MOST_DEPTH:
                        raise ValueError("folders in each other, too many")
                    left.append((entry.path, depth + 1))


def unpack(block: bytes, folder: Path) -> None:
    """Put what `packed` gave into a folder; what does not fit there is left out."""
    if not block:
        return
    with tarfile.open(fileobj=io.BytesIO(block)) as archive:
        for about in archive:
            try:
                archive.extract(about, folder, filter="data")
            except (OSError, tarfile.TarError):
                continue
