"""The ring all-reduce that students write, against PyTorch's own all-reduce.

python -m bench.ring
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import cloudpickle

from bench import Row, in_turn, run_all
from distlab import Ranks, notebook
from grader import coursedir

RANKS = 4
REPEATS = 15
TENSORS = (4_096, 8_388_608)  # bytes


def measure() -> Iterator[Row]:
    lab = notebook.load(coursedir.SOLUTIONS / "04-ring-allreduce" / "ring_allreduce.ipynb")
    cloudpickle.register_pickle_by_value(lab)
    for n_bytes in TENSORS:
        ranks = Ranks(RANKS).run(_both, lab.ring_all_reduce, n_bytes, deadline=120)
        ours, theirs = (
            [max(turn) for turn in zip(*times, strict=True)]  # the slowest rank's
            for times in zip(*ranks, strict=True)
        )
        yield Row(
            f"{n_bytes:,} bytes summed over {RANKS} ranks by the ring of lab 04", ours, theirs,
            "dist.all_reduce",
        )  # fmt: skip


def _both(rank, size, ring, n_bytes) -> tuple[list[float], list[float]]:
    """Seconds of each call on this rank, the two ways in turn."""
    import torch
    import torch.distributed as dist

    def seconds(way) -> float:
        tensor = torch.ones(n_bytes // 4)
        dist.barrier()
        begin = time.perf_counter()
        way(tensor)
        return time.perf_counter() - begin

    return in_turn(
        lambda: seconds(lambda tensor: ring(rank, size, tensor)),
        lambda: seconds(dist.all_reduce), REPEATS,
    )  # fmt: skip


if __name__ == "__main__":
    raise SystemExit(run_all(["ring"]))
