"""Ranks whose clocks differ are drawn on one; ranks on one machine are left as they are."""

import random
import sys
import time

import cloudpickle
import pytest
import torch
import torch.distributed as dist

from distlab import Ranks
from distlab.processes import clocks
from distlab.records.pairing import match_messages

cloudpickle.register_pickle_by_value(sys.modules[__name__])

AHEAD = 5000.0  # seconds by which the faked machine's clock is ahead


def test_the_offset_is_wrong_by_at_most_half_of_the_quickest_answer(monkeypatch):
    chance, true = random.Random(3), [0.0]
    monkeypatch.setattr(clocks, "now", lambda: true[0])
    quickest = [1.0]

    def ask():
        there, back = chance.random(), chance.random()
        quickest[0] = min(quickest[0], there + back)
        true[0] += there
        shown = true[0] + AHEAD
        true[0] += back
        return shown

    assert abs(clocks.offset(ask, 50) + AHEAD) <= quickest[0] / 2


def far_away(rank, size, ranks):
    """Pretend that these ranks run on another machine; without any, that none does."""
    from distlab.processes import clocks
    from distlab.rank import recorder

    clocks.now = recorder._now = time.monotonic
    machine = clocks.__dict__.setdefault("_machine", clocks.machine)
    clocks.machine = machine
    if rank in ranks:
        clocks.now = recorder._now = lambda: time.monotonic() + AHEAD
        clocks.machine = lambda: "far away"


def ping_pong(rank, size):
    for _ in range(20):
        if rank == 0:
            dist.send(torch.ones(1), size - 1)
        elif rank == size - 1:
            dist.recv(torch.ones(1), 0)
    dist.barrier()


@pytest.fixture
def with_clocks(ranks):
    """Attach to the engines of `ranks` with some of them far away."""

    def attached(far, size=3):
        made = Ranks(size, cluster=ranks.client)
        made.run(far_away, far)
        return made

    yield attached
    ranks.run(far_away, [])


def test_on_one_machine_no_clock_is_touched(with_clocks, ranks):
    for made in (Ranks(3), with_clocks([])):
        assert [record.offset for record in made.run(ping_pong).records] == [0.0] * 3


@pytest.mark.parametrize("far", [[2], [1, 2], [0], [0, 1, 2]])
def test_ranks_on_another_machine_are_drawn_on_the_watchers_clock(with_clocks, far):
    attached = with_clocks(far)
    begin = time.monotonic()
    result = attached.run(ping_pong)
    end = time.monotonic()
    offsets = [record.offset for record in result.records]
    assert all(offset == 0.0 for rank, offset in enumerate(offsets) if rank not in far)
    assert len({offsets[rank] for rank in far}) == 1
    assert offsets[far[0]] == pytest.approx(-AHEAD, abs=0.5)
    assert all(begin < record.begin < record.end < end for record in result.records)
    error = min(r.end - s.begin for s, r in match_messages(result.records))
    assert error > -0.05, "messages arrive before they are sent"


def test_a_run_without_a_group_is_aligned_over_the_engines_connection(with_clocks):
    from distlab.engines import by_value, runs

    engines = with_clocks([1])._engines
    inputs = [cloudpickle.dumps(((rank, 2), {})) for rank in range(2)]
    begin = time.monotonic()
    run = runs.drive(engines, by_value.dumps(lambda rank, size: None), inputs, group=False)
    assert run.records[0].offset == 0.0
    assert begin < run.records[1].begin < time.monotonic()


def test_a_hang_is_proven_and_drawn_to_its_end_with_a_clock_far_ahead(ranks, monkeypatch):
    def listen(rank, size):
        dist.recv(torch.zeros(1), 1 - rank)

    ranks.run(far_away, [1])  # both are killed for their hang, and replaced
    machines = [clocks.machine(), "far away", *[clocks.machine()] * 2]
    monkeypatch.setattr(ranks._engines, "machines", lambda: machines)
    begin = time.monotonic()
    result = Ranks(2).run(listen, may_fail=True)
    took = time.monotonic() - begin
    assert result.run.finding.kind == "cycle"
    assert result.records[1].offset == pytest.approx(-AHEAD, abs=0.5)
    for record in result.records:
        assert 0 < record.stopped - record.events[0].begin < took + 0.5
