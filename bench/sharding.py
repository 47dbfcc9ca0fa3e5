"""What the functions of lab 10 hold, send and hide, against `fully_shard` and DDP.

python -m bench.sharding
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from typing import NamedTuple

import cloudpickle

from bench import Row, run_all
from distlab import Ranks, notebook
from grader import coursedir

RANKS, LAYERS, WIDTH, ROWS = 4, 8, 256, 16
DEADLINE = 120.0  # seconds for a run of the ranks
# the backward passes: blocks of a linear layer and of work that takes a known time
BLOCKS, UNITS, SECONDS, REPEATS = 8, 256, 0.012, 7
LATENCY, BANDWIDTH = 0.001, 25e6  # seconds, bytes a second
BUCKET = 400_000  # bytes: two blocks


class Step(NamedTuple):
    """Bytes that a rank held at most in a step, and that it sent: the largest of all ranks."""

    held: float
    sent: float


def measure() -> Iterator[Row]:
    lab = notebook.load(
        coursedir.SOLUTIONS / "10-sharding-and-overlap" / "sharding_and_overlap.ipynb"
    )
    cloudpickle.register_pickle_by_value(lab)
    ranks = Ranks(RANKS)
    ours = _taken(ranks, _by_hand(lab))
    for instead, way in (("fully_shard", _fully_shard), ("DDP", _ddp)):
        theirs = _taken(ranks, way)
        what = f"step of fsdp_step on {RANKS} ranks, {LAYERS} layers of {WIDTH} units"
        yield Row(f"held at most in a {what}", [ours.held], [theirs.held], instead, unit="B")
        yield Row(f"sent in a {what}", [ours.sent], [theirs.sent], instead, unit="B")
    yield _hidden(lab)


def _taken(ranks: Ranks, way: Callable) -> Step:
    """A step by one of the ways: `way(rank, size)` makes what takes it."""
    run = ranks.run(_held, way, deadline=DEADLINE)
    return Step(max(run), max(_sent(record) for record in run.records))


def _held(rank, size, way) -> float:
    """Bytes of tensors at most while the last of three steps is taken.

    DDP makes its buckets anew after its first step. All but the last step is left out of the
    record.
    """
    from distlab import memory, paused

    with memory.tracked("cpu") as used:
        with paused():
            step = way(rank, size)
            step(), step()
        gc.collect()
        used.begin_again()
        step()
        return used.peak


def _sent(record) -> float:
    """Bytes that a rank sends in its collectives, if each goes round a ring."""
    shares = {
        "all_reduce": lambda n: 2 * (n - 1) / n,
        "reduce_scatter": lambda n: (n - 1) / n,
        "all_gather": lambda n: n - 1,
    }
    collectives = [event for event in record.events if event.op in shares]
    return sum(event.nbytes * shares[event.op](len(event.group)) for event in collectives)


def _by_hand(lab) -> Callable:
    def way(rank, size):
        pieces = [lab.shard_flat(rank, size, parts) for parts in _parameters()]
        shapes = [[(WIDTH, WIDTH), (WIDTH,)]] * LAYERS
        inputs, targets = _batch(rank)
        return lambda: lab.fsdp_step(rank, size, pieces, shapes, inputs, targets)

    return way


def _fully_shard(rank, size):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    model, mesh = _model(), init_device_mesh("cpu", (size,))
    for part in model:
        fully_shard(part, mesh=mesh)
    return _stepper(fully_shard(model, mesh=mesh), rank)


def _ddp(rank, size):
    from torch.nn.parallel import DistributedDataParallel

    return _stepper(DistributedDataParallel(_model()), rank)


def _stepper(model, rank) -> Callable:
    from torch.nn import functional

    inputs, targets = _batch(rank)

    def step():
        model.zero_grad()
        functional.mse_loss(model(inputs), targets).backward()

    return step


def _parameters() -> list:
    """Weight and bias of each layer, the same on every rank."""
    import torch

    torch.manual_seed(0)
    return [[torch.randn(WIDTH, WIDTH) / WIDTH**0.5, torch.zeros(WIDTH)] for _ in range(LAYERS)]


def _model():
    """The same network as `fsdp_step` trains, as a module."""
    import torch
    from torch import nn

    from distlab import layer

    class Layer(nn.Module):
        def __init__(self, weight, bias):
            super().__init__()
            self.weight, self.bias = nn.Parameter(weight), nn.Parameter(bias)

        def forward(self, x):
            return layer(x, self.weight, self.bias)

    torch.set_num_threads(1)
    return nn.Sequential(*(Layer(*parts) for parts in _parameters()))


def _batch(rank):
    import torch

    torch.manual_seed(100 + rank)
    return torch.randn(2, ROWS, WIDTH)


def _hidden(lab) -> Row:
    """The share of the communication during which nobody computes: what is not hidden."""
    steps = Ranks(2).run(_overlapping, lab.overlapped_ddp, deadline=DEADLINE)[0]
    ours, theirs = ([1 - step.hidden for step in way] for way in zip(*steps, strict=True))
    fastest = [1e3 * min(step.seconds for step in way) for way in zip(*steps, strict=True)]
    return Row(
        "share of the communication of overlapped_ddp that a rank waits for",
        ours, theirs, "DDP's buckets",
        f"the rest is hidden behind the backward pass of {BLOCKS} blocks, which took "
        f"{fastest[0]:.0f} and {fastest[1]:.0f} ms at least; in buckets of two blocks over a link "
        f"of {BANDWIDTH / 1e6:.0f} MB/s",
        unit="%",
    )  # fmt: skip


def _overlapping(rank, size, overlapped_ddp) -> list:
    """Steps of both ways, taken in turn over the same slow link."""
    import torch
    from torch.nn.parallel import DistributedDataParallel

    from distlab import overlap, paused, slow_links

    model, other = _blocks(), _blocks()
    finish = overlapped_ddp(model, BUCKET)
    with paused():
        wrapped = DistributedDataParallel(other, bucket_cap_mb=BUCKET / 2**20)
    torch.manual_seed(1 + rank)
    batch = torch.randn(8, UNITS)
    with slow_links(LATENCY, BANDWIDTH) as link:
        taken = [
            (
                overlap.step(model, model, batch, finish, link),
                overlap.step(wrapped, other, batch, lambda: None, link),
            )
            for _ in range(1 + REPEATS)
        ]
    return taken[1:]  # DDP makes its buckets anew after its first step


def _blocks():
    import torch
    from torch import nn

    from distlab import Work

    torch.manual_seed(0)
    blocks = nn.Sequential()
    for _ in range(BLOCKS):  # backward takes twice the seconds a row, of which there are eight
        blocks.extend([nn.Linear(UNITS, UNITS), nn.Tanh(), Work(SECONDS / 16)])
    return blocks


if __name__ == "__main__":
    raise SystemExit(run_all(["sharding"]))
