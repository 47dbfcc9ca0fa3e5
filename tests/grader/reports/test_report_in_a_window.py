"""The report on a class and a feedback page in headless Chromium."""

from pathlib import Path

import pytest
from browsing import browser, missing
from classes import LAB, NAMES, graded, wrong
from markupsafe import Markup
from recorded import event

from distlab.records.events import POSTED, RUNNING, RankRecord
from distlab.viz.timeline import timeline
from grader.reports import feedback, html, report

AXE = Path(__file__).parents[2] / "viz" / "node_modules" / "axe-core" / "axe.min.js"
NO_AXE = "" if AXE.exists() else "axe-core is not here: npm ci --prefix tests/viz"
pytestmark = [
    pytest.mark.slow,  # a browser takes seconds to start
    pytest.mark.skipif(bool(missing()), reason=missing() or "nothing is missing"),
]
TEXT = "# A lab\n\n| | one | another |\n|---|---|---|\n| row | `%s` | [link](https://a.example) |"


@pytest.fixture
def of_class(tmp_path):
    untouched = {name: {"status": "unanswered", "seconds": 0.0} for name in NAMES}
    failed = dict(zip(NAMES, (wrong(status=status) for status in html.STATUSES), strict=False))
    page = tmp_path / "out" / f"{LAB}.html"
    some = [graded(tmp_path, "ada", **failed), graded(tmp_path, "fay", **untouched)]
    report.write(page, LAB, some, 1.0)
    return page


def deadlock():
    """Both ranks sit in a send."""
    return [
        RankRecord(
            rank, 2, RUNNING, 1.0,
            events=[event(rank, 0, "send", peer=1 - rank, state=POSTED, end=0.0)],
        )
        for rank in range(2)
    ]  # fmt: skip


@pytest.fixture
def of_student(tmp_path):
    about = {"student": "s", "assignment": LAB, "score": 0.0, "max_score": 3.0, "late_penalty": 0}
    given = {"cell_type": "markdown", "source": TEXT % ("wide" * 40), "metadata": {}}
    shown = feedback.content({"cells": [given], "metadata": {}}, about)
    failed = feedback.Part(
        "exercise", "relay", [feedback.code("def relay():\n    return 1  # one\n" * 8)],
        status="deadlock", told={"expected": "`a`", "happened": "b", "look": "c"},
        picture=Markup(timeline(deadlock()).svg(alone=False)), score=0.0, points=3.0, ask="ask",
    )  # fmt: skip
    shown["parts"].append(failed)
    page = tmp_path / "feedback.html"
    page.write_text(html.render("feedback.html.j2", **{**shown, "graded": [failed]}), "utf-8")
    return page


OPENED = "document.querySelectorAll('details').forEach(one => one.open = true);"


def test_in_a_narrow_window_tables_and_pictures_scroll_and_not_the_page(
    tmp_path, of_class, of_student
):
    with browser(tmp_path / "browser", 500, 900) as driver:
        for page, wide in ((of_class, ".scroll"), (of_student, ".text"), (of_student, "figure")):
            driver.get(page.as_uri())
            driver.execute_script(OPENED)
            script = "const e = {}; return [e.scrollWidth, e.clientWidth]"
            of_page, window = driver.execute_script(script.format("document.documentElement"))
            inside, shown = driver.execute_script(
                script.format(f"document.querySelector('{wide}')")
            )
            assert inside > shown  # else this shows nothing
            assert of_page <= window


@pytest.mark.skipif(bool(NO_AXE), reason=NO_AXE or "it is here")
def test_axe_finds_no_violation(tmp_path, of_class, of_student):
    with browser(tmp_path / "browser") as driver:
        for scheme in ("light", "dark"):
            chosen = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
            driver.execute_cdp_cmd("Emulation.setEmulatedMedia", chosen)
            for page in (of_class, of_student):
                driver.get(page.as_uri())
                driver.execute_script(OPENED + AXE.read_text("utf-8"))
                found = driver.execute_async_script("axe.run().then(arguments[0])")
                told = [
                    (v["id"], [n["html"][:120] for n in v["nodes"]]) for v in found["violations"]
                ]
                assert not told
                assert len(found["passes"]) > 15


#: how well each text of a picture can be read on the page behind it, in WCAG's measure
_CONTRASTS = """
const brush = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
const seen = (...colours) => {
  for (const one of colours) { brush.fillStyle = one; brush.fillRect(0, 0, 1, 1); }
  const part = n => (n /= 255) <= .04045 ? n / 12.92 : ((n + .055) / 1.055) ** 2.4;
  const [r, g, b] = brush.getImageData(0, 0, 1, 1).data;
  return .2126 * part(r) + .7152 * part(g) + .0722 * part(b) + .05;
};
const paper = getComputedStyle(document.body).backgroundColor;
return [...document.querySelectorAll("svg[id] text")].map(text => {
  const {fill, fillOpacity} = getComputedStyle(text);
  const over = `color-mix(in srgb, ${fill} ${100 * fillOpacity}%, transparent)`;
  const [a, b] = [seen(paper), seen(paper, over)];
  return [Math.max(a, b) / Math.min(a, b), text.textContent];
});
"""


def test_texts_in_a_picture_can_be_read_on_light_and_on_dark(tmp_path, of_student):
    with browser(tmp_path / "browser") as driver:
        for scheme in ("light", "dark"):
            chosen = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
            driver.execute_cdp_cmd("Emulation.setEmulatedMedia", chosen)
            driver.get(of_student.as_uri())
            found = driver.execute_script(_CONTRASTS)
            assert {"did not end", "never finished"} <= {words for _, words in found}
            assert [one for one in found if one[0] < 4.5] == []
