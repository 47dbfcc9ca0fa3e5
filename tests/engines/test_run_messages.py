"""A run that comes from behind a wall is believed only where it can be one."""

import math

import pytest

from distlab.engines import run_files, run_messages
from distlab.engines.outcomes import Finding, Outcome, Run
from distlab.network.seen import Seen
from distlab.processes import payload


def sent(**told):
    """A run of two ranks that says so of itself, as it arrives."""
    outcomes = told.pop("outcomes", [Outcome(rank, "returned", b"1") for rank in range(2)])
    run = Run(outcomes, [], told.pop("seconds", 1.0), told.pop("deadline", 8.0), **told)
    return run_messages.unpack(payload.unpack(b"".join(run_messages.parts(run))))


def test_a_run_arrives_as_it_was():
    run = sent(queued=0.5, stopped=2.0, timed_out=True, causes=[[(1.0, "set", "a key")], []])
    assert run.ok and run.size == 2 and run.timed_out
    assert (run.seconds, run.deadline, run.queued, run.stopped) == (1.0, 8.0, 0.5, 2.0)
    assert run.causes == [[(1.0, "set", "a key")], []]
    assert [outcome.output for outcome in run.outcomes] == [b"1", b"1"]


def test_a_finding_or_a_doubt_is_text_that_a_file_can_hold():
    endless = "\ud800" * (run_messages.LONGEST + 1)
    run = sent(finding=Finding("cycle", "a", endless), hindsight=Finding("tag", endless))
    assert run.finding == Finding("cycle", "a", "?" * run_messages.LONGEST)
    assert run.hindsight == Finding("tag", "?" * run_messages.LONGEST)
    assert sent(seen=Seen(doubts=[endless])).seen.doubts == ["?" * run_messages.LONGEST]
    with pytest.raises(ValueError):
        sent(finding=Finding("cycle", "a", {"a": 1}))


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("of", ["seconds", "deadline", "queued", "stopped"])
def test_a_time_that_no_deadline_can_be_reckoned_with_is_none(of, number):
    with pytest.raises(ValueError, match="finite"):
        sent(**{of: number})


@pytest.mark.parametrize(
    "told",
    [
        {"outcomes": [Outcome(0, "returned", seconds=math.nan)]},
        {"outcomes": [Outcome(0, "returned", printed=[1])]},
        {"outcomes": [Outcome(0, "raised")]},
        {"outcomes": [Outcome(0, "asleep")]},
        {"causes": [[(math.nan, "set", "a key")]]},
        {"causes": [[(10**400, "set", "a key")]]},
        {"causes": [[(1.0, "set")]]},
    ],
    ids=str,
)
def test_what_no_run_says_is_none(told):
    with pytest.raises(ValueError):
        sent(**told)


@pytest.mark.parametrize("line", ["[1e400, 1, 2]", f"[{10**400}, 1, 2]", "[" * 10**5, "{", "[1]"])
def test_what_a_rank_wrote_instead_of_a_cause_is_passed_over(tmp_path, line):
    path = tmp_path / "0.causes"
    path.write_text(f'{line}\n[1.5, "set", "a key"]\n')
    assert run_files._causes(str(path)) == [(1.5, "set", "a key")]
