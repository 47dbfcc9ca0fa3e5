"""What waits for being judged, by the times of its files."""

import os

import pytest

from distlab import course
from grader.judging import due

LAB = "01-message-passing"


@pytest.fixture
def hand_in(tmp_path, monkeypatch):
    """`hand_in(student, when)`: a notebook of that time."""
    monkeypatch.setattr(due, "GRADES", tmp_path)

    def handed_in(student, when, lab=LAB):
        file = tmp_path / "submitted" / student / lab / course.notebook_name(LAB)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
        os.utime(file, (when, when))

    return handed_in


def judged(tmp_path, student, when):
    file = tmp_path / "ledger" / LAB / f"{student}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()
    os.utime(file, (when, when))


def modules(tmp_path, *labs, student=None):
    return due.modules(labs, tmp_path / "submitted", student and [student])


def test_what_was_never_judged_or_has_changed_since_is_due(tmp_path, hand_in):
    hand_in("ada", 100)
    assert modules(tmp_path) == modules(tmp_path, LAB) == modules(tmp_path, student="ada") == ()
    judged(tmp_path, "ada", 200)
    assert modules(tmp_path) is None
    hand_in("ada", 300)
    assert modules(tmp_path) == ()


def test_others_and_other_labs_are_not_looked_at(tmp_path, hand_in):
    hand_in("ada", 100)
    judged(tmp_path, "ada", 200)
    hand_in("ben", 100)
    assert modules(tmp_path, student="ada") is None and modules(tmp_path, student="eve") is None
    assert modules(tmp_path, "02-toy-model") is None
    hand_in("ada", 100, lab="no-lab")
    assert modules(tmp_path, "no-lab") is None


def test_what_a_lab_needs_besides_is_told(tmp_path, hand_in, monkeypatch):
    monkeypatch.setattr(course, "needs", lambda lab: ("tensorflow",))
    hand_in("ada", 100)
    assert modules(tmp_path) == ("tensorflow", "keras")
