"""An answer means in a grading what it means in the notebook, run from top to bottom."""

import pytest

from distlab.checking import submission
from distlab.notebook import Cell
from grader import collected, coursedir

LAB = "01-message-passing"


def verdicts(zygote, lab, **sources):
    judge = collected.grader(lab, list(sources))
    found = judge.grade(judge.plan(collected.handed_in(lab, **sources)), zygote)
    return {one.exercise.name: one.status for one in found}


RELAY = """
FIRST = 0

def step(tensor, source):
    received = torch.empty_like(tensor)
    dist.recv(received, source)
    tensor += received

def relay(rank, size, tensor):
    if rank != FIRST:
        step(tensor, rank - 1)
    if rank != size - 1:
        dist.send(tensor, rank + 1)
    return tensor
"""
EXCHANGE = """
FIRST = 1

def step(tensor, partner):
    received = torch.empty_like(tensor)
    requests = [dist.isend(tensor, partner), dist.irecv(received, partner)]
    for request in requests:
        request.wait()
    return received

def exchange(rank, size, tensor):
    return step(tensor, rank ^ FIRST)
"""


def test_a_name_that_a_later_cell_gives_to_something_else_is_what_it_was(zygote):
    found = verdicts(zygote, LAB, relay=RELAY, exchange=EXCHANGE)
    assert found == {"relay": "passed", "exchange": "passed"}


def test_a_list_that_a_later_cell_fills_is_empty(zygote):
    relay = RELAY.replace("FIRST = 0", "FIRST = 0\nseen = []").replace(
        "    if rank != FIRST", "    assert not seen\n    if rank != FIRST"
    )
    found = verdicts(zygote, LAB, relay=relay, exchange=EXCHANGE + "\nseen.append(FIRST)")
    assert found == {"relay": "passed", "exchange": "passed"}


def test_what_needs_a_helper_of_a_later_cell_is_what_all_cells_together_have_left(zygote):
    relay = RELAY.replace("dist.recv(received, source)", "receive(received, source)")
    relay = relay.replace("FIRST = 0", "FIRST = 0\nTAG = None")
    exchange = EXCHANGE.replace("FIRST", "OTHER").replace("step", "swap")
    exchange += (
        "\nTAG = 0\n\ndef receive(tensor, source):\n    dist.recv(tensor, source, tag=TAG)\n"
    )
    found = verdicts(zygote, LAB, relay=relay, exchange=exchange)
    assert found == {"relay": "passed", "exchange": "passed"}


def test_what_a_function_only_writes_it_does_not_need_of_a_later_cell(zygote):
    relay = RELAY.replace(
        "    if rank != FIRST", "    global seen\n    seen = 0\n    if rank != FIRST"
    )
    found = verdicts(zygote, LAB, relay=relay, exchange=EXCHANGE + "\nseen = 1")
    assert found == {"relay": "passed", "exchange": "passed"}


def test_what_a_later_cell_calls_like_a_builtin_or_a_local_variable_is_not_meant(zygote):
    relay = RELAY.replace("FIRST = 0", "FIRST = 0\nseen = []").replace(
        "    if rank != FIRST", "    assert not seen and sum([1]) == 1\n    if rank != FIRST"
    )
    exchange = EXCHANGE + "\nsum = 0\nreceived = 1\nseen.append(sum)"
    found = verdicts(zygote, LAB, relay=relay, exchange=exchange)
    assert found == {"relay": "passed", "exchange": "passed"}


AWAITS = """
async def first():
    async with lock:
        return 0
async with lock:
    task = asyncio.create_task(first())
    await asyncio.sleep(0)
FIRST = await task
"""
ONLY_IN_IPYTHON = {
    "a variable of the environment": (
        "import os", "%env FIRST=0", 'FIRST = int(os.environ["FIRST"])' + RELAY),
    "a script": ("%%writefile first.py\nFIRST = 0", "", "%run first.py" + RELAY),
    "a folder": ("!mkdir -p data", "%cd data",
                 "import os\nFIRST = ['data'].index(os.path.basename(os.getcwd()))" + RELAY),
    "what was captured": ("%%capture printed\nprint(0)", "", "FIRST = int(str(printed))" + RELAY),
    "a lock for two cells": ("import asyncio\nlock = asyncio.Lock()", AWAITS, AWAITS + RELAY),
}  # fmt: skip


@pytest.mark.parametrize("what", ONLY_IN_IPYTHON)
def test_what_ipython_alone_does_is_done_before_an_answer_that_needs_it(zygote, what):
    first, second, answer = ONLY_IN_IPYTHON[what]
    content = collected.handed_in(LAB, relay=answer.replace("\nFIRST = 0\n", "\n"))
    for source in (second, first):
        content = with_cell_before(content, source)
    judge = collected.grader(LAB, ["relay"])
    rebuilt, _ = submission.rebuild(coursedir.released(LAB), content)
    (found,) = judge.grade(judge.plan(rebuilt), zygote)
    assert (found.status, found.message) == ("passed", "")


@pytest.mark.parametrize("place", ["before the cell of that name", "at the end"])
@pytest.mark.parametrize(
    "binding",
    [
        "exec('relay = step')",
        "vars()['relay'] = step",
        "def bind():\n    global relay\n    relay = step\nbind()",
        "%time relay = step",
        ">>> relay = step",
    ],
)
def test_what_is_bound_unseen_is_not_lost_to_its_cell_still_to_be_written(zygote, binding, place):
    content = collected.handed_in(LAB, exchange=EXCHANGE.replace("return step", "return relay"))
    content["cells"].insert(
        len(content["cells"]) if place == "at the end" else 0, own_cell(binding)
    )
    content = with_cell_before(content, EXCHANGE[: EXCHANGE.index("def exchange")])
    judge = collected.grader(LAB, ["exchange"])
    rebuilt, _ = submission.rebuild(coursedir.released(LAB), content)
    (found,) = judge.grade(judge.plan(rebuilt), zygote)
    assert (found.status, found.message) == ("passed", "")


def with_cell_before(content, source):
    """With a cell of the student's own at the very beginning."""
    return {**content, "cells": [own_cell(source), *content["cells"]]}


def own_cell(source):
    return {"cell_type": "code", "id": f"own-{len(source)}", "metadata": {}, "outputs": [],
            "execution_count": None, "source": source}  # fmt: skip


ADDED = {
    "fills a table": ("TABLE = {}", "TABLE[0] = 0", "TABLE[0]"),
    "mends a constant": ("FIRST = 1", "FIRST = 0", "FIRST"),
    "mends a helper": ("def first():\n    raise NotImplementedError", "def first():\n    return 0",
                       "first()"),
    "mends the answer": ("FIRST = 0", RELAY, "1"),
}  # fmt: skip


@pytest.mark.parametrize("what", ADDED)
def test_a_cell_of_ones_own_before_the_check_belongs_to_the_answer(zygote, what):
    begin, added, first = ADDED[what]
    content = collected.handed_in(
        LAB, relay=RELAY.replace("FIRST = 0", begin).replace("rank != FIRST", f"rank != {first}")
    )
    (found,) = with_own_cell(zygote, content, added, ["relay"])
    assert (found.status, found.message) == ("passed", "")


def with_own_cell(zygote, content, source, exercises):
    """The verdicts on a notebook with a cell of the student's own behind that of `relay`."""
    place = 1 + next(
        n
        for n, cell in enumerate(content["cells"])
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == "relay"
    )
    content["cells"].insert(place, own_cell(source))
    judge = collected.grader(LAB, exercises)
    rebuilt, _ = submission.rebuild(coursedir.released(LAB), content)
    return judge.grade(judge.plan(rebuilt), zygote)


def test_a_cell_of_ones_own_that_ends_its_process_before_the_check_changes_nothing(zygote):
    content = collected.handed_in(LAB, relay=RELAY, exchange=EXCHANGE)
    found = with_own_cell(zygote, content, "import os\nos._exit(1)", ["relay", "exchange"])
    assert [one.status for one in found] == ["passed", "passed"]


def test_what_stood_under_a_name_before_is_not_kept_alive(zygote):
    relay = RELAY.replace("FIRST = 0", "FIRST = 0\nimport weakref\nlarge = torch.ones(10)\n"
                          "gone = weakref.ref(large)")  # fmt: skip
    exchange = EXCHANGE + "\ndel large\nassert gone() is None"
    found = verdicts(zygote, LAB, relay=relay, exchange=exchange)
    assert found == {"relay": "passed", "exchange": "passed"}


def test_an_answer_with_too_much_of_the_notebook_is_told_so(zygote):
    relay = RELAY.replace("FIRST = 0", "FIRST = 0\nlarge = torch.ones(5_000_000)").replace(
        "    if rank != FIRST", "    assert len(large)\n    if rank != FIRST"
    )
    judge = collected.grader(LAB, ["relay"])
    (found,) = judge.grade(judge.plan(collected.handed_in(LAB, relay=relay)), zygote)
    assert found.status == "error"
    assert "What relay uses of the notebook has 19 MB, more than the 16 MB that" in found.message


def test_what_a_demonstration_has_imported_is_there(zygote):
    source = next(
        a.source for a in collected.answers("09-when-it-breaks", "latest_whole") if a.right
    )
    uses = source + "\n\n_plainly = latest_whole\n\ndef latest_whole(*args):\n"
    uses += "    assert re.match('a', 'a') and callable(run)\n    return _plainly(*args)\n"
    assert verdicts(zygote, "09-when-it-breaks", latest_whole=uses) == {"latest_whole": "passed"}


def cells(*pairs):
    return [Cell(f"cell {n}", source, kind) for n, (kind, source) in enumerate(pairs)]


DEMONSTRATION = """
import time, re as regular
from torch import nn
N = 4
SIZES, LIMIT = [1, -2], {"a": 4 * 1024}
RATE: float = 0.5
LATER: float
os.sep = "/"
start = time.time()
os.environ["A"] = "1"
def my_device():
    return where(N)
def where(n):
    return n
class Layer(nn.Module): ...
print(start)
"""


@pytest.mark.parametrize(
    ("own", "kept"),
    [
        ("def relay(): return 1", None),
        ("def relay(): return regular.X", "import re as regular"),
        ("relay = lambda: N", "N = 4"),
        ("relay = lambda: LIMIT", "SIZES, LIMIT = ([1, -2], {'a': 4 * 1024})"),
        ("relay = lambda: RATE", "RATE: float = 0.5"),
        ("relay = lambda: LATER", None),
        ("def relay(x: nn.Module): ...", "from torch import nn"),
        (
            "def relay(): return my_device()",
            "N = 4\ndef my_device():\n    return where(N)\ndef where(n):\n    return n",
        ),
        ("def relay(): return start", None),  # nothing that runs is run
        ("import os", None),
        ("def relay(:", None),
    ],
)
def test_of_a_demonstration_only_what_is_used_is_defined(own, kept):
    found = submission.shown.needed(cells(("shown", DEMONSTRATION), ("solution", own)))
    sources = [cell.source for cell in found if cell.kind == "given"]
    assert sources == ([] if kept is None else [kept])
    assert found[-1].source == own


def test_a_helper_of_ones_own_is_not_replaced_by_a_demonstration():
    found = submission.shown.needed(
        cells(
            ("added", "time = 3\ndef where(n):\n    return 1"),
            ("shown", DEMONSTRATION),
            ("solution", "def relay(): return my_device() + where(time), regular.X"),
        )
    )
    (given,) = (cell.source for cell in found if cell.kind == "given")
    assert given == "import re as regular\nN = 4\ndef my_device():\n    return where(N)"


def test_a_long_notebook_is_not_parsed_for_it(monkeypatch):
    long = "\n".join(f"x{n} = {n}" for n in range(100_000))
    monkeypatch.setattr(Cell, "defines", None)
    pairs = [("shown", DEMONSTRATION), *[("added", long)] * 20]
    assert len(submission.shown.needed(cells(*pairs))) == 20


def test_nothing_of_the_courses_answers_an_exercise():
    lab = coursedir.lab("09-when-it-breaks")
    plan = lab.plan(coursedir.released("09-when-it-breaks"))
    assert not plan.answered and {cell.kind for cell in plan.cells} == {"given"}


def test_a_cell_of_ones_own_is_parsed_once_however_many_demonstrations_there_are(monkeypatch):
    """A long cell takes a good part of a second."""
    parsed, defines = [], Cell.defines
    monkeypatch.setattr(Cell, "defines", lambda cell: parsed.append(cell) or defines(cell))
    names = [f"name_{number}" for number in range(20)]
    own = "print(" + ", ".join(names) + ")"
    shown = [("shown", f"{name} = 1") for name in names]
    found = submission.shown.needed(cells(("added", own), *shown))
    assert len(found) == 21 and len(parsed) == 1


RUN_DEMO = """
import importlib
from pathlib import Path

Path("starting.py").write_text('''
import cloudpickle
import torch.multiprocessing as mp

from distlab import pickling


def _call(rank, function, size):
    cloudpickle.loads(function)(rank, size)


def run_demo(demo_fn, world_size):
    mp.spawn(_call, args=(pickling.dumps(demo_fn), world_size), nprocs=world_size)
''')

run_demo = importlib.import_module("starting").run_demo
"""


def test_what_an_answer_spawns_finds_the_modules_that_its_cells_have_written(zygote):
    assert verdicts(zygote, "02-toy-model", run_demo=RUN_DEMO) == {"run_demo": "passed"}
