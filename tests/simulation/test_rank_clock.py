"""What a steady clock counts, and what it leaves out."""

import threading
import time

import pytest

from distlab.simulation.rank_clock import Clock


def test_the_machines_clock_is_the_monotonic_one():
    clock = Clock(steady=False)
    before = time.monotonic()
    assert before <= clock.now() <= time.monotonic()
    clock.wait_until(clock.now() + 0.02, clock.mark())
    assert time.monotonic() - before >= 0.02


def test_a_steady_clock_stands_still_while_its_thread_is_held_up():
    clock, lock = Clock(steady=True), threading.Lock()
    begun, before = clock.now(), time.monotonic()
    lock.acquire()
    threading.Timer(0.1, lock.release).start()
    with lock:
        assert time.monotonic() - before >= 0.09
    assert clock.now() - begun < 0.05


def test_it_counts_what_the_thread_computes():
    clock = Clock(steady=True)
    begun, before = clock.now(), time.thread_time()
    while time.thread_time() - before < 0.05:
        pass
    assert clock.now() - begun == pytest.approx(0.05, abs=0.01)


def test_after_a_wait_it_shows_the_moment_that_was_waited_for_however_late_it_is():
    clock = Clock(steady=True)
    begun, real = clock.mark(), time.monotonic()
    clock.wait_until(begun.shown + 0.05, begun)
    assert time.monotonic() - real >= 0.05
    assert clock.now() - begun.shown == pytest.approx(0.05, abs=0.01)


def test_what_a_wait_has_lasted_is_not_slept_again():
    """The real message was 100 ms late: the imitated one of 100 ms is through."""
    clock = Clock(steady=True)
    begun = clock.mark()
    time.sleep(0.1)
    real = time.thread_time(), time.monotonic()
    clock.wait_until(begun.shown + 0.1, begun)
    assert clock.now() - begun.shown == pytest.approx(0.1, abs=0.01)
    assert time.thread_time() - real[0] < 0.01


def test_it_is_never_set_back_behind_what_was_computed():
    clock = Clock(steady=True)
    begun = clock.mark()
    clock.wait_until(begun.shown - 1, begun)
    assert clock.now() >= begun.shown
