"""Progress in a terminal, silence elsewhere."""

import io

import pytest
from rich.console import Console

from grader.judging.ledger import Entry, Line
from grader.reports.progress import Live, in_work


@pytest.fixture(autouse=True)
def moves(monkeypatch):
    """A terminal in which lines can move, whatever these tests are run in."""
    monkeypatch.setenv("TERM", "xterm")


def printed(terminal: bool) -> str:
    out = io.StringIO()
    console = Console(file=out, force_terminal=terminal, width=120, color_system=None)
    with Live("01-message-passing", 3, console) as live:
        for name in ("ada", "[red]\x1b]0;owned\x07eve"):
            live.began(name)
        live.done("ada")
        live._progress.refresh()
    return out.getvalue()


def test_a_terminal_sees_how_many_are_done_and_which_are_in_work():
    said = printed(True)
    assert "1/3" in said and "[red]" in said and "\x1b]0;" not in said and "\x07" not in said


def test_where_there_is_no_terminal_nothing_is_printed():
    assert printed(False) == ""


def test_three_names_and_a_number_stand_for_many():
    assert in_work(["a", "b", "c", "d", "e"]) == "in work: a, b, c and 2 more"
    assert in_work([]) == ""
    assert in_work(["x" * 99 + "\n"]) == "in work: " + "x" * 20


def lines_on(total: int, terminal: bool = False, **about) -> str:
    out = io.StringIO()
    console = Console(file=out, force_terminal=terminal, width=120, color_system=None)
    lines = [Line("relay", "deadlock", 0.0, 3.0), Line("exchange", "passed", 3.0, 3.0)]
    with Live("01-message-passing", total, console) as live:
        live.judged(Entry("a[b]\x1b]0;owned", "01-message-passing", "", lines, **about))
    return out.getvalue()


@pytest.mark.parametrize("terminal", [True, False])
def test_the_verdict_on_one_that_is_graded_alone_is_told_before_it_is_entered(terminal):
    said = lines_on(1, terminal)
    assert "a[b]\\x1b]0;owned: 3 of 6 points; not passed: relay (deadlock); gradebook" in said


def test_of_one_that_cannot_be_read_no_exercise_is_named():
    said = lines_on(1, unreadable="no notebook")
    assert "could not be read" in said and "relay" not in said


def test_of_a_class_no_verdict_is_told_by_itself():
    assert lines_on(2) == ""
