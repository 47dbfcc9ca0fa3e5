"""A lab that is handed in late, in two browsers: the due date in the notebook, an extension, and
the penalty explained on the feedback page.
"""

from __future__ import annotations

import datetime
import shutil

import pytest
from test_walk import LAB, LECTURER, NOTEBOOK, SERVICE, assignments, told
from traces import errors
from trial import GRADER

from grader.judging import demo

STUDENT = "ada"  # all of whose answers are right
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
    content = {"type": "notebook", "content": demo.handed_in(STUDENT, LAB)}
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


def test_the_log_has_no_error(hub):
    assert errors(hub) == []
