"""The functions of message_passing.ipynb in processes that a launcher started.

    torchrun --standalone --nproc-per-node=2 send_receive.py
    python -m torch.distributed.launch --nproc-per-node=2 send_receive.py
    srun --ntasks=2 python send_receive.py        (inside a Slurm job: see send_receive.sbatch)

With two processes it runs run_blocking, or with --non-blocking run_non_blocking; with any number it
runs relay. Save the notebook before you start it.
"""

from __future__ import annotations

import argparse
import os
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
    parser.add_argument("--non-blocking", action="store_true", help="isend and irecv")
    # torch.distributed.launch passes this beside the environment variable LOCAL_RANK
    parser.add_argument("--local-rank", "--local_rank", type=int, help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    options = arguments()
    if "RANK" not in os.environ and "SLURM_PROCID" in os.environ:
        os.environ.update({name: os.environ[theirs] for name, theirs in SLURM.items()})
    if "RANK" not in os.environ:
        raise SystemExit("start me with a launcher: torchrun --nproc-per-node=2 send_receive.py")
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29500")
    lab = load(Path(__file__).with_name("message_passing.ipynb"))

    # gloo, because these tensors are on the CPU
    dist.init_process_group("gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    try:
        if size == 2:
            function = lab.run_non_blocking if options.non_blocking else lab.run_blocking
            tensor = function(rank, size)
            print(f"{function.__name__}: rank {rank} has {tensor.tolist()}", flush=True)
        total = lab.relay(rank, size, torch.tensor([rank + 1.0]))
        print(f"relay: rank {rank} of {size} has {total.tolist()}", flush=True)
        dist.barrier()  # nobody leaves while another is still receiving
    except NotImplementedError as todo:
        raise SystemExit(f"rank {rank}: {todo}: write it in the notebook, and save that") from None
    finally:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
