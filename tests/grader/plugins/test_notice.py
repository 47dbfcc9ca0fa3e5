"""Labs are handed out with due date and rules in front, and handed in without."""

import copy
import datetime
import json
from fractions import Fraction
from zoneinfo import ZoneInfo

import nbformat
import pytest

from distlab import course
from grader import coursedir
from grader.judging.referee import Referee
from grader.plugins.release import put_notice
from grader.policy import notice
from grader.policy.lateness import UTC, Duration, Late
from grader.policy.partial import Partial
from grader.policy.rules import OnSubmit, Policy, Rules

LAB = "01-message-passing"
DUE = datetime.datetime(2026, 11, 1, 22, 59, 59, tzinfo=UTC)
RULES = Rules(
    due=DUE, late=Late(Fraction(1, 10), at_most=Fraction(1, 2), grace=Duration(0, 600)),
    partial=Partial(Fraction(1, 2), Fraction(2, 5)), on_submit=OnSubmit(5, Duration(0, 1800)),
    largest_group=2,
)  # fmt: skip
POLICY = Policy(True, ZoneInfo("Europe/Berlin"), 3, labs={LAB: RULES})


def test_the_first_cell_says_what_holds():
    given = coursedir.released(LAB)
    handed_out = notice.put(given, POLICY, LAB)
    nbformat.validate(nbformat.from_dict(handed_out))
    said = handed_out["cells"][0]["source"]
    for words in (
        "Due: Sun 1 November 2026, 23:59 CET.", "10 % of the points reached is taken off for each",
        "at most 50 %", "3 late days", "Up to 10 minutes later", "at most 5 times", "30 minutes",
        "at most 2 members", "40 % of the points",
    ):  # fmt: skip
        assert words in said
    assert handed_out["cells"][1:] == given["cells"]


def test_without_anything_to_say_it_is_the_released_notebook():
    given = coursedir.released(LAB)
    assert notice.put(given, Policy(), LAB) == given == notice.put(given, POLICY, "02-toy-model")
    assert notice.put(notice.put(given, POLICY, LAB), Policy(), LAB) == given


def test_what_lies_in_the_exchange_is_brought_up_to_date(tmp_path):
    path = tmp_path / course.notebook_name(LAB)
    assert not put_notice(tmp_path, LAB, POLICY)
    path.write_text(json.dumps(coursedir.released(LAB)))
    path.chmod(0o644)
    assert put_notice(tmp_path, LAB, POLICY)
    before = path.read_bytes()
    assert not put_notice(tmp_path, LAB, POLICY) and path.read_bytes() == before
    moved = Policy(
        True, ZoneInfo("Europe/Berlin"), labs={LAB: Rules(due=DUE + datetime.timedelta(7))}
    )
    assert put_notice(tmp_path, LAB, moved) and b"8 November" in path.read_bytes()
    assert path.stat().st_mode & 0o777 == 0o644 and len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("content", ["", '{"cells": [', "[]", "{}", '{"cells": 1}', b"\xff"])
def test_what_lies_there_and_is_no_notebook_is_named(tmp_path, content):
    """Half of one, while somebody releases the lab, say."""
    path = tmp_path / course.notebook_name(LAB)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(coursedir.GradingFailed, match=f"{path.name} is no notebook"):
        put_notice(tmp_path, LAB, POLICY)


@pytest.mark.parametrize("source", [None, "Due: never"])
def test_the_notice_is_nothing_that_a_student_has_added(source):
    referee = Referee(judges=object())
    given = coursedir.released(LAB)
    handed_in = copy.deepcopy(notice.put(given, POLICY, LAB))
    handed_in["cells"][0]["source"] = source or handed_in["cells"][0]["source"]
    assert referee.rebuild(LAB, handed_in) == referee.rebuild(LAB, given)


def test_code_under_the_notices_name_is_the_students_own():
    cell = {
        "cell_type": "code",
        "id": notice.CELL,
        "metadata": {},
        "source": "x = 1",
        "outputs": [],
    }
    given = coursedir.released(LAB)
    rebuilt, _ = Referee(judges=object()).rebuild(LAB, {**given, "cells": [cell, *given["cells"]]})
    assert rebuilt["cells"][0]["source"] == "x = 1"


def test_the_notice_is_known_by_its_tag_too():
    cell = notice.put(coursedir.released(LAB), POLICY, LAB)["cells"][0]
    assert notice.is_notice({**cell, "id": "another"}) and notice.is_notice(
        {**cell, "metadata": {}}
    )
    assert not notice.is_notice({**cell, "id": "another", "metadata": {"tags": 1}})


@pytest.mark.parametrize("cell", [None, 1, "x", {}, {"id": 3}, {"id": notice.CELL}])
def test_no_cell_breaks_the_looking(cell):
    assert not notice.is_notice(cell)
