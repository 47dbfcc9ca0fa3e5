"""Time in which a process did nothing itself is no time that others had."""

import socket
import time

import pytest

from distlab.processes import framing, stopped


class Clock:
    """Goes on by as much as the test says at each look."""

    def __init__(self, *steps):
        self.now, self.had, self._steps = 1000.0, 0.0, list(steps)

    def monotonic(self):
        self.now += self._steps.pop(0) if self._steps else 0.0
        return self.now


@pytest.fixture
def watched(monkeypatch):
    def watched(*steps):
        clock = Clock(0.0, 0.0, *steps)
        monkeypatch.setattr(stopped, "time", clock)
        monkeypatch.setattr(stopped, "_computed", lambda: clock.had)
        monkeypatch.setattr(stopped, "_threads", stopped._Threads())
        return clock, stopped.Stopwatch()

    return watched


def test_what_passes_between_two_looks_beyond_the_usual_is_a_stop(watched):
    _, watch = watched(0.25, 0.25, 3600.0, 0.25)
    told = [watch.seconds() for _ in range(4)]
    assert told == pytest.approx([0.25, 0.5, 0.5 + stopped.USUAL, 0.75 + stopped.USUAL])
    assert watch.stopped == pytest.approx(3600.0 - stopped.USUAL)


def test_who_computes_is_not_stopped(watched):
    clock, watch = watched(7.0)
    clock.had += 7.0
    assert watch.seconds() == pytest.approx(7.0) and watch.stopped == 0.0


def test_stops_before_a_stopwatch_was_started_are_none_of_its_own(watched):
    _, first = watched(0.25, 60.0)
    first.seconds()
    later = stopped.Stopwatch()
    assert later.stopped == 0.0 < first.stopped


def test_what_does_not_come_is_given_up_after_so_many_seconds():
    ours, theirs = socket.socketpair()
    begin = time.monotonic()
    with ours, theirs, pytest.raises(TimeoutError, match="within 0.3 s"):
        stopped.await_readable(ours, 0.3)
    assert time.monotonic() - begin >= 0.3


def test_an_answer_and_the_end_of_who_should_give_one_are_both_heard():
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            theirs.sendall(b"x")
            stopped.await_readable(ours, 0.1)
            assert ours.recv(1) == b"x"
        stopped.await_readable(ours, 0.1)
        assert ours.recv(1) == b""


@pytest.mark.parametrize(("after", "heard"), [(8, True), (80, False)])
def test_who_is_stopped_longer_than_it_waits_waits_on(watched, monkeypatch, after, heard):
    """For ten seconds, four looks in each, of which a machine that is suspended takes nothing."""
    _, _ = watched(0.25, 0.25, 3600.0, *[0.25] * 100)
    looks = iter([[]] * after)

    def readable(connections, timeout):
        return next(looks, connections) if timeout else []

    monkeypatch.setattr(framing, "readable", readable)
    if heard:
        stopped.await_readable(None, 10.0)
        return
    with pytest.raises(TimeoutError):
        stopped.await_readable(None, 10.0)
