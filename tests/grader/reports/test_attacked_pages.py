"""Notebooks that are made to be slow or large: their pages say what they leave out."""

import json

import pytest

from distlab.checking import submission
from grader import collected, coursedir
from grader.judging import demo
from grader.plugins.exporters import FormgradeExporter
from grader.reports import rendering

LAB = "01-message-passing"
ABOUT = {"student": "ada", "assignment": LAB, "score": 24.0, "max_score": 24.0, "late_penalty": 0.0}
#: what nbgrader's handler gives to its template
ASKED = dict.fromkeys(
    ("assignment_id", "notebook_id", "submission_id", "base_url", "student", "last_name",
     "first_name", "notebook_path"), "x",
) | {"index": 0, "total": 1}  # fmt: skip


def right():
    return demo.handed_in("ada", LAB)


def answered(name, more):
    """All answers right, one with something behind it."""
    return collected.filled(right(), **{name: collected.source_of(right(), name) + more})


def added(source, times, kind="markdown"):
    """All answers right, and so many cells of one's own."""
    content = right()
    code = {"outputs": [], "execution_count": None} if kind == "code" else {}
    content["cells"] += [
        {"cell_type": kind, "id": f"a{number}", "metadata": {}, "source": source, **code}
        for number in range(times)
    ]
    return content


ATTACKS = {
    "blank lines": lambda: answered("relay", "\n" * 50_000),
    "lines of blanks": lambda: answered("relay", " \n" * 50_000),
    "an enormous line": lambda: answered("relay", f"\nx = '{'a' * 200_000}'"),
    "operators": lambda: answered("relay", "\nx = 1" + "+1" * 24_000),
    "an enormous text": lambda: collected.filled(right(), speaking_first="[" * 19_000),
    "quotes in each other": lambda: added(("> " * 200 + "a\n") * 24, 100),
    "elements in each other": lambda: added("<b><a>" * 1_600, 100),
    "fractions in each other": lambda: added(
        "$" + "\\frac{" * 140 + "a" + "}" * 140 + "$ " + "$'$ " * 2_000, 100
    ),
    "38 MB of cells": lambda: added("b" * 250_000, 152, "code"),
}
SLOW = {"operators in 250 cells": lambda: added("+1;" * 1_300, 250, "code")}
PARAMETERS = [pytest.param(made, id=name) for name, made in ATTACKS.items()] + [
    pytest.param(made, id=name, marks=pytest.mark.slow) for name, made in SLOW.items()
]
#: they are short enough to be shown as a whole
WHOLE = {"operators"}


@pytest.mark.parametrize("made", PARAMETERS)
def test_a_page_is_made_and_says_what_it_leaves_out(made, tmp_path, request):
    """Twice: for whoever wrote it, and in the formgrader. Its time is limited in any case; here
    it has to do without the page that is put in place of one that took too long.
    """
    rebuilt, repaired = submission.rebuild(coursedir.released(LAB), made())
    autograded = tmp_path / "lab.ipynb"
    autograded.write_text(json.dumps(rebuilt))
    rebuilt["metadata"]["distlab"] = {"repaired": repaired}
    pages = (
        rendering.page("grader.reports.feedback:page", nb=rebuilt, about=ABOUT),
        FormgradeExporter().from_filename(str(autograded), dict(ASKED))[0],
    )
    for page in pages:
        assert "could not be made" not in page and "scatter_rows" in page
        assert len(page) < rendering.SIZE
    if request.node.callspec.id not in WHOLE:
        assert "more characters" in pages[0] or "left out" in pages[0]
