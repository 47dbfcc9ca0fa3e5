"""All schedules that exist are run, each once, as every interleaving of a machine shows them."""

from __future__ import annotations

import random

import pytest
import simulated
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from distlab.engines.exploring import IMPOSSIBLE, Explorer, nearest, parting, told
from distlab.records.choices import Schedule

SIZE = 4
others = st.integers(0, SIZE - 1)
tags = st.sampled_from([0, 0, 0, 1])
simple = st.one_of(
    st.tuples(st.sampled_from(["send", "isend"]), others, tags),
    st.tuples(st.sampled_from(["recv", "irecv"]), st.none() | st.none() | others, tags),
    st.tuples(st.just("wait")),
    st.tuples(st.just("reduce")),
)
branches = st.tuples(
    st.just("if"), others, st.lists(simple, max_size=2).map(tuple),
    st.lists(simple, max_size=2).map(tuple),
)  # fmt: skip
scripts = st.lists(st.lists(simple | branches, max_size=4).map(tuple), min_size=2, max_size=SIZE)


def sound(script, rank, size):
    """The script without messages to oneself and to ranks that there are not."""
    kept = []
    for op in script:
        if op[0] == "if":
            kept.append((*op[:2], sound(op[2], rank, size), sound(op[3], rank, size)))
        elif len(op) == 1 or op[1] is None or (op[1] != rank and op[1] < size):
            kept.append(op)
    return tuple(kept)


class Explored:
    """The outcomes of all schedules that an `Explorer` runs of some scripts."""

    def __init__(self, program, seed, buffered):
        self.chance, self.program = random.Random(seed), program
        self.outcomes, self.impossible = [], 0
        first = self._run(Schedule())
        self.found = Explorer(self._run, buffered=buffered).explore(first)

    def _run(self, schedule):
        run, outcome = simulated.run(self.program, self.chance, schedule)
        if run.finding is not None and run.finding.kind == IMPOSSIBLE:
            self.impossible += 1
        else:
            self.outcomes.append(outcome)
        return run


def compare(program, seed):
    # nobody can tell which message a receive took that is never waited for: wait for all
    waits = (("wait",),) * 4
    program = [(*sound(script, rank, len(program)), *waits) for rank, script in enumerate(program)]
    exist = simulated.every_outcome(program)
    assume(exist is not None)
    plain = Explored(program, seed, buffered=False)
    assert set(plain.outcomes) == exist
    matchings = [frozenset(one.schedule.values.items()) for one in plain.found.explored]
    assert len(matchings) == len(set(matchings)) and plain.found.complete
    return program, exist


HUNG_BEFORE_ITS_WAIT = [
    (("irecv", None, 0), ("recv", 3, 0)), (), (("send", 0, 0),), (("send", 0, 0),)
]  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(scripts, st.integers(0, 1000))
def test_all_outcomes_of_all_interleavings_are_found_and_no_others(program, seed):
    compare(program, seed)


@settings(max_examples=100, deadline=None)
@example(HUNG_BEFORE_ITS_WAIT, 0)
@given(scripts, st.integers(0, 1000))
def test_what_only_buffered_sends_allow_is_found_as_well(program, seed):
    program, exist = compare(program, seed)
    more = simulated.every_outcome(program, buffered=True)
    assume(more is not None)
    found = set(Explored(program, seed, buffered=True).outcomes)
    assert exist <= found <= exist | more
    if all(all(ended) for _, ended in exist):  # else a hang is told, whatever buffers let through
        assert more <= found


FAN_IN = [
    (("recv", None, 0),) * 3,
    (("send", 0, 0),),
    (("send", 0, 0),),
    (("send", 0, 0),),
]
ORDERED = [  # rank 3 sends to rank 0 only when rank 2 has received from it, after rank 1
    (("recv", None, 0), ("recv", None, 0)),
    (("send", 0, 0), ("send", 2, 0)),
    (("recv", 1, 0), ("recv", 3, 0)),
    (("send", 2, 0), ("send", 0, 0)),
]
INDEPENDENT = [  # two receivers, whose four combinations are told apart; no order of them is
    (("recv", None, 0), ("recv", None, 0), ("reduce",)),
    (("recv", None, 0), ("recv", None, 0), ("reduce",)),
    (("isend", 0, 0), ("isend", 1, 0), ("wait",), ("wait",), ("reduce",)),
    (("isend", 1, 0), ("isend", 0, 0), ("wait",), ("wait",), ("reduce",)),
]


@pytest.mark.parametrize(("program", "schedules"), [(FAN_IN, 6), (INDEPENDENT, 4), (ORDERED, 1)])
def test_schedules_are_counted_by_the_messages_that_receives_get(program, schedules):
    explored = Explored(program, 3, buffered=False)
    assert len(explored.found.explored) == schedules and explored.impossible == 0
    assert explored.found.complete


def test_without_a_choice_one_run_is_said_to_be_proof():
    explored = Explored([(("send", 1, 0),), (("recv", 0, 0),)], 1, buffered=True)
    assert len(explored.outcomes) == 1
    assert explored.found.coverage().startswith("One run is proof for all")


def test_a_budget_is_kept_and_what_is_left_is_told():
    chance = random.Random(1)

    def run(schedule):
        return simulated.run(FAN_IN, chance, schedule)[0]

    found = Explorer(run, most=3).explore(run(Schedule()))
    assert len(found.explored) == 3 and found.left >= 1 and not found.complete
    assert "at least" in found.coverage()


def test_where_two_schedules_part_is_told():
    found = Explored(FAN_IN, 5, buffered=False).found
    by_name = {one.name: one for one in found.explored}
    wrong = by_name["2-3-1"]
    right = nearest(wrong, [by_name["1-2-3"], by_name["2-1-3"]])
    assert right.name == "2-1-3" and parting(wrong, right).number == 1
    assert "takes the message of rank 3 before that of rank 1" in told(wrong, right)


def test_a_schedule_is_run_again_by_its_name():
    chance = random.Random(2)
    for _ in range(10):
        _, outcome = simulated.run(FAN_IN, chance, Schedule.named("3-1-2"))
        assert outcome[0][0] == (3, 1, 2)
