"""Ranks as bare processes, forked from this one. The grader ends them with each room; a notebook
keeps them (`distlab.engines.warm`).
"""

from __future__ import annotations

import contextlib
import functools
import gc
import math
import os
import signal
import socket
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from distlab.engines.outcomes import refusal
from distlab.network import gloo
from distlab.network.measure import Wire
from distlab.network.seen import Seen
from distlab.processes import clocks, forkserver, framing, isolation, payload
from distlab.processes.run_delay import RunDelay, started
from distlab.rank import world

ROOM = 3  # times the bytes of all inputs: how much traffic is captured until it is looked at
MOST_KEPT = 16  # ranks whose connections are kept, of all groups together: three threads each
LOOK = 0.5  # seconds between two looks at how long ranks have waited for a processor


class ForkedEngines:
    """Ranks forked from this process, which must be clean: no torch operation run, no CUDA touched.

    Args:
        limit: bytes that a rank may answer.
        private: sockets of this process that the ranks must not have.
        measured: this is process 1 of a sandbox; measure what the ranks send each other, where that
            works.
    """

    STALL = 2.0  # seconds in which a rank has to read what it is sent

    def __init__(
        self, size: int, folder: Path, limit: int | None = None,
        private: Sequence[socket.socket] = (), measured: bool = False,
    ) -> None:  # fmt: skip
        self.folder, self._limit, self._private = folder, limit, list(private)
        self._wire: Wire | None = None
        if measured and _understood():
            with contextlib.suppress(OSError):
                self._wire = Wire()
        self._ranks: list[tuple[int, socket.socket] | None] = []  # None: started when it is needed
        self._incoming: dict[int, framing.Incoming] = {}
        self._pending: set[int] = set()  # ranks that have not answered
        self._left: Sequence[int] = []  # ranks that must not carry another run
        self._unread: set[int] = set()  # nor may these: the rest of a reply was never read
        #: sizes of the groups whose connections ranks keep, the one that was used last at the end
        self._kept: list[int] = []
        self._queues, self._looked = RunDelay(), 0.0
        self.grow(size)

    def __len__(self) -> int:
        return len(self._ranks)

    def grow(self, size: int) -> None:
        """Have at least `size` ranks."""
        if self._wire is not None:
            try:
                self._wire.grow(size)
            except OSError:  # all ranks or none: the first ones start again without it
                self.close()
                self._wire.close()
                self._wire = None
        while len(self._ranks) < size:
            self._ranks.append(self._start(len(self._ranks)))

    def _start(self, number: int) -> tuple[int, socket.socket]:
        ours, theirs = socket.socketpair()
        held = [rank[1] for rank in self._ranks if rank] + self._private + [ours]

        def serve() -> None:
            for connection in held:
                connection.close()
            from distlab.rank import execute

            gc.freeze()
            gc.enable()
            execute.serve(theirs)

        ours.settimeout(self.STALL)
        if self._wire is not None:
            isolation.entering.append(functools.partial(self._wire.enter, number))
        try:
            with theirs:
                return forkserver.spawn(serve), ours
        finally:
            isolation.entering.clear()

    def send(self, rank: int, task: Sequence[payload.Block], within: float = math.inf) -> None:
        carries = self._ranks[rank]
        if carries is None:
            carries = self._ranks[rank] = self._start(rank)
        self._pending.add(rank)
        self._incoming[rank] = framing.Incoming(self._limit)
        carries[1].settimeout(min(self.STALL, max(within, 0.001)))
        with contextlib.suppress(OSError):  # a dead rank is reported by `receive`
            framing.write(carries[1], *task)
        carries[1].settimeout(self.STALL)

    def busy(self) -> list[int]:
        """The ranks that have a task and have not answered it."""
        return sorted(self._pending)

    def receive(self, timeout: float) -> list[tuple[int, payload.Block | None]]:
        pending = ((rank, self._ranks[rank]) for rank in self._pending)
        by_socket = {carries[1]: rank for rank, carries in pending if carries}
        answers: list[tuple[int, payload.Block | None]] = []
        if time.monotonic() - self._looked > LOOK:  # processes of a rank may end before it does
            self.queued()
        for connection in self._readable(list(by_socket), timeout):
            rank = by_socket[connection]
            try:
                reply: payload.Block | None = self._incoming[rank].receive(connection)
                if reply is None:
                    continue
            except (OSError, EOFError):
                reply = None
            except ValueError as error:
                reply = refusal(str(error))
                self._unread.add(rank)
            self._pending.discard(rank)
            answers.append((rank, reply))
        return answers

    def _readable(self, connections: list[socket.socket], timeout: float) -> list[socket.socket]:
        """Those that have something to read; captured traffic is read while they are waited for."""
        if self._wire is None:
            return framing.readable(connections, timeout)
        deadline = time.monotonic() + timeout
        while True:
            left = max(deadline - time.monotonic(), 0.0)
            watched: list[socket.socket | Wire] = [*connections, self._wire]
            found = framing.readable(watched, left)
            if self._wire in found:
                self._wire.drain()
            answered = [one for one in connections if one in found]
            if answered or not left:
                return answered

    def listen(self, expected: int) -> None:
        """A run with `expected` bytes of inputs begins: measure from here on."""
        if self._wire is not None:
            self._wire.begin(ROOM * expected)

    def seen(self, compare: Callable[[Seen], list[str]]) -> Seen | None:
        """What went over the network since `listen`, as `Wire.seen` tells it; `None` where that was
        not measured.
        """
        return None if self._wire is None else self._wire.seen(compare)

    def settle(self) -> None:
        """Before a run, end the ranks that are not fit for it:

        - those in which threads or processes of the last function go on. In the next run these
          would belong to nobody, and a rank that waits for them would seem to wait forever.
        - those that still owe an answer, or the rest of one: the end of that run was interrupted,
          or the answer was too large to be read.
        - those that have closed their connection, or send something that nobody has asked for.
        """
        alive = [(rank, found[0]) for rank, found in enumerate(self._ranks) if found]
        by_socket = {found[1]: rank for rank, found in enumerate(self._ranks) if found}
        speaks = {by_socket[one] for one in framing.readable(by_socket, 0)}
        unfit = {*self._left, *self._pending, *self._unread, *speaks}
        # those, too, that had no task of late: a rank in which nothing goes on takes 20 µs
        unfit |= {rank for rank, pid in alive if rank not in unfit and started(pid)}
        self.replace([rank for rank, _ in alive if rank in unfit])
        self._left, self._looked = [], time.monotonic()

    def tidy(self, size: int, left: Sequence[int]) -> None:
        """Ranks leave the groups of a run when the next one begins, or when `leave` says so."""
        self._left = list(left)

    def kept(self, size: int) -> list[int]:
        """A run of `size` ranks begins: returns the sizes of the groups whose connections are kept.
        Those of `size` are used in this run, and are kept after it only if `leave` says so.
        """
        kept = self._kept
        self._kept = [one for one in kept if one != size]
        return kept

    def leave(self, size: int, keep: bool = False) -> None:
        """Have the ranks of a run leave its groups now, while nobody waits for them: gloo takes
        10 ms for each connection. Captured traffic has been looked at before.

        Args:
            keep: the connections of the default group stay, for the next run of `size` ranks.
        """
        if keep:
            self._kept.append(size)
            while sum(self._kept) > MOST_KEPT:
                self._kept.pop(0)
        told = payload.parts({world.LEAVE: True, "kept": self._kept})
        for rank, carries in enumerate(self._ranks[:size]):
            if carries and rank not in self._left:
                with contextlib.suppress(OSError):  # a dead rank is found when the next run begins
                    framing.write(carries[1], *told)

    def replace(self, ranks: Sequence[int]) -> None:
        """End these ranks; new ones are started for the next run. (Not at once: until what these
        have left behind is swept away, there may be no room for another process.)
        """
        self._kept = [size for size in self._kept if not any(rank < size for rank in ranks)]
        for rank in ranks:
            if carries := self._ranks[rank]:
                self._end(*carries)
            self._ranks[rank] = None
            self._pending.discard(rank)
            self._unread.discard(rank)

    def store(self, run: Path) -> list[Any]:
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
        others = started(pid)
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        for process in others:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(int(process), signal.SIGKILL)

    def close(self) -> None:
        self.replace(range(len(self._ranks)))
        self._ranks = []


def _understood() -> bool:
    """Can the traffic of ranks here be read? That of NCCL can not, which several ranks use where
    there are several GPUs, nor perhaps that of a later gloo.
    """
    import torch

    return gloo.known(torch.__version__) and world.gpu_count() < 2
