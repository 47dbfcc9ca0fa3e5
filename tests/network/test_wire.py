"""What ranks send each other is seen where they cannot change it."""

import inspect

import pytest
import torch
import wired

from distlab import course
from distlab.checking.judge_notebook import Grader
from distlab.exercises.exercise import Exercise
from distlab.network import gloo
from grader import coursedir
from grader.judging import demo
from grader.sandbox import choose, configured

MEASURED = [lab for lab in course.LABS if any(e.measured for e in course.exercises(lab).values())]


@pytest.fixture(scope="module")
def room():
    """To listen to another version of torch, name it in `gloo.KNOWN` first."""
    if not gloo.known(torch.__version__):
        pytest.skip(f"nobody has listened to torch {torch.__version__} yet")
    with wired.Wired() as made:
        yield made


@pytest.mark.parametrize("size", [2, 5])
@pytest.mark.parametrize("name", wired.HONEST)
def test_nothing_is_held_against_honest_ranks(room, name, size):
    if name == "all_to_all" and torch.__version__ < "2.13":
        pytest.skip("gloo has no all-to-all of lists before torch 2.13")
    run = room.run(name, size)
    assert run.ok, run.outcomes
    assert run.seen is not None and run.seen.lost == 0
    assert run.seen.doubts == []


@pytest.mark.parametrize("name", wired.DISHONEST)
def test_what_was_not_recorded_or_not_sent_is_found(room, name):
    said, _ = wired.DISHONEST[name]
    run = room.run(name)
    assert run.ok, run.outcomes
    assert any(said in one for one in run.seen.doubts), run.seen


def test_the_groups_of_the_run_before_do_not_count_among_the_processes_of_the_next(room):
    """Each has threads of its own, and 64 of these are all that a submission may have."""
    runs = [room.run("groups", 5) for _ in range(6)]
    assert all(run.ok and not run.seen.doubts for run in runs), [run.finding for run in runs]


def test_a_message_is_seen_with_its_ends_and_its_size(room):
    assert room.run("blocking", 4).seen.messages == {(0, 1, 16): 1, (1, 2, 16): 1, (2, 3, 16): 1}


def test_a_collective_is_seen_as_what_it_is(room):
    seen = room.run("broadcast and reduce", 2).seen
    assert set(seen.calls) == {(0, 1, "broadcast"), (1, 0, "broadcast"), (0, 1, "reduce"),
                               (1, 0, "reduce")}  # fmt: skip
    assert seen.volumes[0, 1, "broadcast"] == 16 and not seen.messages


@pytest.mark.parametrize("lab", MEASURED)
def test_a_harness_that_pauses_the_recorder_says_so(lab):
    for exercise in course.exercises(lab).values():
        module = inspect.getmodule(exercise.call)
        own = module is not inspect.getmodule(Exercise)
        pauses = own and "recording.paused" in inspect.getsource(module)
        assert exercise.unrecorded == (pauses and exercise.measured), exercise.id


@pytest.mark.long
@pytest.mark.slow  # the hidden cases of every exercise with rules, each lab in a sandbox of its own
@pytest.mark.parametrize("lab", MEASURED)
def test_what_solutions_record_is_what_they_send(lab):
    sandbox = choose(configured())
    measured = {name: e for name, e in course.exercises(lab).items() if e.measured}
    judge = Grader(coursedir.lab(lab, measured), sandbox.limits, sandbox.walls)
    with sandbox.zygote() as source:
        verdicts = judge.grade(judge.plan(demo.handed_in("ada", lab)), source)
    assert {v.exercise.name: v.message for v in verdicts} == dict.fromkeys(measured, "")
    assert all(v.run.seen is not None and not v.run.seen.doubts for v in verdicts)
