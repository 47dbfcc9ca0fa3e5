"""One time for ranks on several machines.

Records hold times of the monotonic clock of the machine that a rank runs on. Ranks on one machine
share that clock, and nothing is done. Otherwise clocks are compared as NTP does it (D. L. Mills,
RFC 5905, section 8): of several questions the one that was answered soonest counts, and question
and answer are taken to have travelled equally long. Ranks compare their clocks with that of one of
them over the process group (`distlab.rank.clocks`), to within a fraction of a message's time; that
one's is compared with the clock of whoever watches the run, over the engines' connection.
"""

from __future__ import annotations

import contextlib
import platform
import time
from collections.abc import Callable
from pathlib import Path

TRIES = 8

now = time.monotonic


def machine() -> str:
    """A name for this machine's monotonic clock: equal names mean the same clock."""
    with contextlib.suppress(OSError):  # new at each boot of a Linux kernel; containers share it
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return platform.node()


def offset(ask: Callable[[], float], tries: int = TRIES) -> float:
    """Seconds to add to what another clock shows, to get what ours does.

    Args:
        ask: returns what the other clock shows, at a moment between call and return.

    Returns:
        an estimate that is wrong by at most half of the quickest answer's time.
    """
    found = []
    for _ in range(tries):
        begin = now()
        shown = ask()
        end = now()
        found.append((end - begin, (begin + end) / 2 - shown))
    return min(found)[1]
