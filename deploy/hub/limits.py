"""Servers as processes of this machine, each in a control group of its own.

JupyterHub's own `LocalProcessSpawner` tells a server its limits but does not hold it to them.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

from jupyterhub.spawner import LocalProcessSpawner
from nursery import Nursery
from traitlets import Integer, Unicode

ROOT = Path("/sys/fs/cgroup")
_LOOKS = 400  # 20 s: a process that waits for a lost disk cannot be ended, nor need be waited for
_PERIOD = 100_000  # microseconds in which a group may use its share of the cores


class ControlGroup:
    """The control groups of one server: one folder (version 2), or one a controller (version 1).

    Args:
        hub: name of the group of all servers.
        name: of this one.
        root: where control groups are mounted.
    """

    def __init__(self, hub: str, name: str, root: Path = ROOT) -> None:
        self.unified = (root / "cgroup.controllers").exists()
        controllers = [""] if self.unified else ["memory", "cpu", "pids"]
        self.folders = [root / one / hub / name for one in controllers if (root / one).is_dir()]

    def make(self, memory: int | None, cores: float | None, processes: int | None) -> None:
        """Make the group with these limits: bytes, cores, processes and threads.

        Raises:
            OSError: control groups cannot be written here.
        """
        for folder in self.folders:
            folder.mkdir(parents=True, exist_ok=True)
            if self.unified:
                for above in (folder.parent.parent, folder.parent):
                    (above / "cgroup.subtree_control").write_text("+memory +cpu +pids")
        quota = int(cores * _PERIOD) if cores else None
        if self.unified:
            self._set("memory.max", memory)
            self._set("cpu.max", f"{quota} {_PERIOD}" if quota else None)
        else:
            self._set("memory.limit_in_bytes", memory)
            self._set("cpu.cfs_quota_us", quota)
        self._set("pids.max", processes)

    def _set(self, name: str, value: object) -> None:
        for folder in self.folders:
            file = folder / name
            if value is not None and file.exists():
                file.write_text(str(value))

    def enter(self) -> None:
        """Put this process, and all that it will start, into the group."""
        for folder in self.folders:
            (folder / "cgroup.procs").write_text(str(os.getpid()))

    def members(self) -> set[int]:
        found: set[int] = set()
        for folder in self.folders:
            with contextlib.suppress(OSError):
                found.update(map(int, (folder / "cgroup.procs").read_text().split()))
        return found

    def around(self, process: int) -> list[Path]:
        """Those of the group's folders that this process is in; none if it could not be made."""
        found = []
        for folder in self.folders:
            members = folder / "cgroup.procs"
            if members.exists() and str(process) in members.read_text().split():
                found.append(folder)
        return found

    def end(self) -> Iterator[int]:
        """Kill what is left in the group and remove it; yields the number still there."""
        while members := self.members():
            for process in members:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            yield len(members)
        for folder in self.folders:
            with contextlib.suppress(OSError):
                folder.rmdir()
                folder.parent.rmdir()  # where it was the last one


def begun(pid: int) -> int | None:
    """When this process began, in the kernel's ticks since the machine did; None if it has ended.

    Only both together name one process: the kernel uses process ids again, after some 32,768.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return None
    state, *others = stat.rpartition(")")[2].split()
    return None if state in "ZX" else int(others[18])


@functools.cache
def _nursery(folder: str) -> Nursery:
    """One for all servers."""
    return Nursery(Path(folder))


class LimitedProcessSpawner(LocalProcessSpawner):
    """A server as a process of its user, in a control group: it cannot use up the machine that it
    shares with others, and no process of it is left when it ends.

    A Hub that is started again looks for the servers that it had by their process ids: whatever
    process has such an id by then it takes for the server, and would end it. Here it compares when
    they began, too.
    """

    process_limit = Integer(None, allow_none=True, help="processes and threads of a server").tag(
        config=True
    )
    control_group = Unicode("distlab-hub", help="what all servers' groups lie in").tag(config=True)
    kernels = Unicode(
        "", help="the folder in which kernels are asked for; each imports for itself without one"
    ).tag(config=True)

    _begun: int | None = None

    async def start(self):
        await self._end_group()  # of a server that has ended while there was no Hub
        where = await super().start()
        self._begun = begun(self.pid)
        self._have_kernels_forked()
        return where

    def get_env(self):
        env = super().get_env()
        if self.kernels and (address := _nursery(self.kernels).address(self._key())):
            env["DISTLAB_TEMPLATE"] = address
        return env

    def _have_kernels_forked(self) -> None:
        if not self.kernels or not _nursery(self.kernels).address(self._key()):
            return
        try:
            inside = self._group().around(self.pid)
            _nursery(self.kernels).serve(self._key(), self.user.name, self.pid, inside)
        except OSError as error:  # each imports for itself
            self.log.warning("Kernels of %s share no memory: %s", self.user.name, error)

    def get_state(self):
        state = super().get_state()
        if self.pid and self._begun is not None:
            state["begun"] = self._begun
        return state

    def load_state(self, state):
        super().load_state(state)
        self._begun = state.get("begun")

    def clear_state(self):
        super().clear_state()
        self._begun = None

    async def poll(self):
        known = self._begun is not None  # an older version of the Hub has not noted it
        had = bool(self.pid)
        if self.proc is None and self.pid and known and begun(self.pid) != self._begun:
            self.clear_state()
        status = await super().poll()
        if had and status is not None:  # the Hub calls no `stop` for a server that ended by itself
            next(self._group().end(), None)  # once: another server may begin by the next time
        return status

    def _key(self) -> str:
        """What names this server among all."""
        return f"{self.user.id}-{self.name}".strip("-")

    def _group(self) -> ControlGroup:
        return ControlGroup(self.control_group, self._key())

    def make_preexec_fn(self, name: str) -> Callable[[], None]:
        become = super().make_preexec_fn(name)
        group = self._group()
        try:
            group.make(self.mem_limit, self.cpu_limit, self.process_limit)
        except OSError as error:
            self.log.warning("The server of %s has no limits here: %s", name, error)
            return become

        def begin() -> None:
            group.enter()
            become()

        return begin

    async def stop(self, now: bool = False) -> None:
        await super().stop(now)
        await self._end_group()

    async def _end_group(self) -> None:
        """End kernels and ranks that have outlived their server."""
        for _ in zip(range(_LOOKS), self._group().end(), strict=False):
            await asyncio.sleep(0.05)


def remove(hub: str, root: Path = ROOT) -> bool:
    """Remove the groups of all servers of a Hub; false while one of their processes is there."""
    for folder in (*root.glob(f"*/{hub}/*/"), *root.glob(f"{hub}/*/"), *root.glob(f"*/{hub}/"),
                   root / hub):  # fmt: skip
        if folder.is_dir():
            try:
                folder.rmdir()
            except OSError:
                return False
    return True
