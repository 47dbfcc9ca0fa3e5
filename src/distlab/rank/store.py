"""Where ranks of one machine find each other, at once."""

from __future__ import annotations

import datetime
import time
from collections.abc import Sequence

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
        self.path, self._file = path, dist.FileStore(path, size)

    def wait(self, keys: Sequence[str], timeout: datetime.timedelta | None = None) -> None:
        patience = self.timeout if timeout is None else timeout
        soon = time.monotonic() + min(SOON, patience.total_seconds())
        while not self.check(keys) and time.monotonic() < soon:
            time.sleep(LOOK)
        self._file.wait(list(keys), patience)
        _note("seen", keys)

    def get(self, key: str) -> bytes:
        self.wait([key])
        return self._file.get(key)

    def set(self, key: str, value: str | bytes) -> None:
        _note("set", [key])
        self._file.set(key, value)

    def add(self, key: str, amount: int) -> int:
        _note("changed", [key])
        return self._file.add(key, amount)

    def compare_set(self, key: str, expected: str, desired: str) -> bytes:
        _note("changed", [key])
        return self._file.compare_set(key, expected, desired)

    def delete_key(self, key: str) -> bool:
        return self._file.delete_key(key)

    def num_keys(self) -> int:
        return self._file.num_keys()

    def clone(self) -> dist.Store:
        return self._file.clone()

    # by these names torch's C++ asks for them
    deleteKey, getNumKeys = delete_key, num_keys

    def check(self, keys: Sequence[str]) -> bool:
        found = self._file.check(list(keys))
        if found:
            _note("found", keys)
        return found


def _note(kind: str, keys: Sequence[str]) -> None:
    """Who sees a key comes after whoever has set it: schedules have to respect that."""
    record = recorder.active()
    if record is not None and record.running:
        for key in keys:
            record.cause(kind, key)
