"""Draw the pictures of the documentation from real runs: `python docs/pictures.py`.

`python docs/pictures.py live` writes those that can be stepped through: `make docs` calls it each
time, since the script that they carry is the package's of that day.

Needs torch and a clean process: each run's ranks are forked from this one.
"""

from __future__ import annotations

import inspect
import sys
import tempfile
import time
import types
from collections.abc import Callable
from pathlib import Path

import cloudpickle
import torch
import torch._dynamo  # DDP imports it at first use, once a rank
import torch.distributed as dist

from distlab.course.lab04_ring_allreduce.ring_steps import ring_steps
from distlab.engines import runs
from distlab.engines.forked import ForkedEngines
from distlab.engines.outcomes import Run
from distlab.records.deadlock import Watcher
from distlab.records.events import RankRecord
from distlab.viz.comparison import compare
from distlab.viz.timeline import timeline

FOLDER = Path(__file__).parent / "pictures"


def exchange(rank, size):
    tensor = torch.tensor([10.0 + rank])
    other = torch.zeros(1)
    if rank % 2 == 0:
        dist.send(tensor, rank ^ 1)
        dist.recv(other, rank ^ 1)
    else:
        dist.recv(other, rank ^ 1)
        dist.send(tensor, rank ^ 1)
    return other


def both_send(rank, size):
    tensor = torch.tensor([10.0 + rank])
    other = torch.zeros(1)
    dist.send(tensor, rank ^ 1)
    dist.recv(other, rank ^ 1)
    return other


def relay(rank, size):
    token = torch.zeros(1)
    if rank == 0:
        token += 1
        dist.send(token, 1)
        dist.recv(token, size - 1)
    else:
        dist.recv(token, rank - 1)
        token += 1
        dist.send(token, (rank + 1) % size)
    return token


def ring(rank, size):
    chunks = list(torch.arange(8.0).add(rank).chunk(size))
    buffer = torch.zeros(2)
    for step in range(2 * (size - 1)):
        out = (rank - step) % size
        into = (out - 1) % size
        requests = [dist.irecv(buffer, (rank - 1) % size)]
        requests.append(dist.isend(chunks[out], (rank + 1) % size))
        for request in requests:
            request.wait()
        if step < size - 1:
            chunks[into] += buffer
        else:
            chunks[into].copy_(buffer)
    return chunks


def collectives(rank, size):
    tensor = torch.full((4,), float(rank))
    parts = [torch.zeros(4) for _ in range(size)]
    here = parts if rank == 0 else None
    dist.broadcast(tensor, 0)
    dist.all_reduce(tensor)
    dist.reduce(tensor, 0)
    dist.all_gather(parts, tensor)
    dist.gather(tensor, here, 0)
    dist.scatter(tensor, here, 0)


def left_out(rank, size):
    tensor = torch.ones(3)
    dist.all_reduce(tensor)
    if rank != 2:
        dist.barrier()
    dist.all_reduce(tensor)


def ddp_step(rank, size):
    torch.manual_seed(0)
    layers = [torch.nn.Linear(256, 256) for _ in range(4)]
    model = torch.nn.parallel.DistributedDataParallel(
        torch.nn.Sequential(*layers), bucket_cap_mb=0.3
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        model(torch.randn(64, 256)).square().mean().backward()
        optimizer.step()


def straggler(rank, size):
    gradient = torch.ones(1000)
    for _ in range(4):
        time.sleep(0.08 if rank == 2 else 0.02)  # the work of one step
        dist.all_reduce(gradient)


def halves(rank, size):
    group = dist.new_group([0, 2]), dist.new_group([1, 3])
    tensor = torch.ones(2)
    dist.all_reduce(tensor, group=group[rank % 2])
    dist.barrier()


def sixteen(rank, size):
    tensor = torch.tensor([float(rank)])
    dist.broadcast(tensor, 0)
    request = dist.isend(tensor, (rank + 1) % size)
    dist.recv(tensor, (rank - 1) % size)
    request.wait()
    dist.all_reduce(tensor)
    dist.barrier()


def long_training(rank, size):
    gradient = torch.ones(100)
    for step in range(300):
        dist.all_reduce(gradient)
        if step % 100 == 99:
            dist.barrier()


#: name -> (function, ranks, deadline in seconds, title)
RUNS: dict[str, tuple[Callable, int, float, str]] = {
    "exchange": (exchange, 2, 60, "exchange: even ranks send first"),
    "deadlock": (both_send, 2, 1.5, "exchange: both ranks send first"),
    "relay": (relay, 4, 60, "relay: a token goes round"),
    "ring": (ring, 4, 60, "all-reduce by a ring"),
    "collectives": (collectives, 4, 60, "six collectives"),
    "left_out": (left_out, 4, 1.5, "rank 2 skips the barrier"),
    "ddp": (ddp_step, 2, 60, "two steps of DistributedDataParallel"),
    "straggler": (straggler, 4, 60, "rank 2 is slow"),
    "halves": (halves, 4, 60, "two groups"),
    "sixteen": (sixteen, 16, 60, "16 ranks"),
    "training": (long_training, 4, 60, "300 steps"),
}


#: runs that are also live pages: docs/pictures/live-NAME.html, which git leaves out
LIVE = ("deadlock", "ring", "collectives")


def in_a_cell(function: Callable) -> Callable:
    """The function with the line numbers that it would have in a notebook cell of its own."""
    code = function.__code__.replace(co_firstlineno=1)
    return types.FunctionType(code, function.__globals__, function.__name__)


def recorded(function: Callable, size: int, deadline: float) -> list[RankRecord]:
    """The records of one run of `function(rank, size)`; ranks busy at the deadline are killed."""
    return driven(function, size, deadline).records


def driven(function: Callable, size: int, deadline: float, **options) -> Run:
    with tempfile.TemporaryDirectory(prefix="distlab-") as folder:
        engines = ForkedEngines(size, Path(folder))
        try:
            inputs = [cloudpickle.dumps(((rank, size), {})) for rank in range(size)]
            task = cloudpickle.dumps(in_a_cell(function))
            return runs.drive(engines, task, inputs, deadline=deadline, **options)
        finally:
            engines.close()


def kept(name: str) -> tuple[Run, dict[str, str]]:
    """A run with what its tensors held, and its source as records name it."""
    function, size, deadline, _ = RUNS[name]
    run = driven(function, size, deadline, watch=Watcher(), keeps=True)
    return run, {Path(__file__).name: inspect.getsource(function)}


def compared() -> Path:
    """Write two runs beside each other, as a page that can be stepped through."""
    right, hanging = kept("exchange")[0], kept("deadlock")[0]
    page = compare(right, hanging, ("right", "hanging"))
    return page.save(FOLDER / "live-compare.html", sources={"": ""})


def live(name: str) -> Path:
    """Write a run as a page that can be stepped through."""
    run, source = kept(name)
    verdict = run.finding.message if run.finding else ""
    picture = timeline(run.records, title=RUNS[name][-1], verdict=verdict)
    return picture.save(FOLDER / f"live-{name}.html", sources=source)


def main(names: list[str]) -> None:
    """Write `NAME.svg` for these names, all of them by default; with `live`, the live pages."""
    if names == ["live"]:
        for name in LIVE:
            live(name)
        compared()
        return
    for name, (function, size, deadline, title) in RUNS.items():
        if names and name not in names:
            continue
        records = recorded(function, size, deadline)
        timeline(records, title=title).save(FOLDER / f"{name}.svg")
        if name == "ring":
            ring_steps(records, chunks=size).save(FOLDER / "ring_steps.svg")


if __name__ == "__main__":
    main(sys.argv[1:])
