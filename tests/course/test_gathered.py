"""A layer's parameters are seen whole wherever they lie, and no longer when they are gone."""

import ctypes

import torch
from torch.nn.functional import mse_loss

from distlab.course.lab10_sharding_and_overlap.gathered import Gathered, Moment
from distlab.course.lab10_sharding_and_overlap.lifetimes import spans

MINE, OTHERS = torch.arange(1.0, 5), torch.arange(10.0, 14)


def gathered():
    return Gathered([[OTHERS]])


def whole(seen):
    """How many layers are there now? One look alone does not count."""
    seen.look()
    seen.look()
    return len(seen.moments[-1].layers)


def test_a_layer_counts_from_its_gathering_until_it_is_let_go():
    with gathered() as seen:
        assert whole(seen) == 0
        full = torch.cat([MINE, OTHERS])
        assert whole(seen) == 1
        part = full[2:]  # a view keeps all of it
        del full
        assert whole(seen) == 1
        del part
        assert whole(seen) == 0
    assert seen.most == 1


def test_copies_in_another_layout_and_buffers_of_one_rank_count_too():
    with gathered() as seen:
        turned = torch.cat([MINE, OTHERS]).view(2, 4).t().contiguous()
        assert whole(seen) == 1
        del turned
        buffer = torch.empty(4)
        buffer.copy_(OTHERS)
        assert whole(seen) == 1
        buffer.untyped_storage().resize_(0)  # as FSDP frees what it gathered
        assert whole(seen) == 0


def test_a_layer_is_whole_with_what_each_other_rank_owns_of_it_wherever_that_lies():
    with Gathered([[OTHERS, OTHERS + 10]]) as seen:
        buffer = torch.cat([MINE, OTHERS, OTHERS + 10])
        assert whole(seen) == 1
        buffer[:8] = 0  # a smaller layer, in the same buffer
        assert whole(seen) == 0
        second = OTHERS.clone()
        assert whole(seen) == 1
    assert len(second) == 4


def test_a_layer_that_is_there_for_a_moment_counts():
    with Gathered([[OTHERS], [OTHERS + 10]]) as seen:
        first = OTHERS.clone()
        second = torch.cat([OTHERS + 10])
        second + 1
        del first
        second + 1
    assert seen.most == 2


def test_what_a_rank_owns_and_what_only_looks_alike_do_not_count():
    with gathered() as seen:
        own, other = MINE.clone(), torch.cat([MINE, OTHERS + 0.5])
        assert whole(seen) == 0
    assert seen.most == 0 and len(own) + len(other) == 12


def test_memory_that_nobody_has_written_yet_does_not_count():
    with gathered() as seen:
        for _ in range(20):  # new memory lies where old memory lay
            full = torch.cat([MINE, OTHERS])
            del full
            buffer = torch.empty(8)
            assert whole(seen) == 0
            assert buffer.isnan().all()
            buffer.untyped_storage().resize_(0)
            assert whole(seen) == 0
            buffer.untyped_storage().resize_(32)
            assert whole(seen) == 0
    assert not any(moment.layers for moment in seen.moments)


def test_what_lies_behind_the_last_element_of_a_tensor_does_not_count():
    full = torch.cat([MINE, OTHERS])
    with gathered() as seen:
        loss = mse_loss(torch.ones(8), torch.zeros(8))
        memory = loss.untyped_storage()
        assert memory.nbytes() == 32  # torch has computed the eight squares in it
        ctypes.memmove(memory.data_ptr(), full.data_ptr(), 32)  # nobody sees this
        assert whole(seen) == 0
        kept = torch.cat([full])
        assert whole(seen) == 1
    assert len(kept) == 8


def test_what_autograd_keeps_for_its_backward_pass_counts():
    with gathered() as seen:
        weight = torch.cat([MINE, OTHERS]).view(2, 4).requires_grad_()
        y = torch.ones(3, 4, requires_grad=True) @ weight.t()
        del weight
        assert whole(seen) == 1
        y.sum().backward()
        del y
        assert whole(seen) == 0


def test_every_operation_is_looked_at_without_being_asked():
    with gathered() as seen:
        torch.ones(2, 2).mm(torch.ones(2, 2))
        torch.ones(3) + 1
    assert len(seen.moments) == 5


def test_spans_are_when_a_layer_was_whole():
    layers = [set(), {0}, {0, 1}, {1}, set(), {0}]
    moments = [Moment(frozenset(there), 0) for there in layers]
    assert spans(moments, 0) == [(1, 3), (5, 6)]
    assert spans(moments, 1) == [(2, 4)]
    assert spans([], 0) == []
