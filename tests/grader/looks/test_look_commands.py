"""A second look, as people go about it: asked for, seen, answered, graded again, fetched."""

import json
import os
import pwd
import shutil

import pytest
from course_folder import LAB, Course

from distlab.course import notebook_name
from grader import collected
from grader.judging import demo

pytestmark = pytest.mark.slow  # each command of a course is started as a user starts it

ME = pwd.getpwuid(os.getuid()).pw_name  # whose requests these are: the kernel says so
WRONG = collected.ANSWERS / LAB / "relay" / "wrong_two_ranks_only.py"
PAGE = notebook_name(LAB).replace(".ipynb", ".html")
SAID = "It is right <b>for two</b>."


def answers(**changed):
    return collected.filled(demo.handed_in("ada", LAB), **changed)


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """Two have made the same mistake in `relay`, ada has made none."""
    course = Course(tmp_path_factory.mktemp("graded"))
    course.write_policy()
    (course.grades / "exchange" / "distlab" / "inbound").mkdir(parents=True)
    for name in (ME, "ben"):
        course.hand_in(name, LAB, answers(relay=WRONG.read_text()), "2026-11-03 10:00:00")
    course.hand_in("ada", LAB, answers(), "2026-11-01 10:00:00")
    # what nbgrader names a student's feedback by, where it was handed in through the exchange
    (course.grades / "submitted" / ME / LAB / "submission_secret.txt").write_text("ab" * 32)
    course.run("distlab", "grade", LAB)
    return course


@pytest.fixture
def course(graded, tmp_path):
    shutil.copytree(graded.grades, tmp_path / "grades")
    return Course(tmp_path / "grades")


def page(course, student):
    return (course.grades / "feedback" / student / LAB / PAGE).read_text().replace("&#34;", '"')


def by_hand(course, student):
    """(points, waits for a person, comment) of relay."""
    name = notebook_name(LAB).removesuffix(".ipynb")
    with course.book() as book:
        grade = book.find_grade("test_relay", name, LAB, student)
        comment = book.find_comment("relay", name, LAB, student)
        return grade.score, bool(grade.needs_manual_grade), comment.manual_comment


@pytest.mark.long  # a dozen commands
def test_asked_seen_and_answered_with_points_that_stay(course):
    assert f'distlab ask {LAB} relay "…"' in page(course, ME)
    course.run("distlab", "ask", LAB, "relay", SAID)
    seen = course.run("distlab", "looks", LAB).stdout
    assert f"{LAB} {ME} relay" in seen and SAID in seen
    shown = (course.grades / "out" / f"{LAB}-looks.html").read_text()
    assert "It is right &lt;b&gt;for two&lt;/b&gt;." in shown and "1 other student" in shown
    assert f"distlab replay {ME} {LAB} relay" in shown and "<svg" in shown
    points, penalty, _ = course.row(ME)

    words = ["answer", ME, LAB, "relay", "--points", "2", "--comment", "Right for *two*."]
    course.run("distlab", *words, "--keep", "two")
    assert by_hand(course, ME) == (2.0, False, "Right for *two*.")
    assert course.row(ME)[0] == points + 2 and course.row(ME)[1] > penalty  # it is late
    read = page(course, ME)
    assert "given by a person; 0 by the judge" in read and "<em>two</em>" in read
    assert "It is right &lt;b&gt;for two" in read and "2 points, given by hand" in read
    (released,) = (course.grades / "exchange" / "distlab" / "feedback").rglob("*.html")
    assert "2 points, given by hand" in released.read_text()  # what the student fetches
    assert "relay" not in course.run("distlab", "looks", LAB).stdout  # nobody waits any more

    rows, before = course.row(ME), by_hand(course, ME)
    course.run("distlab", "grade", LAB)
    course.run("distlab", "recompute")
    assert (course.row(ME), by_hand(course, ME)) == (rows, before)
    kept = course.bytes()
    course.run("distlab", "recompute")
    assert course.bytes() == kept
    course.run("nbgrader", "autograde", LAB, "--force")
    assert (course.row(ME), by_hand(course, ME)) == (rows, before)
    (course.grades / "gradebook.db").unlink()
    course.run("distlab", "grade", LAB)
    assert (course.row(ME), by_hand(course, ME)) == (rows, before)

    course.hand_in(ME, LAB, answers(), "2026-11-01 11:00:00")  # other code: look at it again
    course.run("distlab", "grade", LAB)
    assert by_hand(course, ME)[:2] == (2.0, True)
    report = (course.grades / "out" / f"{LAB}.html").read_text()
    assert "given for other code than is graded now" in report
    course.run("distlab", "answer", ME, LAB, "relay", "--points", "none")
    assert by_hand(course, ME)[0] == 3.0


def test_all_with_the_same_mistake_and_who_has_points_by_hand_keeps_them(course):
    words = ["--points", "1", "--comment", "For the idea.", "--keep", "idea", "--all-alike"]
    done = course.run("distlab", "answer", "ben", LAB, "relay", *words)
    assert f"Answered: ben, {ME}." in done.stdout
    for name in ("ben", ME):
        assert by_hand(course, name) == (1.0, False, "For the idea.")
    assert by_hand(course, "ada") == (3.0, False, None)
    course.run("distlab", "answer", ME, LAB, "relay", "--points", "1.5")
    done = course.run("distlab", "answer", "ben", LAB, "relay", "--points", "2", "--all-alike")
    assert f"Left as they are, because they have points or a comment by hand: {ME}." in done.stdout
    assert by_hand(course, "ben")[0] == 2.0 and by_hand(course, ME)[0] == 1.5
    course.run("distlab", "answer", "ada", LAB, "relay", "--comment", "@idea")
    assert by_hand(course, "ada") == (3.0, False, "For the idea.")
    said = course.run("distlab", "answer", "ada", LAB, "relay", "--points", "1", "--all-alike",
                      status=2)  # fmt: skip
    assert "is no mistake" in said.stderr


def test_a_replay_shows_the_run_and_books_nothing(course):
    before = course.bytes()
    done = course.run("distlab", "replay", ME, LAB, "relay")
    (name,) = [line.removeprefix("page: ") for line in done.stdout.splitlines() if "page:" in line]
    after = course.bytes()
    new = {path.name for path in after if path not in before}
    assert new == {f"{ME}-{LAB}-relay.html", f"{ME}-{LAB}-relay.trace.json"}
    assert all(after[path] == before[path] for path in before)
    folder = course.grades / "out" / "replays"
    assert "<svg" in (folder / os.path.basename(name)).read_text()
    assert json.loads((folder / f"{ME}-{LAB}-relay.trace.json").read_text())["traceEvents"]
