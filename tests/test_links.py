"""Imitated links take the time that they say, and each rank has one of its own."""

import sys
import time

import cloudpickle
import pytest
import torch
import torch.distributed as dist

from distlab import Ranks
from distlab.links import slow_links

cloudpickle.register_pickle_by_value(sys.modules[__name__])

LATENCY, BANDWIDTH = 0.02, 1e6  # 40 kB take 40 ms and arrive 20 ms later


def timed(rank, size, program, n=10_000):
    tensor = torch.full((n,), float(rank))
    with slow_links(LATENCY, BANDWIDTH):
        dist.barrier()
        begin = time.monotonic()
        program(rank, size, tensor)
        return time.monotonic() - begin, tensor


def quickest(size, program, rank):
    """Seconds of a rank in the best of some runs: another's load only makes them longer."""
    return min(Ranks(size).run(timed, program)[rank][0] for _ in range(4))


def one_way(rank, size, tensor):
    dist.send(tensor, 1) if rank == 0 else dist.recv(tensor, 0)


def both_ways(rank, size, tensor):
    received = torch.empty_like(tensor)
    for request in [dist.isend(tensor, 1 - rank), dist.irecv(received, 1 - rank)]:
        request.wait()


def all_to_rank_0(rank, size, tensor):
    if rank:
        dist.send(tensor, 0)
    else:
        for _ in range(size - 1):
            dist.recv(tensor)


def test_a_message_takes_the_latency_and_its_bytes():
    assert 0.055 <= quickest(2, one_way, rank=1) < 0.1
    assert 0.035 <= quickest(2, one_way, rank=0) < 0.08  # the sender's link is free earlier


def test_the_message_arrives_as_it_was_and_the_record_shows_its_time():
    result = Ranks(2).run(timed, one_way)
    assert result[1][1].eq(0).all()
    (event,) = [e for e in result.records[1].events if e.op == "recv"]
    assert event.wait_end - event.wait_begin >= 0.05


def test_a_link_carries_both_directions_at_once():
    assert 0.055 <= quickest(2, both_ways, rank=0) < 0.09  # and not 100 ms


def test_messages_to_one_rank_share_its_link_and_overlap_on_their_way():
    # 20 ms once, three times 40 ms; 180 ms without overlap, 60 ms with a link for each worker
    assert 0.135 <= quickest(4, all_to_rank_0, rank=0) < 0.17


def test_links_are_quick_again_afterwards_and_a_second_use_counts_anew():
    def program(rank, size):
        first = timed(rank, size, one_way)[0]
        begin = time.monotonic()
        one_way(rank, size, torch.zeros(10_000))
        plain = time.monotonic() - begin
        return first, plain, timed(rank, size, one_way)[0]

    first, plain, second = Ranks(2).run(program)[1]
    assert plain < 0.05 < first and second >= 0.055


def test_links_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="no link"), slow_links(-1, 1e6):
        pass
    with pytest.raises(ValueError, match="no link"), slow_links(0, 0):
        pass


def test_a_process_that_is_no_rank_is_told_so():
    def program(rank, size):
        dist.destroy_process_group()
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
        import os

        os.environ.pop("DISTLAB_RUN")
        try:
            with slow_links(0.1, 1e6):
                return "entered"
        except RuntimeError as error:
            return str(error)

    assert "Ranks.run" in Ranks(1).run(program)[0]
