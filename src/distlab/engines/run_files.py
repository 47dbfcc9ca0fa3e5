"""The files that a run's ranks leave in its folder, read back. Student code can have written
anything into them.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from distlab.engines.outcomes import Finding, Run, cause
from distlab.processes import disk_room, untrusted
from distlab.records import events, holdings, reading
from distlab.records import reports as reporting

PRINTED_BYTES = 1 << 18  # the most that is read back of what a rank printed
CAUSES_BYTES = 1 << 18  # the most that is read back of what a rank noted about its store


def read_records(run: Run, folder: Path, keeps: bool) -> None:
    """Put into `run` what its ranks did, and what tensors held where that was kept."""
    run.raw = [_raw(folder, rank) for rank in range(run.size)]
    run.records = _records(run.raw)
    if not keeps:
        return
    for record in run.records:
        holdings.attach(record, folder / f"{record.rank}{holdings.SUFFIX}")
        run.reports.append(
            reporting.read(folder / f"{record.rank}{reporting.SUFFIX}", record.offset)
        )


def read_the_rest(run: Run, folder: Path) -> None:
    """Put into `run` what its ranks noted about their store, and what they printed."""
    run.causes = [_causes(f"{folder}/{rank}.causes") for rank in range(run.size)]
    for outcome in run.outcomes:
        outcome.printed = _printed(f"{folder}/{outcome.rank}.out")


def going_on(folder: Path, size: int) -> set[int]:
    """The ranks in which threads or requests of the function go on, by their records."""
    records = _records([_raw(folder, rank) for rank in range(size)])
    return {record.rank for record in records if not record.over}


def stop(run: Run, busy: Iterable[int], folder: Path, begin: float) -> None:
    """Write into the records of ranks that are ended when that was."""
    for rank in busy:
        outcome = run.outcomes[rank]
        passed = outcome.seconds if outcome.status == "crashed" else run.seconds
        reading.stop(f"{folder}/{rank}.rec", begin + passed)


def no_room(folder: Path) -> Finding | None:
    """Has a full disk ended ranks? They write their records into mapped files."""
    if not (said := disk_room.full(folder)):
        return None
    return Finding(
        "limit",
        f"the disk is full on which ranks note what they do ({folder.parent}: {said}), and their "
        "processes end with it",
        "Make room there, or set TMPDIR to a folder on another disk before ranks are started.",
    )


def _raw(folder: Path, rank: int) -> bytes:
    try:
        return reading.trimmed(f"{folder}/{rank}.rec")
    except OSError:
        return b""


def _records(raw: Sequence[bytes]) -> list[events.RankRecord]:
    found = []
    for rank, data in enumerate(raw):
        try:
            found.append(reading.read(data))
        except ValueError:
            found.append(events.RankRecord(rank, len(raw)))
    return found


def _causes(path: str) -> list[tuple[float, str, str]]:
    try:
        with untrusted.plain_file(path) as file:
            lines = file.read(CAUSES_BYTES).decode("utf-8", "replace").splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        with contextlib.suppress(ValueError, TypeError, OverflowError, RecursionError):
            found.append(cause(json.loads(line)))
    return found


def _printed(path: str) -> str:
    try:
        with untrusted.plain_file(path) as file:
            return file.read(PRINTED_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
