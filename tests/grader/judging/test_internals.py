"""Source that reaches for the recorder and its records is seen, and other source is not."""

import json
from pathlib import Path

import pytest

from distlab import course
from distlab.checking import submission
from distlab.notebook import Cell
from grader import collected, coursedir
from grader.judging import demo
from grader.judging.internals import reached

ATTACKS = Path(__file__).parents[2] / "hostile" / "attacks"


def said(source, kind="solution"):
    return reached([Cell("relay", source, kind)])


@pytest.mark.parametrize(
    ("source", "word"),
    [
        ("from distlab.rank import recorder", "distlab.rank.recorder"),
        ("from distlab import paused", "distlab.paused"),
        ("import distlab.records.events as r", "distlab.records.events"),
        ("import distlab\ndistlab.rank.recording.paused()", "distlab.rank"),
        ("import importlib\nimportlib.import_module('distlab.rank.recorder')", "distlab.rank"),
        ("import sys\nsys.modules['distlab.network.measure']", "distlab.network"),
        ("import ctypes", "ctypes"), ("import mmap as m", "mmap"),
        ("open(f'{folder}/{rank}.rec', 'r+b')", ".rec"),
        ("os.environ['DISTLAB_RUN']", "DISTLAB_RUN"),
        ("dist.group.WORLD._group.allreduce([tensor])", "_group"),
        ("torch._C._distributed_c10d.ProcessGroupGloo", "_distributed_c10d"),
        ("gc.get_objects()", "get_objects"), ("sys._getframe(1).f_globals", "_getframe"),
        ("%magic\nfrom distlab.rank.recording import paused", "distlab.rank"),
        ("exec(base64.b64decode('aW1wb3J0IGRpc3RsYWI='))", "exec"),
        ("run = eval\nrun(text)", "eval"), ("__import__('dist' + 'lab')", "__import__"),
        ("exec(compile(text, 'relay', 'exec'))", "compile"), ("import marshal", "marshal"),
        ("importlib.import_module('dist' + 'lab.rank')", "import_module"),
        ("import builtins\nbuiltins.exec(text)", "exec"),
        ("from builtins import exec as relay\nrelay(text)", "exec"),
        ("__builtins__['ev' + 'al'](text)", "__builtins__"),
        ("def relay(text, exec=exec):\n    exec(text)", "exec"),
        ("exec = exec\nexec(text)", "exec"), ("[exec(exec) for exec in [exec]]", "exec"),
        ("class A:\n    def eval(self):\n        return eval(self.text)", "eval"),
        ("def f(text):\n    global exec\n    exec(text)\n    exec = 1", "exec"),
        ("def exec(text): ...\ndel exec\nexec(text)", "exec"),
        ("%%writefile mine.py\nexec(text)", "exec"),
        ("%time x = 1\nexec(text)", "exec"), ("!ls\ngc.get_objects()", "get_objects"),
        ("#" * 200_000 + "\nfrom distlab.rank import recorder", "more room than is looked at"),
    ],
)  # fmt: skip
def test_what_leads_to_the_records_is_named(source, word):
    (one,) = said(source)
    assert one.startswith("relay reaches for ") and word in one


@pytest.mark.parametrize(
    "source",
    [
        "", "def relay(:", "from distlab import Ranks, check, timeline", "import distlab.training",
        "import gc\ngc.collect()", "x = 'the recorder was paused'", "record = ranks.records",
        "import socket, os, sys, torch.distributed as dist",
        "model.eval()\npattern = re.compile('a')\nmodel.compile(optimizer='sgd')",
        "importlib.import_module('torch')", "compile = torch.jit.script",
        "def train(model, compile=False):\n    return torch.compile(model) if compile else model",
        "def eval(model):\n    return model.eval()\ndef relay(rank):\n    return eval(rank)",
        "def eval(n):\n    return eval(n - 1) if n else 0", "f = lambda eval: eval + 1",
        "from torch import compile\nmodel = compile(model)", "[eval for eval in results if eval]",
        "try:\n    from torch import compile\nexcept ImportError:\n    compile = str\ncompile(f)",
        "for compile in (False, True):\n    times.append(measured(compile))",
        "def relay(rank):\n    compile = rank == 0\n    def inner():\n        return compile",
        "class Net(nn.Module):\n    def eval(self):\n        return self.train(False)",
        "async def f(exec):\n    await exec\nawait f(g)", "%time import torch\nmodel.eval()",
        "class Ring:\n    def __init__(self, group):\n        self._group, self.paused = group, 0",
        "%%writefile a.sh\nexec distlab info\ncompile",
    ],
)  # fmt: skip
def test_what_does_not_is_not(source):
    assert said(source) == []


def test_a_name_is_the_notebooks_own_in_later_cells_as_well():
    cells = ["def eval(model): ...", "eval(model)\nexec(text)", "del eval", "eval(text)",
             "%%writefile a.py\ndef compile(): ...", "compile(text)"]  # fmt: skip
    found = reached(Cell(f"cell {n}", source, "added") for n, source in enumerate(cells))
    assert found == [
        "cell 1 reaches for exec", "cell 3 reaches for eval", "cell 5 reaches for compile"
    ]  # fmt: skip


def test_a_long_sum_is_no_hiding_place():
    assert said("x = " + "+".join(["1"] * 900) + "\nexec(text)") == ["relay reaches for exec"]


def test_the_courses_own_cells_may():
    assert said("from distlab.rank import recorder", "given") == []


@pytest.mark.parametrize("lab", course.LABS)
def test_no_right_answer_and_no_solution_does(lab):
    plan = submission.plan(
        coursedir.released(lab), demo.handed_in("ada", lab), course.exercises(lab)
    )
    assert reached(plan.cells) == []
    for answer in collected.answers(lab):
        assert said(answer.source) == [], answer.path


@pytest.mark.parametrize(
    "name", [p.stem for p in ATTACKS.glob("*.py") if p.stem.startswith(("relay_", "ring_"))]
)
def test_an_attack_on_the_records_does(name):
    source = (ATTACKS.parent / "guard.py").read_text() + (ATTACKS / f"{name}.py").read_text()
    assert said(source)


@pytest.mark.parametrize("before", ["x = (", "%%time\ny = 1", "def f(:", "%%writefile mine.py"])
def test_each_cell_of_a_notebook_that_is_run_is_looked_at_for_itself(before):
    def written(*sources):
        cells = [{"cell_type": "code", "source": source} for source in sources]
        return f"%%writefile mine.ipynb\n{json.dumps({'nbformat': 4, 'cells': cells})}"

    assert said(written(before, "exec(text)")) == ["relay reaches for exec"]
    assert said(written("%%writefile a.py\nexec(text)")) == ["relay reaches for exec"]
    assert said(written("def compile(): ...", before, "compile(text)")) == []
