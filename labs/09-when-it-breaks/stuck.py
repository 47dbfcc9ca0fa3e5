"""A training program that hangs: the object of study of this lab's first part.

    torchrun --nproc-per-node=3 stuck.py --timeout 60

Seventeen batches are dealt out to the ranks, after each batch the ranks add up their gradients, and
when all are done there is a barrier. --timeout is the timeout of every collective.
"""

import argparse
import datetime
import faulthandler
import json
import os
import pickle
import signal
from pathlib import Path

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

BATCHES = 17


def train(rank, size, monitored):
    torch.manual_seed(0)
    model = nn.Linear(20, 1)
    batches = [(torch.randn(8, 20), torch.randn(8, 1)) for _ in range(BATCHES)]
    for inputs, targets in batches[rank::size]:
        loss = F.mse_loss(model(inputs), targets)
        loss.backward()
        if monitored:
            patience = datetime.timedelta(seconds=2)
            dist.monitored_barrier(timeout=patience, wait_all_ranks=True)
        for parameter in model.parameters():
            dist.all_reduce(parameter.grad)
    dist.barrier()  # now rank 0 could save the model


def dump_flight_recorder(rank, folder):
    """Write down what PyTorch's Flight Recorder knows of this rank's collectives.

    For each of them: its name, the shape of its tensor, the line of this file. (With NCCL, PyTorch
    makes a dump by itself.)
    """
    from torch._C import _distributed_c10d as c10d

    found = []
    for entry in pickle.loads(c10d._dump_fr_trace())["entries"]:
        lines = [f["line"] for f in entry["frames"] if f["filename"].endswith("stuck.py")]
        shape = entry["input_sizes"][0] if entry["input_sizes"] else []
        found.append({"op": entry["profiling_name"], "shape": shape, "line": lines[0]})
    Path(folder, f"flight-{rank}.json").write_text(json.dumps(found))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--timeout", type=float, default=1800, help="seconds, of every collective")
    parser.add_argument("--dump", default=".", help="where the Flight Recorder's files go")
    parser.add_argument("--monitored", action="store_true", help="a monitored_barrier every batch")
    # torch.distributed.launch gives it; here the variable LOCAL_RANK says the same
    parser.add_argument("--local-rank", "--local_rank", type=int, default=0, help="ignored")
    options = parser.parse_args()
    torch.set_num_threads(1)
    # from now on `kill -USR1 PID` prints where this process is, also while it waits in C++
    faulthandler.register(signal.SIGUSR1)
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=options.timeout))
    rank, size = dist.get_rank(), dist.get_world_size()
    print(f"rank {rank} is process {os.getpid()}", flush=True)
    try:
        train(rank, size, options.monitored)
    except RuntimeError:
        if "TORCH_FR_BUFFER_SIZE" in os.environ:
            dump_flight_recorder(rank, options.dump)
        raise
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
