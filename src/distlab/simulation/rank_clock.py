"""A rank's clock, which can leave out what the rank waited for a processor.

On a machine with more to do than it has processors, a rank that wakes up late looks like a rank on
a slow link. A steady clock stands still while its thread waits for a processor, and a wait for
another rank ends when, by that rank's steady clock, what it waits for has happened (`wait_until`),
not when a late message has made its way. What the rank computes counts as always.
"""

from __future__ import annotations

import threading
import time

_STAT = "/proc/thread-self/schedstat"


def waited() -> float:
    """Seconds that this thread has waited for a processor so far; 0 where nobody counts them."""
    try:
        with open(_STAT, "rb", buffering=0) as file:
            return int(file.read(128).split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0


class Clock:
    """The machine's monotonic clock, or with `steady` one that leaves out waits.

    `log`: at each look at a steady clock what the monotonic one showed, and the waits until then.
    """

    def __init__(self, steady: bool) -> None:
        self._steady, self._behind, self._first = steady, 0.0, waited()
        self._thread = threading.get_ident()
        self._waited = 0.0
        self.log: list[tuple[float, float]] = []

    def now(self) -> float:
        if not self._steady:
            return time.monotonic()
        if threading.get_ident() == self._thread:  # another one's waits are not this one's
            self._waited = waited() - self._first
            self.log.append((time.monotonic(), self._waited))
        return time.monotonic() - self._waited - self._behind

    def wait_until(self, moment: float, since: float) -> None:
        """Sleep until a moment; a steady clock then shows it, or `since` if that is later."""
        while (left := moment - self.now()) > 0:
            time.sleep(left)
        if self._steady:
            self.show(min(self.now(), max(moment, since)))

    def show(self, moment: float) -> None:
        """Set it."""
        self._behind += self.now() - moment
