"""Short notes by which the ranks of one run tell each other what their processes need to know.

They lie in the run's folder, which ends with it: addresses, "I have ended". No process group is
needed for that, nor anything that could hang.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

POLL = 0.01


class Board:
    """The notes of one run, seen from one of its ranks."""

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

    def everybody(self, subject: str, timeout: float) -> list[str]:
        """Wait for the notes of all ranks.

        Raises:
            TimeoutError: somebody has not noted anything.
        """
        deadline = time.monotonic() + timeout
        while len(found := self.notes(subject)) < self.size:
            if time.monotonic() > deadline:
                missing = sorted(set(range(self.size)) - set(found))
                raise TimeoutError(f"nothing was heard of rank {missing[0]} for {timeout:g} s")
            time.sleep(POLL)
        return [found[rank] for rank in range(self.size)]
