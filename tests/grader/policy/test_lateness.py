"""What lateness costs: the later the dearer, by days of the calendar, in exact points."""

import datetime
from fractions import Fraction
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.policy import lateness
from grader.policy.exact import CENT, exact, less, total
from grader.policy.lateness import UTC, Duration, Late

ZONES = st.sampled_from(
    ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC",
     "Pacific/Apia", "Africa/Casablanca"]
).map(ZoneInfo)  # fmt: skip
MOMENTS = st.datetimes(
    datetime.datetime(2009, 1, 1), datetime.datetime(2030, 1, 1), timezones=st.just(UTC)
)
SHARES = st.integers(0, 1000).map(lambda n: Fraction(n, 1000))
DURATIONS = st.builds(Duration, st.integers(0, 9), st.integers(0, 100_000))
POINTS = st.integers(0, 3000).map(lambda n: Fraction(n, 100))
SECONDS = st.integers(-100_000, 2_000_000)
LATES = st.builds(
    Late, SHARES | st.integers(1, 9).map(Fraction), st.booleans(), SHARES, DURATIONS,
    st.none() | DURATIONS,
)  # fmt: skip
BERLIN = ZoneInfo("Europe/Berlin")


def penalty(late, due, seconds, points, zone, free=0):
    handed_in = due + datetime.timedelta(seconds=seconds)
    found = lateness.lateness(due, handed_in, late, zone)
    free = lateness.share_out({"lab": found.days}, free, ["lab"])["lab"]
    return lateness.Lateness(
        found.due, found.handed_in, found.days, free, found.refused
    ).penalty(points, late)  # fmt: skip


@given(LATES, MOMENTS, SECONDS, SECONDS, POINTS, ZONES, st.integers(0, 5))
def test_handing_in_later_is_never_cheaper(late, due, one, other, points, zone, free):
    early, later = sorted((one, other))
    cheap = penalty(late, due, early, points, zone, free)
    assert 0 <= cheap <= penalty(late, due, later, points, zone, free) <= points


@given(LATES, MOMENTS, SECONDS, POINTS, ZONES, DURATIONS)
def test_more_time_is_never_dearer(late, due, seconds, points, zone, longer):
    extended = longer.after(due, zone)
    assert extended >= due
    left = int((due - extended).total_seconds()) + seconds
    assert penalty(late, extended, left, points, zone) <= penalty(late, due, seconds, points, zone)


@given(LATES, MOMENTS, SECONDS, POINTS, POINTS, ZONES)
def test_more_points_are_never_fewer_points(late, due, seconds, one, other, zone):
    few, many = sorted((one, other))
    assert (
        few - penalty(late, due, seconds, few, zone)
        <= (many - penalty(late, due, seconds, many, zone)) + CENT
    )  # a hundredth may be rounded away


@given(st.lists(st.integers(0, 10_000).map(lambda n: n / 100)))
def test_sums_are_those_of_the_decimals(points):
    assert total(points) == float(sum(Fraction(round(100 * one), 100) for one in points))
    assert less(total(points), total(points)) == 0


def test_three_thirds_are_no_2_9999():
    assert total([0.1] * 30) == 3.0 and total([0.1, 0.2]) == 0.3
    assert exact(0.1) == Fraction(1, 10) and less(3.0, 0.1) == 2.9


@pytest.mark.parametrize(
    ("due", "handed_in", "days"),
    [
        # clocks go back on 25 October 2026: the day has 25 hours
        ("2026-10-24 21:59", "2026-10-25 22:59", 1), ("2026-10-24 21:59", "2026-10-25 23:00", 2),
        # and forward on 28 March 2027: the day has 23
        ("2027-03-27 22:59", "2027-03-28 21:59", 1), ("2027-03-27 22:59", "2027-03-28 22:00", 2),
        ("2026-11-01 22:59", "2026-11-01 22:59", 0), ("2026-11-01 22:59", "2026-11-01 23:00", 1),
        ("2026-11-01 22:59", "2036-11-01 22:59", 3653),
    ],
)  # fmt: skip
def test_days_are_those_of_the_calendar(due, handed_in, days):
    due, handed_in = (
        datetime.datetime.fromisoformat(when).replace(tzinfo=UTC) for when in (due, handed_in)
    )
    assert lateness.lateness(due, handed_in, Late(), BERLIN).days == days


@given(MOMENTS, st.integers(0, 20), ZONES)
def test_a_day_more_is_the_same_time_of_day_or_what_comes_instead(due, days, zone):
    local = Duration(days).after(due, zone).astimezone(zone)
    wanted = due.astimezone(zone).replace(tzinfo=None) + datetime.timedelta(days=days)
    if lateness.exists(wanted, zone):
        assert local.replace(tzinfo=None) == wanted
    else:
        assert local.replace(tzinfo=None) > wanted


def test_grace_forgives_the_first_minutes_and_no_more():
    late, due = (
        Late(Fraction(1, 10), grace=Duration(0, 600)),
        datetime.datetime(2026, 1, 1, tzinfo=UTC),
    )
    assert penalty(late, due, 600, Fraction(10), BERLIN) == 0
    assert penalty(late, due, 601, Fraction(10), BERLIN) == 1


def test_what_comes_after_the_last_moment_has_no_points():
    late, due = Late(accept=Duration(2)), datetime.datetime(2026, 1, 1, tzinfo=UTC)
    assert penalty(late, due, 2 * 86400, Fraction(10), BERLIN) == 0
    assert penalty(late, due, 2 * 86400 + 1, Fraction(10), BERLIN, free=5) == 10


def test_a_fraction_of_a_second_is_not_late():
    due = datetime.datetime(2026, 1, 1, 22, 59, 59, tzinfo=UTC)
    for part, days in ((999_999, 0), (1_000_000, 1)):
        handed_in = due + datetime.timedelta(microseconds=part)
        assert lateness.lateness(due, handed_in, Late(), BERLIN).days == days


def test_an_unknown_time_of_handing_in_counts_as_in_time():
    due = datetime.datetime(2026, 1, 1, tzinfo=UTC)
    assert lateness.lateness(due, None, Late(Fraction(1)), BERLIN).days == 0
    assert lateness.lateness(None, due, Late(Fraction(1)), BERLIN).days == 0


@given(
    st.dictionaries(st.sampled_from("abcd"), st.integers(0, 5)), st.integers(0, 8),
    st.sampled_from("abcd"), st.integers(0, 5),
)  # fmt: skip
def test_a_day_less_of_lateness_never_costs_another_lab_a_free_day(days, budget, lab, fewer):
    def costs(days):
        free = lateness.share_out(days, budget, "abcd")
        assert sum(free.values()) <= budget
        return {name: days.get(name, 0) - free[name] for name in "abcd"}

    earlier = {**days, lab: min(days.get(lab, 0), fewer)}
    assert all(costs(earlier)[name] <= costs(days)[name] for name in "abcd")
