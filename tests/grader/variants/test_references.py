"""References of students' own inputs: made once, by the solution, or told that they cannot be."""

import json
import re

import pytest

from distlab import course
from grader import collected, coursedir, secret
from grader.coursedir import NotGraded
from grader.judging import referee
from grader.judging.ledger import Ledger
from grader.judging.local import LocalJudges
from grader.policy import policy
from grader.sandbox import configured
from grader.variants import references
from grader.variants import variant as variants
from grader.variants.variant import variant

pytestmark = pytest.mark.slow  # sessions in the sandbox
LAB = "04-ring-allreduce"
TIME = course.exercises(LAB)["ring_time"]
RIGHT = collected.source_of(coursedir.solution(LAB), "ring_time")
BY_HEART = """
KNOWN = {known}


def ring_time(n_bytes, size, latency, bandwidth):
    def far(pair):
        given = n_bytes, size, latency, bandwidth
        return sum(abs(a - b) / (abs(a) + abs(b) or 1) for a, b in zip(pair[0], given))

    return min(KNOWN, key=far)[1]
"""


@pytest.fixture(scope="module")
def local():
    with secret.using(secret.Secret(b"a course's own secret, 32 bytes.")):
        made = LocalJudges(configured())
        yield made
        made.close()


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, local):
    monkeypatch.setattr(references, "FOLDER", tmp_path / "own-references")
    (tmp_path / "policy.yaml").write_text("variants: on\n")
    monkeypatch.setattr(policy, "PATH", tmp_path / "policy.yaml")
    return tmp_path


def plan(source):
    return coursedir.lab(LAB).plan(collected.handed_in(LAB, ring_time=source))


def status(local, source, student):
    lines = local.lines(LAB, plan(source), student)
    return next(line.status for line in lines if line.name == "ring_time")


def made():
    return sorted(references.FOLDER.glob("*/*/ring_time-*/reference.*"))


def known(student):
    whose = variant(LAB, student)
    outputs = [
        (list(case.params.values()), references.reference(whose, TIME, case)[0])
        for case in variants.cases(whose, TIME)
    ]
    return BY_HEART.replace("{known}", repr(outputs))


def test_references_are_made_once_and_right_answers_pass(local):
    assert status(local, RIGHT, "ada") == "passed"
    times = {path: path.stat().st_mtime_ns for path in made()}
    assert len(times) == 2 and status(local, RIGHT, "ada") == "passed"
    assert {path: path.stat().st_mtime_ns for path in made()} == times
    assert references.FOLDER.stat().st_mode & 0o077 == 0


def test_what_a_classmate_knows_by_heart_is_right_for_the_classmate_alone(local):
    local.prepare(LAB, "ada")
    assert status(local, known("ada"), "ada") == "passed"
    assert status(local, known("ada"), "ben") == "wrong"


def test_damaged_references_are_made_again(local):
    assert status(local, RIGHT, "ada") == "passed"
    whole = {path: path.read_bytes() for path in made()}
    for path, content in whole.items():
        path.write_bytes(content[:10])
    references._read.cache_clear()
    assert status(local, RIGHT, "ada") == "passed"
    assert len(whole) == 2 and {path: path.read_bytes() for path in made()} == whole


def test_references_that_were_read_without_a_case_are_read_again_once_it_is_made(local):
    whose = variant(LAB, "ada")
    outputs = [(TIME, case, [1.0]) for case in variants.cases(whose, TIME)]
    references._keep(whose, "ring_time", outputs[:1])  # as where the inputs of the others were new
    assert references.missing(whose, ["ring_time"]) == ["ring_time"]
    references._keep(whose, "ring_time", outputs)
    assert references.missing(whose, ["ring_time"]) == []


def test_references_of_another_course_are_made_again_and_replaced(local, monkeypatch):
    assert status(local, RIGHT, "ada") == "passed"
    (before,) = {path.parent for path in made()}
    monkeypatch.setattr(references, "variants_digest", lambda *about: "another" * 5)
    assert status(local, RIGHT, "ada") == "passed"
    (after,) = {path.parent for path in made()}
    assert after != before


LEAVING = """
import os, subprocess, tempfile
for place in ("/tmp", "/dev/shm", ".", os.path.expanduser("~"), tempfile.gettempdir()):
    try:
        open(os.path.join(place, "left-by-the-solution"), "w").close()
    except OSError:
        pass
os.environ["LEFT"] = "left-by-the-solution"
subprocess.Popen(["sleep", "98765432"])
"""
LOOKING = """
import glob, os
PLACES = ("/tmp", "/dev/shm", ".", os.path.expanduser("~"))
FOUND = [name for place in PLACES for name in glob.glob(place + "/**/left-by-*", recursive=True)]
FOUND += ["LEFT"] * ("LEFT" in os.environ)
for line in glob.glob("/proc/*/cmdline"):
    try:
        FOUND += ["98765432"] * (b"98765432" in open(line, "rb").read())
    except OSError:
        pass
if FOUND:
    raise RuntimeError(str(FOUND))
"""


def test_a_submission_finds_nothing_of_the_solution(local, monkeypatch):
    monkeypatch.setattr(references, "_solution", lambda lab: plan(LEAVING + RIGHT))
    assert status(local, LOOKING + RIGHT, "ada") == "passed"
    assert status(local, LEAVING + LOOKING + RIGHT, "ada") == "error"  # it would be seen


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def ring_time(*about):\n    raise OSError", "the solution of ring_time failed"),
        ("def ring_time(*about):\n    import os\n    os._exit(1)", "the solution of ring_time"),
        ("1 / 0", "cell of ring_time did not run|solution of ring_time failed"),
    ],
)
def test_a_solution_that_fails_is_no_zero(local, folder, monkeypatch, source, said):
    monkeypatch.setattr(references, "_solution", lambda lab: plan(source))
    with pytest.raises(NotGraded) as raised:
        local.lines(LAB, plan(RIGHT), "ada")
    assert re.search(said, str(raised.value)) and "not the student's" in str(raised.value)
    with referee.Referee(Ledger(folder / "ledger"), local) as one:
        rebuilt, repaired = one.rebuild(LAB, collected.handed_in(LAB, ring_time=RIGHT))
        with pytest.raises(NotGraded):
            one.judge(LAB, "ada", rebuilt, repaired, "")
        assert one.ledger.latest(LAB, "ada") is None
    assert made() == []


def test_a_solution_that_failed_once_is_tried_again_alone(local, monkeypatch):
    make, calls = references._make, []

    def failing(*about):
        calls.append(about)
        if len(calls) == 1:
            raise references.SolutionFailed("the machine was busy")
        make(*about)

    monkeypatch.setattr(references, "_make", failing)
    assert status(local, RIGHT, "ada") == "passed" and len(calls) == 2


def test_what_a_killed_grader_has_begun_is_no_reference(local):
    place = references._place(variant(LAB, "ada"), "ring_time")
    half = place.with_name(f".{place.name}-abc")
    half.mkdir(parents=True)
    (half / "reference.json").write_text(json.dumps({"exercises": {}}))
    assert references.missing(variant(LAB, "ada"), ["ring_time"]) == ["ring_time"]
    assert status(local, RIGHT, "ada") == "passed"


def test_unanswered_exercises_need_no_references(local):
    lines = local.lines(LAB, coursedir.lab(LAB).plan(collected.handed_in(LAB)), "ada")
    assert {line.status for line in lines} == {"unanswered"}
    assert not references.FOLDER.exists()


@pytest.mark.long
@pytest.mark.parametrize("lab", [lab for lab in course.LABS if not course.needs(lab)])
def test_reference_solutions_have_full_points_with_students_own_inputs(lab, local):
    for student in ("ada", "ben"):
        lines = local.lines(lab, references._solution(lab), student)
        assert [(line.name, line.status) for line in lines if line.status != "passed"] == []
