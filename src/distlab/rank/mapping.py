"""Files that a rank writes as memory, and that outlive it."""

from __future__ import annotations

import mmap
import os
from pathlib import Path


def mapped(path: str | Path, length: int) -> mmap.mmap:
    """Map a file of `length` bytes, which is made if needed, into memory. Parts that were never
    written take no room on the disk.
    """
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        os.ftruncate(file, length)
        memory = mmap.mmap(file, length)
    finally:
        os.close(file)
    if hasattr(mmap, "MADV_RANDOM"):  # else the first write reads megabytes of zeros ahead
        memory.madvise(mmap.MADV_RANDOM)
    return memory
