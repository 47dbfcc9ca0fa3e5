"""Ranks that tell each other something wait for those that the machine holds up."""

import contextlib
import os
from types import SimpleNamespace

import pytest

from distlab import course
from distlab.course.lab02_toy_model import demo_checkpoint
from distlab.engines.runs import MOST_QUEUED
from distlab.processes import stopped
from distlab.rank import sharing


@pytest.fixture
def clock(monkeypatch, tmp_path):
    """One that goes on when somebody waits; notes come at the moments that a test says."""
    made = SimpleNamespace(now=1000.0, due={}, stop=0.0)
    monkeypatch.setenv("DISTLAB_RUN", str(tmp_path))

    def sleep(seconds):
        made.now += seconds + made.stop
        made.stop = 0.0
        for moment in [moment for moment in made.due if moment <= made.now]:
            (tmp_path / made.due.pop(moment)).write_text('"told"')

    fake = SimpleNamespace(monotonic=lambda: made.now, sleep=sleep)
    monkeypatch.setattr(sharing, "POLL", 0.25)
    monkeypatch.setattr(sharing, "time", fake)
    monkeypatch.setattr(stopped, "time", fake)
    monkeypatch.setattr(stopped, "_computed", lambda: 0.0)
    return made


def longest():
    """Seconds that a run may take before its watcher ends it."""
    deadlines = [e.deadline for lab in course.LABS for e in course.exercises(lab).values()]
    return (1 + MOST_QUEUED) * max(deadlines)


def test_who_waits_for_what_another_rank_tells_waits_as_long_as_any_run_may_last(clock):
    """Rank 0 holds lab 09's meetings, for which the others wait: on a busy machine for minutes."""
    clock.due[clock.now + longest() - 1] = "0.meeting"
    assert sharing.among_ranks("meeting", 1, 2, lambda: None) == ["told", None]


@pytest.mark.parametrize(("late", "heard"), [(1.0, True), (3.0, False)])
def test_the_time_in_which_all_were_suspended_is_not_waited_for(clock, late, heard):
    clock.stop, clock.due[clock.now + 3600.0 + late] = 3600.0, "0.subject"
    assert bool(sharing.Board(1, 2).awaited("subject", 2.0)) is heard


def test_no_rank_looks_for_a_checkpoint_before_the_others_are_there(clock, monkeypatch, tmp_path):
    """Rank 0 makes the folder, and was held up for ten seconds before that."""
    clock.due[clock.now + 10.0] = "0.before"
    begun = []

    def demo(rank, size, path):
        begun.append(os.path.exists(tmp_path / "0.before"))
        raise InterruptedError

    monkeypatch.setattr(demo_checkpoint, "_watching", lambda *_: contextlib.nullcontext([]))
    monkeypatch.setattr(demo_checkpoint, "starting_from", contextlib.nullcontext)
    with pytest.raises(InterruptedError):
        demo_checkpoint.exercise.call(demo, 1, 2, {"older": None, "weights": None})
    assert begun == [True]
