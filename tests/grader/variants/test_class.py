"""A class with inputs of its own goes the whole way, from the policy to the feedback page."""

import csv
import json
import os
import re
import subprocess
import sys

import pytest

from distlab import course
from distlab.checking import own_inputs
from grader import collected, coursedir, secret
from grader.variants import variant as variants
from grader.variants.variant import variant

# each command judges in the sandbox, beside nbgrader
pytestmark = [pytest.mark.slow, pytest.mark.long]

LAB = "01-message-passing"
EXCHANGE = course.exercises(LAB)["exchange"]
KEY = b"a course's own secret, 32 bytes."
SMALL = 1000  # elements of an input that an answer may know by heart

BY_HEART = """
import torch
import torch.distributed as dist

KNOWN = {known}


def exchange(rank, size, tensor):
    received = torch.empty_like(tensor)
    for request in [dist.isend(tensor, rank ^ 1), dist.irecv(received, rank ^ 1)]:
        request.wait()
    own = KNOWN.get((size, rank, str(tensor.dtype), tuple(tensor.shape)))
    if own is None:
        return received
    nearest = min(own, key=lambda pair: (torch.tensor(pair[0]) - tensor).abs().sum().item())
    return torch.tensor(nearest[1], dtype=tensor.dtype)
"""


def known(student):
    """What a student's tensors become, by size, rank, dtype and shape."""
    table = {}
    whose = variant(LAB, student, secret.Secret(KEY))
    for case in variants.cases(whose, EXCHANGE):
        tensors = [inputs["tensor"] for inputs in EXCHANGE.inputs(case)]
        for rank, own in enumerate(tensors):
            if own.size <= SMALL:
                place = case.size, rank, f"torch.{own.dtype}", own.shape
                table.setdefault(place, []).append((own.tolist(), tensors[rank ^ 1].tolist()))
    return table


@pytest.fixture(scope="module")
def grades(tmp_path_factory):
    """A course's folder: students have inputs of their own, and the course has a secret."""
    folder = tmp_path_factory.mktemp("class")
    (folder / "policy.yaml").write_text("variants: on\n")
    (folder / "secret").write_text(KEY.hex())
    (folder / "secret").chmod(0o600)
    solution = coursedir.solution(LAB)
    right = {name: collected.source_of(solution, name) for name in ("exchange", "relay")}
    by_heart = {**right, "exchange": BY_HEART.replace("{known}", repr(known("ada")))}
    for student, sources in {"ada": by_heart, "ben": by_heart, "eva": right}.items():
        collected.hand_in(folder, student, LAB, collected.handed_in(LAB, **sources))
    return folder


def run(grades, *words, patch=""):
    """A command in a process of its own, with `patch` run before."""
    env = {
        **os.environ, "DISTLAB_GRADES": str(grades), "DISTLAB_SECRET": str(grades / "secret"),
        "DISTLAB_POLICY": str(grades / "policy.yaml"),
    }  # fmt: skip
    start = f"import sys\nfrom distlab import cli\n{patch}\nsys.exit(cli.main(sys.argv[1:]))"
    how = [sys.executable, "-c", f"import sys; sys.path.insert(0, '.')\n{start}", *words]
    if words[0] == "nbgrader":
        how = [sys.executable, "-m", *words]
    return subprocess.run(
        how, cwd=coursedir.ROOT, env=env, capture_output=True, text=True, timeout=400
    )


def own_references(grades, student):
    """Where the references of a student's exercises lie, and when they were made."""
    whose = variant(LAB, student, secret.Secret(KEY))
    found = (grades / "own-references" / LAB / whose.fingerprint).glob("*-*/reference.json")
    return {path.parent.name.split("-")[0]: path.stat().st_mtime_ns for path in found}


KILLED = """
import os, signal
from grader.variants import references
need = references.need
def needed(*args, **kwargs):
    need(*args, **kwargs)
    os.kill(os.getpid(), signal.SIGKILL)
references.need = needed
"""


@pytest.fixture(scope="module")
def graded(grades):
    """(report by student, when eva's references were made), after a grading that was killed."""
    done = run(grades, "group", LAB, "ada", "dan", "--new")
    assert done.returncode == 0, done.stderr
    killed = run(grades, "grade", LAB, "--student", "eva", patch=KILLED)
    assert killed.returncode == -9
    assert not (grades / "ledger" / LAB / "eva.json").exists()
    before = own_references(grades, "eva")
    assert set(before) == {"exchange", "relay"}  # of what is answered alone
    report = grades / "report.json"
    done = run(grades, "grade", LAB, "--json", str(report))
    assert done.returncode == 0, done.stderr
    reported = json.loads(report.read_text())["submissions"]
    return {one["student"]: one for one in reported}, before


def statuses(one):
    return {line["name"]: line["status"] for line in one["exercises"]}


def test_a_classmates_outputs_are_worth_nothing_and_ones_own_everything(graded):
    by_student, _ = graded
    assert statuses(by_student["eva"])["exchange"] == "passed"
    assert statuses(by_student["eva"])["relay"] == "passed"
    assert statuses(by_student["ada"])["exchange"] == "passed"  # with the inputs that it knows
    assert statuses(by_student["ben"])["exchange"] == "wrong"  # the very same notebook
    assert statuses(by_student["ben"])["relay"] == "passed"


def test_a_group_has_the_inputs_of_whoever_has_handed_in(graded, grades):
    by_student, _ = graded
    assert statuses(by_student["dan"])["exchange"] == "passed"
    assert by_student["dan"]["handed_in_by"] == "ada"


def test_a_grading_that_was_killed_goes_on_with_the_references_that_there_are(graded, grades):
    _, before = graded
    assert own_references(grades, "eva") == before


def test_grading_again_judges_nobody_again(graded, grades):
    broken = "from grader.judging.local import LocalJudges\nLocalJudges.lines = None\n"
    done = run(grades, "grade", LAB, patch=broken)
    assert done.returncode == 0, done.stderr


def test_stock_autograde_gives_the_same_scores(graded, grades):
    by_student, _ = graded
    done = run(grades, "nbgrader", "autograde", LAB, "--force")
    assert done.returncode == 0, done.stderr
    table = grades / "grades.csv"
    done = run(grades, "nbgrader", "export", f"--to={table}")
    assert done.returncode == 0, done.stderr
    rows = csv.DictReader(table.read_text().splitlines())
    scores = {
        row["student_id"]: float(row["raw_score"]) for row in rows if row["assignment"] == LAB
    }
    assert scores == {name: one["score"] for name, one in by_student.items()}


def test_pages_and_ledger_tell_nothing_of_hidden_inputs(graded, grades):
    numbers = set()
    for case in variants.hidden(variant(LAB, "ben", secret.Secret(KEY)), EXCHANGE):
        for inputs in EXCHANGE.inputs(case):
            if inputs["tensor"].dtype.kind == "f":
                numbers |= {str(value)[:8] for value in inputs["tensor"].ravel()[:SMALL]}
    page = next((grades / "feedback" / "ben" / LAB).glob("*.html")).read_text()
    entry = (grades / "ledger" / LAB / "ben.json").read_text()
    for text in (page, entry):
        assert not [number for number in numbers if number in text]
        assert KEY.hex() not in text


def test_nobody_else_can_read_the_references(graded, grades):
    for folder in (grades / "own-references", grades / "own-references" / LAB):
        assert folder.stat().st_mode & 0o077 == 0


FAILING = """
from grader import collected, coursedir
from grader.variants import references
def wrong(lab):
    sources = {"exchange": "def exchange(rank, size, tensor):\\n    return tensor.clone()"}
    return coursedir.lab(lab).plan(collected.handed_in(lab, **sources))
references._solution = wrong
"""


def test_a_solution_that_fails_costs_no_points_and_is_told(graded, grades):
    collected.hand_in(grades, "fay", LAB, collected.handed_in(LAB, exchange="def exchange(): 1"))
    report = grades / "fay.json"
    done = run(grades, "grade", LAB, "--student", "fay", "--json", str(report), patch=FAILING)
    assert done.returncode == 1, done.stdout + done.stderr
    (one,) = json.loads(report.read_text())["submissions"]
    assert one["status"] == "not graded" and one["score"] is None
    said = r"with this student's own inputs the solution of exchange (failed|breaks)"
    assert re.search(said, one["message"])
    assert not (grades / "ledger" / LAB / "fay.json").exists()
    assert own_references(grades, "fay") == {}


def test_students_are_handed_their_own_inputs_once(graded, grades):
    words = ["variants", "hand-out", LAB, "ada", "ben", "--to", str(grades / "out")]
    done = run(grades, *words)
    assert done.returncode == 0, done.stderr
    assert "2 of 2 files" in done.stdout
    paths = {name: grades / "out" / name / LAB / own_inputs.NAME for name in ("ada", "ben")}
    for name, path in paths.items():
        assert path.stat().st_mode & 0o777 == 0o644
        assert path.parent.parent.stat().st_mode & 0o777 == 0o711
        own = own_inputs.read(path)
        assert own.student == name and own.lab == LAB
        for exercise in course.exercises(LAB).values():
            assert own.of(exercise) == variants.visible(
                variant(LAB, name, secret.Secret(KEY)), exercise
            )
        hidden = variants.hidden(variant(LAB, name, secret.Secret(KEY)), EXCHANGE)
        assert not [case for case in hidden if case.entropy.hex() in path.read_text()]
    written = paths["ada"].stat().st_mtime_ns
    assert run(grades, *words).returncode == 0
    assert paths["ada"].stat().st_mtime_ns == written


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([LAB, "../ada"], "cannot be a student's name"),
        ([LAB, "--names", "/nowhere"], "cannot be read"),
    ],
)
def test_what_cannot_be_handed_out_is_told(grades, words, said):
    done = run(grades, "variants", "hand-out", *words)
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and said in done.stderr


def test_a_lab_that_is_none_is_told_with_the_one_that_was_meant(grades):
    done = run(grades, "variants", "hand-out", "01-mesage-passing", "ada")
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert f"did you mean {LAB}?" in done.stderr


def test_where_all_have_the_same_inputs_nothing_is_handed_out(tmp_path, grades):
    (tmp_path / "policy.yaml").write_text("variants: off\n")
    (tmp_path / "secret").write_text(KEY.hex())
    (tmp_path / "secret").chmod(0o600)
    done = run(tmp_path, "variants", "hand-out", LAB, "ada")
    assert done.returncode == 1 and "write `variants: on`" in done.stderr
