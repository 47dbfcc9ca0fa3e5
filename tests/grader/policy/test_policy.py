"""`policy.yaml`: what it says holds, and whatever cannot be is named with its line."""

import datetime
import os
import subprocess
import sys
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.paths import ROOT
from grader.policy import policy as policies
from grader.policy import reading, telling
from grader.policy.lateness import UTC, Duration, Late, Lateness
from grader.policy.rules import Policy, PolicyError, Rules
from grader.policy.settle import Settled

LAB = "01-message-passing"


def read(tmp_path, text):
    path = tmp_path / "policy.yaml"
    path.write_text(text, "utf-8")
    return policies.current(path)


def test_without_a_file_everything_is_as_it_was(tmp_path):
    assert policies.current(tmp_path / "policy.yaml") == Policy()
    assert not Policy().in_force


@pytest.mark.parametrize(
    ("named", "said"),
    [("none", "not in force"), ("/no/policy.yaml", "DISTLAB_POLICY names /no/policy.yaml")],
)
def test_a_policy_that_is_named_and_not_there_is_no_policy_only_where_none_is_asked_for(
    named, said
):
    code = """
from grader.policy import policy
try:
    print("in force" if policy.current().in_force else "not in force")
except policy.PolicyError as error:
    print(error)
"""
    environment = {**os.environ, "DISTLAB_POLICY": named}
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert ran.stdout.startswith(said), ran


def test_the_example_says_what_holds_without_it():
    said = policies.current(ROOT / "policy.example.yaml")
    assert said.course == Rules() and not said.labs and not said.free_days
    assert list(telling.rules(said, LAB)) == []


def test_the_example_can_be_used_once_its_lines_are_in_force(tmp_path):
    text = (ROOT / "policy.example.yaml").read_text()
    head, _, rest = text.partition("# timezone")
    said = read(tmp_path, ("# timezone" + rest).replace("\n# ", "\n").removeprefix("# ").replace(
        "What holds", "# What holds").replace("Days of", "# Days of"))  # fmt: skip
    assert said.zone.key == "Europe/Berlin"
    assert said.lab("02-toy-model").late == Late(Fraction(1, 5), accept=Duration(3))


def test_what_a_lab_says_stands_before_what_the_course_says(tmp_path):
    said = read(tmp_path, f"""
timezone: Europe/Berlin
free_late_days: 3
late: {{penalty: 10%, at_most: 50%}}
partial: {{cases: 50%, deadlock: 40%}}
on_submit: {{attempts: 5, wait: 1h 30min}}
largest_group: 2
labs:
  {LAB}:
    due: 2026-11-01 23:59
    late: {{penalty: 2 points}}
""")  # fmt: skip
    lab, other = said.lab(LAB), said.lab("02-toy-model")
    assert lab.due == datetime.datetime(2026, 11, 1, 22, 59, 59, tzinfo=UTC)
    assert lab.late == Late(Fraction(2), True, Fraction(1, 2))
    assert other.late == Late(Fraction(1, 10), False, Fraction(1, 2)) and other.due is None
    assert lab.on_submit.wait == Duration(0, 5400) and lab.on_submit.attempts == 5
    assert (lab.partial.cases, lab.largest_group, said.free_days) == (Fraction(1, 2), 2, 3)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("timezone: Europe/Berlim", 1, "Europe/Berlin"),
        ("timezone: UTC+1", 1, "time zone"),
        ("timezone: ../../etc/passwd", 1, "time zone"),
        ("timezone:", 1, "empty"),
        ("timezone: [a]", 1, "one line"),
        ("\nfree_late_days: -1", 2, "0 to 366"),
        ("free_late_days: 1.5", 1, "0 to 366"),
        ("latte: {}", 1, "did you mean late?"),
        ("late: {penality: 10%}", 1, "did you mean penalty?"),
        ("late: {penalty: 10}", 1, "10% of the points reached"),
        ("late: {penalty: 110%}", 1, "at most 100%"),
        ("late: {penalty: -5%}", 1, "write none"),
        ("late: {at_most: lots}", 1, "50%"),
        ("late: {grace: 5}", 1, "3d, 12h"),
        ("late: {grace: -5min}", 1, "3d, 12h"),
        ("late: {accept: 800d}", 1, "366 days"),
        ("late:\n  accept: 1h\n  grace: 2h", 2, "accept is shorter than grace"),
        ("late: 10%", 1, "name: value"),
        ("late: {penalty: 1%, penalty: 2%}", 1, "twice"),
        ("partial: {cases: share}", 1, "50%"),
        ("on_submit: {attempts: 0}", 1, "unlimited"),
        ("on_submit: {wait: soon}", 1, "30min"),
        ("largest_group: 0", 1, "any"),
        ("labs: {01-mesage-passing: {}}", 1, "did you mean 01-message-passing?"),
        (f"labs:\n  {LAB}:\n    due: 2026-11-01", 3, "timezone: Europe/Berlin"),
        (f"timezone: UTC\nlabs: {{{LAB}: {{due: 2026-13-01}}}}", 2, "2026-11-01 23:59"),
        (f"timezone: UTC\nlabs: {{{LAB}: {{due: tomorrow}}}}", 2, "2026-11-01 23:59"),
        (f"timezone: UTC\nlabs: {{{LAB}: {{due: 0001-01-01}}}}", 2, "no date"),
        (f"timezone: Europe/Berlin\nlabs: {{{LAB}: {{due: 2027-03-28T02:30}}}}", 2, "skip"),
        (f"timezone: UTC\nlabs:\n  {LAB}:\n    release: 2026-11-02\n    due: 2026-11-01", 5,
         "not after the release"),
        ("- a\n- b", 1, "name: value"),
        ("a: [", 1, "YAML"),
        ("a: b\n\tc: d", 2, "YAML"),
        ("a: 1\n---\nb: 2", 2, "YAML"),
        ("late: !!python/object/apply:os.system [echo]", 1, "name: value"),
    ],
)  # fmt: skip
def test_a_value_that_cannot_be_used_is_named_with_its_line(tmp_path, text, line, words):
    with pytest.raises(PolicyError) as error:
        read(tmp_path, text)
    assert str(error.value).startswith(f"policy.yaml, line {line}: ") and words in str(error.value)


def test_all_that_is_wrong_is_told_at_once_in_the_order_of_the_lines(tmp_path):
    with pytest.raises(PolicyError) as error:
        read(tmp_path, "late: {penalty: x}\ntimezone: y\nfree_late_days: z")
    assert [said[:21] for said in str(error.value).splitlines()] == [
        f"policy.yaml, line {n}: " for n in (1, 2, 3)
    ]


@pytest.mark.parametrize(
    "content", [b"\xff\xfe", b"[" * 100_000, b"a" * 300_000, b"\x00", b"&a [*a]", b"a: &a {b: *a}"]
)
def test_no_file_breaks_the_reading(tmp_path, content):
    path = tmp_path / "policy.yaml"
    path.write_bytes(content)
    with pytest.raises(PolicyError, match=r"policy\.yaml"):
        policies.current(path)


def test_a_folder_in_its_place_is_said(tmp_path):
    (tmp_path / "policy.yaml").mkdir()
    with pytest.raises(PolicyError, match="cannot be read"):
        policies.current(tmp_path / "policy.yaml")


def test_a_changed_file_is_read_again(tmp_path):
    assert read(tmp_path, "free_late_days: 1").free_days == 1
    assert read(tmp_path, "free_late_days: 2 ").free_days == 2


@given(st.text(max_size=80))
def test_any_text_is_read_or_refused_in_words(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / f"any-{os.getpid()}.yaml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        reading.read(path)
    except PolicyError as error:
        assert path.name in str(error)


@given(st.text(max_size=30))
def test_any_text_is_a_duration_or_refused(text):
    try:
        assert reading.duration(text).days <= 366
    except reading.Wrong as error:
        assert "write" in str(error) or "at most" in str(error)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("3d", Duration(3)), ("1w 2d", Duration(9)), ("90min", Duration(0, 5400)),
     ("1 day 6 hours", Duration(1, 21600)), ("45s", Duration(0, 45)), ("0min", Duration())],
)  # fmt: skip
def test_durations_are_read_as_people_write_them(text, expected):
    assert reading.duration(text) == expected


def test_an_offset_stands_in_place_of_the_time_zone(tmp_path):
    said = read(tmp_path, f"labs: {{{LAB}: {{due: 2026-11-01 23:00 -05:30}}}}")
    assert said.lab(LAB).due == datetime.datetime(2026, 11, 2, 4, 30, tzinfo=UTC)


def test_every_time_of_an_hour_that_comes_twice_is_the_later_one(tmp_path):
    said = read(tmp_path, f"timezone: Europe/Berlin\nlabs: {{{LAB}: {{due: 2026-10-25 02:30}}}}")
    assert said.lab(LAB).due == datetime.datetime(2026, 10, 25, 1, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("penalty", "said"),
    [("1 point", "1 point is taken off"), ("2 points", "2 points are taken off"),
     ("1.5 points", "1.5 points are taken off"),
     ("10%", "10 % of the points reached is taken off")],
)  # fmt: skip
def test_what_a_day_costs_is_told_in_whole_sentences(tmp_path, penalty, said):
    text = f"late: {{penalty: {penalty}}}\nlabs: {{{LAB}: {{due: 2026-11-01 23:59Z}}}}"
    found = read(tmp_path, text)
    assert f"Late: {said} for each day begun." in list(telling.rules(found, LAB))


@pytest.mark.parametrize(
    ("per_day", "at_most", "days", "points", "said"),
    [("1", "1", 1, 24, "1 point of 24 is taken off: 1"),
     ("1", "1", 2, 24, "2 points of 24 are taken off: 2"),
     ("10", "1", 3, 24, "all 24 points are taken off"), ("10", "1", 3, 1, "1 point is taken off"),
     ("10", "1/2", 3, 24, "at most 50 % of 24 points is taken off: 12"),
     ("1", "1", 2, 0, "nothing is taken off")],
)  # fmt: skip
def test_what_lateness_costs_in_points_is_told_in_whole_sentences(
    per_day, at_most, days, points, said
):
    rule = Late(Fraction(per_day), in_points=True, at_most=Fraction(at_most))
    late = Lateness(days=days)
    settled = Settled(late, Fraction(points), late.penalty(Fraction(points), rule))
    assert telling._taken(rule, late, settled) == said
