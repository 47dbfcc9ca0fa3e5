"""Imitated links take the time that they say, and each rank has one of its own."""

import dataclasses
import math
import sys
import time

import cloudpickle
import numpy as np
import pytest
import torch
import torch.distributed as dist

from distlab import Ranks
from distlab.processes.wrong_argument import WrongArgument
from distlab.simulation import Cluster
from distlab.simulation.collectives import seconds_of
from distlab.simulation.cost_model import Link
from distlab.simulation.slow_links import slow_cluster, slow_links

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


@pytest.mark.parametrize("size", [1, 2, 4, 8])
def test_a_collective_takes_what_the_formula_of_its_algorithm_says(size):
    through, rounds, link = 0.04, math.log2(size), Link(LATENCY, BANDWIDTH)
    piece = LATENCY + through / size
    for op, expected in {
        "all_reduce": 2 * (size - 1) * piece,
        "reduce_scatter": (size - 1) * piece,
        "all_to_all": (size - 1) * piece,
        "all_gather": (size - 1) * (LATENCY + through),
        "broadcast": rounds * (LATENCY + through),
        "reduce": rounds * (LATENCY + through),
        "gather": (size > 1) * LATENCY + (size - 1) * through,
        "scatter": (size > 1) * LATENCY + (size - 1) * through,
        "barrier": 2 * rounds * LATENCY,
    }.items():
        ranks, cluster = tuple(range(size)), Cluster(size, 1, between=link)
        assert seconds_of(op, 40_000, 0, ranks, cluster) == pytest.approx(expected), op


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


def test_numbers_in_arrays_make_a_link_too():
    def program(rank, size):
        with slow_links(np.array(0.001), np.array(BANDWIDTH)) as link:
            dist.all_reduce(torch.ones(500))
            return link.transfers

    for (transfer,) in Ranks(2).run(program):
        assert transfer.end - transfer.begin == pytest.approx(0.004)


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


# a whole cluster


def on_cluster(rank, size, cluster, program):
    """Seconds by a steady clock, which leaves out what else this machine does."""
    from distlab.rank.recording import paused
    from distlab.simulation.rank_clock import Clock

    with paused():
        start = torch.tensor([time.monotonic() + 0.1], dtype=torch.float64)
        dist.broadcast(start, 0)
    clock = Clock(steady=True)
    with slow_cluster(cluster, clock):
        time.sleep(max(0.0, start.item() - time.monotonic()))
        clock.show(start.item())
        program(rank, size)
        return clock.now() - start.item()


NODES = Cluster(2, 2, inside=Link(0.01, 4e6), between=Link(LATENCY, BANDWIDTH))


def seconds_on(cluster, program):
    return list(Ranks(cluster.size).run(on_cluster, cluster, program))


def near(rank, size):
    """Ranks 0 and 2 send 40 kB to their neighbours."""
    if rank % 2 == 0:
        dist.send(torch.ones(10_000), rank + 1)
    else:
        dist.recv(torch.ones(10_000), rank - 1)


def crossing(rank, size):
    if rank < 2:
        dist.send(torch.ones(10_000), rank + 2)
    else:
        dist.recv(torch.ones(10_000), rank - 2)


def test_inside_a_node_another_link_is_used_than_between_nodes():
    assert max(seconds_on(NODES, near)) == pytest.approx(0.02, abs=0.015)
    assert max(seconds_on(NODES, crossing)) == pytest.approx(0.06, abs=0.015)


def test_ranks_of_a_node_share_its_adapter():
    shared = dataclasses.replace(NODES, adapters=1)
    assert max(seconds_on(shared, crossing)) == pytest.approx(0.1, abs=0.015)


def late_receiver(rank, size):
    if rank == 0:
        dist.send(torch.ones(10_000), 1)
    else:
        end = time.thread_time() + 0.2
        while time.thread_time() < end:  # it computes
            pass
        dist.recv(torch.ones(10_000), 0)


def test_a_send_waits_for_a_late_receiver():
    flat = Cluster(2, 1, between=NODES.between)
    assert seconds_on(flat, late_receiver) == pytest.approx([0.2, 0.2], abs=0.03)


def late_leaf(rank, size):
    """The last rank calls late. With gloo the root of the broadcast is done before that."""
    if rank == size - 1:
        end = time.thread_time() + 0.2
        while time.thread_time() < end:
            pass
    request = dist.broadcast(torch.ones(10_000), 0, async_op=True)
    assert rank == size - 1 or not request.is_completed()
    request.wait()


def test_a_collective_begins_when_the_last_member_has_called_it_for_its_root_too():
    flat = Cluster(4, 1, between=NODES.between)
    two_rounds = 2 * (LATENCY + 40e3 / BANDWIDTH)
    assert seconds_on(flat, late_leaf) == pytest.approx([0.2 + two_rounds] * 4, abs=0.03)


def own_groups(rank, size):
    """A group that is made on slow links has them too, and every collective."""
    pair = dist.new_group([0, 1])
    if rank < 2:
        dist.broadcast(torch.ones(10_000), 0, group=pair)


def test_groups_made_on_it_and_other_collectives_are_held_back_as_well():
    flat = Cluster(3, 1, between=NODES.between)
    ends = seconds_on(flat, own_groups)
    assert ends[:2] == pytest.approx([0.06, 0.06], abs=0.03) and ends[2] < 0.04


def in_the_order_of_waits(rank, size):
    """The message that came first is waited for last."""
    if rank == 0:
        early, late = torch.ones(10_000), torch.ones(10_000)
        requests = [dist.irecv(late, 2), dist.irecv(early, 1)]
        for request in requests:
            request.wait()
    else:
        if rank == 2:
            end = time.thread_time() + 0.1
            while time.thread_time() < end:
                pass
        dist.send(torch.ones(10_000), 0)


def test_a_port_takes_messages_as_they_come_not_as_they_are_waited_for():
    flat = Cluster(3, 1, between=NODES.between)
    assert seconds_on(flat, in_the_order_of_waits)[0] == pytest.approx(0.16, abs=0.025)


def test_a_cluster_of_another_size_is_refused():
    from distlab.engines.results import RunFailed

    with pytest.raises(RunFailed, match="2 ranks are no cluster of 4 ranks"):
        Ranks(2).run(on_cluster, NODES, crossing)


@pytest.mark.parametrize("link", [("a", 1e6), (0.001, 0), (-1, 1e6), (None, 1e6)])
def test_what_is_no_link_is_refused_in_a_sentence(link):
    with pytest.raises(WrongArgument, match="no link has a latency of"), slow_links(*link):
        pass


def test_links_of_a_process_that_is_no_rank_are_refused():
    told = pytest.raises(RuntimeError, match="for ranks that `Ranks.run` started")
    with told as refused, slow_links(0.001, 1e6):
        pass
    assert refused.value._render_traceback_() == [f"NotARank: {refused.value}"]
