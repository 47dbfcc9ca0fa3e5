"""Folders for temporary files, which a later command removes where their process was killed."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from distlab.processes import untrusted

PREFIX = "distlab-"
#: a file in each, locked as long as its process lives. Another machine that has the same folder may
#: not see the lock: its marks have another name
_MARK = f".in-use-by-distlab-on-{os.uname().nodename}"
_OLD = 3600.0  # seconds after which an unlocked one is not about to be locked


class Folder:
    """A new folder in TMPDIR.

    Args:
        what: it is for, as a part of its name.
    """

    def __init__(self, what: str = "", within: Path | None = None) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{what}", dir=within))
        with contextlib.ExitStack() as unless_marked:
            unless_marked.callback(shutil.rmtree, self.path, ignore_errors=True)
            self._mark = (self.path / _MARK).open("wb")
            unless_marked.pop_all()
        with contextlib.suppress(OSError):  # where there are no locks, nothing is swept either
            fcntl.flock(self._mark, fcntl.LOCK_SH)

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        self._mark.close()


@contextlib.contextmanager
def folder(what: str) -> Iterator[Path]:
    """A folder that is removed when the block ends."""
    made = Folder(what)
    try:
        yield made.path
    finally:
        made.remove()


def sweep() -> None:
    """Remove the folders of this account that killed processes have left. Anybody may put a pipe or
    a link into TMPDIR under such a name: it is passed over.
    """
    for mark in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/{_MARK}"):
        with contextlib.suppress(OSError), untrusted.plain_file(mark) as file:
            found = os.fstat(file.fileno())
            if found.st_uid == os.getuid() and time.time() - found.st_mtime > _OLD:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(mark.parent, ignore_errors=True)
