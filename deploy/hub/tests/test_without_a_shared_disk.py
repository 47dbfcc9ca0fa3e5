"""hub.yaml gets `exchange_account`: the exchange is a service, and no server has its folder.

These tests change the Hub that the others use, so they come last.
"""

from __future__ import annotations

import pytest
import requests
import yaml
from browser import pause_until
from traces import errors
from trial import EXCHANGE
from visitor import Visitor

from grader.judging import demo

LAB = "01-message-passing"
LECTURER, STUDENT, OTHER = "lecturer", "dora", "ada"
NAME = "distlab"


@pytest.fixture(scope="module")
def served(hub):
    """The Hub with its exchange as a service, grading on submit, and lab 01 released there."""
    hub.stop()
    courses = yaml.safe_load((hub.root / "hub.yaml").read_text())["courses"]
    hub.write({"courses": {NAME: courses[NAME]}, "grade_on_submit": True, "idle": 3600})
    hub.serve_exchange()
    for name in (STUDENT, OTHER):  # servers that were started before the change
        hub.end(name)
    hub.start()
    hub.ready()
    lecturer = Visitor(hub, LECTURER)
    assert lecturer.get(f"/services/{NAME}/formgrader").ok
    for button in ("assign", "release"):
        page = f"/services/{NAME}/formgrader/api/assignment/{LAB}/{button}"
        said = lecturer.send("POST", page).json()
        assert said["success"], said
    return hub


@pytest.fixture(scope="module")
def student(served):
    made = Visitor(served, STUDENT)
    made.start()
    return made


def test_no_server_can_read_the_exchange_s_folder(served, student):
    folder = served.root / "served-exchange"
    assert folder.owner() == EXCHANGE and folder.stat().st_mode & 0o777 == 0o700
    assert not served.grader("ls", str(folder), check=False).stdout
    assert (folder / NAME / "outbound" / LAB / "message_passing.ipynb").exists()


def test_a_submission_goes_its_way_over_http_and_is_graded(served, student):
    home = served.home(STUDENT)
    if not (home / LAB).exists():
        student.assignment("fetch", NAME, LAB)
    student.save(f"{LAB}/message_passing.ipynb", demo.handed_in(STUDENT, LAB))
    student.assignment("submit", NAME, LAB)

    def released() -> bool:
        return any(
            one["has_exchange_feedback"]
            for listed in student.assignments(NAME) for one in listed.get("submissions", ())
        )  # fmt: skip

    pause_until(released, "feedback")
    before = set(home.glob(f"{LAB}/feedback/*/*.html"))
    student.assignment("fetch_feedback", NAME, LAB)
    (page,) = set(home.glob(f"{LAB}/feedback/*/*.html")) - before
    assert "rank 0 waits in send" in page.read_text()


def test_another_student_s_server_gets_none_of_it(served, student):
    """With the token that the Hub has given to a server, as its user can read it."""
    (made,) = (served.root / "served-exchange" / NAME / "inbound").iterdir()
    Visitor(served, OTHER).start()
    url = f"{served.url}/services/exchange/api"
    tokens = {name: served.token(name) for name in (STUDENT, OTHER)}
    asked = {
        name: requests.get(
            f"{url}/submissions/{NAME}/{made.name}", headers={"Authorization": f"token {token}"}
        )
        for name, token in tokens.items()
    }
    assert (asked[STUDENT].status_code, asked[OTHER].status_code) == (200, 404)
    everybody = {"course": NAME, "of": "everybody"}
    refused = requests.get(
        f"{url}/submissions", params=everybody, headers={"Authorization": f"token {tokens[OTHER]}"}
    )
    assert refused.status_code == 403
    assert requests.get(f"{url}/labs", headers={"Authorization": "token x"}).status_code == 401


def test_the_log_has_no_error(served):
    assert errors(served) == []
