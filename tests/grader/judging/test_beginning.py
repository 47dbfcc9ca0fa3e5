"""Could a new process judge by the course as it is on the disk?"""

import pytest

from grader.judging import beginning


def test_the_course_as_it_is_can_be_begun_with():
    assert beginning.fault() == ""


@pytest.fixture
def left(tmp_path, monkeypatch):
    """Makes a course with this in place of `grader/__init__.py`."""

    def made(text):
        (tmp_path / "grader").mkdir()
        (tmp_path / "grader" / "__init__.py").write_text(text)
        monkeypatch.setattr(beginning, "ROOT", tmp_path)

    return made


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<<<<<<< HEAD\n", "SyntaxError: invalid syntax (__init__.py, line 1)"),
        ("from grader import gone", "ImportError: cannot import name 'gone' from"),
        ("raise SystemExit", "SystemExit:"),
        ("import os; os._exit(3)", "exit status 3"),
    ],
)
def test_what_a_change_has_left_is_told_by_its_error(left, text, said):
    left(text)
    assert beginning.fault().startswith(said)


def test_what_a_module_prints_is_no_fault(left):
    left("import os; os.write(1, b'ready'); os._exit(0)")
    assert beginning.fault() == ""


def test_a_beginning_that_takes_for_ever_is_a_fault_too(left, monkeypatch):
    left("import threading; threading.Event().wait()")
    monkeypatch.setattr(beginning, "PATIENCE", 0.5)
    assert beginning.fault() == "not done after 0.5 s"
