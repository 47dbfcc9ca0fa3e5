"""One time for ranks on several machines.

Records hold times of the monotonic clock of the machine that a rank runs on. Ranks on one machine
share it, and nothing is done. Otherwise clocks are compared as NTP does it (D. L. Mills, RFC 5905,
section 8): a question and its answer, taken to need equally long, in the quickest of several tries.
Ranks compare theirs with one of them over the process group, in a fraction of the time that a
message takes them; that one is compared with whoever watches the run, over the engines' connection.
"""

from __future__ import annotations

import contextlib
import platform
import time
from collections.abc import Callable, Sequence
from pathlib import Path

TRIES = 8

now = time.monotonic


def machine() -> str:
    """What tells this machine's monotonic clock from those of others."""
    with contextlib.suppress(OSError):  # one for each start of a Linux kernel, containers included
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


def over_group(rank: int, hub: int, machines: Sequence[str]) -> float:
    """Seconds to add to this rank's clock to get `hub`'s; every rank of the group has to call it.

    Args:
        machines: by rank, where it runs; ranks on one machine get the same offset.
    """
    import torch
    import torch.distributed as dist

    device = "cuda" if dist.get_backend() == "nccl" else "cpu"
    box = torch.zeros(1, dtype=torch.float64, device=device)
    leaders = {where: machines.index(where) for where in machines if where != machines[hub]}
    for leader in leaders.values():
        for _ in range(TRIES if rank == hub else 0):
            dist.recv(box, leader)
            dist.send(box.fill_(now()), leader)
    if machines[rank] == machines[hub]:
        return 0.0

    def ask() -> float:
        dist.send(box, hub)
        dist.recv(box, hub)
        return box.item()

    leader = leaders[machines[rank]]
    if rank != leader:
        dist.recv(box, leader)
        return box.item()
    mine = -offset(ask)  # what `offset` returns is to be added to the hub's
    box.fill_(mine)
    for fellow, where in enumerate(machines):
        if where == machines[rank] and fellow != leader:
            dist.send(box, fellow)
    return mine
