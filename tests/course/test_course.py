"""The course itself: solutions pass, untouched labs score zero, labs are what solutions generate,
nothing leaks.
"""

import ast
import hashlib
import json
import re
import shutil
import subprocess
import sys
import textwrap
import zipfile

import pytest
from optional import here

from distlab import course
from grader import collected, coursedir
from grader.judging import demo

LABS = list(course.LABS)
WAITING = {"09-when-it-breaks"}  # labs whose checks take half a minute, most of which is waiting


@pytest.mark.parametrize(
    "lab", [here(lab, marks=[pytest.mark.slow] * (lab in WAITING)) for lab in LABS]
)
def test_the_solutions_get_full_points(lab, zygote_for):
    grader = collected.grader(lab)
    verdicts = grader.grade(grader.plan(demo.handed_in("ada", lab)), zygote_for(lab))
    assert {v.exercise.name: (v.status, v.message) for v in verdicts} == {
        name: ("passed", "") for name in course.exercises(lab)
    }


@pytest.mark.parametrize("lab", LABS)
def test_the_untouched_lab_scores_zero_and_every_exercise_is_unanswered(lab, zygote):
    grader = collected.grader(lab)
    verdicts = grader.grade(grader.plan(coursedir.released(lab)), zygote)
    assert {v.status for v in verdicts} == {"unanswered"}
    assert sum(v.score for v in verdicts) == 0


def test_whoever_judges_imports_neither_torch_nor_asyncio():
    """All exercises are imported where a notebook or a submission is judged."""
    program = """
    import sys
    from distlab import course
    course.load()
    assert not {"torch", "asyncio", "unittest"} & set(sys.modules), "heavy imports"
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("lab", LABS)
def test_every_exercise_has_its_solution_cell_and_its_locked_test_cell(lab):
    cells = {
        c["metadata"]["nbgrader"]["grade_id"]: c
        for c in coursedir.released(lab)["cells"]
        if "nbgrader" in c["metadata"]
    }
    for name, exercise in course.exercises(lab).items():
        grading = cells[f"test_{name}"]["metadata"]["nbgrader"]
        assert grading["locked"] and grading["grade"] and grading["points"] == exercise.points
        source = "".join(cells[name]["source"])
        assert cells[name]["metadata"]["nbgrader"]["solution"]
        assert f'raise NotImplementedError("TODO {name}")' in source


@pytest.mark.parametrize("lab", LABS)
def test_the_cases_of_a_formula_name_its_arguments_as_the_notebook_does(lab):
    cells = {
        c["metadata"].get("nbgrader", {}).get("grade_id"): c
        for c in coursedir.released(lab)["cells"]
    }
    for name, exercise in course.exercises(lab).items():
        if exercise.formula:
            (function,) = ast.parse("".join(cells[name]["source"])).body
            arguments = [one.arg for one in function.args.args]
            assert [list(case.params) for case in exercise.visible] == [arguments] * len(
                exercise.visible
            ), name


@pytest.mark.parametrize("lab", LABS)
def test_visible_and_hidden_cases_cover_what_the_course_promises(lab):
    for name, exercise in course.exercises(lab).items():
        hidden = coursedir.hidden(lab)[name]
        assert exercise.visible and hidden, name
        keys = [case.key for case in coursedir.cases(exercise)]
        assert len(set(keys)) == len(keys), f"{name} has the same case twice"


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    """All labs, by one command, which takes longer to start than to write them."""
    folder = tmp_path_factory.mktemp("labs")
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", "generate_assignment", "*", "--force", "--no-db",
         f"--CourseDirectory.release_directory={folder}", "--log-level=ERROR"],
        cwd=coursedir.ROOT, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("lab", LABS)
def test_labs_are_exactly_what_the_solutions_generate(lab, generated):
    made = {p.relative_to(generated / lab): p.read_bytes() for p in files(generated / lab)}
    committed = {
        p.relative_to(coursedir.LABS / lab): p.read_bytes() for p in files(coursedir.LABS / lab)
    }
    assert made.keys() == committed.keys()
    assert [str(name) for name in made if made[name] != committed[name]] == []


@pytest.mark.parametrize("lab", LABS)
def test_a_lab_asks_assistants_to_tutor_and_not_to_solve(lab):
    handed_out = (coursedir.LABS / lab / "AGENTS.md").read_text("utf-8")
    kept = coursedir.ROOT / "grader" / "authoring" / "templates" / "AGENTS.md"
    assert handed_out == kept.read_text("utf-8")  # one text, which `make labs` copies


def files(folder):
    return [p for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts]


def solutions(lab):
    """What stands between BEGIN and END SOLUTION."""
    for cell in coursedir.solution(lab)["cells"]:
        source = "".join(cell["source"])
        yield from re.findall(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", source, re.S)


def solution_lines(lab):
    """The lines of solutions that are long enough to be nobody else's."""
    for region in solutions(lab):
        yield from (line.strip() for line in region.splitlines() if len(line.strip()) > 24)


def pairs(text):
    """All two lines that follow each other; one line alone may be a common phrase."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return {pair for pair in zip(lines, lines[1:], strict=False) if sum(map(len, pair)) > 40}


def test_no_solution_line_leaks_into_labs():
    given = " ".join(
        "".join(c["source"])
        for lab in LABS
        for c in coursedir.solution(lab)["cells"]
        if not c["metadata"].get("nbgrader", {}).get("solution")
    )
    for lab in LABS:
        released = json.dumps(coursedir.released(lab), ensure_ascii=False)
        scripts = " ".join(p.read_text() for p in (coursedir.LABS / lab).glob("*.py"))
        for line in solution_lines(lab):
            if line not in given:  # a demonstration may say the same
                assert json.dumps(line, ensure_ascii=False)[1:-1] not in released, line
            assert line not in scripts, line


def test_the_wheel_holds_no_solution_no_hidden_case_and_no_reference(tmp_path):
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-q",
         "-w", str(tmp_path), str(coursedir.ROOT)],
        check=True, timeout=600,
    )  # fmt: skip
    (wheel,) = tmp_path.glob("distlab-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    assert all(n.startswith(("distlab/", "distlab-")) for n in held)
    # besides modules, nothing but the labs as they are released
    labs = {n.removeprefix("distlab/labs/"): held[n] for n in held if n.startswith("distlab/labs/")}
    assert labs == {
        str(path.relative_to(coursedir.LABS)): path.read_bytes()
        for lab in LABS
        for path in (coursedir.LABS / lab).iterdir()
        if path.is_file()
    }
    data = (".ipynb", ".json", ".safetensors", ".npz", ".pt", ".pkl")
    assert not [n for n in held if n.endswith(data) and not n.startswith("distlab/labs/")]
    hidden = {
        hashlib.sha256(path.read_bytes()).hexdigest()
        for folder in (coursedir.ROOT / "grader", coursedir.SOLUTIONS)
        for path in folder.rglob("*")
        if path.suffix in (".safetensors", ".ipynb", ".json", ".py") and path.is_file()
    } - {hashlib.sha256(content).hexdigest() for content in labs.values()}
    hidden.discard(hashlib.sha256(b"").hexdigest())
    assert not [n for n in held if hashlib.sha256(held[n]).hexdigest() in hidden]
    modules = [n for n in held if n.endswith(".py") and not n.startswith("distlab/labs/")]
    text = pairs("\n".join(held[n].decode() for n in modules))
    for lab in LABS:
        for region in solutions(lab):
            assert not pairs(region) & text


def built(place):
    """Build the package of the checkout that is in this folder, beside what was built before."""
    return subprocess.run(
        [sys.executable, "setup.py", "-q", "build_py", "--build-lib", str(place / "built")],
        cwd=place, capture_output=True, text=True, timeout=120,
    )  # fmt: skip


@pytest.fixture
def small(tmp_path):
    """A checkout of a package without modules."""
    for name in ("setup.py", "labs", "pyproject.toml", "README.md", "LICENSE"):
        source = coursedir.ROOT / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, tmp_path / name)
    (tmp_path / "src/distlab").mkdir(parents=True)
    (tmp_path / "src/distlab/__init__.py").write_text("")
    return tmp_path


def test_what_an_earlier_build_left_is_not_built_into_a_wheel(small):
    for name in ("distlab/since_removed.py", "distlab/labs/00-since-removed/own.py"):
        (small / "built" / name).parent.mkdir(parents=True, exist_ok=True)
        (small / "built" / name).write_text("")
    done = built(small)
    assert done.returncode == 0, done.stderr
    package = small / "built/distlab"
    assert {path.name for path in package.iterdir()} == {"__init__.py", "labs"}
    assert {path.name for path in (package / "labs").iterdir()} == set(LABS)


def test_a_lab_that_somebody_has_answered_in_is_not_built_into_a_wheel(small):
    notebook = small / "labs/01-message-passing/message_passing.ipynb"
    written = notebook.read_text().replace(
        'raise NotImplementedError(\\"TODO relay\\")', "return 1"
    )
    assert written != notebook.read_text()
    notebook.write_text(written)
    done = built(small)
    assert done.returncode == 1
    assert "message_passing.ipynb holds an answer to relay" in done.stderr
    assert not (small / "built/distlab/labs").exists()


def test_no_two_files_of_the_course_differ_in_case_alone():
    files = subprocess.run(
        ["git", "ls-files"], cwd=coursedir.ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert len({name.casefold() for name in files}) == len(files) > 1000


@pytest.mark.parametrize("lab", LABS)
def test_committed_notebooks_have_no_outputs(lab):
    for content in (coursedir.solution(lab), coursedir.released(lab)):
        assert not [c for c in content["cells"] if c.get("outputs") or c.get("execution_count")]


@pytest.mark.parametrize("lab", LABS)
def test_a_free_text_question_stands_before_its_answer_cell_where_students_see_it(lab):
    cells = coursedir.released(lab)["cells"]
    for before, cell in zip(cells, cells[1:], strict=False):
        grading = cell["metadata"].get("nbgrader", {})
        if grading.get("grade") and grading.get("solution"):
            assert before["cell_type"] == "markdown", grading["grade_id"]
            assert len("".join(before["source"])) > 80, grading["grade_id"]


def test_what_lab_03_quotes_of_the_plain_script_stands_in_it():
    folder = coursedir.SOLUTIONS / "03-cifar10-ddp"
    script = (folder / "resnet_ddp_plain.py").read_text("utf-8")
    cells = json.loads((folder / "cifar10_ddp.ipynb").read_text("utf-8"))["cells"]
    prose = "".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    quoted = re.findall(r"```python\n(.*?)```", prose, re.DOTALL)
    assert len(quoted) >= 5
    for piece in quoted:
        lines = [line for line in piece.splitlines() if line]
        assert all(f"\n{line}\n" in script for line in lines), piece
