"""Which files below a folder this process reads, writes and renames: by Python's audit events, and
by a hook into torch's own writer.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

_RENAMES = ("os.rename", "os.link")
_EVENTS = ("open", *_RENAMES)


@dataclass(frozen=True)
class Deed:
    """`what`: "read", "write" (opened for writing) or "put" (renamed or linked to this name); that
    is "put from outside" for what lay neither in the folder nor beside it.
    """

    what: str
    path: str


class _Watch:
    """The one audit hook of this process. (An audit hook cannot be removed.)"""

    def __init__(self) -> None:
        self.folder, self.deeds, self._added = "", [], False
        self._inside = threading.local()

    def __call__(self, event: str, args: tuple) -> None:
        if not self.folder or event not in _EVENTS or getattr(self._inside, "busy", False):
            return
        self._inside.busy = True
        try:
            self._note(event, args)
        except Exception:  # an odd argument is no reason to break the call
            pass
        finally:
            self._inside.busy = False

    def _note(self, event: str, args: tuple) -> None:
        name = args[1] if event in _RENAMES else args[0]
        if isinstance(name, int):
            return
        path = os.path.realpath(os.fsdecode(name))
        if not self.holds(path):
            return
        if event in _RENAMES:
            source = os.path.realpath(os.fsdecode(args[0]))
            near = self.holds(source) or os.path.dirname(source) == os.path.dirname(self.folder)
            self.deeds.append(Deed("put" if near else "put from outside", path))
        else:
            self.deeds.append(Deed("write" if _writes(args) else "read", path))

    def holds(self, path: str) -> bool:
        return path.startswith(self.folder + os.sep)

    def add(self) -> None:
        if not self._added:
            sys.addaudithook(self)
            self._added = True


def _writes(args: tuple) -> bool:
    mode, flags = (*args, None, None)[1:3]
    if isinstance(mode, str):
        return any(letter in mode for letter in "wax+")
    return bool((flags or 0) & (os.O_WRONLY | os.O_RDWR))


_watch = _Watch()


@contextlib.contextmanager
def watched(folder: Path, before_writing: Callable[[], None] | None = None) -> Iterator[list[Deed]]:
    """A list of what is done below `folder`, which grows while the context lasts.

    The C++ writer of `torch.save` raises no audit event, so that its files are noted here.

    Args:
        before_writing: called before `torch.save` begins to write anywhere.
    """
    from torch import serialization

    _watch.add()
    plain = serialization._open_zipfile_writer

    def noted(target, *args, **kwargs):
        if before_writing is not None:
            before_writing()
        if isinstance(target, (str, os.PathLike)):
            path = os.path.realpath(os.fsdecode(target))
            if _watch.folder and _watch.holds(path):
                _watch.deeds.append(Deed("write", path))
        return plain(target, *args, **kwargs)

    serialization._open_zipfile_writer = noted
    _watch.folder, _watch.deeds = os.path.realpath(folder), []
    try:
        yield _watch.deeds
    finally:
        _watch.folder = ""
        serialization._open_zipfile_writer = plain
