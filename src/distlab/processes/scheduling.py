"""When the processes that judge get a processor."""

from __future__ import annotations

import contextlib
import os


def in_turn() -> None:
    """From now on this process, and all that it starts, waits for its turn when it wakes up, where
    the processors are busy.

    By default Linux lets whoever wakes up interrupt others. A rank that sends wakes up the one that
    receives, and is often interrupted by it while it holds a lock of gloo's. gloo's own thread
    then asks for that lock again and again until the rank goes on. For ranks of a notebook, which
    have the machine to themselves mostly, it makes no difference.
    """
    with contextlib.suppress(AttributeError, OSError):  # not Linux, or not allowed
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
