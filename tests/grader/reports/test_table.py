"""Tables and CSV show what strangers called themselves, and obey none of it."""

import csv
import io

import pytest
from classes import LAB, NAMES, graded, wrong
from rich.console import Console

from grader.reports import table


def shown(some, width=200) -> str:
    out = io.StringIO()
    table.show(LAB, some, Console(file=out, force_terminal=True, width=width, color_system=None))
    return out.getvalue()


@pytest.mark.parametrize("count", [1, 30])
def test_names_and_messages_do_nothing_to_the_terminal(tmp_path, count):
    name = "\x1b]0;owned\x07[red]eve[/red]\x9b2J\u202e"
    some = [
        graded(tmp_path, name, repaired=["the cell \x1b[31m[bold]x was missing"])
        for _ in range(count)
    ]
    said = shown(some)
    assert "[red]eve[/red]" in said and "[bold]x" in said
    assert not set("\x1b\x07\x9b\u202e") & set(said.replace("\x1b[0m", "").replace("\x1b[2m", ""))


def test_a_failure_of_the_gradebook_is_told_of_what_could_not_be_read_too(tmp_path):
    one = graded(tmp_path, "ada", unreadable="no notebook")
    one.problem = "nbgrader could not take it"
    assert "ada has to be graded again: nbgrader could not take it" in shown([one])


def test_what_a_change_of_the_course_has_made_of_earlier_verdicts_is_told(tmp_path):
    ada, ben, cleo = (graded(tmp_path, name) for name in ("ada", "ben", "cleo"))
    assert "course has changed" not in shown([ada, ben, cleo])
    ada.before, ben.before = ada.entry.score, ben.entry.score
    assert "2 submissions of these had verdicts" in shown([ada, ben, cleo])
    assert "Points are as before." in shown([ada, ben, cleo])
    ben.before = 1.5
    assert f"before: ben (1.5, now {ben.entry.score:g})." in shown([ada, ben, cleo])
    some = [graded(tmp_path, f"s{number}") for number in range(table.TOLD + 2)]
    for one in some:
        one.before = 1.5
    assert " and 2 more." in shown(some)


def test_a_student_a_line_where_there_are_many(tmp_path):
    some = [graded(tmp_path, f"student{i:02}", relay=wrong(status="deadlock")) for i in range(30)]
    lines = shown(some).splitlines()
    assert sum("student" in line and "⇄" in line for line in lines) == 30
    assert any("⇄ deadlock" in line and "✓ passed" in line for line in lines)
    assert max(map(len, lines)) < 160


def test_points_by_hand_that_are_not_in_the_table_are_told(tmp_path):
    one = graded(tmp_path, "ada")
    assert "by hand" not in shown([one])
    one.by_hand = ["relay", "exchange"]
    assert "ada: has points by hand for relay, exchange, which exports have" in shown([one])


@pytest.mark.parametrize("count", [2, 30])
def test_a_long_name_leaves_room_for_the_verdicts(tmp_path, count):
    some = [graded(tmp_path, f"{number} " + "x" * 190) for number in range(count)]
    symbol = "✓" if count > table.BESIDE else "24"
    assert shown(some).count(symbol) >= count * (len(NAMES) if count > table.BESIDE else 1)


def rows(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("begin", ["=", "+", "-", "@", "\t=", "\r=", "\uff1d"])
def test_no_cell_of_the_csv_begins_a_formula(tmp_path, begin):
    name = begin + "HYPERLINK(1)"
    path = table.write_csv(tmp_path / "x.csv", LAB, [graded(tmp_path, name)])
    (row,) = rows(path)
    assert row["student"] == "'" + name
    assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for cell in row.values())


def test_the_csv_has_points_and_status_of_each_exercise(tmp_path):
    some = [
        graded(tmp_path, "ada", manual=3.0, relay=wrong(status="deadlock")),
        graded(tmp_path, "gus", unreadable="no notebook"),
    ]
    ada, gus = rows(table.write_csv(tmp_path / "x.csv", LAB, some))
    assert list(ada)[:4] == ["student", "score", "max_score", "manual_score"]
    assert list(ada)[4:6] == [NAMES[0], f"{NAMES[0]} status"]
    assert (ada["relay"], ada["relay status"], ada["manual_score"]) == ("0.0", "deadlock", "3.0")
    assert (gus["score"], gus["relay status"], gus["manual_score"]) == ("0.0", "unreadable", "")


@pytest.mark.parametrize("count", [6, 30])
def test_in_a_terminal_of_80_columns_nothing_is_cut_off(tmp_path, count):
    wrongs = {NAMES[0]: wrong(), NAMES[1]: wrong(status="unanswered"), NAMES[2]: wrong()}
    said = shown([graded(tmp_path, f"name{n}", **wrongs) for n in range(count)], 80)
    assert "…" not in said
    assert max(map(len, said.splitlines())) <= 80
    assert "✗ wrong" in said and "– unanswered" in said
    assert all(name in " ".join(said.split()) for name in NAMES)
