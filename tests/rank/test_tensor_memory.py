"""Recording leaves no trace in a tensor: FSDP resizes what it has gathered."""

import sys
import zlib

import cloudpickle
import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from distlab import Ranks
from distlab.rank.buffers import sample
from distlab.rank.memory import KINDS, array, memory

cloudpickle.register_pickle_by_value(sys.modules[__name__])


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bool, torch.complex64])
def test_what_is_looked_at_can_be_resized_as_before(dtype):
    tensor = torch.arange(6).to(dtype)[2:]
    assert (
        bytes(memory(tensor))
        == array(tensor).tobytes()
        == np.array(tensor.tolist(), array(tensor).dtype).tobytes()
    )
    tensor.untyped_storage().resize_(0)
    with pytest.raises(RuntimeError):
        memory(tensor)


@pytest.mark.parametrize(
    "tensor",
    [
        torch.ones(4, 4).t()[:2],
        torch.ones(2, dtype=torch.complex64).conj(),
        torch.ones(2, device="meta"),
        torch.nn.Parameter(torch.ones(2)).to_sparse(),
    ],
)
def test_what_does_not_lie_there_in_one_piece_is_not_looked_at(tensor):
    with pytest.raises(RuntimeError):
        memory(tensor)


class Operations(TorchDispatchMode):
    """Counts torch's operations."""

    count = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.count += 1
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("dtype", [*KINDS, torch.bfloat16, torch.float8_e4m3fn])
def test_a_sample_is_the_first_element_and_costs_no_operation_where_numpy_has_such_numbers(dtype):
    tensor = torch.tensor([0, 3, 4]).to(dtype)[1:]
    first = float(tensor[0].item().real)
    with Operations() as operations:
        assert sample(tensor) == (first, zlib.crc32(memory(tensor)))
    assert (operations.count > 0) == (dtype not in KINDS)


def test_fsdp_trains_as_a_single_process_does():
    def train(rank, size, shard):
        from torch import nn
        from torch.distributed.fsdp import FullyShardedDataParallel

        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4))
        if shard:
            model = FullyShardedDataParallel(model, device_id=torch.device("cpu"))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for _ in range(3):
            optimizer.zero_grad()
            loss = model(torch.ones(2, 64)).square().mean()
            loss.backward()
            optimizer.step()
        return loss.item()

    ranks = Ranks(2)
    sharded, whole = list(ranks.run(train, True)), list(ranks.run(train, False))
    assert sharded == pytest.approx(whole)
