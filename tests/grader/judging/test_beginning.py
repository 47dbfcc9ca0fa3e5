"""Could a new process judge by the course as it is on the disk?"""

import pytest

from grader.judging import beginning


def test_the_course_as_it_is_can_be_begun_with():
    assert beginning.fault() == ""


@pytest.mark.parametrize(
    ("left", "said"),
    [
        ("<<<<<<< HEAD\n", "SyntaxError: invalid syntax (__init__.py, line 1)"),
        ("from grader import gone", "ImportError: cannot import name 'gone' from"),
        ("raise SystemExit", "SystemExit:"),
        ("import os; os._exit(3)", "exit status 3"),
    ],
)
def test_what_a_change_has_left_is_told_by_its_error(tmp_path, monkeypatch, left, said):
    (tmp_path / "grader").mkdir()
    (tmp_path / "grader" / "__init__.py").write_text(left)
    monkeypatch.setattr(beginning, "ROOT", tmp_path)
    assert beginning.fault().startswith(said)


def test_a_beginning_that_takes_for_ever_is_a_fault_too(tmp_path, monkeypatch):
    (tmp_path / "grader").mkdir()
    (tmp_path / "grader" / "__init__.py").write_text("import threading; threading.Event().wait()")
    monkeypatch.setattr(beginning, "ROOT", tmp_path)
    monkeypatch.setattr(beginning, "PATIENCE", 0.5)
    assert "timed out after 0.5 seconds" in beginning.fault()
