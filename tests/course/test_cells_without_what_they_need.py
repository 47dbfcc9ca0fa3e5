"""Demonstration cells of the notebooks where what they read is not there (yet)."""

import pytest

from grader import coursedir


def cell(lab, words):
    """The source of the one code cell of a lab's notebook that holds these words."""
    cells = coursedir.released(lab)["cells"]
    sources = ["".join(one["source"]) for one in cells if one["cell_type"] == "code"]
    (source,) = (one for one in sources if words in one)
    return source


def test_the_table_of_lab_11_says_that_nothing_has_been_put_in_yet(capsys):
    exec(cell("11-long-sequences-and-experts", "table.items()"), {"table": {}})
    assert "None of your functions has been put in yet" in capsys.readouterr().out


def test_lab_10_says_that_the_script_of_lab_3_is_not_beside_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(cell("10-sharding-and-overlap", "unified_diff"), {})
    assert "fetch lab 03" in capsys.readouterr().out


def test_lab_9_does_not_wait_for_a_step_of_a_job_that_is_over(tmp_path):
    class Over:
        process = type("Process", (), {"poll": lambda self: 1})()

    source = cell("09-when-it-breaks", "def wait_for_step").partition("\n\n\n")[0]

    def never(seconds):
        pytest.fail("it waits for a job that is over")

    clock = type("Clock", (), {"monotonic": staticmethod(lambda: 0.0), "sleep": never})
    names = {"time": clock, "runs": tmp_path, "losses": None}
    exec(source, names)
    names["wait_for_step"](Over(), "forgetful", 27)
