"""Your two ways to divide attention, timed over sequences of growing length.

    torchrun --standalone --nproc-per-node=4 attention.py
    srun --ntasks=4 python attention.py          (inside a Slurm job: see attention.sbatch)

Rank 0 prints a table: for each length the time of your ring_attention and of your
ulysses_attention, and how far they are from attention over everything, which each rank computes
for its own positions after gathering all keys and values. The tensors are on GPUs where every rank
has one of its own. Save the notebook before you start it.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path

import torch
import torch.distributed as dist

from distlab.notebook import load

# srun starts processes too, but says who they are in variables of its own
SLURM = {"RANK": "SLURM_PROCID", "WORLD_SIZE": "SLURM_NTASKS", "LOCAL_RANK": "SLURM_LOCALID"}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--lengths", type=int, nargs="+", default=[512, 1024, 2048, 4096], metavar="N",
        help="positions of all ranks together (default: 512 to 4096)",
    )  # fmt: skip
    parser.add_argument("--heads", type=int, help="a multiple of the ranks (default: 2 a rank)")
    parser.add_argument("--width", type=int, default=32, help="numbers in a head")
    parser.add_argument("--repeats", type=int, default=3, help="of which the best one counts")
    parser.add_argument("--whole", action="store_true", help="no causal mask")
    # torch.distributed.launch passes this beside the environment variable LOCAL_RANK
    parser.add_argument("--local-rank", "--local_rank", type=int, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if min(chosen.lengths) < 1 or chosen.width < 1 or chosen.repeats < 1:
        parser.error("lengths, --width and --repeats are at least 1")
    return chosen


def join() -> torch.device:
    """Enter the default group; returns this rank's device."""
    if "RANK" not in os.environ and "SLURM_PROCID" in os.environ:
        os.environ.update({name: os.environ[theirs] for name, theirs in SLURM.items()})
    if "RANK" not in os.environ:
        raise SystemExit("start me with a launcher: torchrun --nproc-per-node=4 attention.py")
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
        torch.set_num_threads(1)
        dist.init_process_group("gloo")
    return device


def clock(device: torch.device) -> float:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter()


def best_time(function: Callable[[], object], repeats: int, device: torch.device) -> float:
    """Seconds of the slowest rank, in the best of all repetitions."""
    times = torch.zeros(repeats, dtype=torch.float64, device=device)
    for turn in range(repeats):
        dist.barrier()
        begin = clock(device)
        function()
        times[turn] = clock(device) - begin
    dist.all_reduce(times, op=dist.ReduceOp.MAX)
    return times.min().item()


def over_everything(lab, rank: int, q, k, v, causal: bool) -> torch.Tensor:
    """Attention of this rank's queries, (heads, n, d), with all keys and values in one place."""
    size, n = dist.get_world_size(), q.shape[1]
    parts = [[torch.empty_like(part) for _ in range(size)] for part in (k, v)]
    dist.all_gather(parts[0], k.contiguous())
    dist.all_gather(parts[1], v.contiguous())
    visible = None
    if causal:
        positions = torch.arange(size * n, device=q.device)
        visible = positions[rank * n : (rank + 1) * n, None] >= positions
    return lab.attend(q, *(torch.cat(part, dim=1) for part in parts), visible)[0]


def farthest(some: torch.Tensor, other: torch.Tensor) -> float:
    """The largest difference on any rank."""
    most = (some - other).abs().max()
    dist.all_reduce(most, op=dist.ReduceOp.MAX)
    return most.item()


def print_table(lab, chosen: argparse.Namespace, device: torch.device) -> None:
    rank, size = dist.get_rank(), dist.get_world_size()
    heads, causal = chosen.heads or 2 * size, not chosen.whole
    if heads % size:
        raise SystemExit(f"--heads {heads} is no multiple of the {size} ranks")
    if rank == 0:
        mask = "causal" if causal else "no mask"
        print(f"{size} ranks, {dist.get_backend()}, on {device.type}; {heads} heads, {mask}")
        print(f"{'positions':>10} {'ring':>12} {'by heads':>12} {'apart by':>10}", flush=True)
    torch.manual_seed(rank)
    for length in chosen.lengths:
        n = max(length // size, 1)
        q, k, v = torch.randn(3, heads, n, chosen.width, device=device)
        by_heads = [part.transpose(0, 1).contiguous() for part in (q, k, v)]

        def ring(parts=(q, k, v)):
            return lab.ring_attention(rank, size, *parts, causal)

        def exchange(parts=by_heads):
            return lab.ulysses_attention(rank, size, *parts, causal)

        right = over_everything(lab, rank, q, k, v, causal)
        apart = max(farthest(ring(), right), farthest(exchange().transpose(0, 1), right))
        times = [best_time(way, chosen.repeats, device) for way in (ring, exchange)]
        if rank == 0:
            cells = " ".join(f"{seconds * 1e3:9.2f} ms" for seconds in times)
            print(f"{n * size:10,} {cells} {apart:10.1e}", flush=True)


def main() -> None:
    chosen, device = arguments(), join()
    lab = load(Path(__file__).with_name("long_sequences_and_experts.ipynb"))
    try:
        print_table(lab, chosen, device)
    except NotImplementedError as todo:
        rank = dist.get_rank()
        raise SystemExit(f"rank {rank}: {todo}: write it in the notebook, and save that") from None
    finally:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
