"""Progress in a terminal, silence elsewhere."""

import io

from rich.console import Console

from grader.reports.progress import Live, in_work


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
