"""Notes by which the ranks of a run tell each other something, without a process group or a record.

They lie in the run's folder and end with it: addresses, "I have ended". Nothing here can hang.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from distlab.processes.stopped import Stopwatch

PATIENCE = 600.0  # seconds; a run that hangs has ended by its deadline long before, however busy
POLL = 0.01


class Board:
    """The notes of one run, seen from one of its ranks.

    Args:
        folder: where they lie, the run's own folder by default.
    """

    def __init__(self, rank: int, size: int, folder: Path | None = None) -> None:
        self.folder = folder or Path(os.environ["DISTLAB_RUN"])
        self.rank, self.size = rank, size

    def note(self, subject: str, text: str) -> None:
        """Pin a note up for all, whole from the first moment on."""
        draft = self.folder / f"{self.rank}.{subject}.draft"
        draft.write_text(text, "utf-8")
        draft.rename(self.folder / f"{self.rank}.{subject}")

    def notes(self, subject: str) -> dict[int, str]:
        """What has been noted on a subject until now, by rank."""
        paths = {rank: self.folder / f"{rank}.{subject}" for rank in range(self.size)}
        return {rank: path.read_text("utf-8") for rank, path in paths.items() if path.exists()}

    def awaited(self, subject: str, timeout: float) -> dict[int, str]:
        """The notes of all ranks, or those that there are after `timeout` seconds; those in which
        this process was stopped are left out.
        """
        watch = Stopwatch()
        while len(found := self.notes(subject)) < self.size and watch.seconds() < timeout:
            time.sleep(POLL)
        return found

    def everybody(self, subject: str, timeout: float) -> list[str]:
        """Wait for the notes of all ranks.

        Raises:
            TimeoutError: somebody has not noted anything.
        """
        found = self.awaited(subject, timeout)
        if missing := sorted(set(range(self.size)) - set(found)):
            raise TimeoutError(f"nothing was heard of rank {missing[0]} for {timeout:g} s")
        return [found[rank] for rank in range(self.size)]


def among_ranks(
    name: str, rank: int, size: int, produce: Callable[[], Any], patience: float = PATIENCE
) -> list[Any]:
    """What `produce()` gave on every rank, in the order of ranks; it has to be JSON.

    A rank on which it raised tells `None`, so that nobody waits for it, and raises. Ranks go on
    only when all have told: it is a barrier too. Who has not told in time stands as `None`.

    Args:
        name: of this exchange; each exchange of a run has its own.
        patience: seconds that a rank waits for the others, all together.
    """
    board, told = Board(rank, size), None
    try:
        told = produce()
    finally:
        board.note(name, json.dumps(told))
    found = board.awaited(name, patience)
    return [json.loads(found.get(other, "null")) for other in range(size)]


def meet(name: str, rank: int, size: int, patience: float) -> bool:
    """Wait for the other ranks, but no longer than `patience` seconds. Have all come?"""
    return all(among_ranks(name, rank, size, lambda: True, patience))
