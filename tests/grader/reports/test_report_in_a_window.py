"""The report on a class in headless Chromium."""

import pytest
from browsing import browser, missing
from classes import LAB, NAMES, graded

from grader.reports import report

pytestmark = [
    pytest.mark.slow,  # a browser takes seconds to start
    pytest.mark.skipif(bool(missing()), reason=missing() or "nothing is missing"),
]


def test_in_a_narrow_window_the_table_of_the_class_scrolls_and_not_the_page(tmp_path):
    untouched = {name: {"status": "unanswered", "seconds": 0.0} for name in NAMES}
    page = tmp_path / "out" / f"{LAB}.html"
    report.write(page, LAB, [graded(tmp_path, "ada"), graded(tmp_path, "fay", **untouched)], 1.0)
    with browser(tmp_path / "browser", 500, 900) as driver:
        driver.get(page.as_uri())
        wide = "const e = {}; return [e.scrollWidth, e.clientWidth]"
        of_page, window = driver.execute_script(wide.format("document.documentElement"))
        of_table, shown = driver.execute_script(wide.format("document.querySelector('.scroll')"))
    assert of_table > shown  # else this shows nothing
    assert of_page <= window
