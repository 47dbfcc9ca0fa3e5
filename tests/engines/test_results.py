"""What is told of a run that did not end well."""

import copy
import dataclasses
import sys

import cloudpickle
import pytest
import torch
from recorded import event

from distlab.engines.exploring import Exploration, Explored
from distlab.engines.outcomes import Outcome, Run
from distlab.engines.results import AllSchedules, Result
from distlab.records.choices import Schedule
from distlab.records.deadlock import Deadlock, Wait
from distlab.records.events import (
    FAILED,
    FUTURE,
    INTERNAL,
    POSTED,
    RAISED,
    RETURNED,
    RUNNING,
    RankRecord,
)

cloudpickle.register_pickle_by_value(sys.modules[__name__])
POLLED = event(0, 0, "recv", peer=1, state=POSTED, flags=0, wait_begin=0.0, polls=3000)
LOST = event(0, 0, "barrier", state=FAILED, end=2.0, wait_end=2.0)
REFUSED = event(0, 0, "send", peer=1, state=FAILED, wait_begin=0.0)


def told(first: Outcome, record: RankRecord, second: str) -> str:
    """The story of a run of two ranks that was ended, of which the second did nothing."""
    records = [record, RankRecord(1, 2, RUNNING, begin=1.0)]
    run = Run([first, Outcome(1, second)], records, 8.0, 8.0, timed_out=True)
    return Result("f", run).story()


@pytest.mark.parametrize("progress", [RUNNING, RAISED])
def test_who_was_ended_when_its_peer_had_died_did_not_compute(progress):
    """It is killed before it tells what it has raised."""
    record = RankRecord(0, 2, progress, begin=1.0, events=[LOST])
    said = told(Outcome(0, "killed"), record, "crashed")
    assert "rank 0's barrier() at f:1 failed, because the process of rank 1 had ended" in said


def test_what_did_not_fit_is_told_of_a_run_that_has_ended_all_the_same():
    """Whether such a run ends is chance, and whether it is seen before it has."""
    conflict = Deadlock("mismatch", "rank 0's all_reduce() …", "Print them.", (), (0, 1))
    outcomes = [Outcome(rank, "returned", cloudpickle.dumps(2.0)) for rank in range(2)]
    records = [RankRecord(rank, 2, RETURNED, begin=1.0) for rank in range(2)]
    first, second, *rest = repr(Result("f", Run(outcomes, records, 1.0, 8.0, conflict))).split("\n")
    assert first == "All ranks returned, but rank 0's all_reduce() …" and second == "Print them."
    assert rest == ["rank 0 returned 2.0", "rank 1 returned 2.0"]


@pytest.mark.parametrize("status", ["killed", "crashed"])
def test_a_rank_that_hands_over_a_large_result_is_not_said_to_compute(status):
    said = told(Outcome(0, status), RankRecord(0, 2, RETURNED, begin=1.0), "returned")
    assert "computing" not in said and "in the middle" not in said and "returned" in said
    assert ("too large to be handed over" in said) == (status == "killed")


def test_a_run_of_one_rank_has_that_rank_alone():
    result = Result("f", Run([Outcome(0)], [RankRecord(0, 1)], 0.0, 1.0))
    with pytest.raises(IndexError, match="this run has rank 0 alone, and none is 1"):
        result[1]


def test_an_exception_without_a_text_has_no_colon():
    error = {"type": "Silent", "message": "", "frames": []}
    record = RankRecord(0, 2, RAISED, begin=1.0)
    assert "rank 0 raised Silent\n" in told(Outcome(0, "raised", error=error), record, "returned")


class Stubborn:
    """Can be sent, and not be made again in the process that shows it, as a DDP module."""

    def __reduce__(self):
        return int, ("no group",)


class Shy:
    def __repr__(self):
        raise RuntimeError("not before it is fitted")


@pytest.mark.parametrize(
    ("value", "why"), [(Stubborn(), "ValueError: invalid literal"), (Shy(), "RuntimeError: not")]
)
def test_what_cannot_be_shown_is_said_to_be_so(value, why):
    outcomes = [Outcome(0, "returned", cloudpickle.dumps(value))]
    result = Result("f", Run(outcomes, [RankRecord(0, 1, RETURNED, begin=1.0)], 1.0, 8.0))
    assert repr(result).startswith(f"rank 0 returned what cannot be shown here: {why}")


def test_who_is_proven_to_wait_in_backward_did_not_compute():
    flags = FUTURE | INTERNAL
    bucket = event(0, 0, "all_reduce", state=POSTED, flags=flags, wait_begin=0.0, api="backward")
    waits = (Wait(0, bucket, (1,), "needs rank 1 to call it too"),)
    records = [RankRecord(0, 2, RUNNING, begin=1.0, events=[bucket]), RankRecord(1, 2, RETURNED)]
    found = Deadlock("partial", "rank 0 waits in all_reduce …", "", waits, (0,))
    run = Run([Outcome(0), Outcome(1, "returned")], records, 1.0, 8.0, found)
    said = Result("f", run).story()
    assert "rank 0 was waiting in all_reduce inside backward() at f:1" in said
    assert "computing" not in said


def test_a_call_that_torch_refused_failed_by_itself():
    error = {"type": "ValueError", "message": "that is this rank itself", "frames": []}
    record = RankRecord(0, 2, RAISED, begin=1.0, events=[REFUSED])
    said = told(Outcome(0, "raised", error=error), record, "crashed")
    assert "rank 0 raised ValueError: that is this rank itself" in said


def test_who_asks_a_request_of_gloo_in_a_loop_is_told_that_it_has_to_wait():
    record = RankRecord(0, 2, RUNNING, begin=1.0, events=[POLLED])
    said = told(Outcome(0, "killed"), record, "returned")
    assert "had not ended after 8 s" in said and "stays False until wait()" in said


@dataclasses.dataclass
class Counted:
    """As a notebook defines it: it travels by value."""

    weights: torch.Tensor

    def twice(self):
        return Counted(2 * self.weights)


def schedules(*values):
    """What is made of runs of one rank that returned these values."""
    runs = [
        Run(
            [Outcome(0, "returned", cloudpickle.dumps(value))],
            [RankRecord(0, 1, RETURNED, begin=1.0)], 1.0, 8.0,
        )
        for value in values
    ]  # fmt: skip
    explored = [Explored(Schedule(), run) for run in runs]
    return AllSchedules("f", runs[0], Exploration(explored))


TEXT = "a text that is no name"


@pytest.mark.parametrize(
    "value",
    [
        torch.ones(3),
        [torch.ones(2, 2).t(), {"loss": torch.tensor(0.5, dtype=torch.bfloat16)}],
        torch.nn.Linear(2, 1),
        Counted(torch.ones(2)),
        torch.ones(2, dtype=torch.complex64).conj(),
        [TEXT, TEXT],
    ],
    ids=["tensor", "tree", "module", "own class", "conjugate", "text"],
)
def test_schedules_that_return_equal_values_end_in_the_same_way(value):
    """pickle has written down where tensors lie, and what of a list is one object."""
    other = copy.deepcopy(value) if value != [TEXT, TEXT] else [TEXT, "".join(list(TEXT))]
    assert cloudpickle.dumps(value) != cloudpickle.dumps(other)
    found = schedules(value, other)
    assert not found.others
    assert found.story().endswith("All end with the same results.")


def by_source(*ranks):
    """What a function returns that notes messages as they arrive."""
    return [{rank: (torch.tensor(rank), {rank, rank + 8}) for rank in ranks}, set(ranks)]


def test_the_order_in_which_dicts_and_sets_were_filled_is_no_difference():
    assert by_source(1, 9) == by_source(9, 1)
    assert not schedules(by_source(1, 9), by_source(9, 1)).others
    assert not schedules({(1,): by_source(1, 9)}, {(1,): by_source(9, 1)}).others
    assert schedules(by_source(1, 9), by_source(1, 2)).others
    assert schedules({1: 9, 9: 1}, {1: 1, 9: 9}).others


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (torch.ones(3), torch.zeros(3)),
        (torch.ones(3), torch.ones(3, dtype=torch.float64)),
        (torch.ones(4), torch.ones(2, 2)),
        (Counted(torch.ones(2)), Counted(torch.zeros(2))),
        (lambda: 1, lambda: 2),
    ],
    ids=["value", "dtype", "shape", "own class", "function"],
)
def test_schedules_that_return_different_values_do_not(one, other):
    assert len(schedules(one, other).others) == 1


def test_results_that_hold_themselves_are_compared_all_the_same():
    own: list = []
    own.append(own)
    assert not schedules(own, own).others
    assert schedules(own, []).others


def test_the_place_of_a_function_that_calls_itself_is_told_once():
    outer, inner = ({"function": "f", "line": n, "text": f"  f({n})", "file": ""} for n in (1, 2))
    error = {"type": "RecursionError", "message": "too deep", "frames": [outer, *[inner] * 11]}
    said = told(Outcome(0, "raised", error=error), RankRecord(0, 2, RAISED, begin=1.0), "returned")
    assert "too deep\n    f:1  f(1)\n    f:2  f(2)  (11 times)\nrank 1 returned" in said


def test_ranks_that_raised_the_same_are_told_in_one():
    def raised(rank, text):
        return Outcome(rank, "raised", error={"type": "E", "message": text, "frames": []})

    outcomes = [raised(0, "a"), raised(1, "b"), raised(2, "a"), Outcome(3, "returned")]
    records = [RankRecord(rank, 4, RAISED, begin=1.0) for rank in range(4)]
    said = Result("f", Run(outcomes, records, 1.0, 8.0)).story()
    assert said == "ranks 0 and 2 raised E: a\nrank 1 raised E: b\nrank 3 returned"
