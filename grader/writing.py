"""The files of the course's records: written whole or not at all, and what a full disk says.

Whatever is written beside the gradebook goes through here, so that a disk that is full, or a folder
that is somebody else's, ends a command with one sentence, and what was there before is kept.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import io
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from distlab.processes.disk_room import FULL
from grader.coursedir import GradingFailed

_ASK = "see that this account may write there"
_IN_THE_WAY = {
    errno.EISDIR: "move the folder of that name away",
    errno.ENOTDIR: "move the file away that is where a folder of that path should be",
    errno.EEXIST: "move the file away that is where a folder of that path should be",
}
PATIENCE = 10.0  # seconds until a command says what it waits for
#: errors of file systems without locks, as some are that many machines share
NO_LOCKS = frozenset({errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK})


class NotWritten(GradingFailed):
    """A record could not be written, and what was there before is there still. The message says
    what to do.
    """

    @classmethod
    def of(cls, path: Path, error: OSError) -> NotWritten:
        then = "make room there" if error.errno in FULL else _IN_THE_WAY.get(error.errno or 0, _ASK)
        return cls(_said(path, error.strerror or type(error).__name__, then))

    @classmethod
    def full(cls, path: Path, why: str) -> NotWritten:
        """Where something other than the system says that there is no room."""
        return cls(_said(path, why, "make room there"))


def _said(path: Path, why: str, then: str) -> str:
    return (
        f"{path} cannot be written ({why}), and nothing that was there is lost: {then}, then do "
        "the same again"
    )


def whole(path: Path, content: str | bytes, mode: int | None = None) -> None:
    """Write a file in place of one that is there. It is on the disk when this returns.

    Args:
        mode: who may read it; as the umask says where it is `None`.

    Raises:
        NotWritten
    """
    # always the same name, so that the next run overwrites what a killed one has left
    temporary = path.with_name(f".{path.name}.tmp")
    with reported(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with _alone(temporary) as file:
            try:
                _write(file.fileno(), content.encode() if isinstance(content, str) else content)
                if mode is not None:
                    os.fchmod(file.fileno(), mode)
                os.fsync(file.fileno())
                os.replace(temporary, path)
                _sync_names(path.parent)
            except BaseException:
                with contextlib.suppress(OSError):
                    temporary.unlink()  # it takes room
                raise


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[io.FileIO]:
    """An empty file, locked, which no other caller has until it is renamed or removed."""
    while True:
        with path.open("ab", buffering=0) as file, _held(file):
            if _is_at(path, file):
                file.truncate(0)
                yield file
                return
            # whoever had the lock before has renamed the file: it is the record by now


def _is_at(path: Path, file: io.FileIO) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False


def add(path: Path, content: bytes) -> None:
    """Add to a file, all of it or nothing. It is on the disk when this returns.

    Raises:
        NotWritten
    """
    with reported(path), path.open("ab", buffering=0) as file:
        before = os.fstat(file.fileno()).st_size
        try:
            _write(file.fileno(), content)
            os.fsync(file.fileno())
            if not before:
                _sync_names(path.parent)
        except BaseException:
            with contextlib.suppress(OSError):
                os.ftruncate(file.fileno(), before)
            raise


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock; others who ask for it wait meanwhile.

    Raises:
        NotWritten: its file cannot be made.
    """
    with reported(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = path.open("ab", buffering=0)
    with lock, _held(lock):
        yield


@contextlib.contextmanager
def _held(file: io.FileIO) -> Iterator[None]:
    """Hold a file's lock. Where the file system has no locks, it is up to the instructor that one
    command at a time writes.
    """
    try:
        _take(file)
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
        yield
        return
    try:
        yield
    finally:  # closing does not unlock it while a process forked meanwhile has it open
        fcntl.flock(file, fcntl.LOCK_UN)


def _take(file: io.FileIO) -> None:
    """Wait for a file's lock. Whoever has it may be stopped (Ctrl-Z) and keep it."""
    with contextlib.suppress(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return
    said = f"waiting for another command of this course, which has {file.name}"
    telling = threading.Timer(PATIENCE, print, [said], {"file": sys.stderr, "flush": True})
    telling.daemon = True
    telling.start()
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
    finally:
        telling.cancel()


@contextlib.contextmanager
def reported(path: Path) -> Iterator[None]:
    """Say what a failure of the system's means for this file.

    Raises:
        NotWritten
    """
    try:
        yield
    except OSError as error:
        raise NotWritten.of(path, error) from error


def _sync_names(folder: Path) -> None:
    """Have the names in a folder on the disk, where its file system can be asked for that."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _write(handle: int, content: bytes) -> None:
    """All of it: a disk that fills up takes the first part."""
    left = memoryview(content)
    while left:
        left = left[os.write(handle, left) :]
