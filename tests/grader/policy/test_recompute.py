"""Dates, extensions, groups and rules on points change grades and pages; nobody's code is run."""

import contextlib
import json
import shutil
import sqlite3

import pytest
from course_folder import Course
from nbgrader.api import MissingEntry

from distlab.course import notebook_name
from grader import collected, coursedir, writing
from grader.judging import demo

LAB, OTHER = "01-message-passing", "02-toy-model"
pytestmark = pytest.mark.slow  # each command of a course is started as a user starts it

PAGE = notebook_name(LAB).replace(".ipynb", ".html")


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """ada is 1 day 11 hours late in two labs; ben is in time, and right with four ranks."""
    course = Course(tmp_path_factory.mktemp("graded"))
    course.write_policy()
    right = demo.handed_in("ada", LAB)
    answer = (collected.ANSWERS / LAB / "relay" / "wrong_four_ranks_only.py").read_text()
    course.hand_in("ada", LAB, right, "2026-11-03 10:00:00")
    course.hand_in("ada", OTHER, coursedir.released(OTHER), "2026-11-10 10:00:00")
    course.hand_in("ben", LAB, collected.filled(right, relay=answer), "2026-11-01 20:00:00")
    said = course.run("distlab", "grade", LAB, OTHER, "--json", str(course.grades / "r.json"))
    assert "final, with free text" in said.stdout
    return course


@pytest.fixture
def course(graded, tmp_path):
    """A copy of it."""
    shutil.copytree(graded.grades, tmp_path / "grades")
    return Course(tmp_path / "grades")


def test_the_page_the_table_and_the_gradebook_say_the_same(graded):
    assert graded.row("ada") == (24.0, 2.4, None) and graded.row("ben")[1:] == (0.0, None)
    assert "1 day 11 hours late: 2 days begun, of which 1 is free" in graded.said("ada")
    assert "10 % of 24 points is taken off: 2.4." in graded.said("ada")
    assert "Free late days left: 0 of 1." in graded.said("ada", OTHER)
    assert "in time" in graded.said("ben")
    report = json.loads((graded.grades / "r.json").read_text())[0]["submissions"]
    assert {one["student"]: (one["score"], one["final_score"]) for one in report} == {
        "ada": (24.0, 21.6), "ben": (21.0, 21.0)
    }  # fmt: skip
    with (graded.grades / "out" / f"{LAB}.csv").open() as file:
        assert "late_penalty,final_score" in file.readline()
        assert ",2.4,21.6," in file.readline()


def test_a_moved_date_changes_grades_and_pages_and_twice_changes_no_byte(course):
    before = course.bytes()
    assert "0 feedback pages" in course.run("distlab", "recompute").stdout
    assert course.bytes() == before
    course.write_policy(due="2026-11-02 23:59")
    assert "2 feedback pages" in course.run("distlab", "recompute").stdout
    assert course.row("ada") == (24.0, 0.0, None) and "so nothing is taken off" in course.said(
        "ada"
    )
    after = course.bytes()
    course.run("distlab", "recompute")
    assert course.bytes() == after
    changed = {
        path.parts[len(course.grades.parts)] for path in after if after[path] != before[path]
    }
    assert changed == {"policy.yaml", "gradebook.db", "feedback", "ledger"}
    assert all(after[p] == before[p] for p in after if p.suffix == ".json")  # every verdict


def test_what_a_person_has_given_survives_and_counts(course):
    with course.book() as book:
        grade = next(g for g in book.find_submission_notebook(
            notebook_name(LAB).removesuffix(".ipynb"), LAB, "ada").grades
            if not g.name.startswith("test_"))  # fmt: skip
        grade.manual_score, grade.needs_manual_grade = 2.0, False
        relay = book.find_grade("test_relay", grade.notebook.name, LAB, "ben")
        relay.manual_score, relay.extra_credit = 1.5, 0.25
        name = grade.name
        book.db.commit()
    course.write_policy(cases="50%")
    course.run("distlab", "recompute")
    assert course.row("ada") == (26.0, 2.6, None)
    with course.book() as book:
        notebook = notebook_name(LAB).removesuffix(".ipynb")
        assert book.find_grade(name, notebook, LAB, "ada").manual_score == 2.0
        assert not book.find_grade(name, notebook, LAB, "ada").needs_manual_grade
        assert book.find_grade("test_relay", notebook, LAB, "ben").score == 1.75


def test_an_extension_is_in_force_at_once(course):
    said = course.run("distlab", "extend", "ada", LAB, "1d").stdout
    assert "Mon 2 November 2026, 23:59 CET" in said
    assert course.row("ada") == (24.0, 0.0, 24.0) and "with your extension" in course.said("ada")
    course.run("distlab", "extend", "ada", LAB, "none")
    assert course.row("ada") == (24.0, 2.4, None)


def test_a_submission_without_a_time_has_not_that_of_the_one_before(course):
    (course.grades / "submitted" / "ada" / LAB / "timestamp.txt").unlink()
    course.run("distlab", "grade", LAB)
    assert course.row("ada") == (24.0, 0.0, None)
    assert "It is not known when this was handed in" in course.said("ada")


def test_an_extension_waits_for_who_has_handed_in_nothing(course):
    course.run("distlab", "extend", "zoe", LAB, "3d", "--new")
    with course.book() as book, pytest.raises(MissingEntry):
        book.find_submission(LAB, "zoe")
    assert "Extension: zoe" in course.run("distlab", "policy", LAB).stdout
    course.hand_in("zoe", LAB, demo.handed_in("ada", LAB), "2026-11-04 10:00:00")
    course.run("distlab", "grade", LAB)
    assert course.row("zoe") == (24.0, 0.0, 72.0)


def test_a_group_has_what_was_handed_in_last_and_who_leaves_has_nothing_of_it(course):
    done = course.run("distlab", "group", LAB, "ada", "ben", "zed", "--new")
    assert "hand in together" in done.stdout
    assert "3 feedback pages written anew" in done.stdout
    for member in ("ada", "ben", "zed"):
        assert course.row(member) == (24.0, 2.4, None)
        whose = "handed in by you" if member == "ada" else "handed in by ada"
        assert f"ada, ben and zed, {whose}" in course.said(member)
    before = course.bytes()
    course.run("distlab", "recompute")
    assert course.bytes() == before
    assert "2 feedback pages" in course.run("distlab", "group", LAB, "zed").stdout  # of the others
    with course.book() as book, pytest.raises(MissingEntry):
        book.find_submission(LAB, "zed")
    assert not (course.grades / "feedback" / "zed" / LAB).exists()
    course.run("distlab", "group", LAB, "ben")
    assert course.row("ben")[1:] == (0.0, None)
    assert "handed in" not in course.said("ben").replace("Handed in", "").replace(
        "handed in by", "x"
    )


def test_points_for_cases_are_given_and_taken_back_without_judging(course):
    points, before = course.row("ben")[0], course.bytes()
    course.write_policy(cases="100%")
    course.run("distlab", "recompute")
    entry = json.loads((course.grades / "ledger" / LAB / "ben.json").read_text())
    relay = next(line for line in entry["lines"] if line["name"] == "relay")
    assert 0 < relay["passed"] < relay["total"]
    share = round(3 * relay["passed"] / relay["total"], 2)
    assert course.row("ben")[0] == pytest.approx(points + share, abs=1e-9)
    course.write_policy()
    course.run("distlab", "recompute")
    assert course.row("ben")[0] == points
    after = course.bytes()
    changed = {p for p in after if after[p] != before[p]}
    assert {p.name for p in changed} <= {"gradebook.db"}


def test_a_graded_notebook_of_which_half_is_left_keeps_nobody_elses_points(course):
    """nbgrader was killed while it wrote ada's."""
    entry = json.loads((course.grades / "ledger" / LAB / "ada.json").read_text())
    ben = json.loads((course.grades / "ledger" / LAB / "ben.json").read_text())
    (course.grades / "ledger" / LAB / "ada.json").write_text(
        json.dumps({**ben, "student": "ada", "digest": entry["digest"]})
    )
    path = course.grades / "autograded" / "ada" / LAB / notebook_name(LAB)
    path.write_bytes(path.read_bytes()[:1000])
    points = course.row("ben")[0]
    course.write_policy(cases="100%")
    said = course.run("distlab", "recompute", status=1)
    assert f"ada's {LAB} cannot be read as it was graded: run `distlab grade {LAB}`" in said.stdout
    assert course.row("ben")[0] > points


def test_a_submission_that_is_being_entered_is_waited_for(course):
    points, page = course.row("ben")[0], course.grades / "autograded" / "ben"
    with course.book() as book:  # as a policy of before has it
        book.find_grade("test_relay", notebook_name(LAB)[:-6], LAB, "ben").auto_score = 1.0
        book.db.commit()
    assert course.row("ben")[0] == points + 1.0
    entered = course.grades / "entered meanwhile"
    lock = course.grades / "gradebook.lock"
    with contextlib.ExitStack() as entering:
        entering.enter_context(writing.locked(lock))
        page.rename(entered)  # as nbgrader's autograde does
        with course.started("distlab", "recompute") as recomputing:
            said = recomputing.stderr.readline()  # as soon as it waits, or has ended
            entered.rename(page)
            entering.close()
            recomputing.communicate(timeout=300)
    assert said == f"waiting for another command of this course, which has {lock}\n"
    assert recomputing.returncode == 0
    assert course.row("ben")[0] == points


def test_stock_nbgrader_enters_the_same(course):
    course.run("distlab", "extend", "ben", LAB, "2h")
    rows = course.row("ada"), course.row("ben")
    with course.book() as book:
        for student in ("ada", "ben"):
            book.remove_submission(LAB, student)
    course.run("nbgrader", "autograde", LAB, "--force")
    assert (course.row("ada"), course.row("ben")) == rows
    said = course.said("ada")
    course.run("nbgrader", "generate_feedback", LAB, "--force")
    assert course.said("ada") == said


def test_a_locked_gradebook_is_said_in_one_line(course):
    with contextlib.closing(sqlite3.connect(course.grades / "gradebook.db")) as other:
        other.execute("BEGIN EXCLUSIVE")
        done = course.run("distlab", "recompute", status=1)
        refused = course.run("distlab", "extend", "ada", LAB, "3d", status=1)
    assert done.stderr.count("\n") == 1 and "distlab recompute" in done.stderr
    assert refused.stderr.count("\n") == 1 and "nothing is changed" in refused.stderr
    assert not (course.grades / "roster.json").exists()


def test_without_its_policy_a_class_is_as_it_was_before_it(course):
    course.run("distlab", "extend", "ben", LAB, "1d")
    (course.grades / "policy.yaml").unlink()
    assert "3 feedback pages" in course.run("distlab", "recompute").stdout
    assert course.row("ada") == (24.0, 0.0, None) and course.row("ben")[1:] == (0.0, None)
    page = (course.grades / "feedback" / "ada" / LAB / PAGE).read_text()
    assert "policy" not in page.split("</style>")[-1] and "was late" not in page
    before = course.bytes()
    assert "0 feedback pages" in course.run("distlab", "recompute").stdout
    assert course.bytes() == before
