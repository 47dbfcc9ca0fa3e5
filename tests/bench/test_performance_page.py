"""What the documents say of measurements is what was measured."""

import pytest

import bench
from bench import Row
from bench.page import PAGE, README, RECORD, SHOWN, Measured, as_page, as_table, keep, read

ROW = Row("a thing", [1.0, 3.0, 2.0], [8.0], "another thing", "It was so.")


def test_the_page_and_the_readme_tell_what_is_on_record():
    measured = read(RECORD)
    assert PAGE.read_text("utf-8") == as_page(measured)
    assert as_table(measured) in README.read_text("utf-8")


def test_what_was_not_measured_again_stays(tmp_path):
    file = tmp_path / "figures.json"
    first = {name: Measured("2026-01-01", "a machine", [ROW]) for name in ("startup", "ring")}
    keep(file, first)
    second = {"ring": Measured("2026-02-02", "another machine", [ROW])}
    keep(file, second)
    assert read(file) == {**first, **second}


def test_a_file_that_holds_something_else_is_said_before_anything_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(bench, "header", None)  # the first thing that a run calls
    file = tmp_path / "report.json"
    for content in ('{"submissions": []}', '{"ring": {"day": ', "[]", '{"ring": {"day": 1}}'):
        file.write_text(content)
        with pytest.raises(ValueError, match=r"report\.json holds no measurements"):
            bench.run_all(["ring"], str(file))


def test_what_the_readme_has_is_the_median_that_its_ratio_is_of():
    row = Row("a thing", [1.0, 3.0], [8.0], "another thing")
    measured = {
        name: Measured("2026-01-01", "a machine", [row] * (1 + max(places)))
        for name, places in SHOWN.items()
    }
    assert "| 2 s | 8 s, another thing | 4× |" in as_table(measured)


def test_a_page_has_medians_their_range_the_day_and_the_machine():
    page = as_page({"ring": Measured("2026-01-01", "a machine", [ROW])})
    assert "Machine: a machine." in page
    told = "| a thing. It was so. | 2 (1–3) s | 8 s, another thing | 4× |"
    assert f"| `ring` | 2026-01-01 {told}" in page
