"""Students' requests for a second look, on the service's disk until the grader has fetched them.

    COURSE/second-looks/STUDENT+WHEN+KEY          a request, as it was sent

The service names each request after its sender, as the Hub says, and does not read its content. A
student's requests are limited in number and size, so that nobody floods the grader.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from distlab.exchange import names, staging
from distlab.exchange.limits import Limits
from distlab.exchange.names import Refused

FOLDER = "second-looks"
_NEW = "."  # begins the name of what is not complete


@dataclass(frozen=True)
class Asked:
    """A request that waits for the grader."""

    student: str
    when: str
    key: str

    @property
    def name(self) -> str:
        return names.request(self.student, self.when, self.key)


class Requests:
    """The requests of all courses.

    Args:
        root: the exchange's folder.
        now: the time now, as text; later than those of all the requests that it is given.
    """

    def __init__(self, root: Path, limits: Limits, now: Callable[[Sequence[Asked]], str]) -> None:
        self._root, self._limits, self._now = root, limits, now
        self._adding = threading.Lock()
        for begun in root.glob(f"*/{FOLDER}/{_NEW}*"):  # a service that was killed
            begun.unlink()

    def add(self, course: str, student: str, content: bytes, key: str) -> Asked:
        """Take a request; it is on the disk when this returns. The same key twice is one request,
        at the time of the first.

        Raises:
            Refused: it is too large, or too many of this student's wait already.
            Full: there is no room.
        """
        if len(content) > self._limits.look:
            raise Refused(f"a request may have {self._limits.look:,} bytes")
        with self._adding:
            waiting = [one for one in self.waiting(course) if one.student == student]
            for one in waiting:
                if one.key == key:
                    return one
            if len(waiting) >= self._limits.looks:
                raise Refused(
                    f"{len(waiting)} requests of yours wait already: ask again when those who "
                    "teach have seen them"
                )
            made = Asked(student, self._now(waiting), key)
            folder = self._folder(course)
            new = folder / f"{_NEW}{key}"
            with staging.filled():
                folder.mkdir(parents=True, exist_ok=True)
                try:
                    with new.open("wb") as file:
                        file.write(content)
                        file.flush()
                        os.fsync(file.fileno())
                    os.rename(new, folder / made.name)
                finally:
                    new.unlink(missing_ok=True)
                staging.sync_names(folder)
        return made

    def waiting(self, course: str) -> list[Asked]:
        """The requests that the grader has not taken yet, the oldest first."""
        found = []
        with contextlib.suppress(FileNotFoundError):
            for entry in os.scandir(self._folder(course)):
                if parts := names.request_parts(entry.name):
                    found.append(Asked(*parts))
        return sorted(found, key=lambda one: (one.when, one.name))

    def content(self, course: str, name: str) -> bytes | None:
        """What was sent; `None` where nothing of this name waits."""
        try:
            return self._path(course, name).read_bytes()
        except FileNotFoundError:
            return None

    def remove(self, course: str, name: str) -> None:
        """Remove a request that the grader has. To do so twice is no mistake: the first answer may
        have been lost.
        """
        with contextlib.suppress(FileNotFoundError):
            self._path(course, name).unlink()
            staging.sync_names(self._folder(course))

    def _folder(self, course: str) -> Path:
        return self._root / course / FOLDER

    def _path(self, course: str, name: str) -> Path:
        if not names.request_parts(name):
            raise FileNotFoundError(name)
        return self._folder(course) / name
