"""What lab 05 measures: a small network's throughput, how long it waits for data, its options."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

from distlab.processes import machine
from distlab.rank import world
from distlab.training import augment, data, speedups, storage

Loader = Iterable[tuple[torch.Tensor, torch.Tensor]]


def make_net(width: int = 12) -> nn.Sequential:
    """A convolutional network for images of shape (3, 32, 32) and ten classes.

    It has GroupNorm, so that an image's gradient does not depend on what else is in its batch.
    """
    layers, channels = [], 3
    for wider in (width, 2 * width, 4 * width):
        layers += [
            nn.Conv2d(channels, wider, 3, padding=1, bias=False),
            nn.GroupNorm(4, wider),
            nn.ReLU(),
            nn.MaxPool2d(2),
        ]
        channels = wider
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(channels * 16, 10))


def replicate(net: nn.Module) -> DistributedDataParallel:
    """Move a network to this rank's device and wrap it in DDP."""
    device = world.here().device
    ids = [device.index] if device.type == "cuda" else None
    return DistributedDataParallel(net.to(device), device_ids=ids)


def train_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    images: torch.Tensor,
    labels: torch.Tensor,
) -> None:
    """Train on one batch, wherever it lies; returns when the step is done, on a GPU too."""
    device = world.here().device
    optimizer.zero_grad()
    F.cross_entropy(model(images.to(device)), labels.to(device)).backward()
    optimizer.step()
    if device.type == "cuda":
        torch.cuda.synchronize()


def measure_throughput(
    rank: int, size: int, per_rank: int, width: int = 24, steps: int = 4, repeats: int = 6
) -> list[float]:
    """Train on random images that lie in memory.

    Args:
        per_rank: images per rank and step.
        width: of the network.
        steps: in each measurement.
        repeats: measurements; one more, the first, is thrown away.

    Returns:
        Images per second of all ranks together, one figure for each measurement. A step takes as
        long as on the slowest rank.
    """
    device = world.here().device
    torch.manual_seed(rank)
    model = replicate(make_net(width))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    images = torch.rand(per_rank, 3, 32, 32, device=device)
    labels = torch.randint(10, (per_rank,), device=device)
    rates = []
    for _ in range(repeats + 1):
        dist.barrier()
        begin = time.perf_counter()
        for _ in range(steps):
            train_step(model, optimizer, images, labels)
        seconds = torch.tensor(time.perf_counter() - begin, device=device)
        dist.all_reduce(seconds, dist.ReduceOp.MAX)
        rates.append(steps * per_rank * size / seconds.item())
    return rates[1:]


def with_data_parallel(
    rank: int, size: int, batch: int, steps: int = 4, repeats: int = 6
) -> tuple[list[float], int]:
    """The same with `nn.DataParallel` in one process that may use all cores.

    Returns:
        Images per second of each measurement, and how many GPUs it found.
    """
    torch.set_num_threads(machine.cores())
    model = nn.DataParallel(make_net(24).to(world.here().device))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    images, labels = torch.rand(batch, 3, 32, 32), torch.randint(10, (batch,))
    rates = []
    for _ in range(repeats + 1):
        begin = time.perf_counter()
        for _ in range(steps):
            train_step(model, optimizer, images, labels)
        rates.append(steps * batch / (time.perf_counter() - begin))
    return rates[1:], len(model.device_ids)


def by_repeat(
    rates: Mapping[int, Sequence[float]],
    formula: Callable[[dict[int, float]], dict[int, tuple[float, float]]],
) -> dict[int, list[tuple[float, float]]]:
    """Speed-up and efficiency of each measurement by itself.

    Args:
        rates: {number of ranks: images per second of each measurement}, equally many for each.
        formula: `speedup_and_efficiency` of the lab.

    Returns:
        {number of ranks: [(speed-up, efficiency) of each measurement]}.
    """
    measurements = zip(*rates.values(), strict=True)
    found = [formula(dict(zip(rates, one, strict=True))) for one in measurements]
    return {size: [one[size] for one in found] for size in rates}


def reduced_bytes(result: Any) -> int:
    """What rank 0 handed to all-reduces in a run."""
    return sum(event.nbytes for event in result.records[0].events if event.op == "all_reduce")


class InMemory:
    """Some images of a split, as tensors in a file that all ranks read.

    Attributes:
        labels: of the images to train on, as many as there are.
    """

    def __init__(self, path: str | Path) -> None:
        self._device = world.here().device
        self._pixels, self.labels, self._test_pixels, self._test_labels = torch.load(path)

    @staticmethod
    def write(split: data.Split, path: str | Path) -> None:
        """Write all images of a split, training and test."""
        train, test = split.train, split.test
        torch.save((train.all_pixels(), train.labels, test.all_pixels(), test.labels), path)

    def _ready(self, pixels: torch.Tensor) -> torch.Tensor:
        return (pixels.float() / 255 - 0.5).to(self._device) * 4

    def batch(self, chosen: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The images and labels of these indices, on this rank's device."""
        return self._ready(self._pixels[chosen]), self.labels[chosen].to(self._device)

    @torch.no_grad()
    def accuracy(self, model: nn.Module, rank: int, size: int) -> float:
        """Accuracy over the whole test set, to which each rank contributes its share."""
        mine = slice(rank, None, size)
        right = model(self._ready(self._test_pixels[mine])).argmax(1).cpu()
        correct = (right == self._test_labels[mine]).sum().to(self._device)
        dist.all_reduce(correct)
        return float(correct.item()) / len(self._test_labels)


def waits_for_data(
    rank: int, size: int, folder: Path, make_loader: Callable[..., Any] | None, steps: int
) -> list[tuple[float, float, float]]:
    """Train for some steps from a slow disk, each opening of a file taking 2 ms longer.

    Args:
        folder: JPEG files, or shards for `make_loader`.
        make_loader: `make_loader(path, rank, size, batch_size)`; a plain loader of files if `None`.

    Returns:
        For each step: when the wait for its batch began, when it ended, when the step ended.
    """
    slow = storage.slow_disk(folder, 0.002)
    if make_loader is None:
        loader = DataLoader(storage.Files(slow), batch_size=32, shuffle=True)
    else:
        loader = make_loader(str(slow), rank, size, 32)
    model = replicate(make_net(36))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    for _ in range(2):  # DDP settles its buckets
        train_step(model, optimizer, torch.rand(32, 3, 32, 32), torch.randint(10, (32,)))
    dist.barrier()
    times, batches, start = [], None, time.perf_counter()
    for _ in range(steps):
        asked = time.perf_counter()
        if batches is None:
            batches = iter(loader)  # this starts the workers
        images, labels = next(batches)
        got = time.perf_counter()
        train_step(model, optimizer, images, labels)
        times.append((asked - start, got - start, time.perf_counter() - start))
    return times


def _throughput(
    model: nn.Module, optimizer: torch.optim.Optimizer, batches: Loader, steps: int
) -> float:
    """Images per second of all ranks over so many steps."""
    dist.barrier()
    begin, seen = time.perf_counter(), torch.zeros(1, device=world.here().device)
    for _, (inputs, targets) in zip(range(steps), batches, strict=False):
        train_step(model, optimizer, inputs, targets)
        seen += len(inputs)
    dist.all_reduce(seen)
    return seen.item() / (time.perf_counter() - begin)


def in_memory_and_fed(
    rank: int, size: int, path: Path, make_loader: Callable[..., Any], rounds: int,
    width: int = 96, batch_size: int = 32,
) -> tuple[list[tuple[float, float]], float]:  # fmt: skip
    """Train on shards that lie in memory, and as a loader feeds them, in turns of one epoch.

    Args:
        path: folder of tar shards.
        make_loader: `make_loader(path, rank, size, batch_size)`.

    Returns:
        Images per second of all ranks, (from memory, fed) for each round, and the seconds in which
        this rank reads and decodes one image.
    """
    device = world.here().device
    begin = time.perf_counter()
    mine = [pair for tar in sorted(path.glob("*.tar"))[rank::size] for pair in storage.samples(tar)]
    images = torch.stack([storage.decode(content) for content, _ in mine])
    reading = (time.perf_counter() - begin) / len(mine)
    labels = torch.tensor([label for _, label in mine])
    loader = make_loader(str(path), rank, size, batch_size)
    steps = torch.tensor(len(mine) // batch_size, device=device)
    dist.all_reduce(steps, dist.ReduceOp.MIN)  # a rank with more shards must not step alone
    model = replicate(make_net(width))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)

    def from_memory() -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        for chosen in torch.randperm(len(images)).split(batch_size):
            yield images[chosen], labels[chosen]

    def rate(batches: Loader, steps: int) -> float:
        return _throughput(model, optimizer, batches, steps)

    rate(from_memory(), 3)  # warm up
    ways = [(rate(from_memory(), int(steps)), rate(loader, int(steps))) for _ in range(rounds)]
    return ways, reading


def step_times(
    rank: int, size: int, ways: Sequence[str], per_rank: int = 32, steps: int = 2, repeats: int = 5
) -> dict[str, list[float]]:
    """Seconds of a step on this rank with each way's options, which are those of `resnet_ddp.py`.

    The ways take turns, because a machine is not equally fast all the time.
    """
    device = world.here().device
    images = data.load(limit=size * per_rank * steps, test_limit=1).train
    sampler: DistributedSampler[Any] = DistributedSampler(images, size, rank)
    plain = DataLoader(augment.Augmented(images), per_rank, sampler=sampler)
    parser = argparse.ArgumentParser()
    speedups.flags(parser)
    prepared = {}
    for way in ways:
        options = parser.parse_args(way.split())
        model = replicate(speedups.prepared(make_net(24), options, device))
        model = speedups.distributed(model, options)
        fused = options.fused or None
        optimizer = torch.optim.SGD(model.parameters(), lr=0.001, momentum=0.9, fused=fused)
        kept = augment.OnDevice(images, device, options.channels_last)
        batches = augment.Batches(plain, kept, seed=0) if options.on_device else plain
        prepared[way] = model, optimizer, batches
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(repeats + 1):
        for way, (model, optimizer, batches) in prepared.items():
            dist.barrier()
            begin = time.perf_counter()
            for inputs, labels in batches:
                train_step(model, optimizer, inputs, labels)
            seconds[way].append((time.perf_counter() - begin) / steps)
    return {way: found[1:] for way, found in seconds.items()}


def slowest(by_rank: Sequence[Mapping[str, Sequence[float]]]) -> dict[str, np.ndarray]:
    """What `step_times` returned on all ranks as one: a step takes as long as its slowest rank."""
    return {way: np.max([times[way] for times in by_rank], 0) for way in by_rank[0]}
