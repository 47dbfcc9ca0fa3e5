"""Uploads: the contents of files, by their digests, until all that belong together are there.

A content only grows at its end, so its size says where an upload that was cut off goes on. Digests
are checked when everything is there. Each person has a folder of their own for each course, so that
nobody learns of, or uses up, what another has sent.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from distlab.exchange import manifest as manifests
from distlab.exchange.limits import Limits
from distlab.exchange.manifest import Manifest
from distlab.exchange.names import Refused

FOLDER = ".begun"  # of the exchange; no course has this name
_FULL = {errno.ENOSPC, errno.EDQUOT}


class Full(Exception):
    """There is no room on the exchange's disk."""

    def __init__(self) -> None:
        super().__init__(
            "the exchange's disk is full: nothing was handed in; tell your instructor, who must "
            "make room"
        )


class Elsewhere(Exception):
    """An upload has to go on at another place: at `offset`."""

    def __init__(self, offset: int) -> None:
        super().__init__(f"this upload goes on at byte {offset}")
        self.offset = offset


class Staging:
    """What one person has begun to send to one course.

    Args:
        root: the exchange's folder.
    """

    def __init__(self, root: Path, course: str, who: str, limits: Limits) -> None:
        self._root, self._limits = root, limits
        self._folder = root / FOLDER / course / who
        self._contents = self._folder / "contents"

    def have(self, manifest: Manifest) -> dict[str, int]:
        """{digest: bytes that are there} for the contents that are not complete."""
        found = {digest: self.size(digest) for digest in manifest.sizes}
        return {digest: have for digest, have in found.items() if have != manifest.sizes[digest]}

    def open(self, digest: str, offset: int, length: int) -> int:
        """A descriptor for writing `length` more bytes of a content at `offset`, where it ends now.

        Raises:
            Elsewhere: it ends elsewhere.
            Refused: this person has begun too much.
            Full: there is no room.
        """
        with filled():
            self._contents.mkdir(parents=True, exist_ok=True)
        there = self.size(digest)
        if offset != there:
            raise Elsewhere(there)
        if offset + length > self._limits.file:
            raise Refused(f"a file may have {self._limits.file:,} bytes")
        sizes = {entry.name: entry.stat().st_size for entry in os.scandir(self._contents)}
        if digest not in sizes and len(sizes) >= self._limits.begun:
            raise Refused(f"{len(sizes)} files were begun and not handed in: hand in, or wait")
        if sum(sizes.values()) + length > self._limits.begun_bytes:
            raise Refused(
                f"{sum(sizes.values()):,} bytes were begun and not handed in: hand in, or wait"
            )
        if _free(self._root) < self._limits.reserve + length:
            raise Full
        with filled():
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
            return os.open(self._contents / digest, flags, 0o600)

    def drop(self, digest: str) -> None:
        """Forget a content that is not what its name says."""
        (self._contents / digest).unlink(missing_ok=True)

    def assemble(self, manifest: Manifest, more: dict[str, bytes]) -> Path:
        """A new folder with these files, on the disk when this returns. The contents are moved into
        it.

        Args:
            more: files at the top that the exchange adds.

        Raises:
            Spoilt: a content does not fit its digest; it is dropped.
            Full: there is no room.
        """
        for digest, size in manifest.sizes.items():
            if size and manifests.sha256(self._contents / digest) != digest:
                self.drop(digest)
                raise Spoilt(digest)
        copied = manifest.size - sum(manifest.sizes.values())  # contents of several files
        if copied and _free(self._root) < self._limits.reserve + copied:
            raise Full
        with filled():
            self._folder.mkdir(parents=True, exist_ok=True)
            new = Path(tempfile.mkdtemp(prefix="new-", dir=self._folder))
            with whole_or_gone(new):
                self._place(manifest, new)
                for name, content in more.items():
                    (new / name).write_bytes(content)
                sync(new)
        return new

    def _place(self, manifest: Manifest, new: Path) -> None:
        """Move the contents to where the files are to be."""
        placed: dict[str, Path] = {}
        for file in manifest.files:
            to = new / file.path
            to.parent.mkdir(parents=True, exist_ok=True)
            if not file.size:
                to.touch()
            elif file.sha256 in placed:
                shutil.copyfile(placed[file.sha256], to)
            else:  # moved: whoever has it open for writing is no part of the service
                os.rename(self._contents / file.sha256, to)
                placed[file.sha256] = to

    def size(self, digest: str) -> int:
        """The bytes of a content that are there."""
        with contextlib.suppress(FileNotFoundError):
            return os.stat(self._contents / digest, follow_symlinks=False).st_size
        return 0


class Spoilt(Exception):
    """A content that was sent does not fit its digest."""


def sweep(root: Path, forgotten: float, assembled: bool = False) -> None:
    """Remove what was begun and not touched for so many seconds.

    Args:
        assembled: remove folders that were being put together as well: when the service starts.
    """
    now = time.time()
    for person in (root / FOLDER).glob("*/*"):
        if assembled:
            for new in person.glob("new-*"):
                shutil.rmtree(new, ignore_errors=True)
        for content in person.glob("contents/*"):
            with contextlib.suppress(FileNotFoundError):
                if now - content.stat().st_mtime > forgotten:
                    content.unlink()


def sync(folder: Path) -> None:
    """Sync the files and names in a folder to the disk."""
    for where, _, files in os.walk(folder):
        for name in files:
            _sync(Path(where, name))
        _sync(Path(where))


def sync_names(folder: Path) -> None:
    """Sync the names in a folder to the disk."""
    _sync(folder)


@contextlib.contextmanager
def whole_or_gone(new: Path) -> Iterator[None]:
    """Remove a folder that `assemble` has made if it does not get to its place: nobody would find
    it again, and its bytes would count for nobody.
    """
    try:
        yield
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise


@contextlib.contextmanager
def filled() -> Iterator[None]:
    """Raise `Full` where an operation fails because the disk is."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise Full from error
        raise


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _free(root: Path) -> int:
    about = os.statvfs(root)
    return about.f_bavail * about.f_frsize
