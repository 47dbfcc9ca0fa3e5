"""Dates and penalties in nbgrader's gradebook follow from what holds, by whichever way it came."""

import datetime
from fractions import Fraction
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from nbgrader.api import Gradebook as Database

from grader.plugins import gradebook  # noqa: F401  # nbgrader's database is made faster by it
from grader.policy.lateness import UTC, Duration, Late
from grader.policy.roster import Extension, Roster
from grader.policy.rules import Policy, Rules
from grader.policy.settle import set_due_dates, settle

ONE, TWO = "01-message-passing", "02-toy-model"
DUE = datetime.datetime(2026, 11, 1, 22, 59, 59, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")


def policy(days=0, penalty=Fraction(1, 10), free=0, due=DUE, **late):
    late = Late(penalty, **late)
    rules = {
        lab: Rules(due=due and due + datetime.timedelta(days=days + place), late=late)
        for place, lab in enumerate((ONE, TWO))
    }
    return Policy(True, BERLIN, free, labs=rules)


def filled(book):
    """A gradebook with two labs, one student, and 24 + 4 points of each."""
    book.add_student("ada")
    for lab in (ONE, TWO):
        book.add_assignment(lab)
        book.add_notebook("nb", lab)
        book.add_grade_cell("test_relay", "nb", lab, max_score=24, cell_type="code")
        book.add_grade_cell("words", "nb", lab, max_score=4, cell_type="markdown")
        book.add_submission(lab, "ada")
    reset(book)
    return book


@pytest.fixture(scope="module")
def in_memory():
    with Database("sqlite://") as book:
        yield filled(book)


@pytest.fixture
def book(in_memory):
    reset(in_memory)
    return in_memory


def reset(book, one=0.5, two=-1.0, points=24.0):
    """Handed in so many days after the due dates, with so many points."""
    for lab, days, place in ((ONE, one, 0), (TWO, two, 1)):
        found = book.find_submission(lab, "ada")
        late = datetime.timedelta(days=days + place)
        found.timestamp = (DUE + late).replace(tzinfo=None, microsecond=0)
        found.extension = found.assignment.duedate = None
        found.notebooks[0].late_submission_penalty = None
        for grade in found.notebooks[0].grades:
            grade.auto_score = points if grade.name == "test_relay" else None
            grade.manual_score = grade.extra_credit = None
    book.db.commit()


def state(book):
    rows = {}
    for lab in (ONE, TWO):
        found = book.find_submission(lab, "ada")
        rows[lab] = (
            found.assignment.duedate, found.extension,
            found.notebooks[0].late_submission_penalty,
        )  # fmt: skip
    return rows


def test_without_a_policy_the_gradebook_is_left_alone(book):
    book.update_or_create_assignment(ONE, duedate="2026-10-01 12:00 UTC")
    before = state(book)
    assert settle(book, "ada", Policy(), Roster()) == {}
    set_due_dates(book, Policy())
    assert state(book) == before


def test_stock_nbgrader_finds_due_date_extension_and_penalty_in_its_own_fields(book):
    roster = Roster().extend(ONE, "ada", Extension(Duration(0, 3600)))
    settle(book, "ada", policy(), roster)
    found = book.find_submission(ONE, "ada")
    assert found.assignment.duedate == DUE.replace(tzinfo=None)
    assert found.extension == datetime.timedelta(hours=1)
    assert found.late_submission_penalty == 2.4 and found.total_seconds_late == 11 * 3600


def test_an_extension_in_time_takes_the_penalty_back(book):
    settle(book, "ada", policy(), Roster())
    settle(book, "ada", policy(), Roster().extend(ONE, "ada", Extension(Duration(1))))
    assert state(book)[ONE][1:] == (datetime.timedelta(days=1), None)


def test_the_penalty_follows_points_that_a_person_gives(book):
    cell = book.find_grade("words", "nb", ONE, "ada")
    cell.manual_score, cell.extra_credit = 3.0, 0.5
    settle(book, "ada", policy(), Roster())
    found = book.find_submission(ONE, "ada")
    assert found.late_submission_penalty == 2.75 and cell.manual_score == 3.0
    assert cell.auto_score is None


def test_free_late_days_go_to_the_labs_in_the_courses_order(book):
    reset(book, one=1.5, two=1.5)
    found = settle(book, "ada", policy(free=3), Roster())
    assert [found[lab].lateness.free for lab in (ONE, TWO)] == [2, 1]
    assert [float(found[lab].penalty) for lab in (ONE, TWO)] == [0.0, 2.4]
    assert {found[lab].free_left for lab in (ONE, TWO)} == {0}


def test_an_extension_of_a_lab_without_a_due_date_does_no_harm(book):
    settle(book, "ada", policy(), Roster().extend(ONE, "ada", Extension(Duration(1))))
    settle(book, "ada", policy(due=None), Roster().extend(ONE, "ada", Extension(Duration(1))))
    assert state(book)[ONE] == (None, None, None)
    assert book.find_submission(ONE, "ada").duedate is None  # nbgrader adds the two up


def test_a_due_date_that_is_moved_past_an_extension_is_never_shortened_by_it(book):
    until = Roster().extend(ONE, "ada", Extension(until=DUE + datetime.timedelta(days=1)))
    settle(book, "ada", policy(days=9), until)
    assert state(book)[ONE][1] is None


def test_who_has_handed_in_nothing_has_nothing_to_settle(book):
    assert settle(book, "nobody", policy(), Roster().extend(ONE, "nobody", Extension())) == {}


def test_a_due_date_alone_is_kept(tmp_path):
    url = f"sqlite:///{tmp_path}/gradebook.db"
    with Database(url) as book:
        reset(filled(book), one=-1.0)
        settle(book, "ada", policy(), Roster())
    with Database(url) as book:
        assert state(book)[ONE] == (DUE.replace(tzinfo=None), None, None)


def test_settling_twice_changes_no_byte(tmp_path):
    path = tmp_path / "gradebook.db"
    with Database(f"sqlite:///{path}") as book:
        settle(filled(book), "ada", policy(free=1), Roster())
    before = path.read_bytes()
    with Database(f"sqlite:///{path}") as book:
        assert settle(book, "ada", policy(free=1), Roster())[ONE].lateness.free == 1
        set_due_dates(book, policy(free=1))
    assert path.read_bytes() == before


EXTENSIONS = st.none() | st.builds(
    Extension, st.builds(Duration, st.integers(1, 6), st.integers(0, 9000))
)
POLICIES = st.builds(
    policy, st.integers(-3, 3), st.sampled_from([Fraction(), Fraction(1, 10), Fraction(1, 3)]),
    st.integers(0, 3), st.sampled_from([DUE, None]), accept=st.none() | st.just(Duration(4)),
)  # fmt: skip
CHANGES = st.lists(
    st.tuples(st.just("policy"), POLICIES)
    | st.tuples(st.sampled_from([ONE, TWO]), EXTENSIONS)
    | st.tuples(st.just("regrade"), st.none()),
    max_size=6,
)
END = st.tuples(POLICIES, EXTENSIONS, EXTENSIONS)
FIXTURE = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@FIXTURE
@given(CHANGES, END, st.floats(-1, 6), st.floats(-1, 6))
def test_no_order_of_changes_and_regrades_gains_anything(book, changes, end, one, two):
    final, first, second = end
    roster = Roster().extend(ONE, "ada", first).extend(TWO, "ada", second)
    reset(book, one, two)
    straight = settle(book, "ada", final, roster), state(book)
    reset(book, one, two)
    now, granted = policy(), Roster()
    for what, change in changes:
        if what == "policy":
            now = change
        elif what == "regrade":
            book.find_grade("test_relay", "nb", ONE, "ada").auto_score = 24.0
        else:
            granted = granted.extend(what, "ada", change)
        settle(book, "ada", now, granted)
    granted = granted.extend(ONE, "ada", first).extend(TWO, "ada", second)
    assert (settle(book, "ada", final, granted), state(book)) == straight


@FIXTURE
@given(POLICIES, st.floats(-1, 6), st.floats(-1, 6), st.sampled_from([ONE, TWO]), EXTENSIONS)
# the extended lab is due after the other one, which would take the free days first
@example(policy(free=3), 5.0, 3.0, ONE, Extension(Duration(2)))
def test_an_extension_never_costs_points_in_any_lab(book, rules, one, two, lab, extension):
    reset(book, one, two)
    before = settle(book, "ada", rules, Roster())
    after = settle(book, "ada", rules, Roster().extend(lab, "ada", extension))
    for each in (ONE, TWO):
        assert after[each].penalty <= before[each].penalty


@FIXTURE
@given(POLICIES, st.floats(-1, 6), st.floats(-1, 6), st.floats(0, 6))
def test_handing_in_one_lab_later_never_helps_in_another(book, rules, one, two, later):
    reset(book, one, two)
    before = settle(book, "ada", rules, Roster())
    reset(book, one + later, two)
    after = settle(book, "ada", rules, Roster())
    for each in (ONE, TWO):
        assert after[each].penalty >= before[each].penalty
