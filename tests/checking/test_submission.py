"""Only solution cells and cells of one's own are taken from a submission."""

import copy
import errno
import json
import os

import pytest

from distlab.checking import submission
from distlab.checking.submission import Unreadable
from distlab.notebook import Cell
from grader import coursedir


def cell(source, kind="code", id="", tags=(), **grading):
    made = {"cell_type": kind, "id": id, "metadata": {"tags": list(tags)}, "source": source}
    if grading:
        made["metadata"]["nbgrader"] = grading
    return made


def solution(name, source=None):
    source = source or f'def {name}():\n    raise NotImplementedError("TODO {name}")'
    return cell(source, id=name, grade_id=name, solution=True, grade=False)


def test_cell(name):
    return cell(f"check({name})", id=f"test-{name}", grade_id=f"test_{name}", grade=True, points=3)


test_cell.__test__ = False

COURSE = {
    "nbformat": 4, "nbformat_minor": 5, "metadata": {},
    "cells": [
        cell("import torch", id="given", tags=["given"]),
        cell("Ranks(4)", id="shown", tags=["shown"]),
        solution("relay"), test_cell("relay"),
        solution("exchange"), test_cell("exchange"),
        cell("Why?", "markdown", id="why", grade_id="why", solution=True, grade=True, points=2),
    ],
}  # fmt: skip
NAMES = ["relay", "exchange"]
ANSWER = "def relay():\n    return 1"


def handed_in(change):
    content = copy.deepcopy(COURSE)
    change(content["cells"])
    return content


def graded(change):
    rebuilt, repaired = submission.rebuild(COURSE, handed_in(change))
    return submission.plan(COURSE, rebuilt, NAMES), repaired, rebuilt


def test_the_released_notebook_answers_nothing():
    plan, repaired, rebuilt = graded(lambda cells: None)
    assert plan.answered == set() and repaired == [] and rebuilt == COURSE


def test_an_answer_is_taken_over():
    plan, repaired, _ = graded(lambda cells: cells[2].update(source=ANSWER))
    assert plan.answered == {"relay"} and repaired == []
    assert [c.source for c in plan.cells] == ["import torch", ANSWER]


@pytest.mark.parametrize(
    "source",
    [
        "import os\nif os.name == 'nt':\n    pass\nelse:\n    def relay(): return 1",
        "import os\nfrom mine import *",
    ],
)
def test_an_answer_that_its_cell_comes_to_in_another_way_counts(source):
    plan, _, _ = graded(lambda cells: cells[2].update(source=source))
    assert plan.answered == {"relay"}


def test_an_answer_that_is_only_spoken_of_does_not_count():
    plan, _, _ = graded(lambda cells: cells.insert(3, cell("relay.calls = 0", id="mine")))
    assert plan.answered == set()


def test_an_answer_in_a_cell_of_ones_own_counts():
    plan, _, _ = graded(lambda cells: cells.insert(3, cell(ANSWER, id="mine")))
    assert plan.answered == {"relay"}
    assert [c.kind for c in plan.cells] == ["given", "added"]


def test_a_function_that_an_answer_calls_is_there_though_it_is_still_to_be_written():
    calling = "def exchange():\n    return relay()"
    plan, _, _ = graded(lambda cells: cells[4].update(source=calling))
    assert plan.answered == {"exchange"}
    assert [c.source for c in plan.cells[1:]] == [calling, solution("relay")["source"]]
    assert plan.cells[2].kind == "todo" and plan.cells[2].takes == ()


@pytest.mark.parametrize(
    "reading",
    [
        "ALL = [relay]",
        "@timed(relay)\ndef g(): pass",
        "def g(via=relay): pass",
        "g = lambda f=relay: f",
    ],
)
def test_a_function_that_an_answer_s_cell_names_while_it_runs_is_there_before_it(reading):
    answer = f"{reading}\ndef exchange():\n    return 1"
    plan, _, _ = graded(lambda cells: cells[4].update(source=answer))
    assert [c.kind for c in plan.cells[1:]] == ["todo", "solution"]
    assert plan.answered == {"exchange"}


def test_what_is_still_to_be_written_in_its_cell_is_not_put_over_ones_own():
    def change(cells):
        cells[4].update(source="def exchange():\n    return relay()")
        cells.insert(1, cell(ANSWER, id="mine"))

    plan, _, _ = graded(change)
    assert solution("relay")["source"] not in [c.source for c in plan.cells]


def test_a_question_that_is_spoken_of_elsewhere_is_unanswered_still():
    asked = solution("exchange", 'raise NotImplementedError("TODO exchange")')
    course = {**COURSE, "cells": [*COURSE["cells"][:4], asked, *COURSE["cells"][5:]]}
    answered = copy.deepcopy(course)
    answered["cells"][2]["source"] = f"{ANSWER}  # before exchange"
    plan = submission.plan(course, answered, NAMES)
    assert plan.answered == {"relay"} and [c.kind for c in plan.cells] == ["given", "solution"]


def test_an_answer_that_cannot_be_parsed_is_an_answer():
    plan, _, _ = graded(lambda cells: cells[2].update(source="def relay(:"))
    assert plan.answered == {"relay"}


@pytest.mark.parametrize("at", [0, 3])
def test_given_and_test_cells_are_the_courses_own(at):
    _, _, rebuilt = graded(lambda cells: cells[at].update(source="raise SystemExit"))
    assert rebuilt["cells"][at]["source"] == COURSE["cells"][at]["source"]


def test_a_changed_test_cell_is_reported():
    assert graded(lambda cells: cells[3].update(source="pass"))[1] == [
        "the test cell test_relay was changed"
    ]


def test_deleted_cells_come_back_and_are_reported():
    plan, repaired, rebuilt = graded(lambda cells: cells.clear())
    assert plan.answered == set() and rebuilt["cells"] == COURSE["cells"]
    assert "the cell relay was missing" in repaired


def twice(first, second, at):
    def change(cells):
        cells[2]["source"] = first
        cells.insert(at, solution("relay", second))

    plan, repaired, _ = graded(change)
    return [(c.source, "relay" in c.takes) for c in plan.cells if c.kind != "given"], repaired


STUB = COURSE["cells"][2]["source"]
OTHER = "def relay():\n    return 2"


def test_of_an_answer_that_stands_there_twice_a_check_finds_what_stands_above_it():
    said = "the cell relay stands there twice: the later one was taken for a cell of your own"
    assert twice(ANSWER, OTHER, 3) == ([(ANSWER, False), (OTHER, True)], [said])
    assert twice(ANSWER, OTHER, 4) == ([(ANSWER, True), (OTHER, False)], [said])


def test_a_draft_that_was_put_above_cells_of_before_does_not_come_after_the_answer():
    def change(cells):
        cells[2]["source"] = ANSWER
        cells.insert(0, solution("relay", OTHER))

    plan, _, _ = graded(change)
    own = [(c.source, "relay" in c.takes) for c in plan.cells if c.kind != "given"]
    assert own == [(OTHER, False), (ANSWER, True)]


@pytest.mark.parametrize("at", [3, 4])
def test_an_answer_in_a_copy_of_a_cell_counts_where_the_first_one_was_left_as_it_was(at):
    assert twice(STUB, ANSWER, at) == (
        [(ANSWER, True)],
        [
            "the cell relay stands there twice: the first one is as it was released, and the "
            "later one counts"
        ],
    )


def test_a_copy_that_was_left_as_it_was_takes_nothing_from_an_answer():
    assert twice(ANSWER, STUB, 3) == (
        [(ANSWER, True)],
        ["the cell relay stands there twice: the later one is as it was released and was left out"],
    )


def test_free_text_in_a_copy_of_its_cell_counts_where_the_first_one_was_left_as_it_was():
    def change(cells):
        cells.append(copy.deepcopy(cells[6]) | {"source": "Because."})

    assert graded(change)[2]["cells"][6]["source"] == "Because."


def test_metadata_that_was_changed_is_restored():
    def strip(cells):
        cells[2].update(source=ANSWER, metadata={})

    plan, repaired, _ = graded(strip)
    assert plan.answered == {"relay"}
    assert repaired == ["the metadata of the cell relay was restored"]


def without(*lost):
    """What a program leaves that keeps no cell ids (Colab), or no metadata either."""

    def drop(cells):
        for each in cells:
            each.update({key: {} if key == "metadata" else "" for key in lost})

    return drop


@pytest.mark.parametrize("lost", [("id",), ("id", "metadata")])
def test_own_cells_stand_where_they_stood_though_nothing_but_texts_tells_the_courses(lost):
    def change(cells):
        cells[2]["source"] = ANSWER
        cells.insert(2, cell("X = Ranks", id="x"))
        without(*lost)(cells)

    plan, repaired, rebuilt = graded(change)
    assert plan.answered == {"relay"}
    sources = [c["source"] for c in rebuilt["cells"] if c["source"] != STUB]
    assert sources == [
        "import torch", "Ranks(4)", "X = Ranks", ANSWER, "check(relay)",
        COURSE["cells"][4]["source"], "check(exchange)", "Why?",
    ]  # fmt: skip
    assert [c.source for c in plan.cells if "relay" in c.takes] == [ANSWER]
    if "metadata" in lost:
        assert "the metadata of the cell test_relay was restored" in repaired
        assert "the metadata of the cell exchange was restored" in repaired
        assert not any("missing" in said for said in repaired)
    else:
        assert repaired == []


def test_a_copy_of_one_of_the_courses_cells_moves_nothing():
    def change(cells):
        cells[2]["source"] = ANSWER
        cells += [cell("import torch", id="copy"), cell("X = relay", id="x")]

    assert graded(change)[2]["cells"][-1]["source"] == "X = relay"


def sources_of(course, content):
    rebuilt, _ = submission.rebuild(course, content)
    return [c["source"] for c in rebuilt["cells"]]


def with_demonstrations():
    """The course with a demonstration of the same text behind each check."""
    course = copy.deepcopy(COURSE)
    course["cells"].insert(4, cell("picture()", id="one"))
    course["cells"].insert(7, cell("picture()", id="other"))
    return course


def test_of_two_equal_cells_the_one_is_there_that_stands_between_the_same_neighbours():
    course = with_demonstrations()
    content = copy.deepcopy(course)
    content["cells"].insert(8, cell("X = exchange", id="x"))
    del content["cells"][4]
    without("id")(content["cells"])
    found = sources_of(course, content)
    assert found.index("X = exchange") > found.index("check(exchange)")


@pytest.mark.parametrize(("taken", "put"), [(7, 2), (1, 7)])
def test_who_cuts_out_a_demonstration_and_puts_it_elsewhere_moves_no_cell_behind_it(taken, put):
    """In JupyterLab it has lost its id."""
    course = with_demonstrations()
    course["cells"][7]["source"] = "another()"
    content = copy.deepcopy(course)
    moved = content["cells"].pop(taken)
    content["cells"].insert(put, {**moved, "id": "new"})
    content["cells"].insert(put + 1, cell("X = 1", id="x"))
    before = next(c for c in reversed(content["cells"][:put]) if c is not moved)["source"]
    found = sources_of(course, content)
    assert found[found.index("X = 1") - 1] == before


def test_of_two_equal_questions_without_metadata_the_second_is_not_the_first():
    course = copy.deepcopy(COURSE)
    course["cells"].insert(3, cell("Why?", "markdown", grade_id="first", solution=True, grade=True))
    content = copy.deepcopy(course)
    content["cells"][3]["source"] = "Because."
    content["cells"].append(cell("X = relay", id="x"))
    without("id", "metadata")(content["cells"])
    assert sources_of(course, content)[-1] == "X = relay"


def test_a_retyped_cell_answers_nothing():
    plan, repaired, _ = graded(lambda cells: cells[2].update(source=ANSWER, cell_type="markdown"))
    assert plan.answered == set()
    assert repaired == ["the cell relay is no code cell any more"]


def test_free_text_is_taken_over():
    _, _, rebuilt = graded(lambda cells: cells[6].update(source="Because."))
    assert rebuilt["cells"][6]["source"] == "Because."


@pytest.mark.parametrize("cell_type", ["code", "raw"])
def test_free_text_in_a_cell_of_another_type_is_taken_over(cell_type):
    """A person reads it, whatever it is."""
    change = {"source": "Because.", "cell_type": cell_type}
    _, repaired, rebuilt = graded(lambda cells: cells[6].update(change))
    assert (rebuilt["cells"][6]["source"], rebuilt["cells"][6]["cell_type"]) == (
        "Because.",
        "markdown",
    )
    assert repaired == ["the cell why is no markdown cell any more"]


def stripped(cells):
    without("id", "metadata")(cells)
    cells[6].update(source="Because.")


def in_place_of_it(cells):
    cells[6] = cell("Because.", "markdown")


def below_it(cells):
    cells += [cell("x = 1"), cell("Because.", "markdown"), cell("The end.", "markdown")]


@pytest.mark.parametrize("written", [stripped, in_place_of_it, below_it])
def test_free_text_in_a_cell_of_ones_own_is_no_unchanged_text(written):
    """nbgrader gives that no points at once, and asks nobody to read it."""
    _, repaired, rebuilt = graded(written)
    assert rebuilt["cells"][6]["source"] == "Because." and "why" in rebuilt["cells"][6]["id"]
    assert "a cell of your own was taken for the text why" in repaired
    assert [c["source"] for c in rebuilt["cells"]].count("Because.") == 1
    assert not any("why was" in said for said in repaired)
    again, _ = submission.rebuild(COURSE, rebuilt)
    assert [c["source"] for c in again["cells"]] == [c["source"] for c in rebuilt["cells"]]


def test_a_note_elsewhere_is_no_free_text():
    _, repaired, rebuilt = graded(lambda cells: cells.insert(3, cell("Note.", "markdown")))
    assert rebuilt["cells"][7]["source"] == "Why?" and repaired == []


def test_a_changed_demonstration_stands_behind_the_original():
    _, _, rebuilt = graded(lambda cells: cells[1].update(source="HALF = 0.5"))
    assert [c["source"] for c in rebuilt["cells"][1:3]] == ["Ranks(4)", "HALF = 0.5"]


def test_rebuilding_twice_changes_nothing():
    def change(cells):
        cells[2]["source"] = ANSWER
        cells.insert(0, cell("X = 1", id="x"))
        cells.append(cell("Y = 1", id="y"))

    once, _ = submission.rebuild(COURSE, handed_in(change))
    again, repaired = submission.rebuild(COURSE, once)
    assert [c["source"] for c in again["cells"]] == [c["source"] for c in once["cells"]]
    assert repaired == []


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"\xff\xfe", "is empty"),
        (b"\xff", "is no notebook"),
        (b"\xff\xfe\x00\xd8\x00", "is no notebook"),
        (b'{"cells": [', "is no notebook"),
        (b"[" * 100_000, "is no notebook"),
        (b"[]", "no notebook of format 4"),
        (b'{"cells": {}}', "no list of cells"),
    ],
)
def test_a_file_that_is_no_notebook_is_refused_in_one_line(tmp_path, content, said):
    path = tmp_path / "lab.ipynb"
    path.write_bytes(content)
    with pytest.raises(Unreadable, match=said) as refused:
        submission.read(path)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("content", [b'{"cells": [', b"\xff", b"[]", b'{"nbformat": 3}'])
def test_nobody_is_told_to_save_what_jupyter_cannot_open(tmp_path, content):
    path = tmp_path / "lab.ipynb"
    path.write_bytes(content)
    with pytest.raises(Unreadable, match="download the lab again") as refused:
        submission.read(path)
    assert "save it" not in str(refused.value)


def test_no_line_is_named_where_it_would_be_another_one_in_the_file(tmp_path):
    content = copy.deepcopy(COURSE)
    content["cells"][0]["outputs"] = [{"text": ["1"] * 50}]
    (tmp_path / "a.ipynb").write_text(json.dumps(content, indent=1)[:-2] + ",")
    with pytest.raises(Unreadable, match=r"a.ipynb is no notebook \([^\d]*\)"):
        submission.read(tmp_path / "a.ipynb")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_an_unresolved_conflict_is_named(tmp_path, end):
    lines = json.dumps(COURSE, indent=1).split("\n")
    lines[5:6] = ["<<<<<<< HEAD", lines[5], "=======", lines[5], ">>>>>>> theirs"]
    path = tmp_path / "a.ipynb"
    path.write_bytes(end.join(lines).encode())
    with pytest.raises(Unreadable, match="a.ipynb holds an unresolved git conflict"):
        submission.read(path)


def test_what_may_not_be_read_is_not_said_to_be_missing(tmp_path, monkeypatch):
    path = tmp_path / "lab.ipynb"
    path.write_text(json.dumps(COURSE))

    def refuse(path, *args, **kwargs):  # root, who runs some of these tests, may read all
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr("distlab.processes.untrusted.os.open", refuse)
    with pytest.raises(Unreadable, match=r"cannot be read here \(Permission denied\)"):
        submission.read(path)


def test_links_are_not_followed(tmp_path):
    (tmp_path / "real.ipynb").write_text(json.dumps(COURSE))
    os.symlink("real.ipynb", tmp_path / "lab.ipynb")
    with pytest.raises(Unreadable, match="not a link"):
        submission.read(tmp_path / "lab.ipynb")


def test_an_old_format_is_brought_up_to_date(tmp_path):
    import nbformat

    old = nbformat.v3.new_notebook(
        worksheets=[nbformat.v3.new_worksheet(cells=[nbformat.v3.new_code_cell(input="x = 1")])]
    )
    path = tmp_path / "lab.ipynb"
    path.write_text(nbformat.v3.writes_json(old))
    (cell,) = submission.notebook.cells(submission.read(path))
    assert cell.source == "x = 1"


@pytest.mark.parametrize("metadata", [{"tags": 5}, {"tags": {"a": 1}}, {"nbgrader": [1]}, [], 3])
def test_metadata_of_any_type_is_read(metadata):
    cell = {"cell_type": "code", "metadata": metadata, "source": "x = 1", "id": [[]]}
    content = {"nbformat": 4, "cells": [cell]}
    assert len(submission.notebook.cells(content)) == 1
    submission.rebuild(copy.deepcopy(coursedir.released("01-message-passing")), content)


@pytest.mark.parametrize("source", ["-" * 60_000 + "1", "x" + ".a" * 60_000, "a\0b", "\ud800"])
def test_a_cell_that_cannot_be_parsed_defines_nothing(source):
    assert Cell("x", source, "solution").defines() == set()


def test_magics_do_not_hide_what_a_cell_defines():
    assert Cell("x", "%%time\n" + "%matplotlib inline\n" * 3000 + "y = 1", "added").defines() == {
        "y"
    }


def test_cells_of_ones_own_are_taken_over_up_to_a_number_and_that_is_said():
    released = coursedir.released("01-message-passing")
    own = [{"cell_type": "code", "metadata": {}, "source": f"x = {i}"} for i in range(1000)]
    content = {**released, "cells": [*released["cells"], *own]}
    rebuilt, repaired = submission.rebuild(released, content)
    assert len(rebuilt["cells"]) == len(released["cells"]) + submission.ADDED_CELLS
    assert any("700 of your own cells were left out" in said for said in repaired)


def test_a_notebook_of_very_many_cells_is_refused(tmp_path):
    path = tmp_path / "lab.ipynb"
    path.write_text(json.dumps({"nbformat": 4, "cells": [{}] * (submission.MOST_CELLS + 1)}))
    with pytest.raises(Unreadable, match="5001 cells, the limit is 5000"):
        submission.read(path)


def test_many_repairs_are_counted_and_not_told_one_by_one():
    content = copy.deepcopy(COURSE)
    content["cells"] += [solution("relay", "def relay(): pass")] * 1000
    repaired = submission.rebuild(COURSE, content)[1]
    assert len(repaired) == submission.MOST_REPAIRED + 1 and repaired[-1] == "and 901 repairs more"


def large(tmp_path, size, **cell):
    """A notebook with so many bytes of outputs, which are all alike."""
    path = tmp_path / "lab.ipynb"
    made = {"cell_type": "code", "metadata": {}, "source": ANSWER, "outputs": ["@"], **cell}
    before, after = json.dumps({"nbformat": 4, "cells": [made]}).split('"@"')
    path.write_text(before + '"' + "x" * size + '"' + after)
    return path


def test_outputs_do_not_count_to_the_size_of_a_notebook(tmp_path, monkeypatch):
    monkeypatch.setattr(submission, "SIZE_LIMIT", 1000)
    (cell,) = submission.read(large(tmp_path, 10_000))["cells"]
    assert cell["outputs"] == [] and cell["source"] == ANSWER
    path = tmp_path / "lab.ipynb"
    path.write_text(path.read_text().replace('"outputs"', '"elsewhere"'))
    with pytest.raises(Unreadable, match="too large even without its outputs"):
        submission.read(path)


def test_a_file_has_a_limit_with_its_outputs_too(tmp_path, monkeypatch):
    monkeypatch.setattr(submission, "FILE_LIMIT", 1000)
    with pytest.raises(Unreadable, match="clear its outputs"):
        submission.read(large(tmp_path, 10_000))
