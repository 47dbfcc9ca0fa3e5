"""The gradebook is read as nbgrader and the policy would settle it, and is not written."""

import datetime
import sqlite3
import time
from fractions import Fraction

import pytest
from book import DUE, LAB, OTHER, filled, policy
from nbgrader.api import Gradebook as Database

from grader.export import points
from grader.export.sheet import Unusable
from grader.policy.roster import Extension, Roster
from grader.policy.rules import Policy
from grader.policy.settle import settle
from grader.writing import NotWritten


@pytest.fixture
def book(tmp_path):
    return filled(tmp_path / "gradebook.db")


def read(book, policy=None, roster=None):
    found = points.read(book, policy or Policy(), roster or Roster())
    return {(one.student, one.lab): one for one in found}


def test_points_by_hand_extra_points_and_comments_are_there(book):
    ada = read(book)["ada", LAB]
    assert (ada.points, ada.most, ada.final) == (Fraction("24.1"), 28, Fraction("24.1"))
    assert ada.comments == ["Well argued,\nbut short."] and not ada.waits
    assert {cell.name: cell.by for cell in ada.cells} == {
        "test_relay": "automatic", "words": "by hand", "relay": "",
    }  # fmt: skip


def test_what_waits_for_a_person_is_known(book):
    ben = read(book)["ben", LAB]
    assert ben.waits and ben.points == 10


@pytest.mark.parametrize("free", [0, 1])
@pytest.mark.parametrize("longer", [None, datetime.timedelta(days=5)])
def test_penalties_are_those_that_the_policy_settles(book, free, longer):
    rules, roster = policy(free), Roster()
    if longer:
        roster = Roster({LAB: {"ada": Extension(until=DUE + longer)}})
    before = book.read_bytes()
    found = read(book, rules, roster)
    assert book.read_bytes() == before
    with Database(f"sqlite:///{book}") as database:
        for student in ("ada", "ben"):
            for lab, settled in settle(database, student, rules, roster).items():
                one = found[student, lab]
                assert (one.points, one.penalty) == (settled.points, settled.penalty)
                assert one.final == settled.points - settled.penalty
    assert (found["ada", LAB].penalty > 0) == (not free and not longer)


def test_without_a_policy_a_penalty_that_nbgrader_has_counts(book):
    with Database(f"sqlite:///{book}") as database:
        database.find_submission(LAB, "ada").notebooks[0].late_submission_penalty = 2.4
        database.db.commit()
    assert read(book)["ada", LAB].final == Fraction("21.7")


def test_labs_come_in_the_order_of_the_course(book):
    assert [key for key in read(book) if key[0] == "ada"] == [("ada", LAB), ("ada", OTHER)]


def test_who_reads_while_the_first_grading_makes_the_gradebook_is_not_told_of_another_version(
    tmp_path,
):
    path = tmp_path / "gradebook.db"
    path.touch()
    with pytest.raises(Unusable, match="nothing was graded yet"):
        points.read(path, Policy(), Roster())
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE first (id)")  # of many
    with pytest.raises(Unusable, match="if others are grading, say it again"):
        points.read(path, Policy(), Roster())


def test_no_gradebook_and_no_database_are_said(tmp_path):
    with pytest.raises(Unusable, match="run `distlab grade` first"):
        points.read(tmp_path / "gradebook.db", Policy(), Roster())
    (tmp_path / "gradebook.db").write_text("this is no database, and long enough to be one")
    with pytest.raises(NotWritten, match="gradebook.db is damaged"):
        points.read(tmp_path / "gradebook.db", Policy(), Roster())


@pytest.mark.parametrize(
    ("exact", "said"),
    [("21.6", "21.60"), ("0", "0.00"), ("0.005", "0.01"), ("2.999", "3.00"), ("-1.5", "-1.50"),
     ("-0.001", "0.00"), ("1234.5", "1234.50")],
)  # fmt: skip
def test_points_have_two_decimals(exact, said):
    assert points.hundredths(Fraction(exact)) == said


def test_a_thousand_students_are_read_in_under_a_second(tmp_path):
    book = filled(tmp_path / "gradebook.db", more=1000)
    rules = policy(1)
    begin = time.process_time()
    found = points.read(book, rules, Roster())
    assert len(found) == 1003 and time.process_time() - begin < 1
