"""Ranks that leave the default group and meet in others, under other numbers, are not misread."""

import os
import sys
import time

import cloudpickle
import pytest
import torch
import torch.distributed as dist

cloudpickle.register_pickle_by_value(sys.modules[__name__])


def _meet(name, rank, size):
    dist.barrier()
    dist.destroy_process_group()
    where = f"file://{os.environ['DISTLAB_RUN']}/{name}"
    dist.init_process_group("gloo", init_method=where, rank=rank, world_size=size)


def halves(rank, size):
    half = rank // 2
    _meet(f"half {half}", rank % 2, 2)
    tensor = torch.ones(1 + half)  # each half has a size of its own
    dist.all_reduce(tensor)
    dist.all_reduce(tensor, group=dist.new_group([0, 1]))
    return tensor.tolist()


def survivors(rank, size):
    if rank == 0:
        dist.barrier()
        return None
    _meet("others", rank - 1, size - 1)
    tensor = torch.ones(2)
    if rank == 1:
        dist.send(tensor, 1)
    if rank == 2:
        time.sleep(1)  # while rank 1 waits for a rank 1: that is rank 2
        dist.recv(tensor, 0)
    return tensor.tolist()


def backwards(rank, size):
    _meet("all", size - 1 - rank, size)
    tensor = torch.full((2,), float(rank))
    if rank == size - 1:
        time.sleep(1)
    dist.broadcast(tensor, 0)
    return tensor.tolist()


def test_in_strict_mode_the_root_of_a_group_with_other_numbers_may_read_what_it_sends(ranks):
    def program(rank, size):
        _meet("strict", size - 1 - rank, size)
        tensor = torch.full((2,), float(rank))
        request = dist.broadcast(tensor, 0, async_op=True)
        early = tensor.tolist() if rank == size - 1 else None
        request.wait()
        return early, tensor.tolist()

    result = ranks.run(program, strict=True)
    assert [late for _, late in result] == [[3.0, 3.0]] * 4
    assert result[3][0] == [3.0, 3.0]
    assert not any(event.race for record in result.records for event in record.events)


@pytest.mark.slow  # ranks that are late, longer than a proof takes
@pytest.mark.parametrize("program", [halves, survivors, backwards])
def test_ranks_that_meet_under_other_numbers_are_not_said_to_hang(ranks, program):
    result = ranks.run(program)
    assert result.run.finding is None
    if program is halves:
        assert list(result) == [[4.0]] * 2 + [[4.0, 4.0]] * 2
    if program is backwards:
        assert list(result) == [[3.0, 3.0]] * 4
