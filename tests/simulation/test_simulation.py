"""The simulator agrees with the formulas, its two engines with each other, and both with a run."""

import math

import numpy as np
import pytest

from distlab.records.events import BUFFERED
from distlab.simulation import (
    ETHERNET_100,
    Cluster,
    Pattern,
    Step,
    cost_model,
    described,
    halving_doubling,
    hierarchical,
    parameter_server,
    pipeline,
    recorded,
    replay,
    ring,
    run_steps,
    tree,
)
from distlab.simulation.cost_model import Link
from distlab.simulation.programs import Compute, Post, Wait, message
from distlab.viz.chrome_trace import chrome_trace
from distlab.viz.timeline import timeline

LINK = Link(latency=1e-3, bandwidth=1e8)
MEGABYTE = 1_000_000


def flat(size, **more):
    """A node for each rank."""
    return Cluster(size, 1, between=LINK, **more)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 64])
def test_without_crowding_the_formulas_hold(size):
    def seconds(steps):
        return run_steps(steps, flat(size)).max()

    by_ring = 2 * (size - 1) * LINK.message_time(MEGABYTE / size)
    assert seconds(ring(size, MEGABYTE)) == pytest.approx(by_ring)
    by_tree = cost_model.tree_time(MEGABYTE, size, LINK.latency, LINK.bandwidth)
    assert 0.9 * by_tree <= seconds(tree(size, MEGABYTE)) <= by_tree * 1.000001
    if size > 1:
        by_server = 2 * (size - 1) * MEGABYTE / LINK.bandwidth + 2 * LINK.latency
        assert seconds(parameter_server(size, MEGABYTE)) == pytest.approx(by_server)
    if not size & (size - 1):
        assert seconds(halving_doubling(size, MEGABYTE)) == pytest.approx(
            cost_model.halving_doubling_time(MEGABYTE, size, LINK.latency, LINK.bandwidth)
        )
        assert seconds(tree(size, MEGABYTE)) == pytest.approx(by_tree)


def test_rings_inside_nodes_and_between_them_spare_the_slow_link():
    cluster = Cluster(8, 8)
    assert run_steps(hierarchical(cluster, 1e9), cluster).max() == pytest.approx(
        2 * 7 * cluster.inside.message_time(1e9 / 8)
        + 2 * 7 * cluster.between.message_time(1e9 / 64)
    )


def test_ranks_that_share_an_adapter_take_turns():
    """Two nodes of four ranks, each sending 1 MB across: four ports, or one."""
    src = np.arange(4)
    step = Step(Pattern(src, src + 4), MEGABYTE)
    apart = run_steps([step], Cluster(2, 4, between=LINK))
    shared = run_steps([step], Cluster(2, 4, between=LINK, adapters=1))
    assert apart.max() == pytest.approx(LINK.latency + MEGABYTE / LINK.bandwidth)
    assert shared.max() == pytest.approx(LINK.latency + 4 * MEGABYTE / LINK.bandwidth)
    assert sorted(shared[4:]) == pytest.approx([LINK.latency + k * 0.01 for k in (1, 2, 3, 4)])


@pytest.mark.parametrize("cluster", [
    flat(4), flat(8), Cluster(2, 4), Cluster(2, 4, between=ETHERNET_100, adapters=2),
    Cluster(4, 2, slow={0: 2.5}),
], ids=str)  # fmt: skip
@pytest.mark.parametrize("algorithm", [ring, tree, halving_doubling, parameter_server])
def test_both_engines_say_the_same(algorithm, cluster):
    n_bytes = 8 * MEGABYTE
    working = [Step(None, seconds=0.01), *algorithm(cluster.size, n_bytes)]
    at_once = run_steps(working, cluster)
    followed = replay(described(working, cluster.size), cluster)
    assert max(r.end for r in followed) == pytest.approx(at_once.max())
    if algorithm in (ring, halving_doubling):  # nobody waits at a port, so the order is one
        assert [r.end for r in followed] == pytest.approx(at_once.tolist())


@pytest.mark.parametrize("size", [1, 2, 4, 6])
@pytest.mark.parametrize("order", ["GPipe", "1F1B"])
def test_a_pipeline_has_the_bubble_of_its_formula(order, size):
    microbatches, forward, backward = 8, 1.0, 2.0
    cluster = Cluster(size, 1, between=Link(0.0, math.inf))
    ends = [
        r.end for r in replay(pipeline(size, microbatches, 1, forward, backward, order), cluster)
    ]
    idle = 1 - microbatches * (forward + backward) / max(ends)
    assert idle == pytest.approx((size - 1) / (microbatches + size - 1), abs=1e-9)


def test_1f1b_keeps_fewer_micro_batches():
    """Forward messages that the first rank has sent before the first gradient came back."""

    def ahead(order):
        first = replay(pipeline(4, 16, 1000, 1.0, 2.0, order), flat(4))[0]
        back = min(e.end for e in first.receives())
        return sum(e.begin < back for e in first.sends())

    assert ahead("GPipe") == 16 and ahead("1F1B") < 8


def test_one_slow_rank_slows_a_ring_of_thousands():
    work = [Step(None, seconds=1.0), *ring(1024, 1e6)]
    quick = run_steps(work, Cluster(128, 8)).max()
    slow = run_steps(work, Cluster(128, 8, slow={700: 1.5})).max()
    assert slow - quick == pytest.approx(0.5, rel=0.01)


def test_nobody_comes_out_of_a_ring_that_has_lost_a_rank():
    work = [Step(None, seconds=1.0), *ring(4, 4e6)]
    cluster = flat(4, lost={2: 0.5})
    assert np.isinf(run_steps(work, cluster)).all()
    records = replay(described(work, 4), cluster)
    assert not any(record.ended for record in records)
    assert records[2].stopped == 0.5 and records[3].waiting().peer == 2
    told = " ".join(timeline(records).text().split())
    assert "Rank 3 did not end: it waits in irecv(src=2)" in told
    assert "2 messages were never received" in told


def test_a_recorded_run_is_played_again_elsewhere(ranks):
    import torch
    import torch.distributed as dist

    def around(rank, size, tensor):
        for step in range(3):
            received = torch.empty_like(tensor)
            requests = [dist.isend(tensor, (rank + 1) % size, tag=step),
                        dist.irecv(received, (rank - 1) % size, tag=step)]  # fmt: skip
            for request in requests:
                request.wait()
            tensor = received
        dist.all_reduce(tensor)
        dist.barrier()

    run = ranks.run(around, torch.ones(250_000))
    played = replay(recorded(run.records, computing=0), flat(4))
    assert cost_model.sent_bytes(played) == cost_model.sent_bytes(run.records)
    expected = (
        3 * LINK.message_time(MEGABYTE) + 6 * LINK.message_time(MEGABYTE / 4) + 4 * LINK.latency
    )
    assert max(r.end for r in played) == pytest.approx(expected, rel=1e-6)
    assert [e.op for e in played[1].events] == [e.op for e in run.records[1].events]
    drawn = timeline(played)
    assert "around:" in drawn.text() and len(drawn.pairs.messages) == 12
    assert chrome_trace(played)["traceEvents"]
    longer = replay(recorded(run.records, computing=1), flat(4))
    assert max(r.end for r in longer) > expected


def test_receives_from_anybody_take_what_comes_first():
    late, early = message("send", 0, 1000), message("send", 0, 1000)
    anybody = message("recv", 0, 1000)
    anybody.peer = None
    programs = [
        [Post(anybody), Wait(0), Post(anybody), Wait(1)],
        [Compute(1.0), Post(late), Wait(0)],
        [Post(early), Wait(0)],
    ]
    server = replay(programs, flat(3))[0]
    assert [e.end for e in server.events] == pytest.approx([0.00101, 1.00101])


def test_a_send_ends_when_somebody_receives_it():
    late = [Compute(1.0), Post(message("recv", 0, 1000)), Wait(0)]
    sender = [Post(message("send", 1, 1000)), Wait(0), Compute(0.5)]
    first, second = replay([sender, late], flat(2))
    assert first.events[0].end == pytest.approx(1.0) and first.end == pytest.approx(1.5)
    assert second.end == pytest.approx(1.0, abs=1e-6)  # the message had come meanwhile
    buffered = Post(message("send", 1, 1000))
    buffered.event.flags |= BUFFERED
    assert replay([[buffered, *sender[1:]], late], flat(2))[0].end < 0.6


def collective(n_bytes, group):
    event = message("send", 0, n_bytes)
    event.op, event.peer, event.group, event.group_index = "all_reduce", None, group, len(group)
    return Post(event)


def test_collectives_of_all_groups_take_turns_on_a_ranks_link():
    """Both begin at once; the pair of rank 2 and 3 has its own links."""
    once = 2 * LINK.message_time(MEGABYTE / 2)
    both = [collective(MEGABYTE, (0, 1)), collective(MEGABYTE, (0, 2)), Wait(0), Wait(1)]
    one = [collective(MEGABYTE, (0, 1)), Wait(0)]
    other = [collective(MEGABYTE, (0, 2)), Wait(0)]
    ends = [record.end for record in replay([both, one, other, []], flat(4))]
    assert ends == pytest.approx([2 * once, once, 2 * once, 0])


def test_of_what_all_call_at_the_same_moment_the_first_call_comes_first():
    """Rows, then columns, without a pause: no column is taken before the rows."""
    once = 2 * LINK.message_time(MEGABYTE / 2)
    rows, columns = [(0, 1), (2, 3)], [(0, 2), (1, 3)]
    programs = [
        [collective(MEGABYTE, rows[rank // 2]), collective(MEGABYTE, columns[rank % 2]), Wait(0)]
        for rank in range(4)
    ]
    assert [r.end for r in replay(programs, flat(4))] == pytest.approx([once] * 4)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"nodes": 0}, "a node has at least one GPU"),
        ({"nodes": 2, "gpus": 2, "adapters": 3}, "at most an adapter for each"),
        ({"nodes": 2, "slow": {2: 2.0}}, "rank 2 is none of 0 to 1"),
    ],
)
def test_what_is_no_cluster_is_refused(arguments, said):
    with pytest.raises(ValueError, match=said):
        Cluster(**arguments)


def test_programs_are_for_all_ranks():
    with pytest.raises(ValueError, match="2 programs for 3 ranks"):
        replay([[], []], flat(3))
    with pytest.raises(ValueError, match="GPipe or 1F1B"):
        pipeline(2, 2, 1, 1.0, 1.0, "zero bubble")
