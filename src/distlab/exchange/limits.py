"""What the exchange takes, and how much of it. The options of the service are named after these."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

MB = 1_000_000


@dataclass(frozen=True)
class Limits:
    """Sizes in bytes, times in seconds.

    Args:
        file: one file.
        submission: all files of a submission, or of a lab that is handed out.
        files: their number.
        kept: all that a student has handed in to a course, and
        kept_files: the number of these files, each of which is looked at whenever they are listed.
        submissions: how often a student hands in a lab.
        look: a request for a second look.
        looks: such requests of a student's in a course that the grader has not taken yet.
        begun: files of a student's in a course that were begun and not yet handed in, and
        begun_bytes: their bytes.
        forgotten: after this time what was begun and not touched is removed.
        reserve: room on the disk that uploads leave free.
        at_once: requests of one person at the same time.
        burst: requests of one person in a row, and
        rate: how many of these are regained in a second.
        requests: requests of all at the same time.
        idle: a connection that says nothing is closed, and
        slowest: so is one that takes this long for one request.
    """

    file: int = 100 * MB
    submission: int = 100 * MB
    files: int = 1000
    kept: int = 1000 * MB
    kept_files: int = 20_000
    submissions: int = 200
    look: int = 8_000
    looks: int = 50
    begun: int = 1000
    begun_bytes: int = 200 * MB
    forgotten: float = 2 * 86400.0
    reserve: int = 200 * MB
    at_once: int = 8
    burst: int = 2000
    rate: float = 20.0
    requests: int = 256
    idle: float = 60.0
    slowest: float = 300.0


#: bytes of one request: a longer file is sent in several
CHUNK = 4 * 1024 * 1024


@dataclass
class Turns:
    """How many requests one person may make now."""

    limits: Limits
    active: int = 0
    _left: float = field(init=False)
    _since: float = field(init=False)

    def __post_init__(self) -> None:
        self._left, self._since = float(self.limits.burst), time.monotonic()

    def take(self) -> float:
        """Begin a request; returns 0, or the seconds to wait before it may begin."""
        now = time.monotonic()
        self._left = min(self.limits.burst, self._left + (now - self._since) * self.limits.rate)
        self._since = now
        if self.active >= self.limits.at_once:
            return 1.0
        if self._left < 1:
            return (1 - self._left) / self.limits.rate
        self._left -= 1
        self.active += 1
        return 0.0

    def pay(self, requests: int) -> None:
        """Count a request that is more work than others as so many more."""
        self._left -= requests

    @property
    def is_idle(self) -> bool:
        """Has this person had no request for so long that forgetting them changes nothing?"""
        gained = (time.monotonic() - self._since) * self.limits.rate
        return not self.active and self._left + gained >= self.limits.burst
