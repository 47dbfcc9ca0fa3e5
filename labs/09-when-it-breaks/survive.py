"""One epoch of training that outlives its workers. Kill any of them, at any moment.

    export TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1
    torchrun --nproc-per-node=4 --max-restarts=3 survive.py
    kill -9 PID

It saves with your save_sharded, and when it is started again, it goes on from the last whole
checkpoint: with as many workers as before or with another number of them. `--from-scratch` shows
what a restart is worth without that.
"""

import argparse
import os
import time
from pathlib import Path

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from distlab.notebook import load

lab = load(Path(__file__).with_name("when_it_breaks.ipynb"))
EPOCH, SEED, LR, MOMENTUM = 0, 7, 0.03, 0.9


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", default="saved_models/survive", help="where checkpoints go")
    parser.add_argument("--samples", type=int, default=1200, help="samples of the epoch")
    parser.add_argument("--batch-size", type=int, default=20, help="of all workers together")
    parser.add_argument("--every", type=int, default=5, help="steps between two checkpoints")
    parser.add_argument(
        "--pause", type=float, default=0.02, help="seconds that a step takes longer"
    )
    parser.add_argument("--from-scratch", action="store_true", help="ignore what was saved")
    # torch.distributed.launch gives it; here the variable LOCAL_RANK says the same
    parser.add_argument("--local-rank", "--local_rank", type=int, default=0, help="ignored")
    return parser.parse_args()


def place():
    """(rank, size, local rank) from torchrun's variables, or where there are none from Slurm's."""
    names = ("RANK", "WORLD_SIZE", "LOCAL_RANK")
    if "RANK" not in os.environ:
        names = ("SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID")
    if names[0] not in os.environ:
        raise SystemExit("start this with torchrun --nproc-per-node=4 survive.py, or with srun")
    return tuple(int(os.environ[name]) for name in names)


def store_is_stale():
    """Is the store that torchrun gives this worker that of workers which have died?

    torch 2.13 hands it on when it starts workers again, with the addresses of the dead in it
    (https://github.com/pytorch/pytorch/issues/135712).
    """
    shared = os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True"
    return shared and os.environ.get("TORCHELASTIC_RESTART_COUNT", "0") != "0"


class Training:
    """All that makes up the state of this run, as one flat tensor.

    It holds the weights, their momentum, and for each sample how often it has been trained on: so
    that the state itself can tell whether something was left out or came twice.
    """

    def __init__(self, samples, device):
        torch.manual_seed(SEED)
        self.inputs = torch.randn(samples, 20, device=device)
        self.targets = (self.inputs @ torch.randn(20, 4, device=device)).argmax(dim=1)
        self.model = nn.Sequential(nn.Linear(20, 32), nn.Tanh(), nn.Linear(32, 4)).to(device)
        weights = parameters_to_vector(self.model.parameters()).detach()
        self.sizes = [len(weights), len(weights), samples]
        self.state = torch.cat([weights, torch.zeros(len(weights) + samples, device=device)])

    def step(self, mine, total):
        """Train on this rank's samples of a batch of `total`; returns the loss over all of it."""
        weights, momentum, seen = self.state.split(self.sizes)
        vector_to_parameters(weights, self.model.parameters())
        outputs = self.model(self.inputs[mine])
        loss = F.cross_entropy(outputs, self.targets[mine], reduction="sum") / total
        gradients = torch.autograd.grad(loss, list(self.model.parameters()))
        counts = torch.zeros_like(seen)
        counts[mine] = 1
        told = torch.cat([*(g.reshape(-1) for g in gradients), counts, loss.detach().reshape(1)])
        dist.all_reduce(told)
        gradient, counts, loss = told.split([len(weights), len(seen), 1])
        momentum.mul_(MOMENTUM).add_(gradient)
        weights.sub_(momentum, alpha=LR)
        seen.add_(counts)
        return loss.item()


def save(rank, size, training, folder, step):
    n = len(training.state)
    piece = training.state[rank * n // size : (rank + 1) * n // size].cpu()
    lab.save_sharded(rank, size, piece, folder, step)


def resume(rank, size, training, folder):
    """Bring back the last whole checkpoint; returns its step, 0 where there is none."""
    found = [lab.latest_whole(folder) if rank == 0 else None]
    dist.broadcast_object_list(found, src=0)  # one looks and tells: all must go on from the same
    if found[0] is None:
        return 0
    pieces = [None] * size
    dist.all_gather_object(pieces, lab.load_resharded(rank, size, folder, found[0]))
    training.state.copy_(torch.cat(pieces))
    return found[0]


def main():
    options = arguments()
    rank, size, local_rank = place()
    if store_is_stale():
        raise SystemExit(
            "start torchrun with TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1 to restart workers"
        )
    torch.set_num_threads(1)
    own_gpu = 0 < size <= torch.cuda.device_count()
    device = torch.device("cuda", local_rank) if own_gpu else torch.device("cpu")
    backend = "cpu:gloo,cuda:nccl" if own_gpu else "gloo"
    dist.init_process_group(backend, rank=rank, world_size=size)
    attempt = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
    print(f"rank {rank} of {size} is process {os.getpid()}, restart {attempt}", flush=True)
    n, folder = options.samples, options.folder
    Path(folder).mkdir(parents=True, exist_ok=True)
    training = Training(n, device)
    step = 0 if options.from_scratch else resume(rank, size, training, folder)
    if rank == 0:
        print(f"{size} workers go on after step {step}", flush=True)
    # the order of the epoch, as `remaining` has it
    order = torch.randperm(n, generator=torch.Generator().manual_seed(SEED + EPOCH)).tolist()
    done = min(step * options.batch_size, n)
    while done < n:
        batch = set(order[done : done + options.batch_size])
        mine = [i for i in lab.remaining(n, EPOCH, SEED, done, rank, size) if i in batch]
        loss = training.step(mine, len(batch))
        time.sleep(options.pause)
        done, step = done + len(batch), step + 1
        if rank == 0:
            with open(os.path.join(folder, "losses.csv"), "a") as file:
                file.write(f"{time.time()},{step},{size},{loss!r}\n")
        if step % options.every == 0 or done == n:
            save(rank, size, training, folder, step)
    same = lab.same_everywhere(rank, size, [training.state])
    if rank == 0:
        seen = training.state.split(training.sizes)[2]
        often = f"{int(seen.min())} to {int(seen.max())} times" if (seen != 1).any() else "once"
        print(f"{size} workers are done: every sample was trained on {often},", end=" ")
        print(f"all ranks hold {'the same' if same else 'different'} parameters", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
