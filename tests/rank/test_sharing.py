"""Ranks that tell each other something wait for those that the machine holds up."""

import contextlib
import json
import os
from types import SimpleNamespace

import pytest
from torch.utils.data import DataLoader, Subset

from distlab import course
from distlab.course.lab02_toy_model import demo_checkpoint
from distlab.course.lab07_horovod import make_loader, train_epoch
from distlab.course.lab09_when_it_breaks import save_sharded
from distlab.engines.watching import MOST_QUEUED
from distlab.exercises.exercise import Case
from distlab.processes import stopped
from distlab.rank import sharing


@pytest.fixture
def clock(monkeypatch, tmp_path):
    """One that goes on when somebody waits; notes come at the moments that a test says."""
    made = SimpleNamespace(now=1000.0, due={}, stop=0.0, told='"told"')
    monkeypatch.setenv("DISTLAB_RUN", str(tmp_path))

    def sleep(seconds):
        made.now += seconds + made.stop
        made.stop = 0.0
        for moment in [moment for moment in made.due if moment <= made.now]:
            (tmp_path / made.due.pop(moment)).write_text(made.told)

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


def test_who_comes_to_no_meeting_is_waited_for_once(clock, monkeypatch, tmp_path):
    """Rank 0 hangs in its first save, and the other has five meetings before it is told so."""
    clock.told, clock.due[clock.now] = json.dumps(str(tmp_path)), "0.folder"
    monkeypatch.setattr(save_sharded, "_join", lambda *_: None)
    begun, inputs = clock.now, save_sharded.exercise.make(Case(2, 0, {"lengths": [5, 3]}))[1]
    save_sharded.exercise.call(lambda *_: None, 1, 2, inputs)
    assert clock.now - begun < 2 * 50 * save_sharded.DELAY


def test_a_loader_is_judged_by_what_workers_saw_that_the_machine_held_up(clock, monkeypatch):
    clock.due[clock.now + 12.0], clock.told = "1.seen", "[3, 4, 5]"
    monkeypatch.setattr(make_loader, "initialised", lambda *_: None)

    def loader(dataset, batch_size):
        return DataLoader(Subset(dataset, range(3)), batch_size)

    got = make_loader.exercise.call(loader, 0, 2, {"n": 6, "batch_size": 2})
    assert got["number of samples seen by all workers"] == 6
    before = clock.now  # and who was given no loader keeps nobody waiting
    assert make_loader.exercise.call(lambda *_: None, 1, 2, {"n": 6, "batch_size": 2})
    assert sharing.Board(0, 2).notes("seen") == {0: "[0, 1, 2]", 1: "[]"}
    assert clock.now == before


def test_a_mean_over_all_workers_is_right_though_the_machine_held_one_up(clock, monkeypatch):
    monkeypatch.setattr(train_epoch, "_heard_others", lambda rank: True)
    clock.due[clock.now + 12.0], clock.told = "1.losses", "4.0"
    assert train_epoch._own(3.0, [1.0, 3.0], 0, 2) == 2.0


def test_who_called_no_collective_waits_for_nobodys_losses(clock, monkeypatch):
    monkeypatch.setattr(train_epoch, "_heard_others", lambda rank: False)
    before = clock.now
    assert train_epoch._own(3.0, [1.0, 3.0], 0, 2) == 3.0 and clock.now == before


@pytest.mark.parametrize("returned", [2.0, None, "nothing"])
def test_whoever_returned_something_else_keeps_nobody_waiting(clock, returned):
    train_epoch._own(returned, [1.0, 3.0], 1, 2)
    assert sharing.Board(0, 2).notes("losses") == {1: "2.0"}
