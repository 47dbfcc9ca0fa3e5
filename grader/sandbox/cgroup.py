"""Control groups (version 2) around submissions, where the grader may make some.

The kernel then enforces at every moment, page tables and socket buffers included, what is otherwise
measured twenty times a second. The grader may make groups as root, or in a group that was delegated
to it: `systemd-run --user --scope -p Delegate=yes distlab grade …`.
"""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from distlab.processes.isolation import Limits

CONTROLLERS = ("cpu", "memory", "pids")
_ABOVE = 1.25  # times the limit at which the kernel enforces it: measuring says which cell it was
_ENDING = 5.0  # seconds in which all processes of a group end


@dataclass(frozen=True)
class Group:
    """The group of one submission."""

    path: Path

    def add(self, pid: int) -> None:
        """Put a process, and all that it will fork, into the group."""
        (self.path / "cgroup.procs").write_text(str(pid))


class Groups:
    """Makes groups below one that is the grader's own.

    Args:
        own: the folder of the group that this process is in.
    """

    def __init__(self, own: Path) -> None:
        self._own = own

    @contextlib.contextmanager
    def made(self, limits: Limits) -> Iterator[Group]:
        """A group for one submission; processes that are left in it at the end are killed."""
        path = _new(self._own)
        try:
            (path / "memory.max").write_text(str(int(limits.memory * _ABOVE)))
            (path / "pids.max").write_text(str(limits.processes + 16))
            with contextlib.suppress(OSError):  # without swap there is no such file
                (path / "memory.swap.max").write_text("0")
            yield Group(path)
        finally:
            if (path / "cgroup.kill").exists():
                (path / "cgroup.kill").write_text("1")
            _remove(path)


def _new(within: Path) -> Path:
    """A group that was not there: a grader that was killed has left its own."""
    return Path(tempfile.mkdtemp(prefix="distlab-", dir=within))


def _remove(path: Path) -> None:
    deadline = time.monotonic() + _ENDING
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError):  # busy until the last process is gone
            path.rmdir()
            return
        time.sleep(0.01)


def find() -> Groups | None:
    """Groups, if this process may make some that limit memory and processes."""
    own = _own()
    if own is None:
        return None
    leaf = None
    try:
        if (own / "cgroup.type").exists():  # the hierarchy's root has none, and may have processes
            leaf = _new(own)
            (leaf / "cgroup.procs").write_text("0")  # 0: whoever writes it
        present = set((own / "cgroup.subtree_control").read_text().split())
        if missing := [name for name in CONTROLLERS if name not in present]:
            # refused where others are in this group: then it was not delegated to this process
            words = " ".join(f"+{name}" for name in missing)
            (own / "cgroup.subtree_control").write_text(words)
        groups = Groups(own)
        with groups.made(Limits()):
            return groups
    except OSError:
        if leaf is not None:
            with contextlib.suppress(OSError):
                (own / "cgroup.procs").write_text("0")
                leaf.rmdir()
        return None


def _own() -> Path | None:
    """The folder of this process's group in the one hierarchy of version 2."""
    try:
        rows = Path("/proc/self/cgroup").read_text("utf-8").splitlines()
        mounts = Path("/proc/self/mounts").read_text("utf-8").splitlines()
    except OSError:
        return None
    name = next((row[3:] for row in rows if row.startswith("0::")), None)
    where = next((row.split()[1] for row in mounts if row.split()[2] == "cgroup2"), None)
    if name is None or where is None:
        return None
    path = Path(where, name.lstrip("/"))
    return path if path.is_dir() else None
