"""When the processes that judge get a processor."""

from __future__ import annotations

import contextlib
import os


def in_turn() -> None:
    """From now on this process, and all that it starts, does not preempt others when it wakes up.

    By default Linux lets a process that wakes up interrupt another. A rank that sends wakes up the
    one that receives, and is often interrupted by it while it holds a lock of gloo's. gloo's own
    thread then tries to take that lock again and again until the rank goes on. For ranks of a
    notebook, which mostly have the machine to themselves, it makes no difference.
    """
    with contextlib.suppress(AttributeError, OSError):  # not Linux, or not allowed
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
