"""What ranks tell of their training while they run: losses and images, by `distlab.report`.

They lie in a file beside the rank's record, to which the rank only appends. The file may hold
anything: impossible rows are left out.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from distlab.processes.untrusted import plain_file

#: time on the rank's monotonic clock, loss (NaN where none was told), images, whether one was told
ROW = struct.Struct("<dddB7x")
SUFFIX = ".told"
MOST = 50_000  # rows of a rank
MOST_IMAGES = 1e15  # of a row: sums of more would not be finite
RECENT = 3.0  # seconds over which a rate is taken while a run goes on


class Report(NamedTuple):
    """One call of `distlab.report` on a rank.

    `time`: seconds on the watcher's monotonic clock. `loss`: None where the call told none.
    """

    time: float
    loss: float | None
    images: float


class Follower:
    """The reports of a rank that is running, read a bit further at each look."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self.reports: list[Report] = []

    def look(self, offset: float = 0.0) -> list[Report]:
        """All reports so far.

        Args:
            offset: seconds to add to the rank's times to get the watcher's.
        """
        at, left = len(self.reports), MOST - len(self.reports)
        try:
            with plain_file(self._path) as file:
                file.seek(at * ROW.size)
                data = file.read(max(left, 0) * ROW.size)
        except OSError:
            return self.reports
        for time, loss, images, told in ROW.iter_unpack(data[: len(data) // ROW.size * ROW.size]):
            sound = math.isfinite(time) and 0 <= images <= MOST_IMAGES
            self.reports.append(
                Report(time + offset, loss if told else None, images)
                if sound
                else Report(self.reports[-1].time if self.reports else 0.0, None, 0.0)
            )
        return self.reports


def read(path: str | Path, offset: float = 0.0) -> list[Report]:
    """The reports in this file; none where there is none."""
    return Follower(path).look(offset)


def rate(reports: Sequence[Report], over: float = math.inf) -> float:
    """Images a second by the reports of the last `over` seconds, NaN where that can't be said: the
    images of each call were made since the call before it.
    """
    if len(reports) < 2:
        return math.nan
    last = reports[-1].time
    first = len(reports) - 2
    while first > 0 and reports[first - 1].time >= last - over:
        first -= 1
    seconds = last - reports[first].time
    images = sum(report.images for report in reports[first + 1 :])
    return images / seconds if seconds > 0 and images else math.nan
