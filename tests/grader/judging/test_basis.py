"""What makes a verdict stale."""

import shutil

import pytest

from distlab import course
from grader import coursedir, secret
from grader.judging import basis

LAB = "04-ring-allreduce"


@pytest.fixture
def digest(tmp_path, monkeypatch):
    """`digest()` of a copy of the course's cases, in which a test may change something."""
    shutil.copytree(coursedir.ROOT / "grader" / "cases", tmp_path / "grader" / "cases")
    monkeypatch.setattr(coursedir, "ROOT", tmp_path)
    return lambda: basis.course_digest.__wrapped__(LAB, secret.PUBLIC_SECRET)


@pytest.mark.parametrize("file", ["__init__.py", f"{course.package(LAB)}/ring_time.py"])
def test_a_change_to_what_cases_are_made_of_makes_verdicts_stale(digest, tmp_path, file):
    before = digest()
    assert digest() == before
    with (tmp_path / "grader" / "cases" / file).open("a") as changed:
        changed.write("# another draw\n")
    assert digest() != before


def test_a_case_of_another_lab_makes_none_stale(digest, tmp_path):
    before = digest()
    other = tmp_path / "grader" / "cases" / course.package("01-message-passing") / "relay.py"
    other.write_text("")
    assert digest() == before
