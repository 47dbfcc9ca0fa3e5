"""Magics do without IPython what they do in it, where something can depend on them."""

import json
import os
import subprocess
import sys
import threading

import pytest

from distlab import notebook


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(os, "environ", os.environ.copy())
    return tmp_path


def ran(*sources):
    namespace = {}
    for number, source in enumerate(sources):
        notebook.run_cell(notebook.Cell(f"cell {number}", source, "solution"), namespace)
    return namespace


@pytest.mark.parametrize(
    "line",
    ["%env RANKS=4", "%env RANKS 4", "%set_env RANKS 4", "n = 4\n%env RANKS={n}",
     "n = 4\n%env RANKS=$n", "%env RANKS = 4"],
)  # fmt: skip
def test_the_environment_is_set_and_read(line):
    found = ran(f"import os\n{line}\nx = int(os.environ['RANKS'])\ny = %env RANKS\nall = %env")
    assert (found["x"], found["y"], found["all"]["RANKS"]) == (4, "4", "4")


def test_a_folder_is_entered_and_left(tmp_path):
    found = ran(
        "!mkdir -p data/raw", "%cd data/raw\nwithin = %pwd", "%cd -\nafter = %pwd\n%cd nowhere"
    )
    assert found == found | {"within": str(tmp_path / "data/raw"), "after": str(tmp_path)}


SCRIPT = "import sys\nfirst = 3\ndef f():\n    return first, sys.argv[1:], __name__\nresult = f()\n"


@pytest.mark.parametrize("line", ["%run script.py a b", "%run script a b", "%run -m script a b"])
def test_a_script_that_is_run_defines_what_it_defines(line):
    before = list(sys.argv)
    sys.modules.pop("script", None)
    sys.path.insert(0, "")
    try:
        found = ran(f"%%writefile script.py\n{SCRIPT}", f"first = 1\n{line}\nx = f()[0]")
    finally:
        sys.path.remove("")
    assert found["result"] == (3, ["a", "b"], "__main__") and found["x"] == 3
    assert sys.argv == before and found["first"] == 3


def test_a_script_may_be_run_among_the_names_of_the_notebook():
    found = ran("%%writefile script.py\ny = x + 1", "x = 1\n%run -i script.py", "%run script.py")
    assert found["y"] == 2  # without -i it has no x: IPython shows that, and goes on


def test_a_script_that_fails_defines_what_came_before():
    assert ran("%%writefile s.py\nx = 1\n1 / 0", "%run s.py\ny = x")["y"] == 1
    assert ran("%%writefile s.py\nx = 1\nraise SystemExit", "%run -n s.py\ny = x")["y"] == 1
    assert ran("%run not_there.py\n%run\ny = 1")["y"] == 1


def test_a_cell_that_writes_a_file_makes_folders_only_where_it_runs(tmp_path):
    ran("%%writefile mine/deep/a.py\nx = 1")
    assert (tmp_path / "mine/deep/a.py").is_file()
    for path in (tmp_path / "away", "~/away", "../away"):
        with pytest.raises(FileNotFoundError):  # as in IPython
            ran(f"%%writefile {path}/b.py\nx = 1")


def test_a_notebook_that_is_run_defines_what_it_defines(tmp_path):
    cell = {"cell_type": "code", "source": "%time y = x + 1", "metadata": {}}
    (tmp_path / "other.ipynb").write_text(json.dumps({"cells": [cell], "nbformat": 4}))
    assert ran("x = 1\n%run other.ipynb")["y"] == 2


@pytest.mark.parametrize("options", ["", "--no-stderr ", "--no-stdout --no-display "])
def test_what_is_captured_is_there_by_its_name(options):
    found = ran(f"%%capture {options}printed\nprint('a')\ndef f(): return 1", "x = str(printed)")
    assert found["f"]() == 1 and found["x"] == ("" if "stdout" in options else "a\n")
    assert ran("%%capture\nprint('a')\nx = 1")["x"] == 1


def test_names_of_pylab_are_there():
    pytest.importorskip("matplotlib")
    assert ran("%pylab inline --no-import-all\nx = np.ones(2).sum()")["x"] == 2


def test_commands_on_files_are_run(tmp_path):
    found = ran("!echo 4 > {'n'}.txt && touch b.txt", "names = !ls\nn = int(open('n.txt').read())")
    assert found["n"] == 4 and found["names"] == ["b.txt", "n.txt"] == found["names"].list


def test_a_command_may_take_seconds_as_on_a_busy_machine(tmp_path):
    os.mkfifo(tmp_path / "slow")
    writing = threading.Timer(2.5, (tmp_path / "slow").write_text, ["4"])
    writing.start()
    assert ran("x = !cat slow")["x"] == ["4"]
    writing.join()


@pytest.mark.parametrize(
    "command", ["rm kept", "echo 1; rm kept", "mkdir a&&rm kept", "$(rm kept)", "echo `rm kept`"]
)
def test_other_commands_are_not_run(tmp_path, command):
    (tmp_path / "kept").touch()
    assert ran(f"lines = !{command}\nx = 1")["x"] == 1 and (tmp_path / "kept").exists()


@pytest.mark.parametrize(
    "line",
    ["%matplotlib inline", "%load_ext autoreload\n%autoreload 2", "%pip install torch", "!pip list",
     "%timeit sum(range(3))", "%who", "%reset -f", "%debug", "%nothing of the kind"],
)  # fmt: skip
def test_other_magics_do_nothing(line):
    assert ran(f"x = 1\n{line}\ny = x")["y"] == 1


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("import torch\n%run mine.py", {"torch", "*"}),
        ("%pylab inline\nx = 1", {"*", "x"}),
        ("%running\nx = 1", {"x"}),
        ("x, y = !ls\nif x:\n    z: int = %time f()\n%time a = 1", {"x", "y", "z"}),
        ("def f(): ...\nrelay = %time f()\nd['a'] = !ls", {"f", "relay"}),
        ("%%writefile mine.py\ndef f(): ...", set()),
        ("%%bash\nx=1", set()),
        ("%%time\nx = 1", {"x"}),
        ("%%capture out\nx = 1", {"x"}),
    ],
)
def test_a_cell_with_a_magic_binds_what_it_binds(source, names):
    assert notebook.Cell("", source, "solution").defines() == names


@pytest.mark.parametrize(
    "line",
    ["get_ipython().config.InlineBackend.figure_format = 'retina'",
     "y = 2 if 'IPKernelApp' in get_ipython().config else 1", "get_ipython().kernel.do_shutdown(1)",
     "get_ipython().events.register('post_run_cell', print)", "get_ipython().set_next_input('x')",
     "get_ipython().config['InlineBackend']['rc'] = {}", "list(get_ipython().history_manager)",
     "import copy, pickle\npickle.dumps(copy.copy(get_ipython()).user_ns['x'])"],
)  # fmt: skip
def test_what_else_the_shell_has_is_there(line):
    assert ran(f"x = 1\n{line}\nz = x")["z"] == 1


def test_magics_and_commands_may_be_asked_for_by_name():
    found = ran("get_ipython().magic('%env RANKS 4')\nx = get_ipython().magic('env RANKS')",
                "y = get_ipython().getoutput('echo 4', split=False)")  # fmt: skip
    assert found["x"] == "4" and found["y"] == "4\n"


LOADS = """
with open("runs", "a") as file:
    file.write("1")
from distlab import notebook
found = notebook.load("lab.ipynb")
if __name__ == "__main__":
    assert found.answer() == 3
"""
SPAWNS = """
    import multiprocessing
    process = multiprocessing.get_context("spawn").Process(target=print)
    process.start()
    process.join()
"""


@pytest.mark.parametrize(
    ("how", "processes"), [("%run", 1), ("a program", 1), ("a program that spawns", 2)]
)
def test_a_script_that_loads_the_notebook_that_runs_it_is_run_once(tmp_path, how, processes):
    told = {"nbgrader": {"grade_id": "answer", "solution": True, "grade": False}}
    source = "def answer():\n    return 3\n%run script.py\n%run lab.ipynb"
    cell = {"cell_type": "code", "source": source, "metadata": told}
    (tmp_path / "lab.ipynb").write_text(json.dumps({"cells": [cell], "nbformat": 4}))
    (tmp_path / "script.py").write_text(LOADS + SPAWNS * (processes - 1))
    if how == "%run":
        ran("%run script.py")
    else:
        words = [sys.executable, "script.py"]
        subprocess.run(words, cwd=tmp_path, check=True, timeout=100)
    assert (tmp_path / "runs").read_text() == "1" * processes
