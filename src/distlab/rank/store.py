"""Where ranks of one machine find each other, at once."""

from __future__ import annotations

import datetime
import os
import re
import struct
import threading
import time
from collections.abc import Sequence

import torch.distributed as dist

from distlab.rank import recording

LOOK = 0.0005  # seconds between two looks at least
LATE = 0.01  # and at most
SHARE = 0.25  # of the time that has passed: on a busy machine the others need the processor

_ENTRY = struct.Struct("=IIB")  # bytes of the key, bytes of the value, what is done
_SET, _ADD, _COMPARE, _DELETE = range(4)
_AMOUNT, _EXPECTED = struct.Struct("=q"), struct.Struct("=I")  # what is added; bytes of what is
_TOKEN = 8  # bytes, by which whoever asks knows the entry again that answers
_AT_ONCE = 1 << 16  # bytes
_NUMBER = re.compile(rb"\s*[+-]?[0-9]+")  # what C++ reads of a value


class PromptStore(dist.Store):
    """A store in a file, as `FileStore` is one, for ranks that are there already.

    torch's own looks every 10 ms, several times while a process group is made: on warm ranks that
    would be most of what a check takes. And each look opens and locks the file and asks for all
    that it finds byte by byte, some 400 system calls a rank. Here the file stays open, each change
    is one entry at its end, and a look is one read from where the last one ended.

    What becomes of a key follows from the order of the entries, which is the same for all who read
    them: nobody has to lock the file, neither a process that was forked and has it open with this
    one, nor the handler of a signal that comes in the middle of a look.

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
        # of each key its value, if it has one, and where the entry ends that this is due to
        self._known: dict[str, tuple[bytes | None, int]] = {}
        self._read = 0  # bytes of the file
        self._asked: dict[bytes, list[bytes | None]] = {}  # by token: the answer, once it is there
        self._lock, self._process = threading.RLock(), os.getpid()
        self._clones: list[PromptStore] = []

    def __del__(self) -> None:
        """Not left to the file's own end: that warns of it, where a program asks for such warnings,
        among what the rank of the next run prints.
        """
        if file := getattr(self, "_file", None):  # it could not be opened
            file.close()

    def wait(self, keys: Sequence[str], timeout: datetime.timedelta | None = None) -> None:
        if self._come(keys, self._patience() if timeout is None else timeout) is None:
            raise RuntimeError("Wait timeout")
        _note("seen", keys)

    def get(self, key: str) -> bytes:
        patience = self._patience()
        values = self._come([key], patience)
        if values is None:
            milliseconds = round(patience.total_seconds() * 1000)
            raise RuntimeError(f"Timeout waiting for key: {key} after {milliseconds} ms")
        _note("seen", [key])
        return values[0]

    def set(self, key: str, value: str | bytes) -> None:
        _note("set", [key])
        self._append(_SET, key, _bytes(value))

    def add(self, key: str, amount: int) -> int:
        _note("changed", [key])
        total = self._ask(_ADD, key, _AMOUNT.pack(amount))
        if total is None:
            raise ValueError(f"{key} is no number")
        return int(total)

    def compare_set(self, key: str, expected: str | bytes, desired: str | bytes) -> bytes:
        _note("changed", [key])
        both = _EXPECTED.pack(len(_bytes(expected))) + _bytes(expected) + _bytes(desired)
        return self._ask(_COMPARE, key, both) or b""

    def delete_key(self, key: str) -> bool:
        return self._ask(_DELETE, key) is not None

    def num_keys(self) -> int:
        with self._alone():
            self._look()
            return sum(value is not None for value, _ in self._known.values())

    def clone(self) -> dist.Store:
        self._clones.append(PromptStore(self.path, self._size))
        return self._clones[-1]

    # by these names torch's C++ asks for them
    deleteKey, getNumKeys = delete_key, num_keys

    def check(self, keys: Sequence[str]) -> bool:
        found = self._values(keys) is not None
        if found:
            _note("found", keys)
        return found

    def _patience(self) -> datetime.timedelta:
        patience: datetime.timedelta = self.timeout  # type: ignore[attr-defined]  # not in the stub
        return patience

    def _come(self, keys: Sequence[str], timeout: datetime.timedelta) -> list[bytes] | None:
        """Their values, if all of them are there within this time."""
        begin = time.monotonic()
        while (values := self._values(keys)) is None:
            passed = time.monotonic() - begin
            if passed > timeout.total_seconds():
                return None
            time.sleep(min(max(LOOK, SHARE * passed), LATE))
        return values

    def _values(self, keys: Sequence[str]) -> list[bytes] | None:
        """What they are now, if all of them are there."""
        with self._alone():
            self._look()
            values = [self._known.get(key, (None, 0))[0] for key in keys]
        there = [value for value in values if value is not None]
        return there if len(there) == len(values) else None

    def _alone(self) -> threading.RLock:
        """Held by the one thread of this process that reads; a forked process gets a new one."""
        if self._process != os.getpid():
            self._lock, self._process = threading.RLock(), os.getpid()
        return self._lock

    def _look(self) -> None:
        """Take in what has been written since the last look, as far as it is whole."""
        wanted = _AT_ONCE
        while new := os.pread(self._file.fileno(), wanted, begin := self._read):
            taken = self._take(new, begin)
            self._read = begin + taken  # what a signal's handler has read meanwhile comes again
            if not taken:
                if len(new) < wanted:
                    return  # the rest of it is still being written
                key_bytes, value_bytes, _ = _ENTRY.unpack_from(new)
                wanted = _ENTRY.size + key_bytes + value_bytes

    def _take(self, data: bytes, begin: int) -> int:
        """The bytes of the entries that are whole, which are known from now on.

        Args:
            begin: where in the file they begin.
        """
        at = 0
        while len(data) - at >= _ENTRY.size:
            key_bytes, value_bytes, kind = _ENTRY.unpack_from(data, at)
            middle = at + _ENTRY.size + key_bytes
            end = middle + value_bytes
            if len(data) < end:
                break
            try:
                key = data[at + _ENTRY.size : middle].decode()
                before, since = self._known.get(key, (None, 0))
                after, token, answer = _done(kind, before, data[middle:end])
            except (struct.error, UnicodeDecodeError):
                raise self._spoiled() from None
            if since < begin + end:
                if token in self._asked:
                    self._asked[token].append(answer)
                self._known[key] = after, begin + end
            at = end
        return at

    def _ask(self, kind: int, key: str, what: bytes = b"") -> bytes | None:
        """Append an entry, and see what it has come to."""
        token = os.urandom(_TOKEN)
        answers = self._asked[token] = []
        try:
            self._append(kind, key, token + what)
            with self._alone():
                self._look()
        finally:
            del self._asked[token]
        if not answers:
            raise self._spoiled()
        return answers[0]

    def _spoiled(self) -> OSError:
        return OSError(f"{self.path} can no longer be read: who else has written to it?")

    def _append(self, kind: int, key: str, value: bytes) -> None:
        """One write: what several ranks append at once lies one behind the other."""
        name = key.encode()
        entry = _ENTRY.pack(len(name), len(value), kind) + name + value
        if self._file.write(entry) != len(entry):
            raise OSError(f"{self.path} could not be written: is its disk full?")


def _done(kind: int, before: bytes | None, what: bytes) -> tuple[bytes | None, bytes, bytes | None]:
    """What an entry makes of a key's value; its token, and the answer to who has written it."""
    if kind == _SET:
        return what, b"", None
    token, what = what[:_TOKEN], what[_TOKEN:]
    if kind == _ADD:
        number = _NUMBER.match(before or b"0")
        if number is None:
            return before, token, None
        total = int(number[0]) + _AMOUNT.unpack(what)[0]
        after = str((total + 2**63) % 2**64 - 2**63).encode()
        return after, token, after
    if kind == _COMPARE:
        middle = _EXPECTED.size + _EXPECTED.unpack_from(what)[0]
        expected, desired = what[_EXPECTED.size : middle], what[middle:]
        if before == expected or (before is None and not expected):
            return desired, token, desired
        return before, token, expected if before is None else before
    return None, token, before


def _bytes(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else bytes(value)


def _note(kind: str, keys: Sequence[str]) -> None:
    """Who sees a key comes after whoever has set it: schedules have to respect that."""
    record = recording.active()
    if record is not None and record.running:
        for key in keys:
            record.cause(kind, key)
