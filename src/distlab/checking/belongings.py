"""Carries the files that a notebook's cells have written to the exercises, which run elsewhere.

A block is one line of JSON, which lists the entries in the order in which they are made again, and
then the contents of the files. It is no tar or zip file, because whoever unpacks it must not trust
it, and libraries for archives can be made to write elsewhere, to expand without end or never to
return.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

MOST_BYTES = 32 << 20  # of all files together
MOST_FILES = 2_000  # files and folders
MOST_DEPTH = 30  # folders nested in each other
MOST_LINK = 500  # characters of where a link leads
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC


def packed(folder: Path) -> bytes:
    """The files, folders and links in a folder as one block; an empty one where that is too much.

    Of a file it has what that holds now, whatever changes meanwhile. What is gone by then, or
    cannot be read, is left out.
    """
    listed: list[dict[str, Any]] = []
    contents: list[bytes] = []
    left = MOST_BYTES
    try:
        for number, entry in enumerate(_entries(folder)):
            if number >= MOST_FILES:
                return b""
            with contextlib.suppress(OSError):
                one, content = _packed(entry, folder, left)
                if one:
                    listed.append(one)
                    contents.append(content)
                    left -= len(content)
    except ValueError:
        return b""
    head = json.dumps(listed).encode("ascii")
    return b"\n".join([head, b"".join(contents)]) if listed else b""


def _packed(
    entry: os.DirEntry[str], folder: Path, left: int
) -> tuple[dict[str, Any] | None, bytes]:
    """What is listed of an entry, and its content; `None` for a pipe and the like.

    Raises:
        OSError: it is gone, or cannot be read.
        ValueError: it has more than the bytes that are left.
    """
    about = entry.stat(follow_symlinks=False)
    one = {"path": os.path.relpath(entry.path, folder), "when": about.st_mtime_ns}
    if stat.S_ISLNK(about.st_mode):
        return {**one, "to": os.readlink(entry.path)}, b""
    if stat.S_ISDIR(about.st_mode):
        return {**one, "folder": True}, b""
    if not stat.S_ISREG(about.st_mode):
        return None, b""
    content = _content(entry.path, left)
    return {**one, "size": len(content), "runs": bool(about.st_mode & stat.S_IXUSR)}, content


def _entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    left = [(str(folder), 0)]
    while left:
        path, depth = left.pop()
        with contextlib.suppress(OSError), os.scandir(path) as entries:
            for entry in entries:
                yield entry
                if entry.is_dir(follow_symlinks=False):
                    if depth == MOST_DEPTH:
                        raise ValueError("folders in each other, too many")
                    left.append((entry.path, depth + 1))


def _content(path: str, most: int) -> bytes:
    with open(os.open(path, _READ), "rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise ValueError("bytes, too many")
    return content


def unpack(block: bytes, folder: Path) -> None:
    """Put what `packed` gave into a new folder; what is not possible there is left out.

    Nothing is written outside of the folder, whatever the block says. Links are made last, so that
    no file is written through one, and only those stay that lead to something in the folder.
    """
    head, _, contents = block.partition(b"\n")
    begin = 0
    folders, files, links = {folder: 0}, [], []
    for one in _listed(head):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, OverflowError):
            place = _place(folders, folder, str(one["path"]))
            if "to" in one:
                links.append((place, str(one["to"])))
            elif "folder" in one:
                place.mkdir(exist_ok=True)
                folders[place] = int(one["when"])
            else:
                end = begin + max(0, int(one["size"]))
                content, begin = contents[begin:end], end
                _write(place, content, 0o755 if one["runs"] else 0o644)
                files.append(place)
                _date(place, one["when"])
    _link(links, [*folders, *files])
    for place in folders.keys() - {folder}:  # after all was put into them
        with contextlib.suppress(OSError, OverflowError):
            _date(place, folders[place])


def _listed(head: bytes) -> list[dict[str, Any]]:
    try:
        found = json.loads(head) if head else []
    except (ValueError, RecursionError):
        return []
    if not isinstance(found, list):
        return []
    return [one for one in found[:MOST_FILES] if isinstance(one, dict)]


def _place(folders: Collection[Path], folder: Path, path: str) -> Path:
    """Where an entry belongs.

    Raises:
        ValueError: not in one of the folders that were made.
    """
    *above, name = path.split("/")
    place = folder.joinpath(*above, name)
    if name in ("", ".", "..") or place.parent not in folders:
        raise ValueError("a path that leads elsewhere")
    return place


def _write(place: Path, content: bytes, mode: int) -> None:
    with open(os.open(place, _WRITE, mode), "wb") as file:
        file.write(content)


def _date(place: Path, when: int) -> None:
    os.utime(place, ns=(when, when))


def _link(links: list[tuple[Path, str]], there: Collection[Path]) -> None:
    """Make links, and remove again those that do not lead to what is `there`.

    Where each leads is asked of the kernel, which soon gives up: `realpath` takes hours over links
    that lead over hundreds of others.
    """
    made = []
    for place, to in links:
        if len(to) > MOST_LINK:
            continue
        with contextlib.suppress(OSError, ValueError):
            os.symlink(to, place)
            made.append(place)
    inside = {_which(place) for place in there}
    for place in made:
        if _which(place) not in inside:
            place.unlink()


def _which(place: Path) -> tuple[int, int] | None:
    """What tells a file or folder from all others; `None` where a link leads nowhere."""
    try:
        about = place.stat()
    except OSError:
        return None
    return about.st_dev, about.st_ino
