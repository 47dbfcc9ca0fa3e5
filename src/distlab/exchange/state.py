"""What the service's requests share: the store, everybody's limits, and who is writing what."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Protocol

from distlab.exchange.limits import Limits, Turns
from distlab.exchange.people import People
from distlab.exchange.store import Store


class Writer(Protocol):
    """A request that is adding to an upload."""

    def end(self) -> None:
        """Stop writing."""


class State:
    """The state of one service."""

    def __init__(self, store: Store, people: People) -> None:
        self.store, self.people, self.limits = store, people, store.limits
        self.active = 0
        #: the streams on which people whom the Hub knows are being answered
        self.answered: set[object] = set()
        #: the request that is adding to an upload: (course, person, digest) → request
        self.writers: dict[tuple[str, str, str], Writer] = {}
        self._turns: dict[str, Turns] = {}
        self._locks: dict[tuple[str, str], asyncio.Lock] = {}

    def turns_of(self, name: str) -> Turns:
        return self._turns.setdefault(name, Turns(self.limits))

    @contextlib.asynccontextmanager
    async def alone(
        self, course: str, who: str, content: tuple[str, str, str] | None = None
    ) -> AsyncIterator[None]:
        """Hold what this person has begun to send to this course, so that no other request changes
        it. Requests that are still adding to it, or to the one `content`, are stopped: a connection
        that was lost may take minutes to end.
        """
        async with self._locks.setdefault((course, who), asyncio.Lock()):
            for key, writer in list(self.writers.items()):
                if key == content or (content is None and key[:2] == (course, who)):
                    writer.end()
            yield

    async def sweep(self) -> None:
        """Forget people who have not asked for a while, and uploads that nobody goes on with. That
        is done in a thread: there can be many files, on a slow disk.
        """
        self._turns = {name: turns for name, turns in self._turns.items() if not turns.is_idle}
        await asyncio.to_thread(self.store.sweep)


def limits_of(options: dict[str, float | int | None]) -> Limits:
    """The limits with those that are named here."""
    return Limits(**{name: value for name, value in options.items() if value is not None})  # type: ignore[arg-type]
