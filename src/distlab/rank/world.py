"""Who am I: rank, size, device and back end of this process.

A program learns this from whoever started it. torchrun, Open MPI and Slurm each say it in
environment variables of their own; ranks of this library are told by the notebook that started
them.
"""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass

READY = b"1"  # what a rank says that can take tasks
LEAVE = "leave"  # what a message holds that asks for no run, but to leave the groups of the last


@dataclass(frozen=True)
class World:
    """This process's place: `rank` of `size`, and `local_rank` among those on its machine."""

    rank: int
    size: int
    local_rank: int

    @property
    def device(self):
        """The `torch.device` of this rank: a GPU of its own or shared where there are any, else the
        CPU.
        """
        import torch

        count = gpu_count()
        return torch.device("cuda", self.local_rank % count) if count else torch.device("cpu")

    @property
    def backend(self) -> str:
        return backend_for(self.size)


def here() -> World:
    """The place of this process in its default process group; one of one where there is none."""
    import torch.distributed as dist

    if dist.is_available() and dist.is_initialized():
        local = os.environ.get("LOCAL_RANK") or os.environ.get("SLURM_LOCALID") or dist.get_rank()
        return World(dist.get_rank(), dist.get_world_size(), int(local))
    return World(0, 1, 0)


@functools.cache
def gpu_count() -> int:
    """GPUs that torch can use here."""
    import torch

    return torch.cuda.device_count() if torch.cuda.is_available() else 0


def backend_for(size: int) -> str:
    """NCCL where each of `size` ranks can have a GPU of its own (it refuses to share one), else
    gloo.
    """
    return "nccl" if 0 < size <= gpu_count() else "gloo"
