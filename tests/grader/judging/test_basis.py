"""What makes a verdict stale."""

import functools
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
    for cached in (basis.course_digest, basis.variants_digest, basis._booking):
        monkeypatch.setattr(basis, cached.__name__, functools.cache(cached.__wrapped__))
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


def test_digests_are_those_of_the_course_as_it_was_when_grading_began(digest, tmp_path):
    """What was judged before and after a change has a digest that no later process believes."""
    before = digest()
    basis.begin([LAB])
    assert not basis.changed([LAB])
    with (tmp_path / "grader" / "cases" / course.package(LAB) / "ring_time.py").open("a") as file:
        file.write("# another draw\n")
    assert basis.course_digest(LAB, secret.current()) == before != digest()
    assert basis.changed([LAB])


def test_a_process_begins_anew_when_the_code_that_books_has_changed_though_no_verdict_is_stale(
    digest, tmp_path
):
    before, package = digest(), tmp_path / "grader" / "policy"
    package.mkdir()
    for name in ("__init__.py", "lateness.py"):
        (package / name).touch()
    basis.begin([LAB])
    (tmp_path / "grader" / "submitted").mkdir()
    (tmp_path / "grader" / "submitted" / "mine.py").write_text("a student's")
    assert not basis.changed([LAB])
    (package / "lateness.py").write_text("GRACE = 60\n")
    assert basis.changed([LAB]) and digest() == before


def test_the_templates_of_pages_are_a_part_of_what_books(digest, tmp_path):
    templates = tmp_path / "grader" / "reports" / "templates"
    templates.mkdir(parents=True)
    (templates / "feedback.html.j2").write_text("{{ points }}")
    basis.begin([LAB])
    assert not basis.changed([LAB])
    (templates / "feedback.html.j2").write_text("{{ points }} of {{ most }}")
    assert basis.changed([LAB])


def test_a_file_that_is_called_otherwise_is_another(digest, tmp_path):
    before, cases = digest(), tmp_path / "grader" / "cases" / course.package(LAB)
    (cases / "ring_time.py").rename(cases / "ring_times.py")
    assert digest() != before
