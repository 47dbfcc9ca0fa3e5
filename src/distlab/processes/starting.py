"""How processes that carry ranks are started on this machine: the one place that chooses.

Forked from a process that has imported torch, they are there in milliseconds. That needs Linux:
macOS's own libraries start threads as soon as they are loaded, so that a fork of a process that has
used them is not safe, and nothing there ends a child with its parent. The portable way spawns each
process anew, keeps ranks warm from one run to the next, and has the next process import its modules
ahead of time.
"""

from __future__ import annotations

import ctypes
import os
import socket
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from distlab.processes.zygote import PRELOAD, Zygote

SETTING = "DISTLAB_PROCESSES"  # "spawn": the portable way, also where the other one works


class Children(Protocol):
    """Processes that a source has started or is going to."""

    @property
    def there(self) -> bool: ...  # have they been started?
    def pids(self) -> list[int]: ...  # waits until they have; to be called once


class Source(Protocol):
    """Starts processes that have their modules imported; a context manager that ends them all."""

    folder: Path  # for whatever they write; it is removed with the source
    ripens: bool  # do processes that are started early lack modules that later ones have?

    def prepare(self, count: int) -> None: ...  # so many will be asked for soon
    def forks(self, times: int, entry: str, after: str | None = None, **arguments: Any) -> Children:
        """Have `entry` ("module:function") called in several new processes."""

    def connect(
        self, entry: str, after: str | None = None, hold: float = 0.0, **arguments: Any
    ) -> tuple[Children, socket.socket]:
        """Have `entry(connection, …)` called in a new process, with the other end of the socket."""

    def status(self, pid: int) -> int | None: ...  # how one ended; `None` while it lives
    def ended(self, pid: int) -> bool: ...
    def end(self, pid: int) -> None: ...  # kill one whose number is the same out here
    def kill(self, pid: int) -> None: ...  # kill one
    def close(self) -> None: ...
    def __enter__(self) -> Source: ...
    def __exit__(self, *exc: object) -> None: ...


@dataclass(frozen=True)
class Way:
    """How processes are started here (`forks` or not), and `why`, in a few words."""

    forks: bool
    why: str

    def told(self) -> str:
        """Both, in one line."""
        done = "forked from a process with torch imported" if self.forks else "spawned, kept warm"
        return f"{done} ({self.why})"

    def source(self, preload: Iterable[str] = PRELOAD, spares: int = 1) -> Source:
        """A new source of processes that have these modules imported.

        Args:
            spares: how many the portable way prepares for whoever asks next.
        """
        if self.forks:
            return Zygote(preload)
        from distlab.processes.spawned import Spawner

        return Spawner(preload, spares)


def way() -> Way:
    """The way to start processes on this machine.

    Raises:
        ValueError: DISTLAB_PROCESSES asks for something unknown.
    """
    asked = os.environ.get(SETTING, "")
    if asked not in ("", "spawn"):
        raise ValueError(f"{SETTING}={asked} is unknown: set it to spawn, or leave it out")
    if asked:
        return Way(False, f"{SETTING}={asked} asks for it")
    if lacking := _lacking():
        return Way(False, lacking)
    return Way(True, f"{SETTING}=spawn changes that")


def _lacking() -> str:
    """What a fork needs and this system lacks; empty if it has everything."""
    if sys.platform != "linux":
        system = {"darwin": "macOS"}.get(sys.platform, sys.platform)
        return f"a fork is not safe on {system}"
    if not Path("/proc/self/stat").exists():
        return "/proc is not there"
    if not hasattr(ctypes.CDLL(None), "prctl"):
        return "nothing ends processes with those that started them"
    return ""


def refuse_elsewhere(what: str) -> None:
    """Refuse something that needs what `_lacking` looks for, if this system lacks it.

    Raises:
        NeedsLinux.
    """
    if lacking := _lacking():
        raise NeedsLinux(
            f"{what} needs Linux ({lacking}): on macOS use a container or a virtual machine, on "
            "Windows WSL"
        )


class NeedsLinux(RuntimeError):
    """What was asked for works only on Linux. Notebooks show the message alone."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]
