"""The offset between the clocks of two ranks' machines, measured over the process group."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.distributed as dist

from distlab.processes import clocks


def over_group(rank: int, hub: int, machines: Sequence[str]) -> float:
    """Seconds to add to this rank's clock to get `hub`'s; every rank of the group has to call it.

    Args:
        machines: by rank, where it runs; ranks on one machine get the same offset.
    """
    device = "cuda" if dist.get_backend() == "nccl" else "cpu"
    box = torch.zeros(1, dtype=torch.float64, device=device)
    leaders = {where: machines.index(where) for where in machines if where != machines[hub]}
    for leader in leaders.values():
        for _ in range(clocks.TRIES if rank == hub else 0):
            dist.recv(box, leader)
            dist.send(box.fill_(clocks.now()), leader)
    if machines[rank] == machines[hub]:
        return 0.0

    def ask() -> float:
        dist.send(box, hub)
        dist.recv(box, hub)
        return float(box.item())

    leader = leaders[machines[rank]]
    if rank != leader:
        dist.recv(box, leader)
        return float(box.item())
    mine = -clocks.offset(ask)  # what `offset` returns is to be added to the hub's
    box.fill_(mine)
    for fellow, where in enumerate(machines):
        if where == machines[rank] and fellow != leader:
            dist.send(box, fellow)
    return mine
