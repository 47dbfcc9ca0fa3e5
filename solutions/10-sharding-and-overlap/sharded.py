"""A network trained with what you wrote: no rank ever holds all of it.

    torchrun --standalone --nproc-per-node=4 sharded.py
    torchrun --standalone --nproc-per-node=4 sharded.py --layers 16 --width 512

It learns what another network of the same form computes. Each rank keeps its pieces of parameters,
gradients and Adam's moments; your fsdp_step gathers the layers one by one, your clip_sharded finds
the norm of the gradient. At the end it says how many bytes a rank has held.
"""

import argparse
import os
import time
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn

from distlab import memory
from distlab.notebook import load

lab = load(Path(__file__).with_name("sharding_and_overlap.ipynb"))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", type=int, default=8, help="of the network")
    parser.add_argument("--width", type=int, default=256, help="units of a layer")
    parser.add_argument("--batch-size", type=int, default=64, help="rows of one rank's batch")
    parser.add_argument("--steps", type=int, default=30, help="of training")
    parser.add_argument("--lr", type=float, default=1e-3, help="learning rate")
    parser.add_argument("--max-norm", type=float, default=1.0, help="of the clipped gradient")
    # torch.distributed.launch gives it; here the variable LOCAL_RANK says the same
    parser.add_argument("--local-rank", "--local_rank", type=int, default=0, help="ignored")
    return parser.parse_args()


def place():
    """(rank, size, local rank) from torchrun's variables, or where there are none from Slurm's."""
    names = ("RANK", "WORLD_SIZE", "LOCAL_RANK")
    if "RANK" not in os.environ:
        names = ("SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID")
    if names[0] not in os.environ:
        raise SystemExit("start this with torchrun --nproc-per-node=4 sharded.py, or with srun")
    return tuple(int(os.environ[name]) for name in names)


def make_layer(number, width, seed, device):
    """Weight and bias of one layer, the same on every rank, which makes one at a time."""
    generator = torch.Generator().manual_seed(1000 * seed + number)
    weight = torch.randn(width, width, generator=generator) * (1.5 / width**0.5)
    return weight.to(device), torch.zeros(width, device=device)


def taught(inputs, options, device):
    """What the network to be imitated makes of these inputs."""
    for number in range(options.layers):
        inputs = lab.layer(inputs, *make_layer(number, options.width, 2, device))
    return inputs


def main():
    options = arguments()
    rank, size, local_rank = place()
    gpus = torch.cuda.device_count()  # NCCL refuses to share a GPU
    device = torch.device("cuda", local_rank) if 0 < size <= gpus else torch.device("cpu")
    if device.type == "cuda":
        torch.cuda.set_device(device)
    else:
        torch.set_num_threads(1)
    # a rank's sum of squares may lie on the CPU, its gradients on the GPU
    backend = "cpu:gloo,cuda:nccl" if device.type == "cuda" else "gloo"
    dist.init_process_group(backend, rank=rank, world_size=size)
    with memory.tracked(device) as used:
        pieces, shapes = [], []
        for number in range(options.layers):
            layer = make_layer(number, options.width, 1, device)
            pieces.append(nn.Parameter(lab.shard_flat(rank, size, layer)))
            shapes.append([tensor.shape for tensor in layer])
        optimizer = torch.optim.Adam(pieces, lr=options.lr)
        torch.manual_seed(rank)  # other data on each rank
        first = last = 0.0
        begin = time.perf_counter()
        for step in range(options.steps):
            inputs = torch.randn(options.batch_size, options.width, device=device)
            with torch.no_grad():
                targets = taught(inputs, options, device)
            plain = [piece.detach() for piece in pieces]
            last, gradients = lab.fsdp_step(rank, size, plain, shapes, inputs, targets)
            lab.clip_sharded(rank, size, gradients, options.max_norm)
            for piece, gradient in zip(pieces, gradients, strict=True):
                piece.grad = gradient
            optimizer.step()
            first = last if step == 0 else first
        seconds = time.perf_counter() - begin
    whole = 16 * options.layers * (options.width + 1) * options.width
    if rank == 0:
        print(f"{size} rank(s) on {device.type}: loss {first:.4f} at first, {last:.4f} at last, "
              f"{seconds:.1f} s")  # fmt: skip
        print(f"at most {used.peak / 1e6:.1f} MB on this rank; undivided, parameters, gradients "
              f"and moments take {whole / 1e6:.1f} MB", flush=True)  # fmt: skip
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
