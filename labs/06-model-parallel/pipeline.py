"""A network cut into stages by your split_layers and trained by your pipeline_step.

    torchrun --standalone --nproc-per-node=4 pipeline.py
    torchrun --standalone --nproc-per-node=4 pipeline.py --microbatches 1

It learns to tell apart the ten digits of scikit-learn. The network is so small that computing it
takes no time worth dividing, so each stage also sleeps for a while per row (--work), as if it were
large. Then the share of the time in which a rank was idle can be compared with the formula.
"""

import argparse
import os
import time
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn

from distlab import Work
from distlab.notebook import load

lab = load(Path(__file__).with_name("model_parallel.ipynb"))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--microbatches", type=int, default=8, help="equal parts of a batch")
    parser.add_argument("--batch-size", type=int, default=64, help="rows of a batch")
    parser.add_argument("--steps", type=int, default=20, help="of training")
    parser.add_argument("--work", type=float, default=1.0, help="milliseconds of sleep per row")
    parser.add_argument("--width", type=int, default=256, help="units of a hidden layer")
    parser.add_argument("--lr", type=float, default=3e-3, help="learning rate")
    # torch.distributed.launch gives it; here the variable LOCAL_RANK says the same
    parser.add_argument("--local-rank", "--local_rank", type=int, default=0, help="ignored")
    options = parser.parse_args()
    if options.microbatches < 1 or options.batch_size % options.microbatches:
        parser.error(
            f"--batch-size {options.batch_size} is not divisible by "
            f"--microbatches {options.microbatches}"
        )
    return options


def place():
    """(rank, size, local rank) from torchrun's variables, or where there are none from Slurm's."""
    names = ("RANK", "WORLD_SIZE", "LOCAL_RANK")
    if "RANK" not in os.environ:
        names = ("SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID")
    if names[0] not in os.environ:
        raise SystemExit("start this with torchrun --nproc-per-node=4 pipeline.py, or with srun")
    return tuple(int(os.environ[name]) for name in names)


def make_network(width):
    """Layers of unequal size: the cuts matter."""
    net = nn.Sequential(nn.Linear(64, width), nn.ReLU())
    for _ in range(5):
        net.extend([nn.Linear(width, width), nn.ReLU()])
    return net.append(nn.Linear(width, 10))


def digits(device):
    """Images of 8×8 grey values from 0 to 1, and the digits as rows with a single 1."""
    from sklearn.datasets import load_digits

    found = load_digits()
    images = torch.tensor(found.data, dtype=torch.float32, device=device) / 16
    return images, torch.eye(10, device=device)[torch.tensor(found.target, device=device)]


def main():
    options = arguments()
    rank, size, local_rank = place()
    # NCCL refuses to share a GPU, and gloo sends no tensor from one
    gpus = torch.cuda.device_count()
    device = torch.device("cuda", local_rank) if 0 < size <= gpus else torch.device("cpu")
    if device.type == "cuda":
        torch.cuda.set_device(device)
    else:
        torch.set_num_threads(1)
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo", rank=rank, world_size=size)
    torch.manual_seed(0)
    work = Work(options.work / 1000)
    stage = lab.split_layers(make_network(options.width), size)[rank].append(work).to(device)
    optimizer = torch.optim.Adam(stage.parameters(), lr=options.lr)
    images, targets = digits(device)
    first = last = None
    dist.barrier()
    begin = time.perf_counter()
    for step in range(options.steps):
        # the same rows on every rank: they are drawn from equal seeds
        rows = torch.randint(len(images), (options.batch_size,)).to(device)
        optimizer.zero_grad()
        loss = lab.pipeline_step(
            rank, size, stage, images[rows] if rank == 0 else None,
            targets[rows] if rank == size - 1 else None, options.microbatches,
        )  # fmt: skip
        optimizer.step()
        if step == 0:  # it has warmed up: from here on the time counts
            work.noted()
            begin, first = time.perf_counter(), loss
        last = loss
    seconds = time.perf_counter() - begin
    busy = sum(slot.end - slot.begin for slot in work.noted())
    told = torch.tensor([seconds, busy, sum(p.numel() for p in stage.parameters())])
    everybody = [torch.empty_like(told, device=device) for _ in range(size)]
    dist.all_gather(everybody, told.to(device))
    if rank == size - 1:
        for r, (spent, busy, count) in enumerate(torch.stack(everybody).tolist()):
            print(f"rank {r}: {count:9,.0f} parameters, idle {1 - busy / max(spent, 1e-9):.0%}")
        bubble = lab.bubble_fraction(size, options.microbatches)
        print(f"{size} rank(s), {options.microbatches} micro-batch(es): bubble {bubble:.0%}")
        print(f"loss {first:.4f} at first, {last:.4f} at last, {seconds:.1f} s", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
