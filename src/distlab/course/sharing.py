"""Let the ranks of a case tell each other something without a process group or a record."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PATIENCE = 60.0  # seconds; a run that hangs has ended by its deadline long before


def among_ranks(name: str, rank: int, size: int, produce: Callable[[], Any]) -> list[Any]:
    """What `produce()` gave on every rank, in the order of ranks; it has to be JSON.

    A rank on which it raised tells `None`, so that nobody waits for it, and raises. Ranks go on
    only when all have told: it is a barrier too.
    """
    told = None
    try:
        told = produce()
    finally:
        _tell(name, rank, told)
    deadline = time.monotonic() + PATIENCE
    return [told if other == rank else _read(name, other, deadline) for other in range(size)]


def _path(name: str, rank: int) -> Path:
    return Path(os.environ["DISTLAB_RUN"], f"{name}.{rank}.json")


def _tell(name: str, rank: int, value: Any) -> None:
    path = _path(name, rank)
    beside = path.with_suffix(".part")
    beside.write_text(json.dumps(value), "utf-8")
    os.replace(beside, path)  # whoever sees it sees all of it


def _read(name: str, rank: int, deadline: float) -> Any:
    path = _path(name, rank)
    while not path.exists():
        if time.monotonic() > deadline:
            return None
        time.sleep(0.002)
    return json.loads(path.read_text("utf-8"))
