"""A lab's whole way, in two browsers: fetched, run, validated, handed in, graded, read."""

from __future__ import annotations

import json
import re

import pytest
from browser import pause_until
from traces import errors, ranks

from grader.judging import demo

LAB = "01-message-passing"
NOTEBOOK = f"{LAB}/message_passing.ipynb"
STUDENT, LECTURER = "dora", "lecturer"  # dora's `exchange` deadlocks
SERVICE = "/services/distlab"


@pytest.fixture(scope="module")
def student(person):
    return person(STUDENT)


@pytest.fixture(scope="module")
def lecturer(person):
    return person(LECTURER)


def assignments(someone):
    someone.go(f"/user/{someone.name}/lab")
    someone.menu("Nbgrader", "Assignment List")


def test_a_student_fetches_the_lab(hub, student):
    assignments(student)
    student.see("#released_assignments_list", LAB)
    student.picture("assignments")
    there = (hub.home(STUDENT) / NOTEBOOK).exists
    student.press("#released_assignments_list button", "Fetch", there)
    student.see("#fetched_assignments_list", LAB)


def test_run_all_shows_the_verdict_and_its_picture(hub, student):
    write(student, handed_in())
    student.go(f"/user/{STUDENT}/lab/tree/{NOTEBOOK}?reset")
    student.see("#jp-main-statusbar", "| Idle")  # before its kernel is there nothing runs
    student.menu("Run", "Run All Cells")
    student.scroll_to(".jp-OutputArea", "exchange: deadlock")
    student.picture("verdict", 690)
    student.save(hub.home(STUDENT) / NOTEBOOK, "exchange: deadlock")
    student.theme("JupyterLab Dark")
    student.go(f"/user/{STUDENT}/lab/tree/{NOTEBOOK}")
    student.see("body[data-jp-theme-light=false]")
    student.scroll_to(".jp-OutputArea", "exchange: deadlock")
    student.picture("verdict-dark", 690)
    student.theme("JupyterLab Light")


def test_who_closes_the_browser_and_comes_back_finds_the_kernel_and_its_ranks(hub, student):
    before = kernels(student)
    student.go("/hub/home")
    student.see("#stop, #start")
    student.go(f"/user/{STUDENT}/lab/tree/{NOTEBOOK}")
    student.see(".jp-Notebook")
    assert kernels(student) == before and len(before) == 1
    assert ranks(hub, STUDENT)


def test_validate_says_what_check_says(hub, student):
    student.click(".validate-button button, button.validate-button, .validate-button", "Validate")
    dialog = student.see(".nbgrader-ErrorDialog, .nbgrader-SuccessDialog, .jp-Dialog")
    student.picture("validate")
    said = dialog.text
    failed = r"CheckFailed: (\w+): (\w+)"
    checked = re.findall(failed, (hub.home(STUDENT) / NOTEBOOK).read_text("utf-8"))
    assert set(re.findall(failed, said)) == set(checked) == {("exchange", "deadlock")}
    student.click(".jp-Dialog button")


def test_a_student_hands_in(hub, student):
    assignments(student)
    inbound = hub.root / "exchange/distlab/inbound"
    student.press("#fetched_assignments_list button", "Submit", lambda: any(inbound.iterdir()))
    student.see("#submitted_assignments_list", LAB)
    student.picture("submitted")


def test_a_restarted_kernel_leaves_no_rank_behind(hub, student):
    (kernel,) = kernels(student)
    there = ranks(hub, STUDENT)
    assert there
    student.ask(f"/user/{STUDENT}/api/kernels/{kernel}/restart", "POST", {})
    pause_until(lambda: not there & ranks(hub, STUDENT), "the end of the ranks")


def test_the_lecturer_finds_the_formgrader_in_the_course_list(hub, lecturer):
    lecturer.go(f"/user/{LECTURER}/lab")
    lecturer.see(".jp-Launcher")
    lecturer.menu("Nbgrader", "Course List")
    link = lecturer.see(".nbgrader-mainarea-widget a", "distlab")
    assert link.get_attribute("href").startswith(f"{hub.url}{SERVICE}/")
    lecturer.go(f"{SERVICE}/lab")  # a page in a frame, which the Hub forbids unless it is told
    lecturer.see(".jp-Launcher")
    lecturer.menu("Nbgrader", "Formgrader")
    lecturer.driver.switch_to.frame(lecturer.see(".jp-IFrame iframe, iframe"))
    lecturer.see("body", "Manage Assignments")
    lecturer.driver.switch_to.default_content()


def test_the_lecturer_collects_and_autogrades(hub, lecturer):
    lecturer.go(f"{SERVICE}/formgrader")
    lecturer.see("body", LAB)
    lecturer.picture("formgrader")
    lecturer.click(".collect a")
    told(lecturer, "Successfully collected")
    lecturer.go(f"{SERVICE}/formgrader/manage_submissions/{LAB}")
    lecturer.see(".student-id", STUDENT)
    lecturer.click(".autograde a")
    told(lecturer, "Successfully autograded")
    lecturer.see(".status", "needs manual grading")
    lecturer.picture("autograded")


def test_the_report_on_the_class_is_linked_from_the_formgrader(hub, lecturer):
    hub.grader("distlab", "grade", LAB)  # nothing is judged again
    lecturer.go(f"{SERVICE}/formgrader/manage_assignments")
    lecturer.click(".nav a", "Reports on the class")
    lecturer.click("a", LAB)
    lecturer.see("body", "Who needs a look")
    lecturer.picture("report")
    lecturer.click(".matrix a", STUDENT)
    lecturer.see("h1", "Message passing")


def test_the_lecturer_sees_the_failed_case_and_grades_free_text(hub, lecturer):
    lecturer.go(f"{SERVICE}/formgrader/gradebook/{LAB}/message_passing")
    lecturer.click("td.name a")
    lecturer.see("body", "exchange: deadlock")
    assert lecturer.driver.find_elements("css selector", "svg, img[src^='data:image/svg']")
    lecturer.scroll_to(".output_area, .output, pre", "exchange: deadlock")
    lecturer.picture("manual-grading", 540)
    for field in lecturer.driver.find_elements("css selector", ".score.needs_manual_grade"):
        lecturer.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", field)
        field.send_keys("1\t")
    lecturer.until(
        lambda: not lecturer.driver.find_elements("css selector", ".score.needs_manual_grade"),
        "the points to be saved",
    )


def test_feedback_is_released_fetched_and_read(hub, lecturer, student):
    lecturer.go(f"{SERVICE}/formgrader/manage_submissions/{LAB}")
    lecturer.see(".status", "graded")
    for button, said in (("generate-feedback", "generated"), ("release-feedback", "released")):
        lecturer.click(f".{button} a")
        told(lecturer, f"Successfully {said}")
    assignments(student)
    pages = f"{LAB}/feedback/*/*.html"
    student.press(
        "#submitted_assignments_list button", "Fetch Feedback",
        lambda: any(hub.home(STUDENT).glob(pages)),
    )  # fmt: skip
    student.see("#submitted_assignments_list", "view")
    (page,) = hub.home(STUDENT).glob(pages)
    student.go(f"/user/{STUDENT}/files/{page.relative_to(hub.home(STUDENT))}")
    student.see("body", "deadlock")
    student.scroll_to("h2", "exchange")
    student.picture("feedback", 665)


def test_a_student_gets_nothing_of_the_instructors(hub, student):
    student.go(f"/user/{STUDENT}/lab")
    pages = [
        f"/user/{STUDENT}/formgrader", f"/user/{STUDENT}/formgrader/api/assignments",
        f"/user/{STUDENT}/formgraders", f"/user/{LECTURER}/api/contents", f"/user/{LECTURER}/lab",
        f"{SERVICE}/formgrader/reports",
        f"{SERVICE}/formgrader", f"{SERVICE}/formgrader/api/assignments", f"{SERVICE}/lab",
        f"{SERVICE}/api/contents", f"{SERVICE}/files/nbgrader_config.py", "/hub/admin",
        "/hub/api/users", "/hub/api/groups", "/hub/api/services", f"/hub/api/users/{LECTURER}",
        "/services/culler/",
    ]  # fmt: skip
    answers = {path: student.ask(path)[0] for path in pages}
    assert not {path: code for path, code in answers.items() if code not in (403, 404)}
    for path in (hub.root / "courses/distlab", hub.root / "exchange/distlab/inbound",
                 hub.root / "state", hub.home(LECTURER), hub.home("ada")):  # fmt: skip
        assert hub.run_as(STUDENT, ["ls", str(path)], hub.home(STUDENT), check=False).returncode
    moved = ["mv", str(hub.root / "exchange/distlab"), str(hub.root / "exchange/gone")]
    assert hub.run_as(STUDENT, moved, hub.home(STUDENT), check=False).returncode


def test_the_log_has_no_error(hub):
    assert errors(hub) == []


def handed_in():
    """The student's notebook; pictures of it go into the docs, so her words are her own."""
    content = demo.handed_in(STUDENT, LAB)
    for cell in content["cells"]:
        if cell["cell_type"] == "markdown" and cell["metadata"].get("nbgrader", {}).get("grade"):
            cell["source"] = "It works on my machine, and I am not sure why."
    return content


def kernels(someone):
    status, said = someone.ask(f"/user/{someone.name}/api/kernels")
    assert status == 200, said
    return [one["id"] for one in json.loads(said)]


def told(someone, said):
    """Read the formgrader's message and put it away."""
    someone.see(".modal-dialog", said)
    someone.click(".modal-footer button")
    gone = ".modal-backdrop"
    someone.until(lambda: not someone.driver.find_elements("css selector", gone), "the page")


def write(someone, content):
    """Put a notebook's cells in place, as somebody who has worked on them."""
    path = f"/user/{someone.name}/api/contents/{NOTEBOOK}"
    status, said = someone.ask(path, "PUT", {"type": "notebook", "content": content})
    assert status == 200, said
