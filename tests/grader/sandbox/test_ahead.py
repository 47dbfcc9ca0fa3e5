"""The sandbox that is tried out, and the zygote that imports, before anybody asks for them."""

import threading

import pytest

from distlab.processes.isolation import Limits
from grader import sandbox as sandboxes
from grader.judging.local import LocalJudges
from grader.sandbox import NoSandbox, Sandbox, cgroup
from grader.sandbox.ahead import Ahead


class Begun:
    """What stands for a zygote."""

    alive = True

    def __init__(self):
        self.closed = 0

    def close(self):
        self.closed += 1


@pytest.fixture
def begun(monkeypatch):
    """The zygotes that were begun, with the modules that they import."""
    found = []

    def zygote(self, more=()):
        found.append((more, Begun()))
        return found[-1][1]

    monkeypatch.setattr(Sandbox, "zygote", zygote)
    monkeypatch.setattr(sandboxes, "choose", lambda _: Sandbox("stands for one", walls=True))
    return found


def test_judges_take_the_zygote_that_was_begun_and_only_once(begun):
    ahead = Ahead(lambda: ())
    judges = LocalJudges(sandboxes.configured(), ahead=ahead)
    sandbox = judges.ready()
    taken = [judges._zygote(sandbox, ()) for _ in range(2)]
    assert taken == [one for _, one in begun]
    ahead.close()
    assert [one.closed for one in taken] == [0, 0]  # they are the judges'
    judges.close()
    assert [one.closed for one in taken] == [1, 1]


def test_a_zygote_with_other_modules_is_begun_anew_and_the_first_ends_with_ahead(begun):
    ahead = Ahead(lambda: ("tensorflow",))
    judges = LocalJudges(sandboxes.configured(), ahead=ahead)
    judges._zygote(judges.ready(), ())
    assert [more for more, _ in begun] == [("tensorflow",), ()]
    ahead.close()
    ahead.close()
    assert [one.closed for _, one in begun] == [1, 0]


def test_where_nothing_is_to_be_judged_no_zygote_is_begun(begun):
    ahead = Ahead(lambda: None)
    assert ahead.tried()[0].name == "stands for one" and ahead.zygote(()) is None and not begun


def test_one_that_would_be_begun_after_the_end_is_not(begun):
    asked, closed = threading.Event(), threading.Event()

    def wanted():
        asked.set()
        closed.wait(60)
        return ()

    ahead = Ahead(wanted)
    asked.wait(60)
    ahead.close()
    closed.set()
    assert ahead.zygote(()) is None and not begun


def test_who_asks_hears_that_no_sandbox_works(begun, monkeypatch):
    def choose(_):
        raise NoSandbox("none")

    monkeypatch.setattr(sandboxes, "choose", choose)
    ahead = Ahead(lambda: ())
    with pytest.raises(NoSandbox, match="none"):
        LocalJudges(sandboxes.configured(), ahead=ahead).ready()
    assert ahead.zygote(()) is None and not begun


def test_a_zygote_that_does_not_begin_is_begun_by_who_needs_it(begun, monkeypatch):
    def wanted():
        raise OSError("no memory")

    ahead = Ahead(wanted)
    judges = LocalJudges(sandboxes.configured(), ahead=ahead)
    assert judges._zygote(judges.ready(), ()) is begun[0][1]


def test_groups_are_made_before_a_zygote_is_in_the_one_that_is_divided(begun, monkeypatch):
    begun_then = []
    monkeypatch.setattr(cgroup, "find", lambda: begun_then.append(len(begun)))
    monkeypatch.setattr(sandboxes, "choose", lambda _: Sandbox("one", limits=Limits(), walls=True))
    ahead = Ahead(lambda: ())
    judges = LocalJudges(sandboxes.configured(), ahead=ahead)
    judges._zygote(judges.ready(), ())
    assert begun_then == [0] and len(begun) == 1


def test_one_that_has_ended_meanwhile_is_not_taken_and_closed_in_the_end(begun):
    ahead = Ahead(lambda: ())
    judges = LocalJudges(sandboxes.configured(), ahead=ahead)
    ahead._begun.join()
    begun[0][1].alive = False
    assert judges._zygote(judges.ready(), ()) is begun[1][1]
    ahead.close()
    assert begun[0][1].closed == 1
