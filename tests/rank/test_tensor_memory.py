"""Recording leaves no trace in a tensor: FSDP resizes what it has gathered."""

import sys

import cloudpickle
import numpy as np
import pytest
import torch

from distlab import Ranks
from distlab.rank.memory import array, memory

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
