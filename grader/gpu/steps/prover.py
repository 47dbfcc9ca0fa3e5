"""Programs with CUDA tensors that can never end, and right ones: what does the prover say of each?

Two ranks share a GPU and so talk by gloo; where there are two GPUs, they talk by NCCL.

python -m grader.gpu.steps.prover RESULT
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import cloudpickle
import torch
import torch.distributed as dist

from distlab import Ranks
from grader.gpu import settings

PATIENCE = 20.0  # seconds in which a verdict must be there
SIZE = 2


def both_receive(rank: int, size: int, kind: str) -> None:
    buffer = torch.empty(4, device=kind)
    dist.recv(buffer, src=1 - rank)
    dist.send(buffer, dst=1 - rank)


def both_send(rank: int, size: int, kind: str) -> None:
    tensor = torch.ones(1 << 20, device=kind)
    dist.send(tensor, dst=1 - rank)
    dist.recv(tensor, src=1 - rank)


def nobody_sends(rank: int, size: int, kind: str) -> None:
    if rank == 0:
        dist.recv(torch.empty(4, device=kind), src=1)


def rank_0_alone_sums(rank: int, size: int, kind: str) -> None:
    if rank == 0:
        dist.all_reduce(torch.ones(4, device=kind))


def other_order(rank: int, size: int, kind: str) -> None:
    tensor = torch.ones(4, device=kind)
    if rank == 0:
        dist.all_reduce(tensor)
        dist.broadcast(tensor, src=0)
    else:
        dist.broadcast(tensor, src=0)
        dist.all_reduce(tensor)


def swaps(rank: int, size: int, kind: str) -> float:
    mine, theirs = torch.full((4,), float(rank), device=kind), torch.empty(4, device=kind)
    requests = [dist.isend(mine, 1 - rank), dist.irecv(theirs, 1 - rank)]
    for request in requests:
        assert request is not None
        request.wait()
    return float(theirs[0])


def sums(rank: int, size: int, kind: str) -> float:
    tensor = torch.full((1 << 18,), float(rank), device=kind)
    for _ in range(20):
        dist.all_reduce(tensor)
        tensor /= size
    return float(tensor[0])


def trains(rank: int, size: int, kind: str) -> float:
    from torch.nn.parallel import DistributedDataParallel

    device = torch.device(kind, rank % torch.cuda.device_count()) if kind == "cuda" else None
    net = DistributedDataParallel(torch.nn.Linear(16, 4).to(device))
    for _ in range(3):
        net(torch.ones(8, 16, device=device)).sum().backward()
    return float(net.module.bias.grad[0])


HANGING: tuple[Callable[..., Any], ...] = (
    both_receive, both_send, nobody_sends, rank_0_alone_sums, other_order,
)  # fmt: skip
RIGHT: tuple[Callable[..., Any], ...] = (swaps, sums, trains)


def main(out: str) -> None:
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    ranks = Ranks(SIZE, deadline=PATIENCE)
    result: dict[str, Any] = {"ranks": repr(ranks), "programs": [], "wrong": []}
    for program in (*HANGING, *RIGHT):
        begin = time.monotonic()
        run = ranks.run(program, settings.device(), may_fail=True)
        hangs, proven = program in HANGING, run.run.finding is not None
        right = proven if hangs else run.ok and not proven
        result["programs"].append({
            "name": program.__name__, "hangs": hangs, "proven": proven, "right": right,
            "seconds": round(time.monotonic() - begin, 2), "told": run.story()[:400],
        })  # fmt: skip
        if not right:
            result["wrong"].append(f"{program.__name__}: {run.story()[:400]}")
        settings.write(out, result)


if __name__ == "__main__":
    main(*sys.argv[1:])
