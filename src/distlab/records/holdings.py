"""What tensors held before and after each operation, in a file beside a rank's record.

Kept in runs of students' own functions, for pictures; never where answers are judged, whose inputs
may be hidden. Row i belongs to entry i of the record. The file is sparse, as the record is.
"""

from __future__ import annotations

import struct
from pathlib import Path

from distlab.processes.untrusted import plain_file
from distlab.records.events import CAPACITY, Held, RankRecord

MOST_VALUES = 16  # elements of a tensor that is kept by value
#: For before and after: 0 where nothing was kept, else 1 + how many values; norms; values.
ROW = struct.Struct(f"<BB6x2d{2 * MOST_VALUES}d")
SUFFIX = ".held"


def attach(record: RankRecord, path: Path) -> None:
    """Give the events of a record what was kept of them in this file, if there is one."""
    last = max((event.index for event in record.events), default=-1)
    try:
        with plain_file(path) as file:
            data = file.read(min(last + 1, CAPACITY) * ROW.size)
    except OSError:
        return
    for event in record.events:
        if (event.index + 1) * ROW.size <= len(data):
            row = ROW.unpack_from(data, event.index * ROW.size)
            event.before = _held(row[0], row[2], row[4 : 4 + MOST_VALUES])
            event.after = _held(row[1], row[3], row[4 + MOST_VALUES :])


def _held(kept: int, norm: float, values: tuple[float, ...]) -> Held | None:
    if not 0 < kept <= MOST_VALUES + 1:
        return None
    return Held(values[: kept - 1]) if kept > 1 else Held(norm=norm)
