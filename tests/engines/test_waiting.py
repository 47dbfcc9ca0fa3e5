"""The line below a cell that takes long, in a real kernel."""

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

SLOW = """
import time
from distlab.engines import progress
deadline = time.monotonic() + {seconds}
with progress.line("a run", patience=0.1):
    while time.monotonic() < deadline:
        time.sleep(0.01)
print("done")
"""


def outputs(tmp_path, seconds):
    cells = [new_code_cell(SLOW.format(seconds=seconds)), new_code_cell("print('next')")]
    book = new_notebook(cells=cells)
    ran = NotebookClient(book, kernel_name="python3", resources={"metadata": {"path": tmp_path}})
    seen = []
    hear = ran.process_message

    def process(msg, cell, cell_index):
        if msg["msg_type"] in ("display_data", "update_display_data"):
            seen.append(msg["content"]["data"]["text/plain"])
        return hear(msg, cell, cell_index)

    ran.process_message = process
    ran.execute()
    nbformat.validate(book)
    return [cell.outputs for cell in book.cells], seen


@pytest.mark.slow  # a kernel starts, and the line is a matter of seconds
def test_a_long_wait_is_told_each_second_below_its_cell_and_then_gone(tmp_path):
    (first, second), seen = outputs(tmp_path, 2.5)
    assert [one.output_type for one in first] == ["display_data", "stream"]
    assert first[0].data == {"text/plain": ""}
    assert seen[:2] == ["a run: 0 s", "a run: 1 s"] and seen[-1] == ""
    assert [one.text for one in second] == ["next\n"]


@pytest.mark.slow  # a kernel starts
def test_a_short_wait_leaves_no_trace(tmp_path):
    (first, _), seen = outputs(tmp_path, 0)
    assert [one.output_type for one in first] == ["stream"] and seen == []


def test_outside_of_a_notebook_nothing_is_said(capsys):
    from distlab.engines import progress

    with progress.line("a run", patience=0.0):
        pass
    assert capsys.readouterr().out == ""
