"""Processes that have torch imported already, without a fork: each imports it for itself.

The portable alternative to `distlab.processes.forkserver`; `Spawner` has the methods of `Zygote`. A
spawned process imports what ranks need and then waits for a request, so that one that was prepared
ahead starts at once. All of them end with the process that started them, even if that is killed:
each has a thread that reads from a pipe whose other end only that process holds.
"""

from __future__ import annotations

import _thread
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from distlab.processes import entry_points, forkserver, framing, standard_files
from distlab.processes.entry_points import SPAWNED
from distlab.processes.environment import environment
from distlab.processes.zygote import PRELOAD

PARTING = 10.0  # seconds that a killed process is given to end


class Spawner:
    """Starts processes that have modules imported. A context manager; closing it ends them.

    Args:
        preload: modules that each imports, and functions ("module:function") that it calls.
        spares: how many are prepared for the next requests whenever one has been made.
    """

    ripens = False

    def __init__(self, preload: Iterable[str] = PRELOAD, spares: int = 1) -> None:
        self._owner = os.getpid()
        standard_files.occupy()
        self._preload, self._spares = tuple(preload), spares
        self._env = environment()
        self.folder = Path(tempfile.mkdtemp(prefix="distlab-"))
        self._lifeline, self._held = os.pipe()
        self._lock = threading.Lock()
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        self._ready: list[tuple[int, socket.socket]] = []  # prepared and not yet asked for

    def prepare(self, count: int) -> None:
        """Have `count` processes ready, or importing what they need, for requests to come."""
        with self._lock:
            while len(self._ready) < count:
                self._ready.append(self._started())

    def forks(self, times: int, entry: str, after: str | None = None, **arguments: Any) -> Spawned:
        """Call `entry` in several new processes."""
        pids = []
        for _ in range(times):
            pid, connection = self._asked(entry, after, False, arguments)
            connection.close()
            pids.append(pid)
        self.prepare(self._spares)
        return Spawned(pids)

    def connect(
        self, entry: str, after: str | None = None, hold: float = 0.0, **arguments: Any
    ) -> tuple[Spawned, socket.socket]:
        """Call `entry(connection, …)` in a new process; returns the other end of the connection."""
        pid, connection = self._asked(entry, after, True, arguments)
        self.prepare(self._spares)
        return Spawned([pid]), connection

    def _asked(
        self, entry: str, after: str | None, connect: bool, arguments: dict[str, Any]
    ) -> tuple[int, socket.socket]:
        with self._lock:
            pid, connection = self._spare() or self._started()
        request = {"entry": entry, "after": after, "connect": connect, "arguments": arguments}
        with contextlib.suppress(OSError):  # it has ended: whoever waits for it will see that
            framing.write(connection, json.dumps(request).encode())
        return pid, connection

    def _spare(self) -> tuple[int, socket.socket] | None:
        """One that was prepared, unless all of those have ended since: short memory ends them."""
        while self._ready:
            pid, connection = self._ready.pop(0)
            if not self.ended(pid):
                return pid, connection
            connection.close()
            self.end(pid)
        return None

    def _started(self) -> tuple[int, socket.socket]:
        ours, theirs = socket.socketpair()
        handles = (theirs.fileno(), self._lifeline)
        with theirs:
            process = subprocess.Popen(
                [
                    *entry_points.command(SPAWNED), *map(str, handles), str(self.folder),
                    *self._preload,
                ],
                pass_fds=handles, stdin=subprocess.DEVNULL, env=self._env,
                start_new_session=True,  # Ctrl-C is for us to handle; what it starts ends with it
            )  # fmt: skip
        self._processes[process.pid] = process
        return process.pid, ours

    def status(self, pid: int) -> int | None:
        """How a process ended, as `os.waitpid` gives it; `None` while it lives or is not known."""
        process = self._processes.get(pid)
        if process is None:
            return None
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = process.wait(1.0)  # if it has closed its socket, it is about to end
            return -code if code < 0 else code << 8
        return None

    def ended(self, pid: int) -> bool:
        """Has a process ended?"""
        process = self._processes.get(pid)
        return process is None or process.poll() is not None

    def end(self, pid: int) -> None:
        """Kill a process and all that it has started."""
        process = self._processes.pop(pid, None)
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS: of a zombie
            os.killpg(pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(PARTING)

    def kill(self, pid: int) -> None:
        """`end`, under the name that it has in a `Zygote`."""
        self.end(pid)

    def close(self) -> None:
        if os.getpid() != self._owner or self._held < 0:  # in a fork of this process, or closed
            return
        for _, connection in self._ready:
            connection.close()
        for pid in list(self._processes):
            self.end(pid)
        os.close(self._held)
        os.close(self._lifeline)
        self._held = -1
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Spawner:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


class Spawned:
    """Spawned processes, whose numbers are known at once."""

    there = True

    def __init__(self, pids: list[int]) -> None:
        self._pids = pids

    def pids(self) -> list[int]:
        return self._pids


def _end_with_parent(lifeline: int, folder: str) -> None:
    """Wait until the process that started this one is gone, then end this process group."""
    with contextlib.suppress(OSError):
        while os.read(lifeline, 1):
            pass
    shutil.rmtree(folder, ignore_errors=True)
    os.killpg(0, signal.SIGKILL)


def main() -> None:
    fd, lifeline, folder, *preload = sys.argv[1:]
    for handle in (fd, lifeline):  # what students' code starts must not have them
        os.set_inheritable(int(handle), False)
    # not through threading: students' code that counts threads would count it
    _thread.start_new_thread(_end_with_parent, (int(lifeline), folder))
    connection, request = socket.socket(fileno=int(fd)), None
    for name in preload:
        forkserver.load_ahead(name)
        if request is None and framing.readable([connection], 0):
            request = _request(connection)
        if request is not None and request["after"] in sys.modules:
            break
    request = request or _request(connection)
    entry = entry_points.load(request["entry"])
    if request["connect"]:
        entry(connection, **request["arguments"])
    else:
        connection.close()
        entry(**request["arguments"])


def _request(connection: socket.socket) -> dict[str, Any]:
    """The request; ends this process if none will come any more."""
    message = framing.read(connection)
    if message is None:
        raise SystemExit(0)
    request: dict[str, Any] = json.loads(message)
    return request


if __name__ == "__main__":
    main()
