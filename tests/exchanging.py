"""Somebody who exchanges two names for each other while others read them."""

from __future__ import annotations

import contextlib
import ctypes
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from distlab.processes import untrusted

TRIES = 3000  # a reader that checks a path and opens it then is caught after a few dozen
LONGEST = 60.0  # seconds until both of what is exchanged were met, on a busy machine

_EXCHANGE = 2  # RENAME_EXCHANGE
_HERE = -100  # AT_FDCWD

#: renameat2 with RENAME_EXCHANGE; says when it has begun, and goes on until its input ends
_PROGRAM = """
import ctypes, os, select, sys
exchange = ctypes.CDLL(None, use_errno=True).renameat2
one, other = (os.fsencode(name) for name in sys.argv[1:])
print("on", flush=True)
while not select.select([0], [], [], 0)[0]:
    for _ in range(100):
        if exchange(-100, one, -100, other, 2):
            raise OSError(ctypes.get_errno(), "renameat2")
"""


@contextlib.contextmanager
def exchanging(one: Path, other: Path) -> Iterator[None]:
    """Both must be there. What a name leads to inside this changes thousands of times a second."""
    with subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, str(one), str(other)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdout.readline() == b"on\n"
        yield
        assert process.poll() is None, "it has stopped exchanging"
        process.stdin.close()


def exchange(one: Path, other: Path) -> None:
    """Exchange two names for each other at one stroke."""
    library = ctypes.CDLL(None, use_errno=True)
    if library.renameat2(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE):
        raise OSError(ctypes.get_errno(), "renameat2")


def at_each_moment(read: Callable[[], Any], one: Path, other: Path) -> list[Any]:
    """What `read` returns if the two are exchanged after its first system call, what it returns
    after its second, and so on: whoever checks a path before opening it is caught for certain.
    """
    found: list[Any] = []
    there = True
    while there:
        calls = _Calls(len(found) + 1, lambda: exchange(one, other))
        sys.setprofile(calls)
        try:
            found.append(read())
        finally:
            sys.setprofile(None)
        if there := calls.counted >= calls.which:
            exchange(one, other)  # as it was
    return found


class _Calls:
    """Counts system calls, and acts after one of them."""

    def __init__(self, which: int, act: Callable[[], None]) -> None:
        self.which, self.counted, self._act = which, 0, act

    def __call__(self, frame, event: str, function: Any) -> None:
        if event == "c_return" and getattr(function, "__module__", "") in ("posix", "_io"):
            self.counted += 1
            if self.counted == self.which:
                self._act()


def outcomes(read):
    """What many tries have read."""
    found, end = [], time.monotonic() + LONGEST
    while len(found) < TRIES or (len(set(found)) < 2 and time.monotonic() < end):
        found.append(read())
    return set(found)


def refused_or(read, refusal=untrusted.NotPlain):
    """What was read; `None` where it was refused."""
    try:
        return read()
    except refusal:
        return None
