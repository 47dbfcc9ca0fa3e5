"""hub.yaml gets `exchange_account`: the exchange is a service, and no server has its folder.

These tests change the Hub that the others use, so they come last.
"""

from __future__ import annotations

import shutil

import pytest
import requests
import yaml
from browser import pause_until
from traces import errors
from trial import EXCHANGE, GRADER
from visitor import Visitor

from grader.judging import demo

LAB = "01-message-passing"
LECTURER, STUDENT, OTHER = "lecturer", "dora", "ada"
NAME = "distlab"
WRONG, ASKED = "exchange", "Rank 1 receives first, does it not?"
GIVEN = "No: both send first."


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


def on_server(hub, name, folder, settings, *words):
    """What `distlab` says in a terminal of somebody's server."""
    return hub.run_as(
        name, [hub.python("distlab"), *words], folder, JUPYTER_CONFIG_PATH=hub.jupyter(settings),
        JUPYTERHUB_API_TOKEN=hub.token(name), JUPYTERHUB_USER=name, DISTLAB_COURSE=NAME,
        DISTLAB_EXCHANGE="", DISTLAB_EXCHANGE_URL=f"{hub.url}/services/exchange/",
    ).stdout  # fmt: skip


def grader(hub, *words):
    return on_server(hub, GRADER, hub.root / "courses" / NAME, "course", *words)


def read(hub, student):
    """The feedback page of the newest submission, fetched once more."""
    student.assignment("fetch_feedback", NAME, LAB)
    pages = hub.home(STUDENT).glob(f"{LAB}/feedback/*/*.html")
    return max(pages, key=lambda page: page.parent.name).read_text()  # named by the time


def test_a_second_look_is_asked_for_and_granted_over_http(served, student):
    said = on_server(served, STUDENT, served.home(STUDENT), "student", "ask", LAB, WRONG, ASKED)
    assert f"second look at {WRONG} ({LAB}) is handed over" in said
    waiting = served.root / "served-exchange" / NAME / "second-looks"
    (request,) = waiting.iterdir()
    assert request.name.startswith(f"{STUDENT}+")  # the Hub says whose it is
    refused = requests.get(
        f"{served.url}/services/exchange/api/second-looks/{NAME}",
        headers={"Authorization": f"token {served.token(STUDENT)}"},
    )
    assert refused.status_code == 403  # not even her own
    seen = grader(served, "looks", LAB)
    assert f"{LAB} {STUDENT} {WRONG}" in seen and ASKED in seen and not list(waiting.iterdir())
    assert ASKED in grader(served, "looks", LAB)  # it is kept with the grader now
    grader(served, "answer", STUDENT, LAB, WRONG, "--points", "1", "--comment", GIVEN)
    page = read(served, student)
    assert ASKED in page and GIVEN in page and "1 point, given by hand" in page
    assert "Nobody waits" in grader(served, "looks", LAB)


def test_own_inputs_reach_the_student_s_server_and_no_other_one(served, student):
    policy = served.root / "courses" / NAME / "policy.yaml"
    policy.write_text(f"labs: {{{LAB}: {{variants: on}}}}\n")
    shutil.chown(policy, GRADER)
    try:
        given = served.root / "served-exchange" / NAME / "own-inputs" / STUDENT / LAB
        pause_until(lambda: (given / "own-inputs.json").exists(), "her own inputs")
    finally:
        policy.unlink()
    student.assignments(NAME)  # as Assignment List does
    own = served.home(STUDENT) / ".local/share/distlab/own-inputs" / NAME
    assert (own / STUDENT / LAB / "own-inputs.json").read_bytes() == (
        given / "own-inputs.json"
    ).read_bytes()
    assert [one.name for one in own.iterdir()] == [STUDENT]
    said = on_server(served, STUDENT, served.home(STUDENT), "student", "check", LAB)
    assert f"{STUDENT}'s own inputs" in said


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
