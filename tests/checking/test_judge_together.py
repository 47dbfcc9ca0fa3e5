"""Exercises that are judged one after the other in one room: nothing gains or loses by that."""

import contextlib
import itertools
from dataclasses import replace

import pytest

from distlab import course
from distlab.checking import judge_notebook
from distlab.checking.judge_notebook import Grader, Lab
from distlab.checking.session import RoomLost, SessionLost
from distlab.checking.submission import Plan
from distlab.exercises.exercise import Case
from distlab.exercises.judge import Verdict
from distlab.notebook import Cell
from distlab.processes.isolation import Limits
from grader.collected import grader, handed_in

LAB = "01-message-passing"
NAMES = ["relay", "broadcast_from", "exchange"]
EXERCISES = {name: course.exercises(LAB)[name] for name in NAMES}
CASES = [Case(2), Case(4), Case(2, 7, hidden=True), Case(3, 8, hidden=True)]


class Told:
    """A session in which nothing runs: it notes which cases are asked for in which room.

    Args:
        ends: {(exercise, hidden): how its first runs end, in turn}; what is not there passes.
    """

    def __init__(self, ends):
        self.ends, self.rooms, self.turns = ends, [[]], []

    def cells(self, *_):
        return {}

    def end_room(self):
        if self.rooms[-1]:
            self.rooms.append([])

    def close(self):
        pass

    @contextlib.contextmanager
    def shared(self):
        self.turns.append("shared")
        yield

    @contextlib.contextmanager
    def alone(self):
        self.turns.append("alone")
        yield


class Judging:
    def __init__(self, exercise, total, session):
        self.exercise, self._session = exercise, session
        self._told = Verdict(exercise, "passed", total=total)

    def judged(self, cases):
        for case in cases:
            self._session.rooms[-1].append((self.exercise.name, case.hidden))
            left = self._session.ends.get((self.exercise.name, case.hidden))
            end = left.pop(0) if left else "passed"
            if isinstance(end, Exception):
                raise end
            if end != "passed":
                return replace(self._told, status=end)
            self._told.passed += 1
        return self._told


def judged(monkeypatch, ends=None, names=NAMES, turns=None, limits=None, **more):
    """The verdicts by exercise, and the session that they came of."""
    session = Told({key: list(value) for key, value in (ends or {}).items()})
    monkeypatch.setattr(Grader, "session", lambda *_: session)
    monkeypatch.setattr(
        Grader, "judging", lambda self, exercise, total, *_: Judging(exercise, total, session)
    )
    exercises = {name: EXERCISES[name] for name in names}
    plan = Plan([Cell(name, "def ...", "solution") for name in names], set(names))
    made = Grader(Lab({}, exercises, lambda _: CASES, lambda *_: []), limits)
    found = made.grade(plan, None, session if turns is None else turns, **more)
    return {verdict.exercise.name: verdict for verdict in found}, session


def test_right_answers_take_two_rooms_visible_cases_first(monkeypatch):
    found, session = judged(monkeypatch)
    assert [(v.status, v.passed, v.total) for v in found.values()] == [("passed", 4, 4)] * 3
    assert session.rooms == [
        [(name, False) for name in NAMES for _ in range(2)],
        [(name, True) for name in NAMES for _ in range(2)],
        [],
    ]


#: how an exercise can end: at once, in a room that others have used, in the hidden cases, for good
ENDS = ["wrong", "error", "deadlock", "timeout", "crashed", "tampered", "unanswered"]


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("end", ENDS)
def test_no_room_has_a_visible_case_of_one_after_a_hidden_case_of_another(
    monkeypatch, end, name, hidden
):
    for ends in itertools.product([end, "passed"], repeat=2):
        _, session = judged(monkeypatch, {(name, hidden): ends})
        for room in session.rooms:
            first = next((n for n, (_, secret) in enumerate(room) if secret), len(room))
            assert all(secret for _, secret in room[first:])


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("end", ENDS)
def test_what_fails_where_others_have_run_is_judged_by_itself(monkeypatch, end, hidden):
    found, session = judged(monkeypatch, {("exchange", hidden): [end]})
    assert {v.status for v in found.values()} == {"passed"}
    assert [("exchange", secret) for secret in (False, False, True, True)] in session.rooms


@pytest.mark.parametrize("end", ["wrong", "error", "deadlock"])
def test_what_fails_first_in_its_room_has_failed(monkeypatch, end):
    found, session = judged(monkeypatch, {("relay", False): [end]})
    assert [v.status for v in found.values()] == [end, "passed", "passed"]
    assert session.rooms[0] == [("relay", False)] and found["relay"].total == 4
    assert sum(("relay", False) in room for room in session.rooms) == 1


def test_what_may_have_been_the_machines_fault_is_judged_twice_whatever_ran_before_it(monkeypatch):
    for name in NAMES:
        found, session = judged(monkeypatch, {(name, False): ["timeout"] * 3})
        assert found[name].status == "timeout"
        assert session.turns.count("alone") == 1
        assert sum((name, False) in room for room in session.rooms) == 2


def test_who_judges_one_notebook_alone_believes_no_failure_where_others_have_run(monkeypatch):
    turns = judge_notebook.AlwaysFree()
    monkeypatch.setattr(judge_notebook, "_ALWAYS", turns)
    found, _ = judged(monkeypatch, {("exchange", False): ["timeout"]}, turns=turns)
    assert found["exchange"].status == "passed"
    found, _ = judged(monkeypatch, {("relay", False): ["timeout"]}, turns=turns)
    assert found["relay"].status == "timeout"


def test_a_room_that_is_lost_costs_whoever_was_in_it_another_try_and_nobody_else(monkeypatch):
    lost = RoomLost("gone")
    found, _ = judged(monkeypatch, {("exchange", True): [lost, lost, lost]})
    assert [v.status for v in found.values()] == ["passed", "passed", "crashed"]
    found, _ = judged(monkeypatch, {("exchange", True): [lost]})
    assert {v.status for v in found.values()} == {"passed"}


def test_a_sandbox_that_others_may_have_ended_is_told_of(monkeypatch):
    with pytest.raises(SessionLost):
        judged(monkeypatch, {("exchange", True): [SessionLost("gone")]})


def test_in_a_sandbox_of_its_own_each_exercise_has_a_room(monkeypatch):
    _, session = judged(monkeypatch, lone=True)
    assert session.rooms[0] == [("relay", secret) for secret in (False, False, True, True)]


def test_one_exercise_alone_has_one_room(monkeypatch):
    _, session = judged(monkeypatch, names=["relay"])
    assert session.rooms == [[("relay", False)] * 2 + [("relay", True)] * 2, []]


def test_those_that_there_is_no_time_for_have_no_points_for_what_was_half_judged(monkeypatch):
    monkeypatch.setattr(judge_notebook.time, "monotonic", iter(range(0, 10_000, 10)).__next__)
    found, _ = judged(monkeypatch, limits=Limits(seconds=45))
    assert {v.status for v in found.values()} == {"timeout"}


SPOILING = """
def broadcast_from(rank, size, tensor, src):
    dist.broadcast(tensor, src)
    answer = tensor.clone()
    {spoil}
    return answer
"""
NEXT = """
def all_gather_rows(rank, size, row):
    rows = [torch.empty_like(row) for _ in range(size)]
    dist.all_gather(rows, row)
    return torch.stack(rows)
"""


@pytest.mark.parametrize(
    "spoil",
    [
        "dist.all_gather = None",
        "import torch as t; t.stack = lambda rows: rows[0]",
        "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))",
        "import threading; threading.Thread(target=threading.Event().wait, daemon=True).start()",
        "import builtins; builtins.range = lambda *n: []",
    ],
)
def test_what_an_answer_leaves_in_its_ranks_costs_no_other_one_a_point(zygote, spoil):
    judge = grader(LAB, ["broadcast_from", "all_gather_rows"])
    content = handed_in(LAB, broadcast_from=SPOILING.format(spoil=spoil), all_gather_rows=NEXT)
    found = judge.grade(judge.plan(content), zygote)
    by_name = {verdict.exercise.name: verdict for verdict in found}
    assert by_name["all_gather_rows"].status == "passed", by_name["all_gather_rows"].message
