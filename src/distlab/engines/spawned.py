"""Ranks as bare processes that this one does not fork itself, and that say when they are ready.
They are spawned, or forked from a zygote (`distlab.engines.warm`).
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable
from pathlib import Path

from distlab.engines.forked import ForkedEngines
from distlab.rank import world

STARTING = 180.0  # seconds in which a rank has to import what it needs


class SpawnedRanks(ForkedEngines):
    """Ranks that `start` starts. It returns the id of a process that serves tasks, and the
    connection to it, on which that first says that it is ready.

    Args:
        limit: bytes that a rank may answer.
        end: ends the process of an id, and what that has started.
    """

    def __init__(
        self, folder: Path, limit: int | None, start: Callable[[], tuple[int, socket.socket]],
        end: Callable[[int], None],
    ) -> None:  # fmt: skip
        self._spawn, self._ends = start, end
        self._importing: list[socket.socket] = []
        super().__init__(0, folder, limit)

    def _start(self, number: int) -> tuple[int, socket.socket]:
        pid, connection = self._spawn()
        self._importing.append(connection)
        return pid, connection

    def grow(self, size: int) -> None:
        super().grow(size)
        self._wait()

    def settle(self) -> None:
        """Wait until all ranks are there, before the time of a run begins to count."""
        super().settle()
        for rank, carries in enumerate(self._ranks):
            if carries is None:
                self._ranks[rank] = self._start(rank)
        self._wait()

    def _wait(self) -> None:
        """Wait for those that are still importing.

        Raises:
            RuntimeError: one of them does not start.
        """
        while self._importing:
            await_ready(self._importing.pop(), self.STALL)

    def _end(self, pid: int, connection: socket.socket) -> None:
        connection.close()
        self._ends(pid)


def await_ready(connection: socket.socket, stall: float = ForkedEngines.STALL) -> None:
    """Wait until the process at the other end has imported what it needs.

    Args:
        stall: seconds in which it has to take what it is sent from then on.

    Raises:
        RuntimeError: it has ended, or takes too long.
    """
    connection.settimeout(STARTING)
    told = b""
    with contextlib.suppress(OSError):
        told = connection.recv(len(world.READY))
    if told != world.READY:
        raise RuntimeError("a process for your code did not start; try `distlab info`")
    connection.settimeout(stall)
