"""Opening what strangers have written, so that what was checked is what is read.

A student, or a student's code, can put anything where a file is expected (a link, a pipe, a
device), and replace it at any moment. A path that was checked may therefore lead elsewhere when it
is opened. Here everything is opened once, without following links and without blocking, and the
check is made on the open descriptor. Submissions, the exchange and the files of ranks are all read
this way.
"""

from __future__ import annotations

import errno
import io
import os
import stat
from pathlib import Path

# O_NONBLOCK: opening a pipe, a device or a leased file would wait
_FLAGS = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_PASSING = getattr(os, "O_PATH", os.O_RDONLY)  # for folders that may be entered but not listed
_LINKS = {errno.ELOOP, errno.EMLINK}  # how systems refuse a link with O_NOFOLLOW
#: how they refuse pipes, sockets, devices and folders that are opened as files
_NO_FILES = {errno.ENXIO, errno.ENODEV, errno.EISDIR, errno.EOPNOTSUPP}
CHUNK = 1 << 20  # bytes that are read at once


class NotPlain(OSError):
    """A link, a pipe, a device or a folder stands where a plain file should be, or anything else
    where a folder should be.
    """


class TooLarge(OSError):
    """A file has more bytes than the reader allows."""


def plain_file(path: str | Path, mode: str = "r", folder: int | None = None) -> io.FileIO:
    """Open a plain file, or fail at once. Links are not followed.

    Args:
        mode: "r", or "r+" to write into it as well.
        folder: a descriptor of the folder that a relative `path` starts from.

    Raises:
        NotPlain: something else stands there.
        OSError: it cannot be opened.
    """
    access = os.O_RDONLY if mode == "r" else os.O_RDWR
    try:
        handle = os.open(path, access | _FLAGS, dir_fd=folder)
    except OSError as error:
        if error.errno in _LINKS | _NO_FILES:
            raise NotPlain(error.errno, "this is no plain file", str(path)) from error
        raise
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise NotPlain(errno.EINVAL, "this is no plain file", str(path))
    return io.FileIO(handle, mode)


def read(path: str | Path, limit: int, folder: int | None = None) -> bytes:
    """The bytes of a plain file.

    Raises:
        TooLarge: there are more than `limit`, also where it grows while it is read.
        NotPlain, OSError: as `plain_file`.
    """
    with plain_file(path, folder=folder) as file:
        found, left = [], limit + 1
        while left and (data := file.read(min(left, CHUNK))):
            found.append(data)
            left -= len(data)
    if not left:
        raise TooLarge(errno.EFBIG, f"this has more than {limit} bytes", str(path))
    return b"".join(found)


class Folder:
    """A folder held open: whatever its name leads to later, this stays the folder that was found.

    A context manager. `handle` is its descriptor, for `plain_file` and `read`.
    """

    def __init__(self, handle: int) -> None:
        self.handle = handle

    @classmethod
    def at(cls, trusted: str | Path, *below: str) -> Folder:
        """The folder `trusted/below[0]/below[1]/…`; only `trusted` is a path that strangers cannot
        change.

        Raises:
            NotPlain: one of the names is a link, or is not a folder.
            OSError: one of them is not there or cannot be opened.
        """
        found = cls(os.open(trusted, _PASSING | os.O_DIRECTORY | os.O_CLOEXEC))
        for name in below:
            with found as above:
                found = above.folder(name)
        return found

    def folder(self, name: str) -> Folder:
        """A folder in this one."""
        try:
            handle = os.open(name, _PASSING | os.O_DIRECTORY | _FLAGS, dir_fd=self.handle)
        except OSError as error:
            if error.errno in _LINKS | {errno.ENOTDIR}:
                raise NotPlain(error.errno, "this is no folder", name) from error
            raise
        return Folder(handle)

    def names(self) -> list[str]:
        """The names in it, sorted.

        Raises:
            OSError: they may not be read.
        """
        handle = os.open(".", os.O_RDONLY | os.O_DIRECTORY | _FLAGS, dir_fd=self.handle)
        try:
            return sorted(os.listdir(handle))
        finally:
            os.close(handle)

    def holds(self, name: str) -> bool:
        """Is there anything of this name, be it a link that leads nowhere?"""
        try:
            os.stat(name, dir_fd=self.handle, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return True

    def close(self) -> None:
        os.close(self.handle)

    def __enter__(self) -> Folder:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
