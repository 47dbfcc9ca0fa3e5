"""The names of schedules."""

import pytest

from distlab.records.choices import POLL, SOURCE, Key, Plan, Schedule


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("2-1", {Key(0, SOURCE, 0): 2, Key(0, SOURCE, 1): 1}),
        ("1:0,3:0-1", {Key(1, SOURCE, 0): 0, Key(3, SOURCE, 0): 0, Key(3, SOURCE, 1): 1}),
        ("b1x3-2", {**{Key(0, SOURCE, n): 1 for n in range(3)}, Key(0, SOURCE, 3): 2}),
        ("1-p2-p0", {Key(0, SOURCE, 0): 1, Key(0, POLL, 0): 2, Key(0, POLL, 1): 0}),
        ("-", {}),
    ],
)
def test_a_schedule_and_its_name_say_the_same(name, values):
    schedule = Schedule.named(name)
    assert schedule.values == values and schedule.buffered == name.startswith("b")
    assert schedule.name == name


@pytest.mark.parametrize(
    "name", ["x", "1--2", "1:", "1,,2", "1x0", "-1", "1x999999999", "all", "\n"]
)
def test_what_is_no_name_is_said_to_be_none(name):
    with pytest.raises(ValueError, match="no schedule has the name"):
        Schedule.named(name)


def test_a_rank_follows_its_own_part_and_is_free_beyond_it():
    schedule = Schedule.named("2-1,1:0-p3")
    plan = Plan(schedule.of_rank(0))
    assert [plan.source() for _ in range(3)] == [2, 1, None] and plan.poll() is None
    plan = Plan(schedule.of_rank(1))
    assert (plan.source(), plan.poll(), plan.poll()) == (0, 3, None)
    assert Plan(None).source() is None and not Plan(None).buffered
