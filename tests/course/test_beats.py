"""Ranks that tell how much time they have had."""

import math
import os
import threading

import pytest

from distlab.course.lab04_ring_allreduce import beats
from distlab.rank.sharing import Board


class _Pauses:
    """Beats that come when a test lets them."""

    def __init__(self):
        self.begun, self._go = threading.Semaphore(0), threading.Semaphore(0)

    def __call__(self, seconds):
        self.begun.release()
        assert self._go.acquire(timeout=20)

    def go_on(self):
        self._go.release()

    def wait(self):
        assert self.begun.acquire(timeout=20)


@pytest.fixture
def pauses(monkeypatch):
    pauses = _Pauses()
    monkeypatch.setattr(beats, "_pause", pauses)
    yield pauses
    pauses.go_on()


def test_a_rank_beats_while_it_goes_on_and_has_had_all_time_once_it_has_ended(tmp_path, pauses):
    one = beats.Beats(Board(0, 2, tmp_path))
    with one.beating():
        pauses.wait()
        assert one.counted() == {0: 1.0, 1: 0.0}
        pauses.go_on()
        pauses.wait()
        assert one.counted() == {0: 2.0, 1: 0.0}
    assert one.counted() == {0: math.inf, 1: 0.0}


def test_nothing_is_noted_any_more_once_the_function_has_ended(tmp_path, pauses, monkeypatch):
    """A note that is pinned up while the run's folder is removed would keep the folder."""
    one, ended = beats.Beats(Board(0, 1, tmp_path)), threading.Event()
    beat = one._beat
    monkeypatch.setattr(one, "_beat", lambda: (beat(), ended.set()))
    with one.beating():
        pauses.wait()
    for note in tmp_path.iterdir():
        note.unlink()
    pauses.go_on()
    assert ended.wait(20)
    assert list(tmp_path.iterdir()) == []


def test_a_fork_of_the_function_that_ends_does_not_end_the_beats_of_its_rank(tmp_path, pauses):
    one = beats.Beats(Board(0, 1, tmp_path))
    beating = one.beating()
    with beating:
        pauses.wait()
        child = os.fork()
        if not child:
            beating.__exit__(None, None, None)
            os._exit(0)
        os.waitpid(child, 0)
        assert one.counted() == {0: 1.0}
