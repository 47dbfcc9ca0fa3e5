"""What a platform was sent: no score is sent twice, and timestamps only increase."""

from __future__ import annotations

import contextlib
import datetime
import fcntl
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from grader.export.sheet import Unusable
from grader.policy.lateness import UTC
from grader.writing import NO_LOCKS, NotWritten

_TABLE = """
CREATE TABLE IF NOT EXISTS sent (
  line_item TEXT, user TEXT, time TEXT NOT NULL, score TEXT NOT NULL,
  PRIMARY KEY (line_item, user)
)
"""
_STEP = datetime.timedelta(milliseconds=1)


class Sent:
    """The scores that were sent, by line item and user."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    @classmethod
    @contextlib.contextmanager
    def at(cls, path: Path) -> Iterator[Sent]:
        """Open the file, for one sender at a time. A second one is refused: if it waited, its
        scores would be older by then than those that the platform has.

        Raises:
            Unusable: the file cannot be used, or somebody else is sending.
        """
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            lock = path.with_suffix(".lock").open("ab")
        except OSError as error:
            raise Unusable(f"{path} cannot be used ({error.strerror})") from error
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise Unusable(
                    "somebody else sends scores now: run the same command when that has ended"
                ) from error
            except OSError as error:
                if error.errno not in NO_LOCKS:
                    raise Unusable(f"{path} cannot be used ({error.strerror})") from error
            with cls._opened(path) as sent:
                yield sent

    @classmethod
    @contextlib.contextmanager
    def _opened(cls, path: Path) -> Iterator[Sent]:
        try:
            with contextlib.closing(sqlite3.connect(path, timeout=5, isolation_level=None)) as one:
                one.execute(_TABLE)
                yield cls(one)
        except sqlite3.Error as error:
            if "is full" in str(error):
                raise NotWritten.full(path, "the disk is full") from error
            raise Unusable(
                f"{path} cannot be used ({error}): put it away, and all scores are sent once more"
            ) from error

    def has(self, line_item: str, user: str, score: str) -> bool:
        """Does the platform have this very score?"""
        found = self._row(line_item, user)
        return found is not None and found[1] == score

    def time(self, line_item: str, user: str) -> str:
        """A timestamp for the next score, later than all before it. It is noted before the score is
        sent, so that this holds also where sending was cut short.
        """
        when = datetime.datetime.now(UTC)
        found = self._row(line_item, user)
        if found is not None:
            when = max(when, datetime.datetime.fromisoformat(found[0]) + _STEP)
        noted = when.isoformat(timespec="milliseconds")
        self._write(line_item, user, noted, "")
        return noted.replace("+00:00", "Z")

    def note(self, line_item: str, user: str, score: str) -> None:
        """Note that the platform has taken a score."""
        self._database.execute(
            "UPDATE sent SET score = ? WHERE line_item = ? AND user = ?", (score, line_item, user)
        )

    def _row(self, line_item: str, user: str) -> tuple[str, str] | None:
        found: tuple[str, str] | None = self._database.execute(
            "SELECT time, score FROM sent WHERE line_item = ? AND user = ?", (line_item, user)
        ).fetchone()
        return found

    def _write(self, line_item: str, user: str, time: str, score: str) -> None:
        self._database.execute(
            "INSERT OR REPLACE INTO sent VALUES (?, ?, ?, ?)", (line_item, user, time, score)
        )
