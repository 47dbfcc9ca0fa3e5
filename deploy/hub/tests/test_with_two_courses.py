"""hub.yaml gets a second course, `grade_on_submit` and a short `idle`: what the Hub does then.

These tests change the Hub that the others use, so they come last.
"""

from __future__ import annotations

import time

import pytest
import yaml
from browser import pause_until
from traces import errors, ranks
from visitor import Visitor

from grader.judging import demo

LAB = "01-message-passing"
IDLE = 20  # seconds
MINUTE = 60.0
LECTURER, TUTOR = "lecturer", "tutor"  # of the first course, of the other one
FIRST, BOTH = "dora", "ada"  # take the first course, both
RUN = "from distlab import Ranks\nRanks(2).run(lambda rank, size: rank)"


@pytest.fixture(scope="module")
def changed(hub):
    """The Hub after the change, with a server of somebody who has run something before it and has
    closed the page.

    The student of both courses has no server then: one of before the change knows one course, and
    whoever ends it after the change may do so while the Hub ends it, too, for being idle. That end
    then meets the server which is started next.
    """
    away = Visitor(hub, FIRST)
    away.start()
    kernel = away.kernel("")
    assert kernel.run(RUN) == ""
    kernel.leave()
    Visitor(hub, BOTH).end()
    courses = yaml.safe_load((hub.root / "hub.yaml").read_text())["courses"]
    other = hub.course("other", [TUTOR], [BOTH])
    hub.write({"courses": {**courses, "other": other}, "idle": IDLE, "grade_on_submit": True})
    there = ranks(hub, FIRST)
    hub.stop()
    assert there and there <= ranks(hub, FIRST), "servers go on while the Hub is started again"
    hub.start()
    hub.ready()
    return hub


@pytest.fixture(scope="module")
def instructors(changed):
    """{course: who teaches it}."""
    return {"distlab": Visitor(changed, LECTURER), "other": Visitor(changed, TUTOR)}


@pytest.fixture(scope="module")
def student(changed, instructors):
    """Somebody who takes both courses, whose labs are released."""
    tutor = instructors["other"]
    assert tutor.get("/services/other/formgrader").ok
    for button in ("assign", "release"):
        page = f"/services/other/formgrader/api/assignment/{LAB}/{button}"
        said = tutor.send("POST", page).json()
        assert said["success"], said
    student = Visitor(changed, BOTH)
    student.start()
    return student


def test_an_instructor_opens_the_formgrader_of_their_own_course_alone(instructors, student):
    for own, someone in instructors.items():
        for course in instructors:
            for page in ("formgrader", "formgrader/api/assignments", "api/contents", "lab"):
                answer = someone.get(f"/services/{course}/{page}")
                assert answer.status_code == (200 if course == own else 403), answer.url
                assert student.get(f"/services/{course}/{page}").status_code == 403
        (lab,) = [
            one for one in someone.get(f"/services/{own}/formgrader/api/assignments").json()
            if one["name"] == LAB
        ]  # fmt: skip
        assert lab["status"] == "released"


def test_the_assignment_list_has_the_courses_that_somebody_takes(student):
    assert student.get(f"/user/{BOTH}/courses").json()["value"] == ["distlab", "other"]
    assert [one["course_id"] for one in student.assignments("other")] == ["other"]


def test_a_submission_is_graded_in_its_course_within_a_minute(changed, instructors, student):
    student.assignment("fetch", "other", LAB)
    student.save(f"other/{LAB}/message_passing.ipynb", demo.handed_in("dora", LAB))
    begin = time.monotonic()
    student.assignment("submit", "other", LAB)

    def told() -> bool:
        (submission,) = [
            one for listed in student.assignments("other") for one in listed.get("submissions", ())
        ]  # fmt: skip
        return submission["has_exchange_feedback"]

    pause_until(told, "feedback")
    assert time.monotonic() - begin < MINUTE
    student.assignment("fetch_feedback", "other", LAB)
    (page,) = (changed.home(BOTH) / "other" / LAB).glob("feedback/*/*.html")
    assert "rank 0 waits in send" in page.read_text()
    entered = {
        course: someone.get(f"/services/{course}/formgrader/api/submission/{LAB}/{BOTH}").json()
        for course, someone in instructors.items()
    }
    assert entered["other"]["autograded"] and entered["other"]["score"] == 21
    assert not entered["distlab"]["autograded"]


def test_a_server_that_nobody_uses_is_ended_with_its_ranks(changed, student):
    def started() -> str:  # the server that is in use meanwhile
        return student.get(f"/user/{BOTH}/api/status").json()["started"]

    since = started()
    pause_until(lambda: started() and FIRST not in changed.processes().values(), "its end")
    assert started() == since


def test_the_log_has_no_error(changed):
    assert errors(changed) == []
