"""Verdicts on programs that really hang, silence on those that are only slow."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from programs import hanging, remarked, right

TESTS = Path(__file__).parents[1]
SOON = 1.0  # seconds from the last rank blocking to the verdict


def observed(which: str, *options: str) -> dict[str, dict]:
    """Run all programs of a kind on real ranks; what came of each, by name."""
    # a process of its own, because ranks are forked from one that has run no torch operation
    done = subprocess.run(
        [sys.executable, "-m", "programs.runner", which, *options],
        cwd=TESTS, capture_output=True, text=True, timeout=300,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    seen = [json.loads(line) for line in done.stdout.splitlines()]
    return {one["name"]: one for one in seen}


@pytest.fixture(scope="module")
def hung():
    return observed("hanging", "--soon", str(SOON))


@pytest.fixture(scope="module")
def went_well():
    return observed("right", "--seed", "7")


@pytest.fixture(scope="module")
def with_remarks():
    return observed("remarked")


def names(programs):
    return [pytest.param(program, id=program.name) for program in programs]


@pytest.mark.slow  # starts torch, and real ranks hang
@pytest.mark.parametrize("program", names(hanging.PROGRAMS))
def test_a_hanging_program_gets_its_verdict_within_a_second(hung, program):
    seen = hung[program.name]
    assert seen["kind"] == program.kind, seen
    missing = {place for place in program.places if place not in seen["message"]}
    assert not missing, seen["message"]
    assert 0 <= seen["lag"] < SOON


@pytest.mark.slow  # starts torch, and real ranks are late
@pytest.mark.parametrize("program", names(right.PROGRAMS))
def test_a_right_program_is_never_accused(went_well, program):
    seen = went_well[program.name]
    assert seen["kind"] is None, seen["message"]
    assert set(seen["statuses"]) == {"returned"}, seen["errors"]


@pytest.mark.slow  # starts torch and real ranks
@pytest.mark.parametrize("program", names(remarked.PROGRAMS))
def test_a_run_that_ended_gets_the_remarks_it_deserves(with_remarks, program):
    seen = with_remarks[program.name]
    assert seen["kind"] is None, seen["message"]
    assert sorted(kind for kind, _ in seen["remarks"]) == sorted(program.kinds), seen["remarks"]


@pytest.mark.slow  # starts torch and real ranks
def test_right_programs_draw_no_remark_but_the_one_that_asks_for_it(went_well):
    drawn = {name: {kind for kind, _ in s["remarks"]} for name, s in went_well.items()
             if "timeout" not in name}  # fmt: skip
    drawn = {name: kinds for name, kinds in drawn.items() if kinds}
    assert drawn == {"sender_that_returns_early": {"not-waited"}}


@pytest.mark.slow  # starts torch, and real ranks hang
@pytest.mark.parametrize("program", names(hanging.PROGRAMS))
def test_the_wait_for_graph_of_a_verdict_has_every_stuck_rank(hung, program):
    seen = hung[program.name]
    for place in program.places - program.told_alone:
        assert any(place in wait for wait in seen["waits"]), seen


def test_there_are_enough_programs_to_mean_something():
    assert len(hanging.PROGRAMS) >= 30 and len(right.PROGRAMS) >= 25
    assert {p.kind for p in hanging.PROGRAMS} == {
        "cycle", "ended", "partial", "order", "mismatch", "message-size", "tag", "new_group",
        "waited-twice",
    }  # fmt: skip
