"""An asynchronous parameter server whose run repeats: workers push in turns.

Who comes first at an asynchronous server is a matter of speed. Here it is a matter of the case:
each worker's `gradient_fn` waits for its turn, and the next turn begins when the pushes of the one
before have been answered. So the order of updates, every gradient and the staleness are the same in
every run. Workers that share a turn push at the same time, in any order; a case lets them do so
only where no order can be told from the result (a test tries them all).

A push has been answered when as many bytes as the parameters hold have arrived in messages, or when
its worker goes on. (After its last push a worker may still wait for the others, at a barrier or for
a last word from the server, and they must not wait for it.)

A server that waits for a worker whose turn has not come leaves another's push unanswered. The turns
are then given up after `PATIENCE`, and the run goes on without them. What counts is the time that
the server and the worker themselves have had: a machine may hold either of them up for seconds.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Any

from distlab.course.lab04_ring_allreduce.beats import Beats, Patience
from distlab.rank.sharing import Board

PATIENCE = 2.0  # seconds that a turn may take: thousands of times what an answer needs


class Turns:
    """The order in which workers may push, kept through the process group's store."""

    def __init__(self, rank: int, size: int, turns: list[list[int]]) -> None:
        from torch.distributed import distributed_c10d as c10d

        self._store = c10d._get_default_store()
        self._turns = turns
        self._mine = [number for number, workers in enumerate(turns) if rank in workers]
        self._rank = rank
        self.beats = Beats(Board(rank, size))
        self._begun = 0
        self._answer = 0  # bytes of an answer
        self._missing = 0  # of them, those that have not arrived since the last push began

    @contextlib.contextmanager
    def listening(self, answer: int) -> Iterator[None]:
        """Meanwhile a push has been answered when `answer` bytes have arrived in messages."""
        from distlab.rank import recording

        active = recording.active()
        if active is None:  # nothing tells what arrives
            yield
            return
        self._answer, active.heard = answer, self._heard
        try:
            yield
        finally:
            active.heard = None

    def _heard(self, nbytes: int) -> None:
        if self._missing > 0:
            self._missing -= nbytes
            if self._missing <= 0:
                self.end()

    def end(self) -> None:
        """This rank's push has been answered."""
        if 0 < self._begun <= len(self._mine):
            self._store.set(f"answered {self._mine[self._begun - 1]} {self._rank}", "")

    def begin(self) -> None:
        """Wait until this rank may push: all pushes of the turn before have been answered."""
        self._begun += 1
        self._missing = self._answer
        if self._begun > len(self._mine):
            return
        turn = self._mine[self._begun - 1]
        together = self._turns[turn]
        for number, workers in enumerate(self._turns[:turn]):  # each may take its own time
            self._wait("answered", number, workers)
        if len(together) > 1:  # and start together with the others of this turn
            self._store.set(f"ready {turn} {self._rank}", "")
            self._wait("ready", turn, together)

    def _wait(self, what: str, turn: int, workers: list[int]) -> None:
        keys = [f"{what} {turn} {worker}" for worker in workers]
        patience = Patience(self.beats, [0, *workers], PATIENCE)
        while not self._store.check(keys) and not self.given_up:
            if patience.over:
                self._store.set("given up", "")
            time.sleep(0.0005)

    @property
    def given_up(self) -> bool:
        return self._store.check(["given up"])


class Gradient:
    """The `gradient_fn` of a rank: that of half the squared distance from its own minimum."""

    def __init__(self, turns: Turns, minimum: list) -> None:
        self._turns, self._minimum = turns, minimum
        self.given: list[list[Any]] = []

    def __call__(self, parameters):
        if not isinstance(parameters, (list, tuple)) or len(parameters) != len(self._minimum):
            raise TypeError("gradient_fn takes the list of all parameters")
        self._turns.end()
        self.given.append([p.detach().clone() for p in parameters])
        self._turns.begin()
        return [p - m for p, m in zip(self.given[-1], self._minimum, strict=True)]
