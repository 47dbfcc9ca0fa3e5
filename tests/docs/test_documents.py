"""What the documents say of the code is so: names of modules, and the numbers of limits."""

import importlib.util
import inspect
import re

import pytest

import distlab
from distlab import cli, course
from distlab.checking import belongings, judge_notebook, room, submission
from distlab.exercises.exercise import DEADLINE
from distlab.network import packets
from distlab.processes import isolation
from distlab.rank import execute
from grader import coursedir
from grader.judging import grade, handed_in, ledger
from grader.plugins import exporters
from grader.reports import feedback, markdown, rendering

PAGES = sorted((coursedir.ROOT / "docs").glob("*.md"))
SANDBOX = (coursedir.ROOT / "docs" / "sandbox.md").read_text("utf-8")
WORDS = " ".join(SANDBOX.split())
LIMITS = isolation.Limits()


def is_there(name):
    """Is this a module, or a name in one?"""
    module, rest = name, []
    while module:
        try:
            found = importlib.util.find_spec(module)
        except ModuleNotFoundError:
            found = None
        if found:
            value = importlib.import_module(module)
            for part in rest:
                value = getattr(value, part, None)
            return value is not None
        module, _, last = module.rpartition(".")
        rest.insert(0, last)
    return False


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_modules_are_called_as_they_are(page):
    named = set(re.findall(r"`((?:distlab|grader)(?:\.\w+)+)`", page.read_text("utf-8")))
    assert not {name for name in named if not is_there(name)}


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_code_in_a_list_is_fenced(page):
    """Indented by less than eight columns it is code on GitHub and a paragraph on the site."""
    paragraphs = re.split(r"\n\s*\n", page.read_text("utf-8"))
    indents = [len(one) - len(one.lstrip(" ")) for one in paragraphs]
    assert not [one for one, by in zip(paragraphs, indents, strict=True) if 4 < by < 8]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_code_within_a_sentence_ends_where_it_should(page):
    """A backtick in code takes two around it, or the rest is turned inside out."""
    text = re.sub(r"^( *)```.*?^\1```$", "", page.read_text("utf-8"), flags=re.M | re.S)
    prose = [one for one in re.split(r"\n\s*\n", text) if not one.startswith("    ")]
    span = re.compile(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", re.S)
    assert not [one for one in prose if "`" in span.sub("", one)]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_pages_name_each_other_by_links(page):
    assert not re.findall(r"(?<![`/\w-])docs/\w+\.md", page.read_text("utf-8"))


COMMANDS = (PAGES[0].parent / "commands.md").read_text("utf-8")
#: what the Hub sets for its servers, a grading for its sandbox, a run for its ranks
SET_FOR_OTHERS = {
    "EXCHANGE", "EXCHANGE_GRADERS", "GPU_PRETEND", "GRADING", "JOB", "LAB", "RUN",
    "SEVERAL_COURSES", "TEMPLATE", "VARIANTS",
}  # fmt: skip


def test_every_command_has_its_line():
    (commands,) = (
        action.choices for action in cli._parser()._actions if isinstance(action.choices, dict)
    )
    rows = re.findall(r"^\| (`[a-z`, ]+) \|", COMMANDS, re.M)
    assert sorted(name for row in rows for name in re.findall(r"\w+", row)) == sorted(commands)


def test_every_variable_that_somebody_may_set_has_its_line():
    sources = [
        path.read_text("utf-8")
        for folder in ("src", "grader", "deploy")
        for path in (coursedir.ROOT / folder).rglob("*")
        if (path.suffix == ".py" and "tests" not in path.parts) or path.name == "install"
    ]
    used = set(re.findall(r"\bDISTLAB_([A-Z_]+[A-Z])\b", "\n".join(sources)))
    told = re.findall(r"^\| `DISTLAB_(\w+)` \|", COMMANDS, re.M)
    assert sorted(told) == sorted(used - SET_FOR_OTHERS)


def test_the_page_on_the_report_has_every_key_of_its_data():
    source = inspect.getsource(grade._reported) + inspect.getsource(grade.report)
    keys = set(re.findall(r'"(\w+)":|about\["(\w+)"\]|about \|= \{"(\w+)"', source))
    page = (PAGES[0].parent / "report.md").read_text("utf-8").split("## As data")[1]
    assert not {name for found in keys for name in found if name and name not in page}


def test_the_reference_has_every_name_of_the_public_list():
    shown = set(re.findall(r"^::: (\S+)", (PAGES[0].parent / "reference.md").read_text(), re.M))
    for name, home in distlab._HOME.items():
        module, _, attribute = f"distlab.{home}".partition(":")
        assert {module, f"{module}.{attribute}"} & shown, name


@pytest.mark.parametrize(
    "said",
    [
        f"`memory` | {LIMITS.memory >> 30} GiB", f"`processes` | {LIMITS.processes} |",
        f"`files` | {LIMITS.files} |", f"`disk` | {LIMITS.disk >> 20} MiB",
        f"`seconds` | {LIMITS.seconds:.0f} |",
        f"An exercise has {DEADLINE:.0f} s", f"a cell {judge_notebook.CELL_LIMIT:.0f} s",
        f"all cells {room.CELLS_LIMIT:.0f} s",
        f"those that the student has added {room.ADDED_LIMIT:.0f} s of these",
        f"a rank may return {room.OUTPUT_LIMIT >> 20} MB",
        f"print {execute.PRINTED_LIMIT:,} characters",
        f"a message has at most {ledger.MESSAGE_LIMIT:,} characters",
        f"{room.FILES} × 1,024 all together",
        f"at most {belongings.MOST_FILES:,} with {belongings.MOST_BYTES >> 20} MB together",
        f"room for {packets.LEAST >> 20} MiB",
        f"a notebook | {submission.SIZE_LIMIT >> 20} MB and {submission.MOST_VALUES:,} JSON values "
        f"without its outputs, {submission.FILE_LIMIT >> 20} MB with them, "
        f"{submission.MOST_CELLS:,} cells",
        f"the first {handed_in.MOST_NOTEBOOKS}, together as much as one",
        f"{submission.CELL_LIMIT >> 10} KiB of code, {submission.TEXT_LIMIT:,} characters of text",
        f"{submission.ADDED_CELLS}, {submission.ADDED_LIMIT >> 20} MiB together",
        f"repairs that are told | {submission.MOST_REPAIRED} |",
        f"a page | {rendering.SECONDS:.0f} s of the processor's time, "
        f"{rendering.PATIENCE:.0f} s by the clock, {rendering.SIZE >> 20} MB",
        f"{rendering.MEMORY >> 30} GiB of address space",
        f"{markdown.LIMIT:,} characters of a cell, {markdown.FORMULA_LIMIT:,} of a formula",
        f"{feedback.CELL_LIMIT:,} characters of one, {feedback.PAGE_LIMIT:,} together",
        f"the same of one, {exporters.NOTEBOOK_LIMIT:,} of the notebook",
    ],
)  # fmt: skip
def test_the_page_on_the_sandbox_has_the_limits_of_the_code(said):
    assert said in WORDS


def test_the_page_on_the_sandbox_names_every_exercise_that_has_more_time():
    (told,) = re.findall(r"\(`Exercise\.deadline`;([^)]*)\)", WORDS)
    every = {e.name: e for lab in course.LABS for e in course.exercises(lab).values()}
    longer = {name for name, e in every.items() if e.deadline > DEADLINE}
    of_lab_08 = {name for name in longer if every[name].lab.startswith("08")}
    assert longer - of_lab_08 == {name for name in re.findall(r"`(\w+)`", told)}
    assert len(of_lab_08) == 2 and "two of lab 08" in told
    least, most = min(every[n].deadline for n in longer), max(every[n].deadline for n in longer)
    assert f"{least:.0f} to {most:.0f} s" in told
