"""Python in cells is parsed alike whatever else the process does."""

import ast
import inspect
import json
import os
import sys
import threading
import time

import pytest

from distlab import notebook

SOURCE = "def f(x):\n    return [i for i in range(x)]\n" * 200


@pytest.fixture
def hasty():
    """Threads that take turns as often as Python lets them."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


class Finalized:
    """A cycle: its collection, in the middle of parsing, lets another thread go on."""

    def __init__(self):
        self.me = self

    def __del__(self):
        sum(range(3))


def test_threads_that_parse_at_once_do_not_disturb_each_other(hasty):
    """As judges of several submissions do; with `ast.parse` some dozens of times it fails here."""
    raised, end = [], time.monotonic() + 2

    def parse(depth):
        if depth:
            return parse(depth - 1)
        while time.monotonic() < end and not raised:
            Finalized()
            try:
                notebook.parse(SOURCE)
            except Exception as error:
                raised.append(error)

    threads = [threading.Thread(target=parse, args=(7 * number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not raised


def test_a_fork_while_another_thread_parses_can_parse():
    with notebook._parsing:
        pid = os.fork()
        if not pid:
            tree = notebook.parse("1 + 1", mode="eval")
            os._exit(isinstance(tree, ast.Expression))
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 1


def _ran(*sources: str) -> dict:
    namespace: dict = {}
    for number, source in enumerate(sources):
        notebook.run_cell(notebook.Cell(f"cell {number}", source, "added"), namespace)
    return namespace


def test_an_annotation_is_the_object_that_it_names():
    """As in Jupyter: DDP compares that of a communication hook with its own class."""
    assert _ran("def f(x: int): pass")["f"].__annotations__ == {"x": int}


def test_what_a_cell_asks_of_future_holds_in_later_ones():
    namespace = _ran("from __future__ import annotations", "def f(x: Later): pass")
    assert namespace["f"].__annotations__ == {"x": "Later"}


@pytest.mark.parametrize(
    "line",
    [
        "len?", "len??", "str.join?", "names = !ls", "found = %pwd", "display(1, raw=True)",
        "[0][0] = %pwd", "x: list = !ls", "(x) = !ls", "*x, = !ls", "x = 5; len?",
        "x = len?", "x[0]?",
    ],
)  # fmt: skip
def test_what_ipython_alone_understands_does_not_keep_a_cell_from_defining(line):
    namespace = _ran(f"{line}\ndef f(): return 1\n{line}")
    assert namespace["f"]() == 1


@pytest.mark.parametrize(
    "source", ["    x = 1\n    y = 2", ">>> x = 1\n>>> y = 2", "x = 1\n?\ny = 2"]
)
def test_a_cell_that_ipython_can_read_can_be_read(source):
    assert _ran(source).items() >= {("x", 1), ("y", 2)}


PYTHON = {
    "an operator that begins a line": "def f(a, b):\n    return (a\n        % b)",
    "a question in a text": 'def f():\n    """Is it\n    there?\n    """',
    "a format in a text": 'FORMAT = """\nname = %s\n%d\n!\n"""',
}


@pytest.mark.parametrize("what", PYTHON)
def test_what_is_python_is_taken_for_python(what, monkeypatch):
    monkeypatch.setattr(notebook, "_as_ipython", None)  # which takes long to be imported
    tree = notebook.Cell("", PYTHON[what], "added").tree()
    assert ast.dump(tree) == ast.dump(ast.parse(PYTHON[what]))
    assert notebook.plain(PYTHON[what]) == PYTHON[what]


@pytest.mark.parametrize("magic", ["", "%%time\n"])
def test_a_cell_may_await_outside_of_functions(magic):
    source = "import asyncio\nx = await asyncio.sleep(0, 1)\ndef f(): return x"
    assert _ran(magic + source)["f"]() == 1


@pytest.mark.parametrize(
    "line",
    ["%time x = [1, 2]", "x = %time [1, 2]", "%prun x = [1, 2]", "if True:\n    %time x = [1, 2]"],
)
def test_a_line_under_a_clock_defines(line):
    names = {}
    notebook.run_cell(notebook.Cell("cell 1", line, "solution"), names)
    assert names["x"] == [1, 2]


@pytest.mark.parametrize(
    "line",
    ["%time len('');", "%time !true", "%prun -s cumulative len('')", "%prun -q -l 5 len('')",
     "%time ("],
)  # fmt: skip
def test_what_stands_behind_a_timed_line_is_defined(line):
    assert _ran(f"{line}\nx = 1")["x"] == 1


def test_a_written_file_may_be_named_by_a_variable(tmp_path):
    names = {"folder": tmp_path, "name": "held.py"}
    source = "%%writefile {folder}/$name\nx = {1: 2}\n"
    notebook.run_cell(notebook.Cell("cell 1", source, "added"), names)
    assert (tmp_path / "held.py").read_text() == "x = {1: 2}\n"
    source = source.replace("$name", "a{}.py")  # braces that name nothing stay as they are
    notebook.run_cell(
        notebook.Cell("cell 2", source.replace("{folder}", str(tmp_path)), "added"), names
    )
    assert (tmp_path / "a{}.py").read_text() == "x = {1: 2}\n"


def test_a_cell_under_a_profiler_defines():
    assert _ran("%%prun -q\ndef f(): return 1")["f"]() == 1


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_notebook_that_a_windows_program_has_written_can_be_loaded(tmp_path, encoding):
    path = tmp_path / "lab.ipynb"
    cell = {"cell_type": "code", "metadata": {"tags": ["given"]}, "source": "größe = 1"}
    path.write_text(json.dumps({"nbformat": 4, "cells": [cell]}, ensure_ascii=False), encoding)
    assert notebook.load(path, name="written_on_windows").größe == 1


def test_a_notebook_is_loaded_from_here_else_from_where_modules_are(tmp_path, monkeypatch):
    cell = {"cell_type": "code", "metadata": {"tags": ["given"]}}
    for place in ("here", "beside"):
        (tmp_path / place).mkdir()
        for name in ("both.ipynb", f"{place}.ipynb"):
            content = {"nbformat": 4, "cells": [{**cell, "source": f"place = '{place}'"}]}
            (tmp_path / place / name).write_text(json.dumps(content))
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.syspath_prepend(tmp_path / "beside")
    found = [notebook.load(f"{name}.ipynb", "of_mine").place for name in ("both", "here", "beside")]
    assert found == ["here", "here", "beside"]
    with pytest.raises(FileNotFoundError, match="'nowhere.ipynb'"):
        notebook.load("nowhere.ipynb")


BINDS = {
    "else": ("if False:\n    pass\nelse:\n    def f(): pass", {"f"}),
    "except": ("try:\n    import f\nexcept ImportError as error:\n    f = g = None", {"f", "g"}),
    "finally": ("try:\n    pass\nfinally:\n    f = 1", {"f"}),
    "a loop": ("for f in []:\n    g = 1\nelse:\n    h = 1", {"f", "g", "h"}),
    "with": ("with open(g) as (f, *h):\n    pass", {"f", "h"}),
    "a walrus": ("print(f := 1)", {"f"}),
    "match": ("match x:\n    case [f, *g] | {'a': h, **rest}:\n        pass",
              {"f", "g", "h", "rest"}),
    "an import of everything": ("from os.path import *", {"*"}),
    "an entry": ("f[g] = 1", set()),
    "an attribute": ("f.g = 1", set()),
    "a comprehension": ("[f for g in h]", set()),
    "a walrus in a comprehension": (
        "[(f := x) for x in (g := y) if (h := x) and [z for z in x if (i := z)]]",
        {"f", "g", "h", "i"},
    ),
    "a walrus in a lambda": ("f = lambda x=(g := 1): (h := x)", {"f", "g"}),
    "what stands inside a function": ("def f(g):\n    h = 1", {"f"}),
}  # fmt: skip


@pytest.mark.parametrize("what", BINDS)
def test_a_cell_defines_what_it_binds(what):
    source, names = BINDS[what]
    assert notebook.Cell("", source, "solution").defines() == names


def test_a_question_in_a_cell_hides_nothing_that_it_defines():
    cell = notebook.Cell("", "names = !ls\nlen?\ndef f(): pass", "added")
    assert cell.defines() == {"names", "f"}


@pytest.mark.parametrize("line", [" ", "a, ", "a.", " \t", "a = ", "%", "*", "?", "? ", "[", "[]"])
def test_no_line_is_looked_at_for_long(line):
    """Of as many characters as a cell may have: in their square it takes minutes."""
    begin = time.process_time()
    notebook.MAGIC.search(line * (250_000 // len(line)) + "\nx")
    assert time.process_time() - begin < 2


def answered(tmp_path, **answers):
    """A notebook with these answers, one solution cell each."""
    return written(tmp_path, *(
        (source, {"nbgrader": {"grade_id": name, "solution": True, "grade": False}})
        for name, source in answers.items()
    ))  # fmt: skip


def written(tmp_path, *cells):
    """A notebook of these cells: source and metadata."""
    content = [{"cell_type": "code", "source": source, "metadata": told} for source, told in cells]
    path = tmp_path / "answers.ipynb"
    path.write_text(json.dumps({"cells": content, "metadata": {}, "nbformat": 4}))
    return path


ADDED = """
from dataclasses import dataclass; import functools
print(1 / 0)

@dataclass
class Setting:
    rate: float

@functools.cache
def made():
    return object()

rates = [0.1]
rates += [0.2]
"""


def test_a_cell_of_ones_own_defines_what_it_defines_in_the_notebook(tmp_path):
    lab = notebook.load(written(tmp_path, (ADDED, {})), name="with_added_cells")
    assert lab.Setting(0.5).rate == 0.5 and lab.made() is lab.made() and lab.rates == [0.1, 0.2]
    assert inspect.getsource(lab.made) == "@functools.cache\ndef made():\n    return object()\n"


def test_a_script_does_not_need_an_answer_that_it_does_not_ask_for(tmp_path):
    """Some answers are values: their cells raise as soon as they are run."""
    todo = 'raise NotImplementedError("TODO letters")'
    lab = notebook.load(answered(tmp_path, letters=todo, train="def train():\n    return 7"))
    assert lab.train() == 7 and not hasattr(lab, "letters")


def test_an_answer_that_fails_is_not_taken_for_one_that_is_still_to_be_written(tmp_path):
    with pytest.raises(NotImplementedError, match="not for this device"):
        notebook.load(answered(tmp_path, a='raise NotImplementedError("not for this device")'))
