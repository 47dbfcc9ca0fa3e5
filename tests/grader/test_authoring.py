"""A lab and an exercise, made by the commands in a copy of the course, go all the way."""

import ast
import json
import os
import shutil
import subprocess
import sys

import pytest

from distlab.course import exercises
from grader.authoring import lint, new
from grader.coursedir import ROOT

LAB, NAME = "12-trying-out", "sum_of_all"


def left_out(folder, names):
    """The collected answers, and what a grading in the course's folder has left or still writes."""
    patterns = ["__pycache__"]
    if folder == str(ROOT / "grader"):
        ignored = (ROOT / ".gitignore").read_text().split()
        written = [one.removeprefix("grader/") for one in ignored if one.startswith("grader/")]
        patterns += ["answers", *(one.rstrip("/") for one in written)]
    return shutil.ignore_patterns(*patterns)(folder, names)


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A copy of the course in which that lab has been begun, with one exercise."""
    root = tmp_path_factory.mktemp("course")
    for folder in ("src/distlab", "grader", "solutions", "labs"):
        shutil.copytree(ROOT / folder, root / folder, ignore=left_out)
    shutil.copy(ROOT / "nbgrader_config.py", root)
    for words in (("lab", LAB), ("exercise", LAB, NAME)):
        made = distlab(root, "new", *words)
        assert made.returncode == 0, made.stderr
    return root


def distlab(root, *words):
    return command(root, "-m", "distlab", *words)


def command(root, *words):
    env = {**os.environ, "PYTHONPATH": str(root / "src"), "DISTLAB_SECRET": "public"}
    return subprocess.run(
        [sys.executable, *words], cwd=root, env=env, capture_output=True, text=True, timeout=300
    )


def test_lint_names_each_line_that_is_still_to_be_written(course):
    told = distlab(course, "lint", LAB)
    assert told.returncode == 1
    whole = f"{LAB}/{NAME}"
    for said in (
        f"{whole} has a line that is still to be written: what it teaches",
        f"{whole} has 1 right answers, and should have {lint.RIGHT}.",
        f"{whole} has 1 wrong answers, and should have {lint.WRONG}.",
        f"{LAB}'s notebook has a line that is still to be written",
    ):
        assert said in told.stdout


def test_lint_names_a_module_that_the_lab_does_not_list(course):
    package = course / "src" / "distlab" / "course" / "lab12_trying_out"
    other = package / "forgotten.py"
    shutil.copy(package / f"{NAME}.py", other)
    try:
        told = distlab(course, "lint", LAB)
    finally:
        other.unlink()
    said = f"{LAB}: forgotten.py asks for something, and EXERCISES does not name it."
    assert told.returncode == 1 and told.stdout.splitlines()[0] == said


def test_lint_names_answers_that_are_left_of_an_exercise(course):
    left = course / "grader" / "answers" / LAB / "gone" / "right_once.py"
    left.parent.mkdir()
    left.write_text("def gone(rank, size):\n    return rank\n")
    try:
        told = distlab(course, "lint", LAB)
    finally:
        shutil.rmtree(left.parent)
    assert f"{LAB}: there are collected answers of gone, which is no exercise.\n" in told.stdout


def test_lint_wants_points_in_the_exercise_alone(course):
    (path,) = (course / "solutions" / LAB).glob("*.ipynb")
    written = path.read_text("utf-8")
    assert '"points"' not in written
    content = json.loads(written)
    for cell in content["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade"):
            cell["metadata"]["nbgrader"]["points"] = 7
    path.write_text(json.dumps(content), "utf-8")
    try:
        told = distlab(course, "lint", LAB)
    finally:
        path.write_text(written, "utf-8")
    said = f"{LAB}/{NAME}: take `points` out of its test cell: its module alone has them."
    assert said in told.stdout.splitlines()


def test_what_is_there_already_is_left_alone(course):
    before = {path: path.read_bytes() for path in course.rglob("*.py")}
    for words, said in [
        (("lab", LAB), "there is a lab 12 already"),
        (("lab", "Trying"), "is no name of a lab"),
        (("exercise", LAB, NAME), "has an exercise sum_of_all already"),
        (("exercise", LAB, "Sum-Of"), "is no name of an exercise"),
        (("exercise", LAB, "lambda"), "is no name of an exercise"),
        (("exercise", LAB, "__init__"), "is no name of an exercise"),
        (("exercise", LAB, "print"), "has another print, which this one would replace"),
        (("exercise", LAB, "gr\u00f6\u00dfe"), "is no name of an exercise"),
        (("exercise", LAB, "test_sum"), "test_ begins those of the test cells"),
        (("exercise", LAB, "torch"), "has another torch, which this one would replace"),
    ]:
        refused = distlab(course, "new", *words)
        assert refused.returncode == 1 and said in refused.stderr
        assert len(refused.stderr.splitlines()) == 1
    mistaken = distlab(course, "new", "exercise", "13-none", NAME)
    assert mistaken.returncode == 2 and "there is no lab '13-none'" in mistaken.stderr
    assert before == {path: path.read_bytes() for path in course.rglob("*.py")}


def test_nothing_is_begun_where_one_of_the_files_is_in_the_way(course):
    in_the_way = course / "grader" / "answers" / LAB / "other" / "wrong_own_tensor.py"
    link = course / "solutions" / "14-other" / "AGENTS.md"
    for path in (in_the_way, link):
        path.parent.mkdir(parents=True)
        path.write_text("mine")
    before = {path for path in course.rglob("*") if "__pycache__" not in path.parts}
    for words in (("exercise", LAB, "other"), ("lab", "14-other")):
        refused = distlab(course, "new", *words)
        assert refused.returncode == 1 and "is there already: move it out" in refused.stderr
        assert {path for path in course.rglob("*") if "__pycache__" not in path.parts} == before
    for path in (in_the_way, link):
        path.unlink()


@pytest.mark.parametrize(
    "listed", ["[]", '["a"]', '["a", "b"]', '[\n    "a",\n    "b",\n]', '[\n    "a", "b"\n]']
)
def test_an_exercise_comes_last_in_its_lab_s_list_however_that_is_written(listed):
    def names(source):
        return ast.literal_eval(ast.parse(source).body[0].value)

    source = f"EXERCISES = {listed}\nTRAINS = False\n"
    assert names(new._listed(source, "c")) == [*names(source), "c"]
    assert new._listed(source, "c").endswith('    "c",\n]\nTRAINS = False\n')


def test_a_solution_cell_may_have_a_magic():
    cell = {"cell_type": "code", "source": f"%time\n{lint.BEGIN}\ndef relay(): ...\n{lint.END}"}
    cells = {"relay": [cell], "test_relay": [{"metadata": {"nbgrader": {}}}]}
    relay = exercises("01-message-passing")["relay"]
    assert list(lint._of_own_cells(relay, cells)) == []
    cell["source"] = cell["source"].replace("def relay", "def delay")
    (said,) = lint._of_own_cells(relay, cells)
    assert "does not define relay" in said


@pytest.mark.slow
def test_they_go_through_labs_references_check_and_grade(course):
    made = command(course, "-m", "nbgrader", "generate_assignment", LAB, "--force", "--no-db")
    assert made.returncode == 0, made.stderr
    student = course / "labs" / LAB / "trying_out.ipynb"
    assert f"TODO {NAME}" in student.read_text() and "all_reduce" not in student.read_text()

    missing = distlab(course, "check", str(student))
    assert missing.returncode == 1 and "distlab reference record" in missing.stderr
    recorded = distlab(course, "reference", "record", LAB, NAME)
    assert f"{LAB}: 5 cases recorded" in recorded.stdout, recorded.stderr
    shutil.copy(course / "solutions" / LAB / "reference.json", student.parent)
    shutil.copy(course / "solutions" / LAB / "reference.safetensors", student.parent)
    assert "unanswered" in distlab(course, "check", str(student)).stdout

    solution = course / "solutions" / LAB / "trying_out.ipynb"
    own = course / "grader" / "submitted" / "ada" / LAB / "trying_out.ipynb"
    own.parent.mkdir(parents=True)
    shutil.copy(solution, own)
    wrong = json.loads(solution.read_text())
    for cell in wrong["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == NAME:
            cell["source"] = f"def {NAME}(rank, size, tensor):\n    return tensor\n"
    other = course / "grader" / "submitted" / "bob" / LAB / "trying_out.ipynb"
    other.parent.mkdir(parents=True)
    other.write_text(json.dumps(wrong))
    graded = distlab(course, "grade", LAB, "--json", "report.json")
    assert graded.returncode == 0, graded.stderr
    told = json.loads((course / "report.json").read_text())
    lines = {one["student"]: one["exercises"][0] for one in told["submissions"]}
    assert lines["ada"]["status"] == "passed" and lines["ada"]["score"] == 2
    assert lines["bob"]["status"] == "wrong" and "own tensor" in lines["bob"]["message"]


@pytest.mark.slow
def test_a_solution_that_breaks_its_own_rules_is_not_recorded(course):
    solution = course / "solutions" / LAB / "trying_out.ipynb"
    kept = solution.read_text()
    solution.write_text(
        kept.replace(
            "dist.all_reduce(tensor)", "left = dist.isend(tensor, rank) if size > 1 else 0"
        )
    )
    try:
        refused = distlab(course, "reference", "record", LAB, NAME)
    finally:
        solution.write_text(kept)
    assert refused.returncode == 1 and f"the solution of {LAB}/{NAME}" in refused.stderr


def test_lint_says_nothing_of_the_course_and_names_hints_where_it_is_asked(capsys):
    from grader import commands

    assert commands.lint([]) == 0 and capsys.readouterr().out == ""
    assert commands.lint(["01-message-passing", "relay"], hints=True) == 0
    told = capsys.readouterr().out.splitlines()
    whole = list(lint.unasked_hints("01-message-passing"))
    assert told == [said for said in whole if said.startswith("01-message-passing/relay: no coll")]
    assert told and len(told) < len(whole)


def test_lint_of_one_exercise_says_nothing_of_the_others(course):
    told = distlab(course, "lint", LAB, NAME)
    assert told.returncode == 1
    assert all(said.startswith(f"{LAB}/{NAME}") for said in told.stdout.splitlines())
    assert f"has 1 right answers, and should have {lint.RIGHT}." in told.stdout
