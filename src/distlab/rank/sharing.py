"""Let the ranks of a case tell each other something without a process group or a record."""

from __future__ import annotations

import datetime
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PATIENCE = 60.0  # seconds; a run that hangs has ended by its deadline long before


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
    from torch.distributed import FileStore

    told = None
    try:
        told = produce()
    finally:
        store = FileStore(str(Path(os.environ["DISTLAB_RUN"], name)), size)
        store.set(str(rank), json.dumps(told))
    deadline = time.monotonic() + patience
    return [told if other == rank else _read(store, other, deadline) for other in range(size)]


def meet(name: str, rank: int, size: int, patience: float) -> None:
    """Wait for the other ranks, but no longer than `patience` seconds."""
    among_ranks(name, rank, size, lambda: None, patience)


def _read(store: Any, rank: int, deadline: float) -> Any:
    left = max(deadline - time.monotonic(), 0.001)  # no time at all would mean for ever
    try:
        store.wait([str(rank)], datetime.timedelta(seconds=left))
    except RuntimeError:
        return None
    return json.loads(store.get(str(rank)))
