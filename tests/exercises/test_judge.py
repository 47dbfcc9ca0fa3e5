"""What a verdict says."""

import types
from dataclasses import replace

import numpy as np
import pytest
from recorded import event

from distlab import course
from distlab.engines.outcomes import Outcome, Run
from distlab.exercises import judge, traffic, unfinished
from distlab.exercises.exercise import Case
from distlab.exercises.sources import Sources
from distlab.processes import payload
from distlab.records import events


@pytest.mark.parametrize(
    ("left", "said"),
    [
        (60.0, "after 60 s"),
        (59.7, "after 60 s"),
        (0.1, "when the 60 s that all cases have were over"),
    ],
)
def test_a_case_that_is_late_because_of_others_before_is_told_so(left, said):
    exercise, run = types.SimpleNamespace(deadline=60.0), types.SimpleNamespace(deadline=left)
    assert unfinished._late(exercise, run) == said


@pytest.mark.parametrize(
    ("flags", "when"),
    [(events.BLOCKING, "in another thread"), (0, "before it had waited for the request")],
)
def test_a_tensor_that_changed_on_its_way_is_told_by_the_kind_of_its_send(flags, when):
    sent = event(0, 0, "send", peer=1, flags=flags | events.CHANGED | events.WAITED)
    look = types.SimpleNamespace(events=lambda *ops: [sent])
    assert f"{when}: what then arrives" in (traffic.sends_unchanged(look) or "")


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("inside", [False, True])
def test_a_rank_whose_process_ended_in_an_operation_is_told_of_room(inside, hidden):
    """gloo ends a process to which more comes than it has room for."""
    waits = [event(0, 0, "all_to_all", state=events.POSTED)] * inside
    records = [
        events.RankRecord(0, 2, events.RUNNING, events=waits),
        events.RankRecord(1, 2, events.RETURNED),
    ]
    outcomes = [Outcome(0, "crashed"), Outcome(1, "returned", payload.encode(1.0))]
    run = Run(outcomes, records, 1.0, 10.0)
    exercise = course.exercises("11-long-sequences-and-experts")["dispatch_combine"]
    verdict = unfinished.judged(exercise, Case(2, hidden=hidden), run, Sources())
    assert verdict.status == "crashed"
    assert ("middle of all_to_all() at" in verdict.happened) == inside
    assert ("has room for" in verdict.look) == inside
    assert "os._exit" in verdict.look


@pytest.mark.parametrize("status", ["killed", "crashed"])
@pytest.mark.parametrize("hidden", [False, True])
def test_of_a_result_that_is_too_large_to_hand_over_nobody_says_that_the_rank_computes(
    status, hidden
):
    record = events.RankRecord(0, 1, events.RETURNED, computes="f:3")
    run = Run([Outcome(0, status)], [record], 60.0, 60.0, timed_out=status == "killed")
    exercise = course.exercises("04-ring-allreduce")["ring_time"]
    verdict = unfinished.judged(exercise, Case(1, hidden=hidden), run, Sources())
    assert "computes" not in verdict.happened and "in the middle" not in verdict.happened
    said = "hands over what the function returned" if status == "killed" else "had returned"
    assert said in verdict.happened and "large" in verdict.look


class Returned(Run):
    """A run of which each rank returned its number, after so many seconds."""

    def __init__(self, size, seconds):
        returned = [Outcome(r, "returned", payload.encode(float(r))) for r in range(size)]
        super().__init__(returned, [], seconds, 10.0)


def in_goes(goes, took=3.0, right=lambda case: True):
    """The verdict of cases in so many goes, and the seconds that each run had left."""
    left = []

    def run(exercise, case, sent, seconds):
        left.append(seconds)
        return Returned(case.size, took)

    def reference(exercise, case):
        return [float(rank) if right(case) else -1.0 for rank in range(case.size)]

    exercise = replace(
        course.exercises("01-message-passing")["relay"], rules=(), traffic=(), hints=(),
        schedules=False,
    )  # fmt: skip
    judging = judge.Judging(exercise, sum(map(len, goes)), reference, run)
    return [judging.judged(cases) for cases in goes][-1], left


VISIBLE, HIDDEN = [Case(2), Case(4)], [Case(2, 7, hidden=True), Case(3, 8, hidden=True)]


def test_cases_that_are_judged_in_several_goes_share_the_time_of_the_exercise():
    for goes in ([VISIBLE + HIDDEN], [VISIBLE, HIDDEN]):
        verdict, left = in_goes(goes)
        assert left == pytest.approx([10.0, 7.0, 4.0, 1.0]), verdict.message


def stopped_in(*stops, took=(0.1,) * 9):
    """The verdict on runs that were stopped for so long, none of them right in a stop; and the
    seconds that each had left.
    """
    told, left = iter(zip(stops, took, strict=False)), []

    def run(exercise, case, sent, seconds):
        left.append(seconds)
        stop, took = next(told)
        made = Returned(case.size, took)
        made.stopped, made.timed_out = stop, stop > 0
        made.outcomes[0].status = "killed" if stop else "returned"
        made.records = [events.RankRecord(rank, case.size) for rank in range(case.size)]
        return made

    exercise = replace(
        course.exercises("01-message-passing")["relay"], rules=(), traffic=(), hints=(),
        schedules=False,
    )  # fmt: skip
    judging = judge.Judging(exercise, 2, lambda _, case: [0.0, 1.0], run)
    return judging.judged([Case(2), Case(2)]), left


def test_what_failed_while_the_machine_was_suspended_is_tried_again_with_all_its_time():
    verdict, left = stopped_in(3600.0, 0.0, 0.0, took=[8.0, 2.0, 1.0])
    assert verdict.status == "passed", verdict.message
    assert left == pytest.approx([10.0, 10.0, 8.0])


def test_what_fails_in_every_stop_has_failed_in_the_end():
    verdict, left = stopped_in(60.0, 60.0, 60.0)
    assert verdict.status == "timeout" and len(left) == 1 + judge.AGAIN


def test_a_failure_in_a_short_stop_is_one():
    verdict, left = stopped_in(0.2)
    assert verdict.status == "timeout" and len(left) == 1


@pytest.mark.parametrize("wrong", [None, 0, 1])
def test_a_verdict_in_two_goes_is_that_in_one(monkeypatch, wrong):
    told = []
    for goes in ([VISIBLE + HIDDEN], [VISIBLE, HIDDEN]):
        clock = iter(range(100))
        monkeypatch.setattr(judge.time, "monotonic", lambda clock=clock: next(clock))
        verdict, _ = in_goes(goes, right=lambda case: wrong is None or case is not HIDDEN[wrong])
        told.append((verdict.status, verdict.passed, verdict.total, verdict.case, verdict.happened))
        assert verdict.seconds == len(goes)  # those of all goes
    assert told[0] == told[1]
    assert told[0][1:3] == (4 if wrong is None else 2 + wrong, 4)


@pytest.mark.parametrize(
    ("changes", "polls_in_vain"),
    [
        ({"polls": 500}, True),
        ({"polls": 1}, False),  # asked, and gone on to something else
        ({"polls": 500, "seen": 501}, False),
        ({"polls": 500, "op": "all_reduce"}, False),  # which gloo ends by itself
    ],
)
def test_a_loop_on_a_message_that_is_never_completed_is_told_from_other_loops(
    changes, polls_in_vain
):
    begun = event(0, 0, changes.pop("op", "recv"), state=events.POSTED, **changes)
    record = events.RankRecord(0, 1, events.RUNNING, events=[begun])
    said = unfinished._slow(types.SimpleNamespace(records=[record]), [0])
    assert ("is_completed()" in said) == polls_in_vain
    assert ("does not end" in said) != polls_in_vain


@pytest.mark.parametrize(
    ("stands", "waits"), [(("f:3", "f:3"), True), (("f:3", ""), False), (("", ""), False)]
)
def test_ranks_that_stand_at_a_store_or_a_lock_are_not_told_of_loops(stands, waits):
    records = [
        events.RankRecord(rank, 2, events.RUNNING, stands=at) for rank, at in enumerate(stands)
    ]
    said = unfinished._slow(types.SimpleNamespace(records=records), [0, 1])
    assert ("waits for something" in said) == ("HashStore" in said) == waits
    assert ("does not end" in said) != waits


@pytest.mark.parametrize(
    ("hidden", "begins"),
    [(False, "ring_time(n_bytes=8, size=2, latency=0.5, bandwidth=4.0)"),
     (True, "In a hidden case, ring_time")],
)  # fmt: skip
@pytest.mark.parametrize("raises", [False, True])
def test_a_formula_is_told_by_its_call_and_not_by_ranks(hidden, begins, raises):
    error = {"type": "KeyError", "message": "1", "frames": []} if raises else None
    status = "raised" if raises else "returned"
    outcome = Outcome(0, status, payload.encode(9.0), error=error)
    run = Run([outcome], [events.RankRecord(0, 1, events.RETURNED)], 1.0, 10.0)
    exercise = course.exercises("04-ring-allreduce")["ring_time"]
    given = {"n_bytes": 8, "size": 2, "latency": 0.5, "bandwidth": 4.0}
    case = Case(1, params=given, hidden=hidden)
    if raises:
        verdict = unfinished.judged(exercise, case, run, Sources())
    else:
        verdict = judge._wrong(exercise, case, [given], [3.0], run, Sources())
    assert verdict.happened.startswith(f"{begins} {status}")


@pytest.mark.parametrize(
    ("texts", "hidden", "said"),
    [
        ("aaa", False, "ranks 0, 1 and 2 raised ValueError: a."),
        ("aba", False, "ranks 0 and 2 raised ValueError: a, and rank 1 raised ValueError: b."),
        ("abc", False, "rank 0 raised ValueError: a, and ranks 1 and 2 raised something else."),
        ("aba", True, "ranks 0, 1 and 2 raised ValueError (its text is not shown: it can quote"),
    ],
)
def test_ranks_that_raised_something_else_are_not_said_to_have_raised_the_same(texts, hidden, said):
    outcomes = [
        Outcome(r, "raised", error={"type": "ValueError", "message": text, "frames": []})
        for r, text in enumerate(texts)
    ]
    run = Run(outcomes, [events.RankRecord(r, 3) for r in range(3)], 1.0, 10.0)
    exercise = course.exercises("01-message-passing")["relay"]
    verdict = unfinished.judged(exercise, Case(3, hidden=hidden), run, Sources())
    assert said in verdict.happened


def test_of_a_buffer_that_is_used_again_nothing_is_said_about_its_values():
    """Each rank's rows are right, so every hint on wrong ones would be untrue."""
    exercise = course.exercises("11-long-sequences-and-experts")["sequence_parallel_mlp"]
    case = Case(2, 1, {"n": 2, "d": 3, "hidden": 4})
    rows = [np.full((2, 3), float(rank), "float32") for rank in range(2)]

    def calls(rank):
        return [event(rank, at, op) for at, op in enumerate(("all_gather", "reduce_scatter"))]

    run = Run(
        [Outcome(rank, "returned", payload.encode(rows[rank])) for rank in range(2)],
        [events.RankRecord(rank, 2, events.RETURNED, events=calls(rank)) for rank in range(2)],
        1.0, 10.0, overwritten=True,
    )  # fmt: skip
    verdict = judge._wrong(exercise, case, exercise.inputs(case), rows, run, Sources())
    assert verdict.happened.startswith("What an earlier call had returned was changed")
    assert not verdict.hint and not verdict.look


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"n": 5, "lr": 2.0, "rate": 1e9}, "n 5, lr 2, rate 1000000000"),
        ({"older_file": True, "leaf": False, "killed": None}, "older file, no leaf"),
        ({"file": "from a GPU", "calls": [[0.0, None]]}, "file from a GPU, calls [[0, None]]"),
        ({"names": ["a", "b"], "steps": [[8, "whole"], [9, "no index"]]},
         "names [a, b], steps [8 whole, 9 no index]"),
        ({"cases": ["equal, large", "shape"]}, "cases [equal, large; shape]"),
        ({"models": [{"widths": [3, 5], "bytes": 1}, {"bytes": 2}]},
         "models [widths [3, 5], bytes 1; bytes 2]"),
    ],
)  # fmt: skip
def test_a_message_tells_of_a_visible_case_its_parameters_in_words(params, said):
    assert Case(4, 0, params).told() == f"on 4 ranks ({said})"


def test_a_message_tells_of_a_hidden_case_the_number_of_ranks_alone():
    visible = Case(2, 0, {"dst": 1})
    assert visible.told() == "on 2 ranks (dst 1)" and visible.told(begins=True)[:2] == "On"
    hidden = Case(1, 0, {"dst": 1, "causal": True}, hidden=True)
    assert hidden.told() == "in a hidden case on 1 rank" and hidden.told(begins=True)[:2] == "In"
