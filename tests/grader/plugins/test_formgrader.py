"""The class reports in the formgrader, asked as a browser asks."""

from pathlib import Path
from urllib.parse import urljoin

import httpx
import jupyter_served
import pytest
from bs4 import BeautifulSoup
from classes import LAB, graded

from distlab import course
from grader.reports import report

ROOT = Path(__file__).resolve().parents[3]
CONFIG = ROOT / "deploy/hub/jupyter/reports/jupyter_server_config.json"
PAGE = Path(course.notebook_name(LAB)).with_suffix(".html").name


@pytest.fixture(scope="module")
def formgrader(tmp_path_factory):
    """A Jupyter server in the course's folder, where a class of two was graded."""
    grades = tmp_path_factory.mktemp("grades")
    some = [graded(grades, student) for student in ("ada", "Ł. O'Hara #1")]
    report.write(grades / "out" / f"{LAB}.html", LAB, some, 1.0)
    (grades / "out" / f"{LAB}.csv").write_text("student\nada\n")
    for one in some:
        one.feedback.mkdir(parents=True, exist_ok=True)
        (one.feedback / PAGE).write_text(f"<p>feedback of {one.entry.student}</p>", "utf-8")
        (one.feedback / "mine.html").write_text("<script>alert(1)</script>")
    env = {"DISTLAB_GRADES": str(grades), "PYTHONPATH": str(ROOT)}
    with (
        jupyter_served.served("server", grades, f"--config={CONFIG}", cwd=ROOT, **env) as url,
        httpx.Client(base_url=f"{url}/formgrader/", trust_env=False) as client,
    ):
        yield client


def links(client, page):
    """The addresses that a page links to."""
    answer = client.get(page)
    assert answer.status_code == 200, answer.text
    found = BeautifulSoup(answer.text, "html.parser").find_all("a", href=True)
    return {urljoin(str(answer.url), one["href"]).partition("#")[0] for one in found}


def test_each_page_of_the_formgrader_leads_to_the_reports(formgrader):
    reports = str(formgrader.base_url.join("reports"))
    for page in ("manage_assignments", f"manage_submissions/{LAB}", "gradebook", "manage_students"):
        assert reports in links(formgrader, page)
    assert str(formgrader.base_url.join(f"reports/{LAB}")) in links(formgrader, "reports")


def test_each_link_of_a_report_leads_somewhere(formgrader):
    found = links(formgrader, f"reports/{LAB}")
    shown = [formgrader.get(address) for address in found]
    assert {answer.status_code for answer in shown} == {200}
    said = " ".join(answer.text for answer in shown)
    assert "feedback of ada" in said and "feedback of Ł. O'Hara #1" in said
    assert "student\nada\n" in said
    for answer in shown:
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    "page",
    [
        f"feedback/ada/{LAB}/mine.html%00", f"feedback/ada/{LAB}/../mine.html",
        f"feedback/..%2Ffeedback%2Fada/{LAB}/{PAGE}", f"feedback/ben/{LAB}/{PAGE}",
        f"feedback/%2E%2E/{LAB}/{PAGE}", f"feedback/ada/99-lab/{PAGE}", "reports/gradebook.db",
        "reports/other",
    ],
)  # fmt: skip
def test_nothing_else_is_shown(formgrader, page):
    assert formgrader.get(page).status_code == 404


def test_a_file_that_was_handed_in_is_never_shown(formgrader):
    assert "alert" not in formgrader.get(f"feedback/ada/{LAB}/mine.html").text
