"""Files that a rank writes as memory, and that outlive it."""

from __future__ import annotations

import mmap
import os
from pathlib import Path


def mapped(path: str | Path, length: int) -> mmap.mmap:
    """Memory of so many bytes in a file, which is made where it is not there: what nobody has
    written takes no room.
    """
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        os.ftruncate(file, length)
        memory = mmap.mmap(file, length)
    finally:
        os.close(file)
    if hasattr(mmap, "MADV_RANDOM"):  # else the first write has megabytes of nothing read ahead
        memory.madvise(mmap.MADV_RANDOM)
    return memory
