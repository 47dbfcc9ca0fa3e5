"""A lab that is handed in late, in two browsers: the due date in the notebook, an extension, the
penalty explained on the feedback page, and a second look that is asked for there and granted.
"""

from __future__ import annotations

import datetime
import shutil

import pytest
from test_walk import LAB, LECTURER, NOTEBOOK, SERVICE, assignments, told
from traces import errors
from trial import GRADER

from grader.judging import demo

STUDENT = "ada"
ANSWERS, WRONG = "chen", "group_mean"  # whose answers she hands in, and which one is wrong
ASKED = "Only the division is missing."
GIVEN = "Right but for the *division*."
ASKING = "ask.ipynb"
EXTENDED = "1d"
POLICY = """\
timezone: UTC
late:
  penalty: 10%
labs:
  {lab}:
    due: {due:%Y-%m-%d %H:%M}
"""


FORGET = f"""
from grader.judging import grade
from grader.plugins.gradebook import Gradebook
Gradebook(grade.SUBMITTED).remove({LAB!r}, {STUDENT!r})
"""


@pytest.fixture(scope="module")
def due(hub):
    """When the lab was due, a day and a half ago. Afterwards the course has no policy, and the
    student has handed in nothing, for the tests that come later.
    """
    shutil.rmtree(hub.home(STUDENT) / LAB, ignore_errors=True)  # what others have fetched
    when = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(hours=36)
    path = hub.root / "courses/distlab/policy.yaml"
    path.write_text(POLICY.format(lab=LAB, due=when))
    shutil.chown(path, GRADER)
    yield when
    path.unlink()
    hub.grader("python", "-c", FORGET)
    for folder in (
        *(hub.root / "exchange/distlab/inbound").glob(f"{STUDENT}+*"),
        hub.root / "courses/distlab/grader/submitted" / STUDENT, hub.home(STUDENT) / LAB,
    ):  # fmt: skip
        shutil.rmtree(folder, ignore_errors=True)
    for file in (hub.root / "courses/distlab/grader/looks.jsonl", hub.home(STUDENT) / ASKING):
        file.unlink(missing_ok=True)


@pytest.fixture(scope="module")
def student(person):
    return person(STUDENT)


@pytest.fixture(scope="module")
def lecturer(person):
    return person(LECTURER)


def test_an_extension_is_given(hub, due):
    said = hub.grader("distlab", "extend", STUDENT, LAB, EXTENDED, "--new").stdout
    until = due + datetime.timedelta(1)
    assert f"{STUDENT}'s {LAB} is due" in said and f"{until:%H:%M}" in said


def test_the_due_date_stands_in_the_notebook_that_is_fetched(hub, due, student):
    assignments(student)
    student.see("#released_assignments_list", LAB)
    there = (hub.home(STUDENT) / NOTEBOOK).exists
    student.press("#released_assignments_list button", "Fetch", there)
    student.go(f"/user/{STUDENT}/lab/tree/{NOTEBOOK}")
    student.scroll_to(".jp-RenderedMarkdown", "Due:")
    shown = student.see(".jp-RenderedMarkdown", "Due:").text
    assert f"{due:%H:%M}" in shown and "10 % of the points reached is taken off" in shown
    student.picture("due", 690)


def test_a_lab_is_handed_in_late(hub, due, student):
    path = f"/user/{STUDENT}/api/contents/{NOTEBOOK}"
    content = {"type": "notebook", "content": demo.handed_in(ANSWERS, LAB)}
    assert student.ask(path, "PUT", content)[0] == 200
    assignments(student)
    inbound = hub.root / "exchange/distlab/inbound"

    def there():
        return any(one.name.startswith(f"{STUDENT}+") for one in inbound.iterdir())

    student.press("#fetched_assignments_list button", "Submit", there)
    student.see("#submitted_assignments_list", LAB)


def test_the_lecturer_grades_it_and_releases_feedback(hub, lecturer, student):
    lecturer.go(f"{SERVICE}/formgrader")
    lecturer.click(".collect a")
    told(lecturer, "Successfully collected")
    hub.grader("distlab", "grade", LAB, "--student", STUDENT)
    lecturer.go(f"{SERVICE}/formgrader/manage_submissions/{LAB}")
    lecturer.see(".student-id", STUDENT)
    hub.grader("nbgrader", "generate_feedback", LAB, "--student", STUDENT, "--force")
    hub.grader("nbgrader", "release_feedback", LAB, "--student", STUDENT)


def test_the_page_that_the_student_fetches_explains_the_penalty(hub, due, student):
    assignments(student)
    pages = f"{LAB}/feedback/*/*.html"
    student.press(
        "#submitted_assignments_list button", "Fetch Feedback",
        lambda: any(hub.home(STUDENT).glob(pages)),
    )  # fmt: skip
    (page,) = hub.home(STUDENT).glob(pages)
    student.go(f"/user/{STUDENT}/files/{page.relative_to(hub.home(STUDENT))}")
    said = student.see("body", "Handed in").text
    until = due + datetime.timedelta(1)
    assert f"{until:%H:%M}" in said and "with your extension" in said
    assert "1 day begun, so 10 % of" in said and "taken off: " in said
    student.scroll_to("body *", "with your extension")
    student.picture("late", 665)


def test_the_student_asks_for_a_second_look_as_the_page_says(hub, student):
    """In a cell of a notebook of her own, with the line that stands on the page."""
    student.click("details.ask summary", "Ask for a second look")
    line = student.see("details.ask pre", f"distlab ask {LAB} {WRONG}").text
    student.scroll_to("details.ask summary", "Ask for a second look")
    student.picture("ask", 300)
    cell = {
        "cell_type": "code", "id": "ask", "metadata": {}, "outputs": [], "execution_count": None,
        "source": f"!{line.replace('…', ASKED)}",
    }  # fmt: skip
    kernel = {"name": "python3", "display_name": "Python 3"}
    content = {"cells": [cell], "metadata": {"kernelspec": kernel}, "nbformat": 4,
               "nbformat_minor": 5}  # fmt: skip
    path = f"/user/{STUDENT}/api/contents/{ASKING}"
    student.go(f"/user/{STUDENT}/lab")  # from the page itself, which is sandboxed, nothing is sent
    status, said = student.ask(path, "PUT", {"type": "notebook", "content": content})
    assert status == 201, said
    student.go(f"/user/{STUDENT}/lab/tree/{ASKING}?reset")
    student.see("#jp-main-statusbar", "| Idle")
    student.menu("Run", "Run All Cells")
    said = student.see(".jp-OutputArea-output", "second look").text
    assert f"second look at {WRONG} ({LAB}) is handed over" in said


def test_the_lecturer_sees_the_request_beside_the_verdict(hub, lecturer):
    said = hub.grader("distlab", "looks", LAB).stdout
    assert f"{LAB} {STUDENT} {WRONG}, wrong, 0 points: {ASKED}" in said
    hub.grader("distlab", "grade", LAB)  # nothing is judged again
    lecturer.go(f"{SERVICE}/formgrader/manage_assignments")
    lecturer.click(".nav a", "Reports on the class")
    lecturer.click("a", LAB)
    lecturer.see("body", ASKED)
    lecturer.see("body", f"distlab answer {STUDENT} {LAB} {WRONG}")
    lecturer.scroll_to("body *", ASKED)
    lecturer.picture("second-look", 665)


def test_the_second_look_is_granted_and_fetched(hub, student):
    said = hub.grader(
        "distlab", "answer", STUDENT, LAB, WRONG, "--points", "1", "--comment", GIVEN
    ).stdout  # fmt: skip
    assert f"Answered: {STUDENT}." in said
    assert "Nobody waits" in hub.grader("distlab", "looks", LAB).stdout
    (page,) = hub.home(STUDENT).glob(f"{LAB}/feedback/*/*.html")
    assert "given by hand" not in page.read_text("utf-8")
    assignments(student)
    student.press(
        "#submitted_assignments_list button", "Fetch Feedback",
        lambda: "given by hand" in page.read_text("utf-8"),
    )  # fmt: skip
    student.go(f"/user/{STUDENT}/files/{page.relative_to(hub.home(STUDENT))}")
    look = student.see(".looks", "second look").text
    assert ASKED in look and "1 point, given by hand" in look
    shown = student.see("body", "Right but for the division.").text
    assert "taken off: " in shown  # what is late stays late
    student.scroll_to(".looks", ASKED)
    student.picture("granted", 665)


def test_the_log_has_no_error(hub):
    assert errors(hub) == []
