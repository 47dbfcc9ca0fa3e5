"""Ranks as bare processes, for the grader, which starts new ones for each exercise."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import time
from collections.abc import Sequence
from pathlib import Path

from distlab import clocks, frames, runs, zygote

STALL = 2.0  # seconds in which a forked rank takes a task
LOOK = 0.5  # seconds between two looks at how long ranks have waited for a processor
MOST_STARTED = 32  # processes of a rank's own that are looked at


class ForkedEngines:
    """Ranks forked from this process, which must be clean: no torch operation run, no CUDA touched.

    Args:
        limit: bytes that a rank may answer.
        private: sockets of this process that are none of the ranks' business.
    """

    def __init__(
        self, size: int, folder: Path, limit: int | None = None,
        private: Sequence[socket.socket] = (),
    ) -> None:  # fmt: skip
        self.folder, self._limit, self._private = folder, limit, list(private)
        self._ranks: list[tuple[int, socket.socket] | None] = []  # None: started when it is needed
        self._incoming: dict[int, frames.Incoming] = {}
        self._pending: set[int] = set()
        self._queues, self._looked = _Queues(), 0.0
        self.grow(size)

    def __len__(self) -> int:
        return len(self._ranks)

    def grow(self, size: int) -> None:
        """Have at least `size` ranks."""
        while len(self._ranks) < size:
            self._ranks.append(self._start())

    def _start(self) -> tuple[int, socket.socket]:
        ours, theirs = socket.socketpair()
        held = [rank[1] for rank in self._ranks if rank] + self._private + [ours]

        def serve() -> None:
            for connection in held:
                connection.close()
            from distlab import rank

            rank.serve(theirs)

        ours.settimeout(STALL)
        with theirs:
            return zygote.spawn(serve), ours

    def send(self, rank: int, task: bytes) -> None:
        if self._ranks[rank] is None:
            self._ranks[rank] = self._start()
        self._pending.add(rank)
        self._incoming[rank] = frames.Incoming(self._limit)
        with contextlib.suppress(OSError):  # a dead rank is reported by `receive`
            frames.write(self._ranks[rank][1], task)

    def receive(self, timeout: float) -> list[tuple[int, bytes | None]]:
        by_socket = {self._ranks[rank][1]: rank for rank in self._pending}
        answers = []
        if time.monotonic() - self._looked > LOOK:  # processes of a rank may end before it does
            self.queued()
        for connection in select.select(list(by_socket), [], [], timeout)[0]:
            rank = by_socket[connection]
            try:
                reply = self._incoming[rank].receive(connection)
                if reply is None:
                    continue
            except (OSError, EOFError):
                reply = None
            except ValueError as error:
                reply = runs.refusal(str(error))
            self._pending.discard(rank)
            answers.append((rank, reply))
        return answers

    def settle(self) -> None:
        """They are as they will be."""

    def tidy(self, size: int) -> None:
        """They do it when the next run begins."""

    def replace(self, ranks: Sequence[int]) -> None:
        """End these ranks; new ones are started for the next run. (Until whatever they have left
        behind is swept away, there may be no room for another process.)
        """
        for rank in ranks:
            if self._ranks[rank]:
                self._end(*self._ranks[rank])
            self._ranks[rank] = None
            self._pending.discard(rank)

    def store(self, run: Path) -> list:
        return ["file", str(run / "store")]

    def machines(self) -> list[str]:
        return [clocks.machine()] * len(self)

    def clock(self, rank: int) -> float:
        return clocks.now()

    def queued(self) -> float:
        """Seconds that the ranks, all together, have waited for a processor."""
        self._looked = time.monotonic()
        return self._queues.seconds([rank[0] for rank in self._ranks if rank])

    def _end(self, pid: int, connection: socket.socket) -> None:
        connection.close()
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)

    def close(self) -> None:
        self.replace(range(len(self._ranks)))
        self._ranks = []


class _Queues:
    """How long processes, and those that they have started, have waited for a processor."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}  # of each thread, also of those that have ended

    def seconds(self, pids: Sequence[int]) -> float:
        for pid in pids:
            self._look(f"/proc/{pid}/task/{pid}")
            for started in _started(pid):
                with contextlib.suppress(OSError):
                    for thread in os.listdir(f"/proc/{started}/task"):
                        self._look(f"/proc/{started}/task/{thread}")
        return sum(self._seconds.values())

    def _look(self, thread: str) -> None:
        with contextlib.suppress(OSError, ValueError, IndexError):  # not every kernel tells
            self._seconds[thread] = int(Path(thread, "schedstat").read_text().split()[1]) / 1e9


def _started(pid: int) -> list[str]:
    """The processes that a process has started, those that these have started, and so on."""
    found, look = [], [str(pid)]
    while look and len(found) < MOST_STARTED:
        parent = look.pop()
        with contextlib.suppress(OSError):
            children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
            found += children
            look += children
    return found[:MOST_STARTED]
