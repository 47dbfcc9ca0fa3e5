"""Cells share one event loop, as in IPython, whose kernel runs all of them in its own."""

import asyncio
import gc
import json
import warnings

import pytest

from distlab import notebook


def ran(*sources, kind="solution"):
    namespace = {}
    for number, source in enumerate(sources):
        cell = notebook.Cell(f"cell {number}", source, kind)
        notebook.run_cell(cell, namespace, keep_going=kind == "added")
    return namespace


BEGUN = """
import asyncio
gate, seen = asyncio.Event(), []
async def waits():
    await gate.wait()
    seen.append(1)
    return 7
"""
GOES_ON = {
    "begun where something is": "await asyncio.sleep(0)\ntask = asyncio.create_task(waits())",
    "begun where nothing is": "task = asyncio.create_task(waits())",
    "begun under a clock": "%%time\ntask = asyncio.ensure_future(waits())\nawait asyncio.sleep(0)",
    "begun by the loop": "task = asyncio.get_running_loop().create_task(waits())",
}  # fmt: skip


@pytest.mark.parametrize("kind", ["solution", "added"])
@pytest.mark.parametrize("how", GOES_ON)
def test_a_task_goes_on_while_later_cells_await(how, kind):
    found = ran(BEGUN, GOES_ON[how], "gate.set()\nx = await task", kind=kind)
    assert found["x"] == 7 and found["seen"] == [1]


def test_a_lock_is_waited_for_in_two_cells():
    """A lock belongs to the loop in which somebody has had to wait for it."""
    waits = """
async def second():
    async with lock:
        return 1
async with lock:
    task = asyncio.create_task(second())
    await asyncio.sleep(0)
x = await task
"""
    assert ran("import asyncio\nlock = asyncio.Lock()", waits, waits)["x"] == 1


@pytest.mark.parametrize("before", ["", "await asyncio.sleep(0)\n", "%time await_ = 1\n"])
def test_a_program_that_looks_whether_a_loop_runs_sees_that_one_does(before):
    """And so does not wait in it, but begins a task, or takes a loop of its own in a thread."""
    source = f"""
import asyncio
async def main():
    return 3
{before}loop = asyncio.get_event_loop()
task = loop.create_task(main()) if loop.is_running() else loop.run_until_complete(main())
"""
    waits = "%time x = await task\nseen = loop.is_running()"
    found = ran(source, waits)
    assert found["x"] == 3 and found["seen"] and not found["loop"].is_running()


def test_code_that_torch_compiles_waits_in_a_loop_of_its_own():
    utils = pytest.importorskip("torch._inductor.await_utils")  # not every torch has it
    namespace = {"await_sync": utils.await_sync}
    source = "import asyncio\nx = await_sync(asyncio.sleep(0, 3))"
    notebook.run_cell(notebook.Cell("cell 1", source, "solution"), namespace)
    assert namespace["x"] == 3


def test_a_timed_line_of_a_cell_that_awaits_may_await():
    source = "import asyncio\nawait asyncio.sleep(0)\n%time x = await asyncio.sleep(0, 3)"
    assert ran(source)["x"] == 3
    assert ran("import asyncio\nx = await asyncio.sleep(0, 1)")["x"] == 1  # it runs no more


def test_what_a_cell_raises_in_the_loop_is_raised():
    with pytest.raises(ZeroDivisionError):
        ran("import asyncio\nawait asyncio.sleep(0)\n1 / 0")
    with pytest.raises(SystemExit):
        ran("import asyncio\nawait asyncio.sleep(0)\nraise SystemExit(3)")
    assert ran("import asyncio\nx = await asyncio.sleep(0, 1)")["x"] == 1


def loaded(tmp_path, *sources):
    told = {"nbgrader": {"grade_id": "answer", "solution": True, "grade": False}}
    cells = [{"cell_type": "code", "source": one, "metadata": told} for one in sources]
    path = tmp_path / "answers.ipynb"
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}))
    return notebook.load(path, name="with_a_loop")


def test_a_notebook_can_be_loaded_where_a_loop_runs_already(tmp_path):
    """In a notebook, which is run by one."""

    async def runs():
        found = loaded(
            tmp_path, BEGUN, GOES_ON["begun where nothing is"], "x = await asyncio.sleep(0, 2)"
        )
        return found.x, asyncio.get_running_loop() is asyncio.get_event_loop()

    assert asyncio.run(runs()) == (2, True)


def test_nothing_of_a_loaded_notebook_goes_on(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = loaded(tmp_path, BEGUN, GOES_ON["begun where nothing is"])
        assert found.task.cancelled() and found.task.get_loop().is_closed()
        del found
        gc.collect()
    with pytest.raises(RuntimeError):
        asyncio.get_running_loop()
