"""What recording costs: microseconds an operation, and the share of a CIFAR-10 DDP epoch.

python -m bench.recorder
"""

from __future__ import annotations

import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench import Row, in_turn, run_all

OPERATIONS = 200
REPEATS = 90
BATCHES = 8  # of a CIFAR-10 epoch; each rank does as many
LIMIT = 20e-6  # seconds an event


def measure() -> Iterator[Row]:
    ours, plain = _alone()
    cost = statistics.median(a - b for a, b in zip(ours, plain, strict=True))
    yield Row(
        "an all-reduce recorded, by torch's fake back end, which does nothing",
        ours, plain, "not recorded",
        f"recording an event costs {cost * 1e6:.1f} µs (limit {LIMIT * 1e6:.0f} µs)",
    )  # fmt: skip
    ours, plain = _alone(keeps=True)
    kept = statistics.median(a - b for a, b in zip(ours, plain, strict=True))
    yield Row(
        "the same, with what 4 elements were before and after", ours, plain, "not recorded",
        f"keeping what a small tensor holds costs {(kept - cost) * 1e6:.1f} µs more",
    )  # fmt: skip
    ours, plain = in_turn(lambda: _run(_epoch, True), lambda: _run(_epoch, False), 3)
    share = statistics.median(a / b - 1 for a, b in zip(ours, plain, strict=True))
    yield Row(
        f"ResNet-18 DDP, {BATCHES} batches of 16 a rank, recorded", ours, plain, "not recorded",
        f"recording an epoch costs {share:+.1%} (limit 5%)",
    )  # fmt: skip


def _alone(keeps: bool = False) -> tuple[list[float], list[float]]:
    """Seconds an all-reduce, recorded and not, in turn in one process.

    A real back end wakes up a thread for each, which takes several times as long as what is asked
    for, and never equally long.
    """
    import torch
    import torch.distributed as dist
    from torch.testing._internal.distributed import fake_pg

    from distlab.rank import group_maker, recorder

    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        dist.init_process_group("fake", store=fake_pg.FakeStore(), rank=0, world_size=1)
        plain = dist.new_group([0])
        group_maker.install(recorder.Recorder(Path(folder) / "0.rec", 0, 1, keeps=keeps))
        recorded = dist.new_group([0])
        group_maker.uninstall()
        _each(plain), _each(recorded)
        times = in_turn(lambda: _each(recorded), lambda: _each(plain), REPEATS)
        dist.destroy_process_group()
    return times


def _each(group) -> float:
    import torch
    import torch.distributed as dist

    tensor = torch.zeros(4)
    begin = time.perf_counter()
    for _ in range(OPERATIONS):
        dist.all_reduce(tensor, group=group)
    return (time.perf_counter() - begin) / OPERATIONS


def _run(work, recorded: bool) -> float:
    """Seconds that rank 0 of 2 measures for `work`, in fresh processes.

    Raises:
        RuntimeError: a rank failed.
    """
    context = multiprocessing.get_context("spawn")
    queue = context.SimpleQueue()
    with tempfile.TemporaryDirectory() as folder:
        ranks = [
            context.Process(target=_rank, args=(r, folder, work, recorded, queue)) for r in range(2)
        ]
        for process in ranks:
            process.start()
        for process in ranks:
            process.join()
    if failed := [rank for rank, process in enumerate(ranks) if process.exitcode]:
        raise RuntimeError(f"ranks {failed} failed: what they printed says why")
    return queue.get()


def _rank(rank: int, folder: str, work, recorded: bool, queue) -> None:
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    import torch
    import torch.distributed as dist

    from distlab.rank import group_maker, recorder

    torch.set_num_threads(1)
    if recorded:
        group_maker.install(recorder.Recorder(Path(folder) / f"{rank}.rec", rank, 2))
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=2)
    seconds = work(rank)
    dist.barrier()
    dist.destroy_process_group()
    if rank == 0:
        queue.put(seconds)


def _epoch(rank: int) -> float:
    import torch
    from torch.nn.parallel import DistributedDataParallel

    from distlab.training.vision import models

    torch.manual_seed(rank)
    model = DistributedDataParallel(models.resnet18(num_classes=10))
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    images, labels = torch.randn(16, 3, 32, 32), torch.randint(10, (16,))
    begin = 0.0
    for batch in range(BATCHES + 1):
        if batch == 1:  # the first one allocates
            begin = time.perf_counter()
        loss = torch.nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return time.perf_counter() - begin


if __name__ == "__main__":
    raise SystemExit(run_all(["recorder"]))
