"""Bytes of tensors, counted."""

import gc

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from distlab.training import memory


def test_a_tensor_counts_until_it_is_let_go_and_the_peak_stays():
    with memory.tracked() as used:
        one = torch.zeros(1000)
        two = torch.zeros(500, dtype=torch.float64)
        assert used.now == 8000
        del one
        assert used.now == 4000 and used.peak == 8000
        used.begin_again()
        assert used.peak == 4000
        del two
    assert used.now == 0


def test_views_count_once_and_resized_storages_by_what_is_left():
    with memory.tracked() as used:
        whole = torch.zeros(100, 10)
        parts = [whole[:50], whole.t(), whole.view(-1)]
        assert used.now == 4000 and len(parts) == 3
        whole.untyped_storage().resize_(0)
        assert used.now == 0


def test_gradients_of_a_backward_pass_count():
    with memory.tracked() as used:
        layer = nn.Linear(20, 30)
        layer(torch.zeros(2, 20)).sum().backward()
        gc.collect()
        assert used.now == 2 * 4 * (20 * 30 + 30)
        assert used.peak > used.now


def test_what_was_there_before_does_not_count():
    before = torch.zeros(1000)
    with memory.tracked() as used:
        before.add_(1)
        after, view = before + 1, before[:500]
        assert used.now == 4000 and len(after) > len(view)


def test_held_counts_nested_tensors_and_shared_memory_once():
    tensor = torch.zeros(10)
    assert memory.held({"a": [tensor, tensor.view(2, 5)]}, torch.zeros(5)) == 60


@pytest.fixture
def mesh_of_four():
    """This process as rank 0 of four, the others of which nobody has started."""
    import torch.distributed as dist
    from torch.distributed.device_mesh import init_device_mesh

    dist.init_process_group("fake", store=dist.HashStore(), rank=0, world_size=4)
    try:
        yield init_device_mesh("cpu", (4,))
    finally:
        dist.destroy_process_group()


def test_of_a_tensor_that_is_divided_only_what_lies_here_counts(mesh_of_four):
    from torch.distributed.tensor import Shard, distribute_tensor

    whole = torch.zeros(8, 10)
    with memory.tracked() as used:
        divided = distribute_tensor(whole, mesh_of_four, [Shard(0)], src_data_rank=None)
        moments = torch.zeros_like(divided)
        gc.collect()
        assert memory.held([moments]) == 80
        assert used.now == 160 and divided.shape == moments.shape


def test_a_mode_that_leaves_divided_tensors_alone_sees_the_work_that_is_done_here(mesh_of_four):
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor

    class Products(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if memory.hold_others(types):
                return NotImplemented
            result = func(*args, **(kwargs or {}))
            if func.overloadpacket.__name__ == "mm":
                (asked if memory.is_fake(result) else made).append(tuple(result.shape))
            return result

    asked, made = [], []
    weight = distribute_tensor(torch.ones(8, 3), mesh_of_four, [Shard(0)], src_data_rank=None)
    x = distribute_tensor(torch.ones(5, 3), mesh_of_four, [Replicate()], src_data_rank=None)
    with Products():
        y = x @ weight.t()
        torch.ones(2, 3) @ torch.ones(3, 1)
    assert y.shape == (5, 8)
    assert made == [(5, 2), (2, 1)] and set(asked) <= {(5, 8)}
