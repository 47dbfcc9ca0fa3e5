"""Points for a part of the cases, in exact hundredths."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbformat import from_dict
from nbgrader import utils

from distlab.course import find
from distlab.exercises.exercise import Case
from distlab.exercises.verdict import Verdict
from grader import coursedir
from grader.judging import ledger
from grader.judging.ledger import Entry, Line
from grader.plugins import preprocessors
from grader.policy.exact import CENT
from grader.policy.partial import Partial

HALF = Partial(Fraction(1, 2), Fraction(2, 5))


def line(status="wrong", passed=2, total=6, smaller=0, points=3.0):
    score = points if status == "passed" else 0.0
    return Line("relay", status, score, points, passed=passed, total=total, smaller=smaller)


def test_by_default_an_exercise_is_right_or_has_no_points():
    assert Partial().points(line()) == 0 and Partial().points(line("passed", 6)) == 3
    assert Partial().points(line("deadlock", 5, smaller=3)) == 0


@pytest.mark.parametrize(
    ("of", "points"),
    [
        (line(), 0.5), (line(passed=0), 0), (line("passed", 6), 3), (line("timeout"), 0.5),
        (line("deadlock", 2, smaller=0), 0.5), (line("deadlock", 2, smaller=1), 1.2),
        (line("deadlock", 5, smaller=1), 1.25), (line("wrong", 2, smaller=2), 0.5),
        (line(passed=1, total=7), 0.21), (line("tampered", 5), 0), (line("flagged", 5), 0),
        (line("unanswered", 1), 0), (line("not graded", 1), 0), (line(passed=0, total=0), 0),
    ],
)  # fmt: skip
def test_points_for_a_part(of, points):
    assert HALF.points(of) == Fraction(str(points))


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(1, 4)), max_size=20), st.integers(0, 100)
)  # fmt: skip
def test_the_sum_is_that_of_the_hundredths(parts, percent):
    rule = Partial(Fraction(percent, 100))
    lines = [line(passed=passed, total=9, points=float(points)) for passed, points in parts]
    scored = rule.entry(Entry("ada", "lab", "", lines))
    wanted = sum((rule.points(one) for one in lines), Fraction())
    assert Fraction(str(scored.score)) == wanted and wanted % CENT == 0


@given(
    st.integers(0, 8), st.integers(0, 8), st.integers(0, 100), st.sampled_from(["wrong", "error"])
)
def test_more_right_cases_never_give_fewer_points(one, other, percent, status):
    few, many = sorted((one, other))
    rule = Partial(Fraction(percent, 100))
    assert rule.points(line(status, few, 9)) <= rule.points(line(status, many, 9)) <= 3


def test_nbgrader_reads_the_same_points_off_the_cell():
    for of in (line(), line(passed=1, total=7), line("passed", 6), line(passed=0)):
        scored = HALF.scored(of)
        grading = {"grade": True, "solution": False, "points": 3, "grade_id": "test_relay"}
        cell = from_dict(
            {"cell_type": "code", "source": "", "metadata": {"nbgrader": grading},
             "outputs": preprocessors.outputs(scored)}
        )  # fmt: skip
        assert utils.determine_grade(cell) == (scored.score, 3.0)


def test_cases_with_fewer_ranks_are_counted_for_a_deadlock():
    exercise = find("01-message-passing/relay")
    cases = coursedir.cases(exercise)
    last = max(range(len(cases)), key=lambda n: cases[n].size)
    verdict = Verdict(exercise, "deadlock", passed=last, total=len(cases), case=cases[last])
    found = ledger.line(verdict)
    assert (found.passed, found.total) == (last, len(cases))
    assert found.smaller == sum(case.size < cases[last].size for case in cases[:last]) > 0
    assert ledger.line(Verdict(exercise, "wrong", case=Case(2, 1))).smaller == 0


def test_an_entry_from_before_cases_were_counted_is_stale(tmp_path):
    kept = ledger.Ledger(tmp_path)
    kept.put(Entry("ada", "lab", "digest", [line()]))
    assert kept.get("lab", "ada", "digest") is not None
    path = kept.path("lab", "ada")
    path.write_text(path.read_text().replace(', "passed": 2, "total": 6, "smaller": 0', ""))
    assert kept.get("lab", "ada", "digest") is None and kept.latest("lab", "ada") is None
