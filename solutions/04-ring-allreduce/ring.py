"""Your ring of ring_allreduce.ipynb against dist.all_reduce and against its formula.

    torchrun --standalone --nproc-per-node=4 ring.py
    python -m torch.distributed.launch --nproc-per-node=4 ring.py
    srun --ntasks=4 python ring.py               (inside a Slurm job: see ring.sbatch)

Rank 0 prints a table: for each size of tensor the time of your ring, what your ring_time predicts
for it from a ping-pong between ranks 0 and 1, and the time of dist.all_reduce. The tensors are on
GPUs where every rank has one of its own. Save the notebook before you start it.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path

import torch
import torch.distributed as dist

from distlab import cost_model
from distlab.notebook import load

PINGS = [4, 1024, 65_536, 1_048_576, 8_388_608]  # bytes of the messages that measure the link
# srun starts processes too, but says who they are in variables of its own
SLURM = {"RANK": "SLURM_PROCID", "WORLD_SIZE": "SLURM_NTASKS", "LOCAL_RANK": "SLURM_LOCALID"}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--bytes", type=int, nargs="+", default=[4096, 65_536, 1_048_576, 16_777_216],
        metavar="N", help="sizes of the tensors (default: 4 kB to 16 MB)",
    )  # fmt: skip
    parser.add_argument("--repeats", type=int, default=10, help="of which the best one counts")
    # torch.distributed.launch passes this beside the environment variable LOCAL_RANK
    parser.add_argument("--local-rank", "--local_rank", type=int, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if min(chosen.bytes) < 4 or chosen.repeats < 1:
        parser.error("a tensor has at least 4 bytes, and it is timed at least once")
    return chosen


def join() -> torch.device:
    """Enter the default group; returns this rank's device."""
    if "RANK" not in os.environ and "SLURM_PROCID" in os.environ:
        os.environ.update({name: os.environ[theirs] for name, theirs in SLURM.items()})
    if "RANK" not in os.environ:
        raise SystemExit("start me with a launcher: torchrun --nproc-per-node=4 ring.py")
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29500")
    size = int(os.environ["WORLD_SIZE"])
    # torchrun says how many ranks this machine has, Slurm how many a machine was asked to have
    here = os.environ.get("LOCAL_WORLD_SIZE") or os.environ.get("SLURM_NTASKS_PER_NODE") or size
    if 0 < int(here) <= torch.cuda.device_count():
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(device)
        dist.init_process_group("nccl")
    else:
        device = torch.device("cpu")
        dist.init_process_group("gloo")
    return device


def best_time(function: Callable, n_bytes: int, repeats: int, device: torch.device) -> float:
    """Seconds of the slowest rank, in the best of all repetitions."""
    times = torch.zeros(repeats, dtype=torch.float64, device=device)
    for turn in range(repeats):
        tensor = torch.ones(n_bytes // 4, device=device)
        dist.barrier()
        begin = clock(device)
        function(tensor)
        times[turn] = clock(device) - begin
    dist.all_reduce(times, op=dist.ReduceOp.MAX)
    return times.min().item()


def clock(device: torch.device) -> float:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter()


def there_and_back(tensor: torch.Tensor) -> None:
    """A message from rank 0 to rank 1, and one back; the others look on."""
    rank = dist.get_rank()
    if rank == 0:
        dist.send(tensor, dst=1)
        dist.recv(tensor, src=1)
    elif rank == 1:
        dist.recv(tensor, src=0)
        dist.send(tensor, dst=0)


def check_sum(lab, rank: int, size: int, device: torch.device) -> None:
    """Times of a wrong sum are of no use."""
    mine = torch.arange(1003.0, device=device) + rank
    right = mine.clone()
    dist.all_reduce(right)
    if not torch.allclose(lab.ring_all_reduce(rank, size, mine), right):
        raise SystemExit(f"rank {rank}: ring_all_reduce does not give the sum: check it first")


def measured_link(size: int, repeats: int, device: torch.device) -> cost_model.Link | None:
    """Latency and bandwidth between ranks 0 and 1, where there are two and the clock can tell."""
    if size == 1:
        return None
    seconds = [best_time(there_and_back, n_bytes, repeats, device) / 2 for n_bytes in PINGS]
    try:
        return cost_model.fit(PINGS, seconds)
    except ValueError:  # the machine was too busy: the table goes without its formula
        return None


def print_table(lab, chosen: argparse.Namespace, device: torch.device) -> None:
    rank, size = dist.get_rank(), dist.get_world_size()
    link = measured_link(size, chosen.repeats, device)
    if rank == 0:
        print(f"{size} ranks, {dist.get_backend()}, on {device.type}")
        print(f"between ranks 0 and 1: {link or 'not measured'}")
        print(f"{'bytes':>12} {'your ring':>12} {'formula':>12} {'all_reduce':>12}", flush=True)
    for n_bytes in chosen.bytes:
        times = [
            best_time(
                lambda t: lab.ring_all_reduce(rank, size, t), n_bytes, chosen.repeats, device
            ),
            lab.ring_time(n_bytes, size, link.latency, link.bandwidth) if link else None,
            best_time(dist.all_reduce, n_bytes, chosen.repeats, device),
        ]
        cells = [f"{t * 1e3:9.3f} ms" if t is not None else "" for t in times]
        if rank == 0:
            print(f"{n_bytes:12,} " + " ".join(f"{cell:>12}" for cell in cells), flush=True)


def main() -> None:
    chosen, device = arguments(), join()
    rank, size = dist.get_rank(), dist.get_world_size()
    lab = load(Path(__file__).with_name("ring_allreduce.ipynb"))
    try:
        check_sum(lab, rank, size, device)
        print_table(lab, chosen, device)
    except NotImplementedError as todo:
        raise SystemExit(f"rank {rank}: {todo}: write it in the notebook, and save that") from None
    finally:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
