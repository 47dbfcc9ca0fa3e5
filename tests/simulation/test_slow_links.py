"""Imitated links take the time that they say, and each rank has one of its own."""

import math
import sys
import time

import cloudpickle
import pytest
import torch
import torch.distributed as dist

from distlab import Ranks
from distlab.simulation.slow_links import slow_links

cloudpickle.register_pickle_by_value(sys.modules[__name__])

LATENCY, BANDWIDTH = 0.02, 1e6  # 40 kB take 40 ms and arrive 20 ms later


def timed(rank, size, program, n=10_000):
    tensor = torch.full((n,), float(rank))
    with slow_links(LATENCY, BANDWIDTH):
        dist.barrier()
        begin = time.monotonic()
        program(rank, size, tensor)
        return begin, time.monotonic(), tensor


def seconds(runs, rank):
    """From when the first rank began: a message may be under way before its receiver runs."""
    return runs[rank][1] - min(begin for begin, *_ in runs)


def quickest(size, program, rank, enough=0.0):
    """Seconds of a rank in the best of some runs: another's load only makes them longer, and where
    it does that to all of four there are others until one is below `enough`.
    """
    best, end = math.inf, time.monotonic() + 30
    while time.monotonic() < end:
        best = min(best, *(seconds(list(Ranks(size).run(timed, program)), rank) for _ in range(4)))
        if best < enough or not enough:
            break
    return best


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
    assert 0.055 <= quickest(2, one_way, rank=1, enough=0.1) < 0.1
    assert (
        0.035 <= quickest(2, one_way, rank=0, enough=0.08) < 0.08
    )  # the sender's link is free earlier


def test_the_message_arrives_as_it_was_and_the_record_shows_its_time():
    result = Ranks(2).run(timed, one_way)
    assert result[1][2].eq(0).all()
    (sent,) = [e for e in result.records[0].events if e.op == "send"]
    (received,) = [e for e in result.records[1].events if e.op == "recv"]
    assert received.wait_end - sent.begin >= LATENCY + 0.04


def test_a_link_carries_both_directions_at_once():
    assert 0.055 <= quickest(2, both_ways, rank=0, enough=0.09) < 0.09  # and not 100 ms


def test_messages_to_one_rank_share_its_link_and_overlap_on_their_way():
    # 20 ms once, three times 40 ms; 180 ms without overlap, 60 ms with a link for each worker
    assert 0.135 <= quickest(4, all_to_rank_0, rank=0, enough=0.17) < 0.17


def rings(rank, size, tensor):
    """Seconds of an all-reduce, a reduce-scatter and an all-gather, each waited for at once."""
    piece, seconds = tensor[: len(tensor) // size].clone(), []
    for ring in (
        lambda: dist.all_reduce(tensor),
        lambda: dist.reduce_scatter(piece, list(tensor.chunk(size))),
        lambda: dist.all_gather(list(tensor.chunk(size)), piece),
    ):
        begin = time.monotonic()
        ring()
        seconds.append(time.monotonic() - begin)
    tensor[:3] = torch.tensor(seconds)


@pytest.mark.parametrize("size", (2, 4))
def test_a_ring_takes_as_long_as_its_rounds(size):
    runs = [Ranks(size).run(timed, rings)[0][2][:3].tolist() for _ in range(3)]
    for seconds, rounds in zip(map(min, zip(*runs, strict=True)), (2, 1, 1), strict=True):
        expected = rounds * (size - 1) * (LATENCY + 0.04 / size)
        assert 0.95 * expected <= seconds < expected + 0.04


def meanwhile(rank, size, tensor):
    """A ring that goes on while its rank does something else for 70 ms."""
    work = dist.all_reduce(tensor, async_op=True)
    time.sleep(0.07)
    work.wait()


def test_who_computes_meanwhile_is_not_held_by_a_ring():
    assert (
        0.075 <= quickest(2, meanwhile, rank=0, enough=0.12) < 0.12
    )  # 80 ms on its way, and not 150 in all


def futures(rank, size, tensor):
    """Two rings in a row, seen through their futures: the second begins after the first."""
    works = [dist.all_reduce(t, async_op=True) for t in (tensor, tensor.clone())]
    assert not works[0].is_completed()
    for work in works:
        work.get_future().wait()


def test_futures_complete_when_the_ring_is_through_and_rings_follow_each_other():
    assert 0.155 <= quickest(2, futures, rank=0, enough=0.2) < 0.2


def test_a_link_tells_when_its_rings_were_under_way():
    def program(rank, size):
        with slow_links(LATENCY, BANDWIDTH) as link:
            begin = time.monotonic()
            dist.all_reduce(torch.ones(10_000))
            return begin, link.transfers, time.monotonic()

    for begin, (transfer,), end in Ranks(2).run(program):
        assert (transfer.op, transfer.nbytes) == ("all_reduce", 40_000)
        assert begin <= transfer.begin < transfer.end <= end
        assert transfer.end - transfer.begin == pytest.approx(0.08)


def test_links_are_quick_again_afterwards_and_a_second_use_counts_anew():
    def program(rank, size):
        first = timed(rank, size, one_way)
        times = []
        for _ in range(5):
            begin = time.monotonic()
            one_way(rank, size, torch.zeros(10_000))
            times.append(time.monotonic() - begin)
        return first, min(times), timed(rank, size, one_way)

    first, plain, second = zip(*Ranks(2).run(program), strict=True)
    assert plain[1] < 0.05 < 0.055 <= min(seconds(first, 1), seconds(second, 1))


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
