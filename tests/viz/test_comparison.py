"""Two runs set beside each other: which operations belong together, and what is said of them."""

import json
import time
from types import SimpleNamespace

import pytest
from test_run_model import HOSTILE
from test_timeline import add, exchange, long_run, world

from distlab.engines.outcomes import Finding
from distlab.records.events import RUNNING
from distlab.viz import comparison
from distlab.viz.comparison import compare


def both_send(records=None):
    """Both ranks send first, and neither send ends."""
    records = records or world(2, RUNNING)
    add(records, 0, "send", 0.002, None, 1, value=0.0)
    add(records, 1, "send", 0.002, None, 0, value=10.0)
    return records


def steps(*seconds, peer=1):
    """Rank 0 sends and rank 1 receives, a message after the other, each so long."""
    records, now = world(2), 0.001
    for took in seconds:
        add(records, 0, "send", now, now + took, peer)
        add(records, 1, "recv", now, now + took, 0)
        now += took
    for record in records:
        record.end = now
    return records


def test_the_same_run_twice_has_nothing_to_tell():
    compared = compare(exchange(), exchange())
    assert compared.rows() == [] and compared.parting == {}
    assert all(before.index == after.index for _, before, after in compared.pairs)
    assert "did the same operations in the same order" in compared.summary
    assert "about as long" in compared.summary


def test_a_hanging_schedule_parts_where_it_first_does_something_else():
    compared = compare(exchange(), both_send(), ("right", "hanging"))
    assert "hanging did not end" in compared.summary
    told = "on rank 1: right has recv(src=0) at step:3, hanging has send(dst=0) at step:3"
    assert told in compared.summary
    verdicts = {(row[0], row[1]): row[-1] for row in compared.rows()}
    assert verdicts == {
        ("0", "send(dst=1)"): "never finished in hanging",
        ("1", "send(dst=0)"): "never finished in hanging",
        ("0", "recv(src=1)"): "missing in hanging",
        ("1", "recv(src=0)"): "missing in hanging",
    }


@pytest.mark.parametrize("found", ["finding", "hindsight"])
def test_what_was_found_of_a_run_goes_with_its_picture(found):
    said = {"finding": None, "hindsight": None, found: Finding("deadlock", "Rank 0 waits.")}
    compared = compare(exchange(), SimpleNamespace(records=exchange(), **said))
    assert compared.after.verdict == "Rank 0 waits." and not compared.before.verdict


def test_what_is_inserted_moves_nothing_else():
    before, after = steps(0.01, 0.02, 0.03), world(2)
    now = 0.001
    for number, took in enumerate((0.01, 0.005, 0.02, 0.03)):
        tag = number == 1
        add(
            after,
            0,
            "send",
            now,
            now + took,
            1,
            nbytes=8 if tag else 4,
            shape=(2,) if tag else (1,),
        )
        add(
            after,
            1,
            "recv",
            now,
            now + took,
            0,
            nbytes=8 if tag else 4,
            shape=(2,) if tag else (1,),
        )
        now += took
    compared = compare(before, after)
    of_rank = [(a and a.index, b and b.index) for rank, a, b in compared.pairs if rank == 0]
    assert of_rank == [(0, 0), (None, 1), (1, 2), (2, 3)]
    assert [row[-1] for row in compared.rows()] == ["only in after"] * 2
    assert "2 operations of after are not in before" in compared.summary


def test_what_became_faster_and_what_slower_is_told_most_first():
    compared = compare(steps(0.01, 0.02, 0.03), steps(0.01, 0.002, 0.06))
    told = [(row[0], row[4], row[5], row[-1]) for row in compared.rows()]
    assert told[0][1:] == ("30.0 ms", "60.0 ms", "slower")
    assert told[-1][1:] == ("20.0 ms", "2.00 ms", "faster")
    assert len(told) == 4


def test_what_is_small_beside_the_run_is_no_change():
    compared = compare(steps(1.0, 0.001), steps(1.0, 0.002))
    assert compared.rows() == []


def test_runs_of_different_sizes_are_compared_as_far_as_they_go():
    compared = compare(exchange(), world(3))
    assert {row[-1] for row in compared.rows()} == {"missing in after"}
    assert len(compared.shares()) == 5


def test_a_long_run_is_aligned_in_time():
    one, other = long_run(2_000), long_run(2_000)
    for record in other:
        del record.events[3_000]
    compared = compare(one, other)
    alone = [pair for pair in compared.pairs if pair.after is None]
    assert len(compared.pairs) == sum(len(r.events) for r in one)
    assert {pair.rank: 1 for pair in alone} == {0: 1, 1: 1, 2: 1, 3: 1}


def test_loops_with_their_steps_in_another_order_are_aligned_in_time():
    """As many operations as are aligned at all; `difflib` would need minutes."""
    one, other = world(2), world(2)
    for records, steps in ((one, "sr"), (other, "rss")):
        for number in range(1500):
            now = 0.001 + number * 1e-6
            op = {"s": "send", "r": "recv"}[steps[number % len(steps)]]
            add(records, 0, op, now, now + 1e-7, 1)
    begin = time.process_time()
    compared = compare(one, other)
    assert time.process_time() - begin < 5
    assert sum(None not in pair for pair in compared.pairs) == 1249  # no more fit


def test_an_operation_that_cannot_be_is_in_neither_picture():
    one = exchange()
    add(one, 0, "send", 0.008, 0.009, peer=9)
    compared = compare(exchange(), one)
    assert compared.rows() == [] and compared.model().tree["rows"] == []


def test_what_differs_all_over_is_not_aligned_for_ever():
    """Beyond so many operations the middle is told as missing and added, at once."""
    count = comparison.MOST_ALIGNED + 1
    one, other = world(2), world(2)
    for number in range(count):
        now = 0.001 + number * 1e-5
        add(one, 0, "send", now, now + 1e-6, 1, nbytes=4 * (number + 1))
        one[0].events[-1].shape = (number % 7 + 1,)
        add(other, 0, "send", now, now + 1e-6, 1)
        other[0].events[-1].shape = (number % 5 + 10,)
    compared = compare(one, other)
    assert sum(pair.after is None for pair in compared.pairs) == count


def test_the_live_picture_has_both_runs_and_the_places_of_their_operations():
    compared = compare(exchange(), both_send())
    made = compared.model()
    left, right = (made.columns[spec["column"]].tolist() for spec in made.tree["pairs"])
    assert len(left) == len(right) == len(compared.pairs)
    for k, run in enumerate(made.tree["runs"]):
        rank = made.columns[run["events"]["rank"]["column"]]
        assert len(rank) == run["events"]["count"]
        places = (left, right)[k]
        assert sorted(p for p in places if p >= 0) == list(range(len(rank)))
        assert all(
            rank[p] == pair.rank for p, pair in zip(places, compared.pairs, strict=True) if p >= 0
        )
    json.dumps(made.inline(), allow_nan=False)


def test_names_of_strangers_do_nothing():
    one, other = exchange(), both_send()
    for records in (one, other):
        for record in records:
            for event in record.events:
                event.function = event.api = event.dtype = HOSTILE
    compared = compare(one, other)
    assert "<img" not in compared._repr_html_() and "<script>window" not in compared._repr_html_()


def test_two_runs_need_two_names(tmp_path):
    with pytest.raises(ValueError, match="two names"):
        compare(exchange(), exchange(), ("run", "run"))
    with pytest.raises(ValueError, match=r"saved as \.html"):
        compare(exchange(), exchange()).save(tmp_path / "both.svg")
