"""Exercises that are judged one after the other in one room: nothing gains or loses by that."""

import concurrent.futures
import contextlib
import itertools
import threading
from dataclasses import replace

import pytest

from distlab import course
from distlab.checking import judge_notebook
from distlab.checking.judge_notebook import Grader, Lab
from distlab.checking.lanes import LaneEnded, Lanes
from distlab.checking.session import RoomLost, SessionLost
from distlab.checking.submission import Plan
from distlab.exercises.exercise import Case
from distlab.exercises.verdict import Verdict
from distlab.notebook import Cell
from distlab.processes import stopped
from distlab.processes.isolation import Limits
from grader.collected import answers, grader, handed_in

LAB = "01-message-passing"
NAMES = ["relay", "broadcast_from", "exchange"]
EXERCISES = {name: course.exercises(LAB)[name] for name in NAMES}
MIXED = ["stage_forward", "column_parallel_linear", "stage_backward", "row_parallel_linear"]
EXERCISES |= {name: course.exercises("06-model-parallel")[name] for name in MIXED}
CASES = [Case(2), Case(4), Case(3, 7, hidden=True), Case(3, 8, hidden=True)]


class Told:
    """A session in which nothing runs: it notes which cases are asked for in which room.

    Args:
        ends: {(exercise, hidden): how its first runs end, in turn}; what is not there passes.
        takes: {exercise: the seconds of each of its runs}.
        stops: {exercise: the seconds for which whoever judges is stopped after each of its runs}.
        problems: of the cells.
    """

    def __init__(self, ends, takes, problems, stops=()):
        self.ends, self.takes, self.problems, self.stops = ends, takes, problems, dict(stops)
        self.now = 0.0
        self.held = self.unasked = 0  # turns; and runs without one
        self.rooms, self.turns, self.between = [[]], [], []

    def cells(self, *_):
        return self.problems

    def takes_time(self, seconds):
        """Seconds in which whoever judges waits for it, and looks at the clock."""
        end = self.now + seconds
        while self.now < end:
            self.now = min(self.now + stopped.EACH, end)
            stopped.here().look()

    def end_room(self):
        if self.rooms[-1]:
            self.rooms.append([])

    def close(self):
        pass

    @contextlib.contextmanager
    def shared(self):
        self.turns.append("shared")
        self.held += 1
        yield
        self.held -= 1
        self.between += self.rooms[-1]

    @contextlib.contextmanager
    def alone(self):
        self.turns.append("alone")
        self.held += 1
        yield
        self.held -= 1


class Judging:
    def __init__(self, exercise, total, session):
        self.exercise, self._session = exercise, session
        self._told = Verdict(exercise, "passed", total=total)

    def judged(self, cases):
        for case in cases:
            self._session.rooms[-1].append((self.exercise.name, case.hidden))
            self._session.unasked += not self._session.held
            self._session.takes_time(self._session.takes.get(self.exercise.name, 0.0))
            self._session.now += self._session.stops.get(self.exercise.name, 0.0)
            left = self._session.ends.get((self.exercise.name, case.hidden))
            end = left.pop(0) if left else "passed"
            if isinstance(end, Exception):
                raise end
            if end != "passed":
                return replace(self._told, status=end)
            self._told.passed += 1
        return self._told


def judged(
    monkeypatch, ends=None, names=NAMES, turns=None, limits=None, takes=(), changed=(),
    problems=(), cases=CASES, stops=(), **more
):  # fmt: skip
    """The verdicts by exercise, and the session that they came of."""
    session = Told(
        {key: list(value) for key, value in (ends or {}).items()},
        dict(takes), dict(problems), stops,
    )  # fmt: skip
    monkeypatch.setattr(judge_notebook.time, "monotonic", lambda: session.now)
    monkeypatch.setattr(Grader, "session", lambda *_: session)
    monkeypatch.setattr(
        Grader, "judging", lambda self, exercise, total, *_: Judging(exercise, total, session)
    )
    exercises = {name: EXERCISES[name] for name in names} | dict(changed)
    plan = Plan([Cell(name, "def ...", "solution") for name in names], set(names))
    made = Grader(Lab({}, exercises, lambda _: cases, lambda *_: []), limits)
    found = made.grade(plan, None, session if turns is None else turns, **more)
    return {verdict.exercise.name: verdict for verdict in found}, session


def test_right_answers_take_one_room_visible_cases_first(monkeypatch):
    found, session = judged(monkeypatch)
    assert [(v.status, v.passed, v.total) for v in found.values()] == [("passed", 4, 4)] * 3
    assert session.rooms == [
        [(name, hidden) for hidden in (False, True) for name in NAMES for _ in range(2)],
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
    found, session = judged(monkeypatch, {("broadcast_from", hidden): [end]})
    assert {v.status for v in found.values()} == {"passed"}
    again = [room for room in session.rooms if room and room[0] == ("broadcast_from", False)]
    assert len(again) == 1 and again[0][:2] == [("broadcast_from", False)] * 2


@pytest.mark.parametrize("end", ["wrong", "error", "deadlock", "unanswered"])
def test_how_long_hidden_cases_take_is_not_in_what_is_told_of_visible_ones(monkeypatch, end):
    """A hidden case can sleep for its input's first element; what comes later can say the time."""
    for name in NAMES:
        found, session = judged(monkeypatch, {(name, False): [end] * 3})
        runs = [run for room in session.rooms for run in room]
        first = next(n for n, (_, hidden) in enumerate(runs) if hidden)
        assert found[name].status == end
        assert (name, False) not in runs[first:]


@pytest.mark.parametrize("end", ["wrong", "error", "deadlock"])
def test_what_fails_first_in_its_room_has_failed(monkeypatch, end):
    found, session = judged(monkeypatch, {("relay", False): [end]})
    assert [v.status for v in found.values()] == [end, "passed", "passed"]
    assert session.rooms[0] == [("relay", False)] and found["relay"].total == 4
    assert sum(("relay", False) in room for room in session.rooms) == 1


def test_who_comes_after_those_without_visible_cases_is_the_first_in_its_room(monkeypatch):
    found, session = judged(monkeypatch, {("relay", True): ["wrong"]}, cases=CASES[2:])
    assert [v.status for v in found.values()] == ["wrong", "passed", "passed"]
    assert session.rooms[0] == [("relay", True)]


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


@pytest.mark.parametrize("lost", [SessionLost("gone"), RoomLost("gone")])
def test_what_is_lost_once_in_a_sandbox_of_its_own_costs_nobody_a_point(monkeypatch, lost):
    """Memory was short, say, or it took longer to answer than anybody waits."""
    turns = judge_notebook.AlwaysFree()
    monkeypatch.setattr(judge_notebook, "_ALWAYS", turns)
    ends = {(name, False): [lost] for name in NAMES}
    found, session = judged(monkeypatch, ends, turns=turns, lone=True)
    assert {v.status for v in found.values()} == {"passed"}


@pytest.mark.parametrize("lost", [SessionLost("gone"), RoomLost("gone")])
def test_who_loses_each_sandbox_has_crashed_and_costs_nobody_else_a_point(monkeypatch, lost):
    turns = judge_notebook.AlwaysFree()
    monkeypatch.setattr(judge_notebook, "_ALWAYS", turns)
    ends = {("relay", False): [lost] * 9, ("broadcast_from", False): [lost] * 9}
    found, session = judged(monkeypatch, ends, turns=turns, lone=True)
    assert [v.status for v in found.values()] == ["crashed", "crashed", "passed"]
    assert [left for left in map(len, session.ends.values())] == [7, 7]


@pytest.mark.parametrize("lost", [SessionLost("gone"), RoomLost("gone")])
@pytest.mark.parametrize(("times", "status"), [(1, "passed"), (2, "crashed")])
def test_cells_that_were_lost_once_are_run_once_more(monkeypatch, lost, times, status):
    turns, left = judge_notebook.AlwaysFree(), [lost] * times
    monkeypatch.setattr(judge_notebook, "_ALWAYS", turns)

    def cells(*_):
        if left:
            raise left.pop()
        return {}

    monkeypatch.setattr(Told, "cells", cells)
    found, _ = judged(monkeypatch, turns=turns, lone=True)
    assert {v.status for v in found.values()} == {status} and not left


def test_in_a_sandbox_of_its_own_each_exercise_has_a_room(monkeypatch):
    _, session = judged(monkeypatch, lone=True)
    assert session.rooms[0] == [("relay", secret) for secret in (False, False, True, True)]


def test_one_exercise_alone_has_one_room(monkeypatch):
    _, session = judged(monkeypatch, names=["relay"])
    assert session.rooms == [[("relay", False)] * 2 + [("relay", True)] * 2, []]


def test_no_ranks_are_left_while_somebody_else_may_have_been_promised_the_machine_alone(
    monkeypatch,
):
    for ends in ({}, {("broadcast_from", False): ["wrong"]}, {("relay", True): ["timeout"] * 3}):
        _, session = judged(monkeypatch, ends)
        assert session.between == [] and not session.unasked


def test_nobody_who_wants_the_machine_alone_waits_for_all_exercises_of_another(monkeypatch):
    _, session = judged(monkeypatch, takes={"relay": 3, "broadcast_from": 3, "exchange": 1})
    visible = [(name, False) for name in NAMES for _ in range(2)]
    hidden = [(name, True) for name in NAMES for _ in range(2)]
    assert session.rooms == [visible[:4], [*visible[4:], *hidden[:4]], hidden[4:], []]
    assert session.between == []


def test_those_that_there_is_no_time_for_cost_those_before_them_nothing(monkeypatch):
    found, _ = judged(
        monkeypatch,
        takes={"relay": 1, "broadcast_from": 8, "exchange": 11},
        limits=Limits(seconds=35),
    )
    assert [v.status for v in found.values()] == ["passed", "passed", "timeout"]


def test_nobody_is_late_because_whoever_judges_was_stopped(monkeypatch):
    """Ctrl-Z and an hour later `fg`, say, or a virtual machine that was suspended."""
    found, _ = judged(
        monkeypatch, takes=dict.fromkeys(NAMES, 1), stops={"relay": 3600}, limits=Limits(seconds=30)
    )
    assert [v.status for v in found.values()] == ["passed", "passed", "passed"]


def test_what_takes_all_the_time_itself_is_judged_to_its_end(monkeypatch):
    found, _ = judged(monkeypatch, takes={"relay": 30}, limits=Limits(seconds=45))
    assert [v.status for v in found.values()] == ["passed", "timeout", "timeout"]


def test_what_comes_after_a_right_answer_takes_none_of_its_time(monkeypatch):
    slow = {"broadcast_from": 40, "exchange": 40}
    ends = {(name, False): ["timeout"] * 9 for name in slow}
    found, _ = judged(monkeypatch, ends, takes={"relay": 1, **slow}, limits=Limits(seconds=45))
    assert [v.status for v in found.values()] == ["passed", "timeout", "timeout"]


def test_when_the_time_is_over_nothing_is_judged_again_alone(monkeypatch):
    ends = {(name, False): ["timeout"] * 9 for name in NAMES}
    found, session = judged(
        monkeypatch, ends, takes=dict.fromkeys(NAMES, 40), limits=Limits(seconds=45)
    )
    assert {v.status for v in found.values()} == {"timeout"}
    assert session.turns.count("alone") == 1


def test_what_crashes_where_others_have_run_has_as_many_tries_by_itself_as_what_does_not(
    monkeypatch,
):
    found, _ = judged(monkeypatch, {("exchange", False): ["crashed", "crashed"]})
    assert {v.status for v in found.values()} == {"passed"}


def test_those_whose_messages_are_measured_share_no_room_with_others(monkeypatch):
    _, session = judged(monkeypatch, names=MIXED)
    measured = [[EXERCISES[name].measured for name, _ in room] for room in session.rooms]
    assert all(len(set(room)) < 2 for room in measured)
    secret = [hidden for room in session.rooms for _, hidden in room]
    assert secret == sorted(secret)  # visible cases of all come first here, too
    assert len(session.rooms) == 4


@pytest.mark.parametrize("own", [{"group": False}, {"needs": ("horovod",)}, {"forks": True}])
def test_an_exercise_that_is_about_processes_has_a_room_to_itself(monkeypatch, own):
    two = ["relay", "exchange"]
    changed = {name: replace(EXERCISES[name], **own) for name in two}
    _, session = judged(monkeypatch, changed=changed)
    for name in two:
        assert [(name, secret) for secret in (False, False, True, True)] in session.rooms


@pytest.mark.parametrize(("sizes", "rooms"), [((2, 2), 1), ((2, 3), 3), ((1, 1), 3), ((), 1)])
def test_an_answer_is_called_again_with_as_many_ranks_or_has_a_room_to_itself(
    monkeypatch, sizes, rooms
):
    cases = [*CASES[:2], *(Case(size, seed, hidden=True) for seed, size in enumerate(sizes))]
    _, session = judged(monkeypatch, cases=cases)
    assert len([room for room in session.rooms if room]) == rooms


def test_whoever_has_no_rooms_judges_one_exercise_after_the_other(monkeypatch):
    monkeypatch.setattr(Grader, "together", False)
    _, session = judged(monkeypatch)
    assert [room[0][0] for room in session.rooms if room] == NAMES


def test_what_ended_its_cells_process_is_not_run(monkeypatch):
    crashed = {"status": "crashed", "type": "SystemExit", "message": "the cell ended its process"}
    problems = {"exchange": crashed}
    found, session = judged(monkeypatch, problems=problems, turns=judge_notebook._ALWAYS)
    assert found["exchange"].status == "crashed"
    assert not any(name == "exchange" for room in session.rooms for name, _ in room)


KEEPING = """
KEPT = {}

def demo_checkpoint(rank, world_size, path):
    if world_size not in KEPT:
        KEPT[world_size] = dist.new_group()
    model = ToyModel()
    if rank == 0:
        torch.save(model.state_dict(), path)
    dist.barrier(KEPT[world_size])
    model.load_state_dict(torch.load(path, weights_only=True))
    return list(model.parameters())
"""
AVERAGING = """
def average_gradients(model):
    for parameter in model.parameters():
        if parameter.grad is not None:
            dist.all_reduce(parameter.grad)
            parameter.grad /= dist.get_world_size()
"""


def test_an_answer_that_keeps_a_group_for_each_number_of_ranks_does_not_pass(zygote):
    lab = "02-toy-model"
    judge = grader(lab, ["average_gradients", "demo_checkpoint"])
    content = handed_in(lab, average_gradients=AVERAGING, demo_checkpoint=KEEPING)
    averaged, kept = judge.grade(judge.plan(content), zygote)
    assert (averaged.status, kept.status) == ("passed", "error"), averaged.message


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


def right(lab, name):
    return next(one.source for one in answers(lab, name) if one.right)


@pytest.mark.parametrize("first", ["ring_reduce_scatter", "ring_all_gather"])
def test_a_right_answer_whose_tags_kept_connections_would_meet_loses_nothing(zygote, first):
    """`monitored_barrier` sends messages whose tags are calls of the back end, counted."""
    lab, names = "04-ring-allreduce", ["ring_reduce_scatter", "ring_all_gather"]
    names.sort(key=lambda name: name != first)
    sources = {name: right(lab, name) for name in names}
    (sources["ring_reduce_scatter"],) = [
        one.source for one in answers(lab, "ring_reduce_scatter") if "roll_call" in one.path.name
    ]
    judge = grader(lab, names)
    found = judge.grade(judge.plan(handed_in(lab, **sources)), zygote)
    assert [verdict.exercise.name for verdict in found] == names
    assert [verdict.status for verdict in found] == ["passed"] * 2, [v.message for v in found]


def test_whoever_shares_a_room_is_measured_alike(monkeypatch):
    unrecorded = replace(EXERCISES["exchange"], unrecorded=True)
    monkeypatch.setitem(EXERCISES, "exchange", unrecorded)
    found, session = judged(monkeypatch)
    assert {v.status for v in found.values()} == {"passed"}
    names = [{name for name, _ in room} for room in session.rooms if room]
    assert names.count({"exchange"}) == 1
    assert names.count({"relay", "broadcast_from"}) == 1 and len(names) == 2


def test_how_the_first_in_a_room_fails_has_nothing_to_do_with_connections_that_are_kept(
    monkeypatch,
):
    """That is final: in every run of it connections are new. Those after it are judged again."""
    kept = []
    run = Judging.judged

    def noted(self, cases):
        kept.append((self.exercise.name, getattr(self._session, "reuses", False)))
        return run(self, cases)

    def ended(self):
        self.reuses = False
        if self.rooms[-1]:
            self.rooms.append([])

    monkeypatch.setattr(Judging, "judged", noted)
    monkeypatch.setattr(Told, "end_room", ended)
    one, two, three = NAMES[:3]
    judged(monkeypatch, {(two, False): ["wrong", "wrong"]}, names=(one, two, three))
    assert kept == [
        (one, False), (two, True), (two, False), (three, False), (one, True), (three, True),
    ]  # fmt: skip


class InLanes:
    """Two lanes of two exercises each, whose sessions are `Told`; the second begins when the first
    is at work.

    Args:
        ends: as of `Told`.
    """

    PARTS = (["relay", "broadcast_from"], ["exchange", "gather_rows"])

    def __init__(self, monkeypatch, ends):
        self.runs, self._at_work, self._lanes = [], threading.Event(), Lanes(2)
        told = [Told({k: list(v) for k, v in ends.items()}, {}, {}) for _ in self.PARTS]
        judged = Judging.judged

        def noted(judging, cases):
            for case in cases:
                self.runs.append((told.index(judging._session), case.hidden))
            self._at_work.set()
            return judged(judging, cases)

        monkeypatch.setattr(Judging, "judged", noted)
        monkeypatch.setattr(
            Grader, "judging", lambda _, one, total, session, *__: Judging(one, total, session)
        )
        monkeypatch.setattr(Grader, "session", lambda grader, _: told[grader.lane])

    def grade(self, lane):
        names = self.PARTS[lane]
        of = course.exercises(LAB)
        grader = Grader(Lab({}, {n: of[n] for n in names}, lambda _: CASES, lambda *_: []))
        grader.lane = lane
        if lane:
            self._at_work.wait(60)
        every = [name for part in self.PARTS for name in part]
        plan = Plan([Cell(name, "def ...", "solution") for name in every], set(every))
        try:
            return grader.grade(plan, None, AlwaysThere(), lanes=self._lanes)
        except BaseException:
            self._lanes.end()
            raise

    def graded(self):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            return [pool.submit(self.grade, lane) for lane in (0, 1)]


class AlwaysThere:
    shared = alone = contextlib.nullcontext


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("end", ["passed", "wrong", "timeout", "tampered"])
@pytest.mark.parametrize("name", ["relay", "broadcast_from", "exchange", "gather_rows"])
def test_no_lane_runs_what_is_told_in_full_while_another_runs_hidden_cases(
    monkeypatch, name, end, hidden
):
    """A lock on a file that both can read would tell the other one what a hidden input is."""
    lanes = InLanes(monkeypatch, {(name, hidden): [end]})
    verdicts = [verdict for lane in lanes.graded() for verdict in lane.result()]
    assert len(verdicts) == 4
    first = next(at for at, (_, secret) in enumerate(lanes.runs) if secret)
    assert {lane for lane, secret in lanes.runs[:first] if not secret} == {0, 1}
    again = next((at for at in range(first, len(lanes.runs)) if not lanes.runs[at][1]), None)
    if again is not None:  # in rooms of their own, one lane after the other
        assert {lane for lane, secret in lanes.runs[:again] if secret} == {0, 1}
        assert len(list(itertools.groupby(lane for lane, _ in lanes.runs[again:]))) <= 2


@pytest.mark.parametrize("name", ["relay", "gather_rows"])
def test_who_waits_for_a_lane_that_has_ended_hears_of_it(monkeypatch, name):
    lanes = InLanes(monkeypatch, {(name, False): [SessionLost("gone")]})
    raised = [type(lane.exception()) for lane in lanes.graded()]
    assert sorted(raised, key=str) == sorted([SessionLost, LaneEnded], key=str)
