"""Tokens on their way to experts on all ranks, evenly and with a favourite.

    torchrun --standalone --nproc-per-node=4 experts.py
    torchrun --standalone --nproc-per-node=4 experts.py --favour 5 --capacity-factor 1.25
    srun --ntasks=4 python experts.py            (inside a Slurm job: see experts.sbatch)

Each rank has an expert, an MLP of random weights, and tokens of its own. Your route chooses, your
dispatch_combine carries, your balance_loss says how uneven it is. Rank 0 prints, with and without
an addition to the logits of expert 0 (--favour): the tokens of each expert, those dropped, the
balance loss, the time until all are back, and how far the outputs are from those that a rank
computes with all experts by itself. Save the notebook before you start it.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import torch
import torch.distributed as dist
import torch.nn.functional as F

from distlab.notebook import load

# srun starts processes too, but says who they are in variables of its own
SLURM = {"RANK": "SLURM_PROCID", "WORLD_SIZE": "SLURM_NTASKS", "LOCAL_RANK": "SLURM_LOCALID"}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tokens", type=int, default=1024, help="of each rank")
    parser.add_argument("--width", type=int, default=128, help="numbers of a token")
    parser.add_argument("--favour", type=float, default=2.0, help="added to expert 0's logits")
    parser.add_argument(
        "--capacity-factor", type=float, default=0.0, metavar="F",
        help="an expert takes F times its fair share of a rank's tokens (default: all)",
    )  # fmt: skip
    parser.add_argument("--repeats", type=int, default=5, help="of which the best one counts")
    # torch.distributed.launch passes this beside the environment variable LOCAL_RANK
    parser.add_argument("--local-rank", "--local_rank", type=int, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if min(chosen.tokens, chosen.width, chosen.repeats) < 1 or chosen.capacity_factor < 0:
        parser.error("--tokens, --width and --repeats are at least 1, --capacity-factor at least 0")
    return chosen


def join() -> torch.device:
    """Enter the default group; returns this rank's device."""
    if "RANK" not in os.environ and "SLURM_PROCID" in os.environ:
        os.environ.update({name: os.environ[theirs] for name, theirs in SLURM.items()})
    if "RANK" not in os.environ:
        raise SystemExit("start me with a launcher: torchrun --nproc-per-node=4 experts.py")
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


def make_expert(number: int, width: int, device: torch.device):
    """Expert `number`, the same on whatever rank it is made."""
    generator = torch.Generator().manual_seed(1000 + number)
    up, down = torch.randn(2, 4 * width, width, generator=generator).to(device) / width**0.5

    def expert(tokens: torch.Tensor) -> torch.Tensor:
        return F.gelu(tokens @ up.T) @ down / 2

    return expert


def clock(device: torch.device) -> float:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter()


def best_time(function, repeats: int, device: torch.device) -> float:
    """Seconds of the slowest rank, in the best of all repetitions."""
    times = torch.zeros(repeats, dtype=torch.float64, device=device)
    for turn in range(repeats):
        dist.barrier()
        begin = clock(device)
        function()
        times[turn] = clock(device) - begin
    dist.all_reduce(times, op=dist.ReduceOp.MAX)
    return times.min().item()


def by_myself(tokens: torch.Tensor, expert: torch.Tensor, size: int) -> torch.Tensor:
    """This rank's outputs, all experts on this rank."""
    output = torch.zeros_like(tokens)
    for number in range(size):
        mine = expert == number
        output[mine] = make_expert(number, tokens.shape[1], tokens.device)(tokens[mine])
    return output


def print_row(lab, chosen: argparse.Namespace, device: torch.device, favour: float) -> None:
    rank, size = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(rank)
    tokens = torch.randn(chosen.tokens, chosen.width, device=device)
    logits = torch.randn(chosen.tokens, size, device=device)
    logits[:, 0] += favour
    room = chosen.tokens
    if chosen.capacity_factor:
        room = int(chosen.capacity_factor * chosen.tokens / size)
    expert, _ = lab.route(logits, room)
    own = make_expert(rank, chosen.width, device)

    def there_and_back():
        return lab.dispatch_combine(rank, size, tokens, expert, own)

    apart = (there_and_back() - by_myself(tokens, expert, size)).abs().max()
    dist.all_reduce(apart, op=dist.ReduceOp.MAX)
    loss = lab.balance_loss(rank, size, logits.softmax(dim=1), expert)
    counts = torch.bincount(expert + 1, minlength=size + 1)
    dist.all_reduce(counts)
    seconds = best_time(there_and_back, chosen.repeats, device)
    if rank == 0:
        dropped, *loads = counts.tolist()
        print(
            f"expert 0 favoured by {favour:g}: tokens {loads}, {dropped} dropped, balance loss "
            f"{loss:.3f}, {seconds * 1e3:.2f} ms, apart by {apart.item():.1e}", flush=True,
        )  # fmt: skip


def main() -> None:
    chosen, device = arguments(), join()
    lab = load(Path(__file__).with_name("long_sequences_and_experts.ipynb"))
    try:
        if dist.get_rank() == 0:
            print(f"{dist.get_world_size()} ranks, {dist.get_backend()}, on {device.type}")
        for favour in (0.0, chosen.favour):
            print_row(lab, chosen, device, favour)
    except NotImplementedError as todo:
        rank = dist.get_rank()
        raise SystemExit(f"rank {rank}: {todo}: write it in the notebook, and save that") from None
    finally:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
