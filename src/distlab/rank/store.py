"""Where ranks of one machine find each other, at once."""

from __future__ import annotations

import datetime
import time
from collections.abc import Sequence
from typing import Any

import torch.distributed as dist

from distlab.rank import recorder

SOON = 0.1  # seconds in which the others of warm ranks can be expected
LOOK = 0.0005  # seconds between two looks meanwhile


class PromptStore(dist.Store):
    """A `FileStore` that looks more often, at first, whether what it waits for has been written.

    torch's own looks every 10 ms, several times while a process group is made: on warm ranks that
    would be most of what a check takes.

    Args:
        path: the file; it is made where it is not there.
        size: number of ranks.

    Whoever makes it must keep it: torch keeps only what of it is C++. What `wait` and `get` raise
    when they give up is what `FileStore` raises; they may take `SOON` longer.
    """

    def __init__(self, path: str, size: int) -> None:
        super().__init__()
        self.path = path
        self._file: Any = dist.FileStore(path, size)  # torch's stubs lack some of its methods

    def wait(self, keys: Sequence[str], timeout: datetime.timedelta | None = None) -> None:
        if timeout is None:
            timeout = self.timeout  # type: ignore[attr-defined]  # torch's stub of a store lacks it
        soon = time.monotonic() + min(SOON, timeout.total_seconds())
        while not self.check(keys) and time.monotonic() < soon:
            time.sleep(LOOK)
        self._file.wait(list(keys), timeout)
        _note("seen", keys)

    def get(self, key: str) -> bytes:
        self.wait([key])
        value: bytes = self._file.get(key)
        return value

    def set(self, key: str, value: str | bytes) -> None:
        _note("set", [key])
        self._file.set(key, value)

    def add(self, key: str, amount: int) -> int:
        _note("changed", [key])
        total: int = self._file.add(key, amount)
        return total

    def compare_set(self, key: str, expected: str, desired: str) -> bytes:
        _note("changed", [key])
        value: bytes = self._file.compare_set(key, expected, desired)
        return value

    def delete_key(self, key: str) -> bool:
        deleted: bool = self._file.delete_key(key)
        return deleted

    def num_keys(self) -> int:
        number: int = self._file.num_keys()
        return number

    def clone(self) -> dist.Store:
        copy: dist.Store = self._file.clone()
        return copy

    # by these names torch's C++ asks for them
    deleteKey, getNumKeys = delete_key, num_keys

    def check(self, keys: Sequence[str]) -> bool:
        found: bool = self._file.check(list(keys))
        if found:
            _note("found", keys)
        return found


def _note(kind: str, keys: Sequence[str]) -> None:
    """Who sees a key comes after whoever has set it: schedules have to respect that."""
    record = recorder.active()
    if record is not None and record.running:
        for key in keys:
            record.cause(kind, key)
