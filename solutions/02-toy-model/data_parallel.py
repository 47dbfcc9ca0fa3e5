"""Threads of one process, as nn.DataParallel has them, against processes, as DDP has them.

    python data_parallel.py [--replicas 2] [--seconds 1] [--json FILE]

Each replica of a model makes forward and backward passes on its own data, and nobody talks to
anybody: what is measured is how much one replica holds up the others. With two GPUs or more the
real nn.DataParallel and DistributedDataParallel are measured too.
"""

import argparse
import json
import socket
import threading
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn


def many_small_layers() -> tuple[nn.Module, torch.Tensor]:
    """Python is busy: hundreds of calls, each with next to nothing to compute."""
    layers = [layer for _ in range(60) for layer in (nn.Linear(16, 16), nn.ReLU())]
    return nn.Sequential(*layers), torch.randn(8, 16)


def few_large_layers() -> tuple[nn.Module, torch.Tensor]:
    """Arithmetic is busy: a handful of calls, each a large matrix product."""
    model = nn.Sequential(nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 1024))
    return model, torch.randn(256, 1024)


MODELS = {"many small layers": many_small_layers, "few large layers": few_large_layers}


def steps_in(seconds: float, model: nn.Module, batch: torch.Tensor) -> float:
    """Forward and backward passes per second."""
    steps, begin = 0, time.perf_counter()
    while time.perf_counter() - begin < seconds:
        model.zero_grad()
        model(batch).sum().backward()
        if batch.is_cuda:
            torch.cuda.synchronize()
        steps += 1
    return steps / (time.perf_counter() - begin)


def in_threads(make, replicas: int, seconds: float) -> float:
    rates = [0.0] * replicas

    def work(number: int) -> None:
        rates[number] = steps_in(seconds, *make())

    threads = [threading.Thread(target=work, args=(n,)) for n in range(replicas)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(rates)


def process(rank: int, replicas: int, port: int, seconds: float, rates) -> None:
    torch.set_num_threads(1)
    gpus = torch.cuda.device_count()
    backend = "nccl" if replicas <= gpus else "gloo"
    dist.init_process_group(
        backend, init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=replicas
    )
    if replicas <= gpus:
        torch.cuda.set_device(rank)
    for name, make in MODELS.items():
        model, batch = make()
        dist.barrier()
        rates[f"{name}, processes, {rank}"] = steps_in(seconds, model, batch)
        if replicas <= gpus:
            parallel = nn.parallel.DistributedDataParallel(model.cuda())
            rates[f"{name}, DDP, {rank}"] = steps_in(seconds, parallel, batch.cuda())
    dist.destroy_process_group()


def measured(replicas: int, seconds: float) -> dict[str, dict[str, float]]:
    """Passes per second, all replicas together, by model and way."""
    torch.set_num_threads(1)
    table: dict[str, dict[str, float]] = {}
    for name, make in MODELS.items():
        table[name] = {
            "1 replica": steps_in(seconds, *make()),
            f"{replicas} threads": in_threads(make, replicas, seconds),
        }
        if torch.cuda.device_count() >= replicas > 1:
            model, batch = make()
            parallel = nn.DataParallel(model.cuda(), device_ids=list(range(replicas)))
            together = torch.cat([batch] * replicas).cuda()
            table[name]["nn.DataParallel"] = replicas * steps_in(seconds, parallel, together)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with mp.Manager() as manager:
        rates = manager.dict()
        mp.spawn(process, args=(replicas, port, seconds, rates), nprocs=replicas)
        for key, rate in rates.items():
            name, way, _ = key.split(", ")
            way = f"{replicas} processes" if way == "processes" else way
            table[name][way] = table[name].get(way, 0.0) + rate
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replicas", type=int, default=2, help="threads, or processes")
    parser.add_argument("--seconds", type=float, default=1.0, help="of each measurement")
    parser.add_argument("--json", help="write the table to this file")
    options = parser.parse_args()
    table = measured(options.replicas, options.seconds)
    for name, ways in table.items():
        alone = ways["1 replica"]
        for way, rate in ways.items():
            print(f"{name:18} {way:16} {rate:9.1f} passes/s  {rate / alone:5.2f} x")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(table, file, indent=1)


if __name__ == "__main__":
    main()
