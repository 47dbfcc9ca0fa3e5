"""torch.compile takes the groups and requests that write down as it takes torch's own."""

import sys

import cloudpickle
import pytest
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from distlab import Ranks

cloudpickle.register_pickle_by_value(sys.modules[__name__])


def compiled(rank, size):
    def exchange(x):
        dist.all_reduce(x)  # what torch.compile has a version of its own for
        y = x * 2
        dist.broadcast(y, 0)
        other = torch.empty_like(y)
        sent, taken = dist.isend(y, 1 - rank), dist.irecv(other, 1 - rank)
        sent.wait(), taken.wait()
        dist.barrier()
        return other + 1

    layers = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3))
    model = torch.compile(DistributedDataParallel(layers), backend="eager")
    for _ in range(2):
        model(torch.ones(3, 4)).sum().backward()
    return torch.compile(exchange, backend="eager")(torch.ones(3)).tolist()


@pytest.mark.slow  # torch.compile is imported on each rank
def test_a_compiled_function_may_communicate(ranks):
    result = Ranks(2, deadline=60).run(compiled)
    assert list(result) == [[5.0] * 3] * 2
    assert "broadcast" in [event.op for event in result.run.records[1].events]
