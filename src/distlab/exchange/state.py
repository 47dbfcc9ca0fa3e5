"""What the service's requests share: the store, who has how many turns, and who writes what."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Protocol

from distlab.exchange.limits import Limits, Turns
from distlab.exchange.people import People
from distlab.exchange.store import Store


class Writer(Protocol):
    """A request that adds to a content."""

    def end(self) -> None:
        """Write no more."""


class State:
    """Of one service."""

    def __init__(self, store: Store, people: People) -> None:
        self.store, self.people, self.limits = store, people, store.limits
        self.active = 0
        #: the streams of requests of people whom the Hub knows
        self.answered: set[object] = set()
        #: who adds to which content of whom: (course, person, digest)
        self.writers: dict[tuple[str, str, str], Writer] = {}
        self._turns: dict[str, Turns] = {}
        self._locks: dict[tuple[str, str], asyncio.Lock] = {}

    def turns_of(self, name: str) -> Turns:
        return self._turns.setdefault(name, Turns(self.limits))

    @contextlib.asynccontextmanager
    async def alone(
        self, course: str, who: str, content: tuple[str, str, str] | None = None
    ) -> AsyncIterator[None]:
        """While nobody else changes what this person has begun to send to this course. Requests
        that still add to it, all or to one content, add no more: a connection that was lost may
        take minutes to end.
        """
        async with self._locks.setdefault((course, who), asyncio.Lock()):
            for key, writer in list(self.writers.items()):
                if key == content or (content is None and key[:2] == (course, who)):
                    writer.end()
            yield

    async def sweep(self) -> None:
        """Forget who has not asked for a while, and what nobody goes on sending. Others are
        answered meanwhile: there can be many files, on a slow disk.
        """
        self._turns = {name: turns for name, turns in self._turns.items() if not turns.is_idle}
        await asyncio.to_thread(self.store.sweep)


def limits_of(options: dict[str, float | int | None]) -> Limits:
    """The limits with those that are named here."""
    return Limits(**{name: value for name, value in options.items() if value is not None})  # type: ignore[arg-type]
