"""A recorded run on other ranks and links says what following each of its operations says."""

import math
from dataclasses import replace

import numpy as np
import pytest
from recorded import event

from distlab.records.events import BLOCKING, FUTURE, INTERNAL, RETURNED, WAITED, RankRecord
from distlab.simulation import Cluster, Pattern, Step, recorded, replay, run_steps
from distlab.simulation.cost_model import Link, halving_doubling_time, tree_time
from distlab.simulation.programs import Compute, Post, Wait
from distlab.simulation.retiming import (
    COMPUTES,
    MOST_SPANS,
    MOVES,
    WAITS,
    Carried,
    Fixed,
    Setting,
    retimed,
)

LINK = Link(1e-4, 1e8)


def collective(rank, begin, end, op="all_reduce", size=4, flags=BLOCKING, **changes):
    times = {"begin": begin, "end": end, "wait_begin": begin, "wait_end": end}
    return event(rank, 0, op, size, flags=flags, **{**times, **changes})


def run_of(size, events):
    """Records of ranks whose operations `events(rank)` gives, over after one second."""
    records = []
    for rank in range(size):
        record = RankRecord(rank, size, progress=RETURNED, begin=0.0, end=1.0)
        record.events = events(rank)
        for index, one in enumerate(record.events):
            one.index = index
        records.append(record)
    return records


def training(size):
    """Ranks compute for unlike times, and meet in three collectives of unlike sizes."""

    def events(rank):
        late = 0.01 * ((rank * 7) % 5)
        return [
            collective(rank, 0.1 + late, 0.2, size=size, nbytes=800_000),
            collective(rank, 0.4 + late, 0.5, "broadcast", size, peer=0, nbytes=4_000),
            collective(rank, 0.7 + late, 0.8, "all_gather", size, nbytes=80_000),
        ]

    return run_of(size, events)


def overlapped(size):
    """An all-reduce is begun, the ranks compute on, and then wait for it."""

    def events(rank):
        late = 0.02 * rank
        return [
            collective(rank, 0.1 + late, 0.45, size=size, flags=WAITED, wait_begin=0.4,
                       nbytes=8_000_000),
            collective(rank, 0.6, 0.7, size=size, nbytes=8),
        ]  # fmt: skip

    return run_of(size, events)


def followed(programs, setting):
    """The records of `setting.ranks` ranks, by following each operation of each."""
    size = len(programs)
    more = [[_of_all(one) for one in programs[rank % size]] for rank in range(setting.ranks)]
    slow = min(size, setting.ranks) - 1
    return replay(more, setting.cluster(setting.ranks, slow), setting.algorithm)


def _of_all(one):
    """A call among all ranks that there are, not those that were recorded."""
    return Post(replace(one.event, group=())) if isinstance(one, Post) else one


@pytest.mark.parametrize("made", [training, overlapped])
@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 5, 8, 13, 32])
@pytest.mark.parametrize("slowness", [1.0, 3.0])
def test_a_run_of_collectives_takes_as_long_as_when_each_operation_is_followed(
    made, ranks, slowness
):
    programs = recorded(made(4))
    setting = Setting(ranks, LINK, slowness)
    expected = max(record.end for record in followed(programs, setting))
    assert Carried(programs).seconds([ranks], setting) == pytest.approx([expected], rel=1e-9)


@pytest.mark.parametrize("algorithm", ["ring", "tree", "halving and doubling", "parameter server"])
def test_each_algorithm_is_the_one_that_is_followed(algorithm):
    programs = recorded(training(4))
    setting = Setting(16, LINK, 1.0, algorithm)
    expected = max(record.end for record in followed(programs, setting))
    assert Carried(programs).seconds([16], setting) == pytest.approx([expected], rel=1e-9)


def test_many_sizes_at_once_take_what_each_takes_alone():
    carried, sizes = Carried(recorded(training(3))), [1, 2, 3, 7, 64]
    setting = Setting(1, LINK, 2.0)
    alone = [carried.seconds([size], setting)[0] for size in sizes]
    assert carried.seconds(sizes, setting) == pytest.approx(alone, rel=1e-12)


def test_an_algorithm_that_cannot_be_run_on_so_many_ranks_has_no_time():
    found = Carried(recorded(training(4))).seconds(
        [4, 6], Setting(4, LINK, 1, "halving and doubling")
    )
    assert found[0] > 0 and math.isnan(found[1])


@pytest.mark.parametrize("ranks", [2, 4, 9])
def test_rows_are_what_ranks_of_each_kind_do_and_add_up(ranks):
    programs = recorded(overlapped(4))
    setting = Setting(ranks, LINK, 2.0)
    rows = Carried(programs).rows(setting)
    assert sum(row.like for row in rows) == ranks
    assert [row.slow for row in rows].count(True) == 1
    records = followed(programs, setting)
    for row in rows:
        assert row.spans[0].begin == 0
        for one, other in zip(row.spans, row.spans[1:], strict=False):
            assert other.begin == pytest.approx(one.end)
        assert row.spans[-1].end == pytest.approx(records[row.rank].end)
        assert sum(map(row.seconds, (COMPUTES, WAITS, MOVES))) == pytest.approx(row.spans[-1].end)


def test_a_long_run_is_told_by_its_first_spans_and_the_seconds_of_all():
    def events(rank):
        return [
            collective(rank, 0.001 * step, 0.001 * step + 5e-4, nbytes=100_000)
            for step in range(1, 600)
        ]

    programs = recorded(run_of(4, events))
    setting = Setting(4, LINK, 2.0)
    records = followed(programs, setting)
    rows = Carried(programs).rows(setting)
    for row in rows:
        (expected,) = retimed([records[row.rank]])
        assert len(row.spans) == len(expected.spans) == MOST_SPANS + 1
        assert row.spans[0].begin == 0
        for one, other in zip(row.spans, row.spans[1:], strict=False):
            assert one.end == other.begin < other.end
        assert row.end == pytest.approx(expected.end) == pytest.approx(records[row.rank].end)
        assert row.seconds(COMPUTES) == pytest.approx(expected.seconds(COMPUTES))
        assert row.seconds(WAITS) + row.seconds(MOVES) == pytest.approx(expected.seconds(MOVES))


def test_a_size_that_is_chosen_among_others_has_the_rows_that_it_has_alone():
    carried = Carried(recorded(training(3)))
    for ranks in (1, 2, 7):
        setting = Setting(ranks, LINK, 2.0)
        seconds, rows = carried.timed([1, 2, 7, 64], setting)
        assert seconds == pytest.approx(carried.seconds([1, 2, 7, 64], setting), rel=1e-12)
        assert rows == carried.rows(setting)
    setting = Setting(6, LINK, 1.0, "halving and doubling")
    assert carried.timed([4, 6], setting)[1] == carried.rows(setting) == []


def test_a_run_with_messages_is_followed_on_its_own_ranks():
    def events(rank):
        op = "send" if rank == 0 else "recv"
        return [collective(rank, 0.1, 0.5, op, 2, peer=1 - rank, nbytes=1_000_000)]

    programs = recorded(run_of(2, events))
    with pytest.raises(ValueError, match="same collectives"):
        Carried(programs)
    rows = Fixed(programs).rows(Setting(2, LINK, 1.0))
    assert rows[1].seconds(MOVES) == pytest.approx(LINK.message_time(1_000_000))


def test_a_thread_that_waits_beside_the_function_holds_it_up_no_longer_than_it_did():
    """Each rank's receive is waited for by a thread while the function computes, and then sends."""

    def events(rank):
        receive = collective(rank, 0.1, 0.5, "recv", 2, peer=1 - rank, thread=1)
        return [receive, collective(rank, 0.4, 0.45, "send", 2, peer=1 - rank)]

    rows = Fixed(recorded(run_of(2, events))).rows(Setting(2, LINK, 1.0))
    # 0.4 s until it sends, and 0.5 s after it has received
    assert [row.end for row in rows] == pytest.approx([0.9, 0.9], abs=0.01)


def test_operations_that_threads_number_before_they_begin_are_waited_for_as_they_were():
    """The second of a rank's record was begun before the first."""

    def events(rank):
        first = collective(rank, 0.3, 0.4, "send", 2, peer=1 - rank)
        return [first, collective(rank, 0.1, 0.2, "recv", 2, peer=1 - rank, thread=1)]

    program = recorded(run_of(2, events))[0]
    ops = [one.event.op for one in program if isinstance(one, Post)]
    assert [ops[one.number] for one in program if isinstance(one, Wait)] == ["recv", "send"]
    assert ops == ["recv", "send"]


@pytest.mark.parametrize(
    "change",
    [{"nbytes": 1}, {"op": "barrier"}, {"peer": 1}, {"group": (0, 1)}, {"group_index": 3}],
)
def test_ranks_that_do_not_call_the_same_are_not_carried(change):
    records = training(4)
    for name, value in change.items():
        setattr(records[2].events[1], name, value)
    with pytest.raises(ValueError, match="same collectives"):
        Carried(recorded(records))


def test_buckets_that_ddp_waits_for_itself_are_waited_for_together():
    def events(rank):
        flags = FUTURE | INTERNAL
        return [
            collective(rank, 0.1, 0.3, flags=flags, size=2, wait_begin=0.0, wait_end=0.0),
            collective(rank, 0.2, 0.25, flags=flags, size=2, wait_begin=0.0, wait_end=0.0),
            collective(rank, 0.6, 0.7, size=2),
        ]

    program = recorded(run_of(2, events))[0]
    kinds = [one.number if isinstance(one, Wait) else type(one) for one in program]
    assert kinds == [Compute, Post, Compute, Post, Compute, 0, 1, Compute, Post, 2, Compute]
    assert sum(one.seconds for one in program if isinstance(one, Compute)) == pytest.approx(0.9)


def test_ranks_that_waited_in_another_order_keep_what_they_compute():
    call = Post(collective(0, 0, 0, size=2))
    programs = [
        [Compute(1), call, call, Wait(0), Wait(1), Compute(2)],
        [Compute(3), call, Wait(0), Compute(4), call, Wait(1)],
    ]
    found = Carried(programs).seconds([2], Setting(2, Link(0.0, 1e30)))
    assert found == pytest.approx([9.0])


@pytest.mark.parametrize("size", [2, 3, 64, 1000])
def test_steps_that_repeat_take_what_the_formulas_say(size):
    """What is multiplied out, against the closed forms."""
    from distlab.simulation import ring, tree

    cluster, n_bytes = Cluster(size, 1, between=LINK), 1e6
    expected = 2 * (size - 1) * LINK.message_time(n_bytes / size)
    assert run_steps(ring(size, n_bytes), cluster).max() == pytest.approx(expected, rel=1e-9)
    assert run_steps(tree(size, n_bytes), cluster).max() <= tree_time(
        n_bytes, size, LINK.latency, LINK.bandwidth
    ) * (1 + 1e-9)
    if size & (size - 1) == 0:
        from distlab.simulation import halving_doubling

        told = halving_doubling_time(n_bytes, size, LINK.latency, LINK.bandwidth)
        assert run_steps(halving_doubling(size, n_bytes), cluster).max() == pytest.approx(told)


def one_by_one(steps):
    """The same steps as objects of their own, so that none is seen to repeat."""
    for step in steps:
        yield Step(step.pattern, step.n_bytes, step.seconds)


@pytest.mark.parametrize("seed", range(8))
def test_multiplied_out_is_what_each_step_gives(seed):
    """Rings on clusters of any shape, after computing that differs, beside ranks that stand by."""
    chance = np.random.default_rng(seed)
    nodes, gpus = int(chance.integers(1, 5)), int(chance.integers(1, 5))
    cluster = Cluster(
        nodes, gpus, inside=Link(1e-6, 1e10), between=Link(1e-5, 1e9),
        adapters=int(chance.integers(0, gpus + 1)), slow={0: 3.0},
    )  # fmt: skip
    ranks = chance.permutation(cluster.size)[: max(1, cluster.size - seed % 3)]
    first = Step(None, seconds=chance.random(cluster.size) * 1e-2)
    around = Step(Pattern(ranks, np.roll(ranks, 1)), 1e5, seconds=1e-5 * (seed % 2))
    back = Step(Pattern(ranks[:1], ranks[-1:]), 10.0)
    steps = [first, *[around] * 200, back, *[around] * 50]
    assert run_steps(steps, cluster) == pytest.approx(
        run_steps(one_by_one(steps), cluster), rel=1e-7
    )


def test_a_slow_or_lost_rank_is_not_multiplied_away():
    ranks = np.arange(4)
    around = Step(Pattern(ranks, (ranks + 1) % 4), 1e5)
    lost = Cluster(4, 1, between=LINK, lost={2: 0.05})
    found = run_steps([around] * 300, lost)
    assert np.array_equal(found, run_steps(one_by_one([around] * 300), lost))
    assert np.isinf(found).all()
