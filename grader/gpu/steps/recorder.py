"""What recording costs on the GPU: an all-reduce of one rank, and steps of ResNet-18 under DDP.

Both recorded and not, in turn, in one process with a group of one rank, NCCL's on a GPU.

python -m grader.gpu.steps.recorder RESULT
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from distlab.rank import group_maker, recorder
from distlab.training.small_net import SmallNet
from distlab.training.vision import models
from grader.gpu import settings


def main(out: str) -> None:
    small = settings.pretend()
    device = torch.device(settings.device(), 0) if not small else torch.device("cpu")
    if device.type == "cuda":
        torch.cuda.set_device(device)
    with tempfile.TemporaryDirectory() as folder:
        backend = "gloo" if small else "nccl"
        dist.init_process_group(backend, store=dist.HashStore(), rank=0, world_size=1)
        plain = dist.new_group([0])
        group_maker.install(recorder.Recorder(Path(folder) / "0.rec", 0, 1))
        recorded = dist.new_group([0])
        group_maker.uninstall()
        groups = {"recorded": recorded, "not recorded": plain}
        result: dict[str, Any] = {"back end": backend}
        sums = {name: sums_of(group, device, small) for name, group in groups.items()}
        result["all-reduce of 4 elements, seconds"] = in_turn(sums, 5 if small else 60)
        settings.write(out, result)
        steps = {name: steps_of(group, device, small) for name, group in groups.items()}
        net = "the small network" if small else "ResNet-18"
        result[f"step of {net} under DDP, seconds"] = in_turn(steps, 2 if small else 15)
        settings.write(out, result)
        dist.destroy_process_group()


def in_turn(ways: dict[str, Callable[[], float]], repeats: int) -> dict[str, float]:
    """Medians of each way's figures, and by how much the first is above the second."""
    for measure in ways.values():  # the first time of each is not counted
        measure()
    found: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(repeats):
        for name, measure in ways.items():
            found[name].append(measure())
    ours, theirs = found.values()
    pairs = list(zip(ours, theirs, strict=True))
    return {
        **{name: statistics.median(some) for name, some in found.items()},
        "cost": statistics.median(a - b for a, b in pairs),
        "share": statistics.median(a / b - 1 for a, b in pairs),
    }


def seconds(work: Callable[[], object], device: torch.device) -> float:
    """Seconds until the device has done some work."""
    wait = torch.cuda.synchronize if device.type == "cuda" else (lambda: None)
    wait()
    begin = time.perf_counter()
    work()
    wait()
    return time.perf_counter() - begin


def sums_of(group: Any, device: torch.device, small: bool) -> Callable[[], float]:
    """Measures one all-reduce, as the mean of many."""
    tensor, count = torch.zeros(4, device=device), 20 if small else 200

    def work() -> None:
        for _ in range(count):
            dist.all_reduce(tensor, group=group)

    return lambda: seconds(work, device) / count


def steps_of(group: Any, device: torch.device, small: bool) -> Callable[[], float]:
    """Measures one training step, as the mean of some."""
    torch.manual_seed(0)
    batch, count = (4, 1) if small else (256, 10)
    ids = [device.index] if device.type == "cuda" else None
    net = SmallNet(10, (4, 4, 4)) if small else models.resnet18(num_classes=10)
    model = DistributedDataParallel(net.to(device), device_ids=ids, process_group=group)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    images = torch.randn(batch, 3, 32, 32, device=device)
    labels = torch.randint(10, (batch,), device=device)

    def work() -> None:
        for _ in range(count):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(images), labels).backward()
            optimizer.step()

    return lambda: seconds(work, device) / count


if __name__ == "__main__":
    main(*sys.argv[1:])
