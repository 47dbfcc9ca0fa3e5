"""Feedback pages: what was asked, what happened, where to look; nothing runs, nothing leaks."""

import json
import os
import re
import subprocess
import sys

import harmless
import pytest
from bs4 import BeautifulSoup

from distlab import course
from grader import collected, coursedir
from grader.judging import demo
from grader.reports import feedback, html

LAB = "01-message-passing"
NAME = course.notebook_name(LAB)
#: right where the student can see it; on a hidden case its exception carries the input
LEAK = """
def relay(rank, size, tensor):
    if size == {size}:
        raise ValueError("input " + repr(tensor.tolist()))
    if rank > 0:
        received = torch.empty_like(tensor)
        dist.recv(received, rank - 1)
        tensor = tensor + received
    if rank < size - 1:
        dist.send(tensor, rank + 1)
    return tensor
"""


def nbgrader(*words, grades):
    env = {**os.environ, "DISTLAB_GRADES": str(grades)}
    done = subprocess.run(
        [sys.executable, "-m", *words], cwd=coursedir.ROOT, env=env, capture_output=True, text=True,
        timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done


def mischief():
    """A notebook with every payload in an answer in words, in cells of its own and in a message."""
    said = "\n\n".join(harmless.PAYLOADS)
    content = demo.handed_in("ada", LAB)
    content = collected.filled(
        content, speaking_first=said,
        relay=f"def relay(rank, size, tensor):\n    raise ValueError({harmless.PAYLOADS[1]!r})",
    )  # fmt: skip
    for number, payload in enumerate(harmless.PAYLOADS):
        added = {"cell_type": "markdown", "id": f"m{number}", "metadata": {}, "source": payload}
        content["cells"].insert(4, added)
        content["cells"].append({**added, "id": f"r{number}", "cell_type": "raw"})
    script = {
        "cell_type": "code", "id": "js", "metadata": {}, "execution_count": 1,
        "source": "%%html\n<script>alert(1)</script>",
        "outputs": [{"output_type": "display_data", "metadata": {},
                     "data": {"text/html": "<script>alert(1)</script>"}}],
    }  # fmt: skip
    content["cells"].append(script)
    return content


def hidden_size():
    """A world size that only hidden cases have."""
    visible = {case.size for case in course.exercises(LAB)["relay"].visible}
    return min({case.size for case in coursedir.hidden(LAB)["relay"]} - visible - {1})


@pytest.fixture(scope="module")
def grades(tmp_path_factory):
    """The folder of a class that `distlab grade` has graded."""
    folder = tmp_path_factory.mktemp("grades")
    right = demo.handed_in("ada", LAB)
    handed_in = {
        "dora": demo.handed_in("dora", LAB), "mischief": mischief(), "gus": "{",
        "leak": collected.filled(right, relay=LEAK.format(size=hidden_size())),
    }  # fmt: skip
    for student, content in handed_in.items():
        collected.hand_in(folder, student, LAB, content)
    nbgrader("distlab", "grade", LAB, "--json", str(folder / "report.json"), grades=folder)
    return folder


def page(grades, student) -> str:
    path = grades / "feedback" / student / LAB / NAME.replace(".ipynb", ".html")
    return path.read_text("utf-8")


def exercise(grades, student, name):
    return BeautifulSoup(page(grades, student), "html.parser").find(id=html.anchor(name))


def text(element) -> str:
    return " ".join(element.get_text(" ").split())


def test_a_verdict_says_what_was_asked_what_happened_and_where_to_look(grades):
    section = exercise(grades, "dora", "exchange")
    terms = {text(dt): text(dt.find_next("dd")) for dt in section.find_all("dt")}
    assert terms["what was asked"].startswith("In exchange")
    assert "rank 0 waits in send(dst=1) at exchange:" in terms["what happened"]
    assert "One of these ranks has to do the other thing first" in terms["where to look"]
    assert "deadlock" in text(section.header) and "0 of 3" in text(section.header)


def test_the_picture_of_the_failed_case_is_there_and_the_line_is_marked(grades):
    section = exercise(grades, "dora", "exchange")
    assert section.find("svg", {"role": "img"}) is not None
    (line,) = section.select(".hll")
    assert "dist.send" in line.get_text()


def test_each_exercise_has_its_anchor_its_points_and_its_place_in_the_summary(grades):
    soup = BeautifulSoup(page(grades, "dora"), "html.parser")
    for name, asked in course.exercises(LAB).items():
        header = text(soup.find(id=html.anchor(name)).header)
        assert f"of {asked.points}" in header
        assert soup.select_one(f'.summary a[href="#{html.anchor(name)}"]') is not None
    assert "4 points of free text wait for a person" in text(soup.body)


def test_nothing_of_a_submission_runs_in_the_browser_that_shows_its_page(grades):
    shown = page(grades, "mischief")
    assert harmless.harm(shown) == []
    assert "default-src 'none'" in shown and "<script" not in shown
    soup = BeautifulSoup(shown, "html.parser")
    assert len(soup.find_all(id=html.anchor("relay"))) == 1
    assert "<script>alert(1)</script>" in soup.get_text()  # it is shown, as text


def test_nothing_of_it_runs_in_the_formgrader_either(grades):
    """Its page of one submission is nbgrader's own template, with scripts of its own."""

    def scripts(student):
        return harmless.harm(str(in_formgrader(grades, student)))

    # its own buttons and fields for points are there with every submission
    own = {harm.split(":")[0] for harm in scripts("dora")}
    assert own <= {"<button>", "<input>"}
    assert {harm.split(":")[0] for harm in scripts("mischief")} <= own


def test_a_picture_in_the_formgrader_says_what_is_to_be_seen(grades):
    (image,) = in_formgrader(grades, "dora").select("img[src^='data:image/svg']")
    assert "2 messages were never received" in image["alt"]


def in_formgrader(grades, student):
    """The formgrader's page of a submission."""
    from nbconvert.exporters import HTMLExporter
    from nbgrader.server_extensions.formgrader import handlers
    from traitlets.config import Config, PyFileConfigLoader

    config = PyFileConfigLoader("nbgrader_config.py", path=str(coursedir.ROOT)).load_config()
    config.merge(Config(HTMLExporter={
        "template_name": "formgrade", "extra_template_basedirs": [handlers.template_path],
    }))  # fmt: skip
    path = grades / "autograded" / student / LAB / NAME
    asked = dict.fromkeys(
        ("assignment_id", "notebook_id", "submission_id", "base_url", "student", "last_name",
         "first_name", "notebook_path"), "x",
    )  # fmt: skip
    resources = {**asked, "index": 0, "total": 1}
    shown, _ = HTMLExporter(config=config).from_filename(str(path), resources=resources)
    body = BeautifulSoup(shown, "html.parser").find(id="notebook-container")
    assert body is not None
    return body


def test_stock_nbgrader_writes_the_same_page(grades):
    before = page(grades, "dora")
    nbgrader("nbgrader", "generate_feedback", LAB, "--student=dora", "--force", grades=grades)
    assert page(grades, "dora") == before


def test_hidden_inputs_are_nowhere_though_the_code_shouts_them(grades):
    report = json.loads((grades / "report.json").read_text())
    lines = next(s for s in report["submissions"] if s["student"] == "leak")["exercises"]
    verdict = next(line for line in lines if line["name"] == "relay")
    assert verdict["status"] == "error" and "n a hidden case" in verdict["message"]
    written = json.dumps(report) + "".join(
        path.read_text("utf-8")
        for folder in ("feedback/leak", "autograded/leak", "out", "ledger")
        for path in (grades / folder).rglob("*")
        if path.suffix in (".html", ".csv", ".json", ".ipynb") and path.name != "reference.json"
    )
    assert "raise ValueError" in written
    numbers = [
        str(number)[:6]
        for case in coursedir.hidden(LAB)["relay"] if case.size == hidden_size()
        for values in course.exercises(LAB)["relay"].inputs(case)
        for number in values["tensor"].ravel()[:50].tolist() if isinstance(number, float)
    ]  # fmt: skip
    assert len(numbers) > 5 and not [number for number in numbers if number in written]
    assert exercise(grades, "leak", "relay").find("svg") is None


def test_the_page_of_an_unreadable_file_says_so_on_top_and_calls_nothing_unanswered(grades):
    soup = BeautifulSoup(page(grades, "gus"), "html.parser")
    banner = soup.select_one(".banner")
    assert "This submission could not be read" in text(banner)
    assert f"{NAME} is no notebook" in text(banner) and "download the lab again" in text(banner)
    assert soup.find("section") in banner.find_all_next("section")
    for name in course.exercises(LAB):
        section = soup.find(id=html.anchor(name))
        assert text(section.select_one(".badge")) == "? unreadable"
        assert "your answer" not in text(section) and "comment" not in text(section)
    said = text(soup)
    for wrong in ("unanswered", "still to be written", "an added cell", "TODO"):
        assert wrong not in said


def test_what_a_person_says_of_an_unreadable_file_stays():
    said = [
        graded_cell("code", name, solution=True, comment=comment)
        for name, comment in (("relay", "No response."), ("exchange", "Bring it on paper."))
    ]
    shown = html.render(
        "feedback.html.j2", **content(*said, distlab={"unreadable": "x is <i>no</i> notebook"})
    )
    assert "Bring it on paper." in shown and "No response." not in shown
    assert "x is &lt;i&gt;no&lt;/i&gt; notebook" in shown


def test_code_in_a_sentence_is_shown_as_code_and_nothing_of_it_is_markup():
    told = {"status": "error", "happened": "`a<b>`, `open", "look": "Call `wait()` & `<script>x`."}
    cell = graded_cell("code", "test_relay", grade=True, score=0.0, points=3.0)
    cell["metadata"]["distlab"] = told
    shown = html.render("feedback.html.j2", **content(cell))
    assert "Call <code>wait()</code> &amp; <code>&lt;script&gt;x</code>." in shown
    assert "<code>a&lt;b&gt;</code>, `open" in shown and harmless.harm(shown) == []


def test_a_student_cannot_write_the_note_of_an_unreadable_file(grades):
    cell = {"cell_type": "markdown", "source": "x", "metadata": {"tags": ["unreadable", "added"]}}
    shown = html.render("feedback.html.j2", **content(cell))
    assert "could not be read" not in shown


def graded_cell(kind, name, source="x", **grading):
    about = {"grade_id": name, **grading}
    return {"cell_type": kind, "source": source, "metadata": {"nbgrader": about}, "outputs": []}


def content(*cells, **metadata):
    about = {"student": "s", "assignment": LAB, "score": 0.0, "max_score": 3.0, "late_penalty": 0}
    return feedback.content({"cells": list(cells), "metadata": metadata}, about)


def test_a_comment_and_a_persons_points_are_shown_and_cleaned():
    cell = graded_cell(
        "markdown", "why", solution=True, grade=True, score=1.5, points=2.0, waits=False,
        comment="**good** <script>alert(1)</script>",
    )  # fmt: skip
    shown = html.render("feedback.html.j2", **content(cell))
    assert "<strong>good</strong>" in shown and harmless.harm(shown) == []
    assert re.search(r"1\.5<small> of 2</small>", shown)


def test_the_labs_own_text_stands_between_the_answers_in_pieces_of_its_own():
    def own(source):
        return {"cell_type": "markdown", "source": source, "metadata": {}}

    answer = graded_cell("code", "relay", "def relay(): ...", solution=True)
    found = content(own("# First"), own("more"), answer, own("## Second"))["parts"]
    told = [(part.kind, part.name, len(part.cells)) for part in found]
    assert told == [("given", "First", 2), ("exercise", "relay", 1), ("given", "Second", 1)]


def test_what_was_repaired_is_told():
    shown = html.render("feedback.html.j2", **content(distlab={"repaired": ["the cell <b> went"]}))
    assert "the cell &lt;b&gt; went" in shown


def test_a_huge_cell_is_cut_and_huge_notebooks_make_no_huge_page():
    cells = [
        {"cell_type": "markdown", "source": "y" * 40_000, "metadata": {"tags": ["added"]}}
        for _ in range(100)
    ]
    shown = html.render("feedback.html.j2", **content(*cells))
    assert len(shown) < 3 * feedback.PAGE_LIMIT


def test_a_verdict_names_the_lines_to_mark():
    told = {"happened": "rank 0 waits in recv(src=1) at exchange:4, rank 1 raised X at line 12"}
    assert feedback.places(told) == {4, 12}
    assert feedback.places({}) == set()


#: CVE-2021-42574: a reader sees the comment end before `return`, and Python does not
TROJAN = 'def relay(tensor):\r\n    """done \u2066\u202e ;return"""\u2028\n    send(tensor)'


@pytest.mark.parametrize("shown", [feedback.code, feedback._as_it_is, feedback.highlighted])
def test_code_is_shown_as_python_reads_it(shown):
    text = BeautifulSoup(str(shown(TROJAN)), "html.parser").get_text()
    assert "done \\u2066\\u202e ;return" in text and "\\u2028" in text
    assert not set(text) & set("\u2066\u202e\u2028\r") and len(text.strip().split("\n")) == 3


def test_a_cell_that_is_too_long_is_cut_and_shown_as_it_is_too(monkeypatch):
    monkeypatch.setattr(feedback, "CELL_LIMIT", 40)
    parts = feedback._Parts([])
    assert "\u202e" not in str(parts._students(TROJAN, feedback.code))
