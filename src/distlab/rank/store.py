"""Where ranks of one machine find each other, at once."""

from __future__ import annotations

import contextlib
import datetime
import fcntl
import os
import struct
import threading
import time
from collections.abc import Iterator, Sequence

import torch.distributed as dist

from distlab.rank import recorder

SOON = 0.1  # seconds in which the others of warm ranks can be expected
LOOK = 0.0005  # seconds between two looks meanwhile
LATE = 0.01  # and after that

_ENTRY = struct.Struct("=IIB")  # bytes of the key, bytes of the value, is it set?
_AT_ONCE = 1 << 16  # bytes


class PromptStore(dist.Store):
    """A store in a file, as `FileStore` is one, for ranks that are there already.

    torch's own looks every 10 ms, several times while a process group is made: on warm ranks that
    would be most of what a check takes. And each look opens and locks the file and asks for all
    that it finds byte by byte, some 400 calls of the kernel's a rank. Here the file stays open,
    what is set is one entry at its end, and a look is one read from where the last one ended.

    Args:
        path: the file; it is made where it is not there.
        size: number of ranks.

    Whoever makes it must keep it: torch keeps only what of it is C++. What `wait` and `get` raise
    when they give up is what `FileStore` raises.
    """

    def __init__(self, path: str, size: int) -> None:
        super().__init__()
        self.path, self._size = path, size
        self._file = open(path, "ab+", buffering=0)  # noqa: SIM115  # closed with the store
        self._known: dict[str, bytes] = {}
        self._read = 0  # bytes of the file
        self._lock = threading.Lock()
        self._clones: list[PromptStore] = []

    def wait(self, keys: Sequence[str], timeout: datetime.timedelta | None = None) -> None:
        if not self._come(keys, self._patience() if timeout is None else timeout):
            raise RuntimeError("Wait timeout")
        _note("seen", keys)

    def get(self, key: str) -> bytes:
        patience = self._patience()
        if not self._come([key], patience):
            milliseconds = round(patience.total_seconds() * 1000)
            raise RuntimeError(f"Timeout waiting for key: {key} after {milliseconds} ms")
        _note("seen", [key])
        with self._lock:
            return self._known[key]

    def set(self, key: str, value: str | bytes) -> None:
        _note("set", [key])
        self._append(key, _bytes(value))

    def add(self, key: str, amount: int) -> int:
        _note("changed", [key])
        with self._alone():
            total = int(self._known.get(key, b"0")) + amount
            self._append(key, str(total).encode())
        return total

    def compare_set(self, key: str, expected: str | bytes, desired: str | bytes) -> bytes:
        _note("changed", [key])
        with self._alone():
            found = self._known.get(key)
            if found != _bytes(expected) and (found is not None or expected):
                return _bytes(expected) if found is None else found
            self._append(key, _bytes(desired))
        return _bytes(desired)

    def delete_key(self, key: str) -> bool:
        with self._alone():
            there = key in self._known
            if there:
                self._append(key, b"", there=False)
        return there

    def num_keys(self) -> int:
        with self._lock:
            self._look()
            return len(self._known)

    def clone(self) -> dist.Store:
        self._clones.append(PromptStore(self.path, self._size))
        return self._clones[-1]

    # by these names torch's C++ asks for them
    deleteKey, getNumKeys = delete_key, num_keys

    def check(self, keys: Sequence[str]) -> bool:
        found = self._has(keys)
        if found:
            _note("found", keys)
        return found

    def _patience(self) -> datetime.timedelta:
        patience: datetime.timedelta = self.timeout  # type: ignore[attr-defined]  # not in the stub
        return patience

    def _come(self, keys: Sequence[str], timeout: datetime.timedelta) -> bool:
        """Are all of them there, within this time?"""
        begin = time.monotonic()
        while not self._has(keys):
            passed = time.monotonic() - begin
            if passed > timeout.total_seconds():
                return False
            time.sleep(LOOK if passed < SOON else LATE)
        return True

    def _has(self, keys: Sequence[str]) -> bool:
        with self._lock:
            self._look()
            return all(key in self._known for key in keys)

    def _look(self) -> None:
        """Take in what has been written since the last look, as far as it is whole."""
        wanted = _AT_ONCE
        while new := os.pread(self._file.fileno(), wanted, self._read):
            taken = self._take(new)
            self._read += taken
            if not taken:
                if len(new) < wanted:
                    return  # the rest of it is still being written
                key_bytes, value_bytes, _ = _ENTRY.unpack_from(new)
                wanted = _ENTRY.size + key_bytes + value_bytes

    def _take(self, data: bytes) -> int:
        """The bytes of the entries that are whole, which are known from now on."""
        at = 0
        while len(data) - at >= _ENTRY.size:
            key_bytes, value_bytes, there = _ENTRY.unpack_from(data, at)
            begin = at + _ENTRY.size
            middle, end = begin + key_bytes, begin + key_bytes + value_bytes
            if len(data) < end:
                break
            key = data[begin:middle].decode()
            if there:
                self._known[key] = data[middle:end]
            else:
                self._known.pop(key, None)
            at = end
        return at

    def _append(self, key: str, value: bytes, there: bool = True) -> None:
        """One write: what several ranks append at once lies one behind the other."""
        name = key.encode()
        entry = _ENTRY.pack(len(name), len(value), there) + name + value
        if self._file.write(entry) != len(entry):
            raise OSError(f"{self.path} could not be written: is its disk full?")

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Nobody else changes what is known here meanwhile, but by setting it."""
        with self._lock:
            fcntl.flock(self._file, fcntl.LOCK_EX)
            try:
                self._look()
                yield
            finally:
                fcntl.flock(self._file, fcntl.LOCK_UN)


def _bytes(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else bytes(value)


def _note(kind: str, keys: Sequence[str]) -> None:
    """Who sees a key comes after whoever has set it: schedules have to respect that."""
    record = recorder.active()
    if record is not None and record.running:
        for key in keys:
            record.cause(kind, key)
