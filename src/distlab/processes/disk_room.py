"""Is there room where runs put their files? A full disk, or a quota, is no student's mistake."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

NEEDED = 4 << 20  # bytes: a run's records, with what its ranks print
#: how systems say that a disk, an account's share of it or a file may hold no more
FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
SAID = tuple(map(os.strerror, FULL))  # these errors in words


class NoRoom(OSError):
    """The disk is full. Notebooks show the sentence alone."""

    def __str__(self) -> str:
        return str(self.args[0])

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def need(folder: Path) -> None:
    """Check that there is room for a run's files now.

    Raises:
        NoRoom: there is none. The message says what to do.
    """
    if said := full(folder):
        raise NoRoom(
            f"{folder} has no room for the files of a run ({said}), so that nothing can be said of "
            "your code: make room there, or set TMPDIR to a folder that has some and start anew"
        )


def full(folder: Path) -> str:
    """Why there is no room for a run's files now; empty if there is."""
    try:
        with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
            left = NEEDED
            while left > 0:
                left -= file.write(bytes(min(left, 1 << 20)))
            os.fsync(file.fileno())  # some file systems report a quota only now
    except OSError as error:
        if error.errno in FULL:
            return error.strerror or "no space"
    return ""
