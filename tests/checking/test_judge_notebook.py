"""What may have been the machine's fault is judged once more before it costs points."""

import contextlib
import itertools

import pytest

from distlab import course
from distlab.checking import judge_notebook
from distlab.checking.session import NotBegun
from distlab.checking.submission import Plan
from distlab.engines.outcomes import Outcome, Run
from distlab.exercises.verdict import Verdict
from distlab.notebook import Cell, run_cell
from distlab.processes import disk_room, stopped
from distlab.processes.isolation import Limits

LAB = "01-message-passing"
EXERCISE = course.exercises(LAB)["relay"]
PLAN = Plan([Cell("relay", "def relay(rank, size, tensor): ...", "solution")], {"relay"})


class NoSession:
    """Cells that work; what exercises come to is said by the test."""

    def cells(self, *_):
        return {}

    def close(self):
        pass


class Turns:
    def __init__(self):
        self.told = []

    @contextlib.contextmanager
    def shared(self):
        self.told.append("shared")
        yield

    @contextlib.contextmanager
    def alone(self):
        self.told.append("alone")
        yield


def verdict(status, said=""):
    made = Verdict(EXERCISE, status)
    error = {"type": "OSError", "message": said, "frames": []} if said else None
    made.run = Run([Outcome(0, "raised" if said else "returned", error=error)], [], 0.1, 10)
    return made


def judged(monkeypatch, *verdicts, limits=None, once=False):
    """The verdict on `relay` where judging it comes to these, in turn; and how turns were taken."""
    left, turns = list(verdicts), Turns()
    monkeypatch.setattr(judge_notebook.Grader, "session", lambda *_: NoSession())
    monkeypatch.setattr(judge_notebook.Grader, "judged", lambda *_: left.pop(0))
    lab = judge_notebook.Lab({}, {"relay": EXERCISE}, lambda _: (), lambda *_: [])
    grader = judge_notebook.Grader(lab, limits)
    (told,) = grader.grade(PLAN, None, turns, once=once)
    assert not left
    return told, turns.told[1:]  # the first was for the cells


def test_a_right_answer_that_timed_out_once_on_a_busy_machine_passes(monkeypatch):
    told, turns = judged(monkeypatch, verdict("timeout"), verdict("passed"))
    assert told.status == "passed" and turns == ["shared", "alone"]


def test_whoever_judges_it_again_anyhow_asks_for_one_try(monkeypatch):
    told, turns = judged(monkeypatch, verdict("timeout"), once=True)
    assert told.status == "timeout" and turns == ["shared"]


def test_what_times_out_alone_as_well_has_timed_out(monkeypatch):
    told, _ = judged(monkeypatch, verdict("timeout"), verdict("timeout"))
    assert told.status == "timeout"


def test_a_process_that_was_ended_from_outside_is_given_another_try(monkeypatch):
    told, turns = judged(monkeypatch, verdict("crashed"), verdict("passed"))
    assert told.status == "passed" and turns == ["shared", "shared"]


@pytest.mark.parametrize("number", [11, 12, 28, 109])
def test_an_error_over_something_that_a_neighbour_may_have_used_up_is_tried_alone(
    monkeypatch, number
):
    said = verdict("error", f"[Errno {number}] Too many references: cannot splice")
    told, turns = judged(monkeypatch, said, verdict("passed"))
    assert told.status == "passed" and turns == ["shared", "alone"]


@pytest.mark.parametrize("status", ["passed", "wrong", "deadlock", "error"])
def test_all_else_is_judged_once(monkeypatch, status):
    assert judged(monkeypatch, verdict(status))[1] == ["shared"]


def test_a_submission_has_so_much_time_in_all(monkeypatch):
    """Whoever waits for its cells looks at the clock four times a second."""
    clock = itertools.count(step=0.25)
    monkeypatch.setattr(judge_notebook.time, "monotonic", clock.__next__)

    def cells(*_):
        for _ in range(400):
            stopped.here().look()
        return {}

    monkeypatch.setattr(NoSession, "cells", cells)
    told, _ = judged(monkeypatch, limits=Limits(seconds=50))
    assert told.status == "timeout" and "50 s of the submission" in told.message


@pytest.mark.parametrize(
    ("source", "look"),
    [
        (
            "def relay(rank, size, tensor):\n    x = (1\n    return x",
            "that line and the one above it",
        ),
        ("def relay(rank, size, tensor):\nreturn tensor", "that line and the one above it"),
        (
            "def relay(rank, size, tensor):\n    await tensor",
            "leave it out of them",
        ),
        ("1 / 0", "besides defining the function"),
        ("import none_of_this_name", "into a cell"),
        ("open('beside.csv')", "another file into a cell"),
        ("raise EOFError('EOF when reading a line')", "take input() out"),
    ],
)
def test_what_is_wrong_in_a_cell_decides_where_to_look(monkeypatch, source, look):
    with pytest.raises(Exception) as raised:  # noqa: PT011  # as a session tells what a cell raises
        run_cell(Cell("relay", source, "solution"), {})
    told = {"status": "error", "type": raised.type.__name__, "message": str(raised.value)}

    class Fails(NoSession):
        def cells(self, *_):
            return {"relay": told}

    monkeypatch.setattr(judge_notebook.Grader, "session", lambda *_: Fails())
    monkeypatch.setattr(judge_notebook.Grader, "judged", lambda *_: verdict("unanswered"))
    lab = judge_notebook.Lab({}, {"relay": EXERCISE}, lambda _: (), lambda *_: [])
    (told,) = judge_notebook.Grader(lab).grade(PLAN, None)
    assert told.status == "error" and look in told.look


def test_a_session_whose_first_room_does_not_begin_is_nobody_s_zero_and_is_closed(monkeypatch):
    closed = []

    class Unbegun(NoSession):
        def cells(self, *_):
            raise NotBegun("its first room did not begin")

        def close(self):
            closed.append(self)

    monkeypatch.setattr(judge_notebook.Grader, "session", lambda *_: Unbegun())
    lab = judge_notebook.Lab({}, {"relay": EXERCISE}, lambda _: (), lambda *_: [])
    with pytest.raises(NotBegun):
        judge_notebook.Grader(lab).grade(PLAN, None, lone=True)
    assert len(closed) == 1


@pytest.mark.parametrize("status", ["error", "crashed", "timeout"])
def test_trusted_code_that_fails_while_the_disk_is_full_has_no_verdict(monkeypatch, status):
    def is_full(folder):
        raise disk_room.NoRoom(f"{folder} has no room")

    def graded(status, limits=None):
        monkeypatch.setattr(judge_notebook.Grader, "judged", lambda *_: verdict(status))
        (told,) = judge_notebook.Grader(lab, limits).grade(PLAN, None)
        return told.status

    monkeypatch.setattr(judge_notebook.Grader, "session", lambda *_: NoSession())
    monkeypatch.setattr(disk_room, "need", is_full)
    lab = judge_notebook.Lab({}, {"relay": EXERCISE}, lambda _: (), lambda *_: [])
    with pytest.raises(disk_room.NoRoom, match="has no room"):
        graded(status)
    assert graded("wrong") == "wrong" and graded(status, Limits()) == status
