"""A rank that waits in no recorded operation is told with its line, one that computes is not."""

import _thread
import multiprocessing
import queue
import subprocess
import sys
import threading

import cloudpickle
import pytest
import torch.distributed as dist

from distlab import Ranks
from distlab.rank import standing
from distlab.rank.recorder import Recorder
from distlab.rank.standing import Moment
from distlab.records import reading
from distlab.records.wording import stuck

cloudpickle.register_pickle_by_value(sys.modules[__name__])


def waits_for_a_dead_thread(rank, size):
    if rank == 0:
        while True:
            sum(range(1000))
    lock = threading.Lock()
    thread = threading.Thread(target=lock.acquire)
    thread.start()
    thread.join()
    lock.acquire()  # here


@pytest.mark.slow  # a run that lasts until its deadline
def test_a_rank_that_waits_for_a_lock_is_told_with_its_line(ranks):
    result = Ranks(2, deadline=6).run(waits_for_a_dead_thread, may_fail=True)
    first = waits_for_a_dead_thread.__code__.co_firstlineno
    told = result.story()
    assert (
        f"rank 1 stood still at {waits_for_a_dead_thread.__name__}:{first + 8}: it did not compute"
        in told
    )
    assert f"rank 0 was computing at {waits_for_a_dead_thread.__name__}:{first + 3}" in told


@pytest.mark.parametrize("stands", [True, False])
def test_where_a_function_has_waited_in_an_operation_is_not_told_once_that_has_ended(
    tmp_path, stands
):
    record = Recorder(tmp_path / "0.rec", 0, 2)
    record.started()
    at = record.begin("barrier", 0)
    record.wait_begin(at, blocking=True)
    record._seen((b"f", 3, 14, b"barrier"), stands)
    record.finish(at, waited=True)
    assert stuck(reading.read(tmp_path / "0.rec")) == "was computing"
    record._seen((b"f", 4, 20, b""), stands)
    assert " at f:4" in stuck(reading.read(tmp_path / "0.rec"))


HERE = (b"f", 3, 14, b"")
START = Moment(HERE, 100.0, 7.0, 2.0, 40)


def after(had, queued, turns, wants=False, place=HERE):
    """A second later: so much of a processor and of waiting for one, in so many turns."""
    return Moment(place, 101.0, 7.0 + had, 2.0 + queued, 40 + turns, wants)


@pytest.mark.parametrize(
    "moment",
    [
        pytest.param(after(0, 0, 0), id="a lock"),
        pytest.param(after(0.003, 0.001, 96), id="looks every 10 ms"),
        pytest.param(after(0.002, 0.15, 87), id="looks every 10 ms on a busy machine"),
        pytest.param(after(0.004, 0.81, 332, wants=True), id="looks all the time on a busy one"),
    ],
)
def test_whoever_waits_stands_still_on_a_busy_machine_too(moment):
    assert moment.stands_since(START)


@pytest.mark.parametrize(
    "moment",
    [
        pytest.param(after(0.98, 0, 20, wants=True), id="a processor of its own"),
        pytest.param(after(0.2, 0.8, 67, wants=True), id="one of ten"),
        pytest.param(after(0.02, 0.975, 7, wants=True), id="one of fifty"),
        pytest.param(after(0.03, 0.5, 12), id="one of fifty, and a pause"),
        pytest.param(after(0, 0, 0, wants=True), id="none at all"),
        pytest.param(after(0, 0, 1, place=(b"f", 3, 20, b"")), id="elsewhere"),
        pytest.param(after(0, 0, 1, place=None), id="no code of the student's"),
    ],
)
def test_whoever_computes_does_not_stand_still_however_little_it_gets(moment):
    assert not moment.stands_since(START)


def waits_for_a_key(rank, size):
    if rank:
        dist.distributed_c10d._get_default_store().wait(["never set"])  # here
    while True:
        sum(range(1000))


def spins():
    while True:
        pass


@pytest.mark.slow  # a run that lasts until its deadline, while eight others compute
def test_a_store_that_is_waited_for_is_told_on_a_busy_machine():
    two = Ranks(2, deadline=5)
    two.run(print)
    others = [multiprocessing.Process(target=spins, daemon=True) for _ in range(8)]
    try:
        for other in others:
            other.start()
        told = two.run(waits_for_a_key, may_fail=True).story()
    finally:
        for other in others:
            other.kill()
            other.join()
    line = waits_for_a_key.__code__.co_firstlineno + 2
    assert f"rank 1 stood still at waits_for_a_key:{line}" in told
    assert "rank 0 was computing" in told


def meets_nobody(rank, size):
    if rank:
        dist.destroy_process_group()
        dist.init_process_group("gloo", init_method="tcp://127.0.0.1:0", rank=0, world_size=2)


@pytest.mark.slow  # a run that lasts until its deadline
def test_a_rank_that_meets_nobody_is_told_to_stand_in_init_process_group():
    told = Ranks(2, deadline=6).run(meets_nobody, may_fail=True).story()
    line = meets_nobody.__code__.co_firstlineno + 3
    assert f"rank 1 stood still in init_process_group at {meets_nobody.__name__}:{line}" in told


class Run:
    """A run whose function is found so at one look after the other."""

    def __init__(self, *moments):
        self._moments, self.noted = iter(moments), []

    def moment(self):
        return next(self._moments, START)

    def note(self, place, stands):
        self.noted.append((place, stands))


def test_no_run_is_compared_with_the_one_before_it(monkeypatch):
    monkeypatch.setattr(standing._Looks, "_look", lambda looks: None)  # the test itself looks
    looks, first, second = standing._Looks(), Run(START, after(0, 0, 0)), Run(START, after(0, 0, 0))
    looks.begin(first)
    looks._look_once()
    looks._look_once()
    looks.end(first)
    looks._look_once()
    looks.begin(second)
    looks._look_once()
    assert (first.noted, second.noted) == ([(HERE, False), (HERE, True)], [(HERE, False)])
    looks._look_once()
    assert second.noted == [(HERE, False), (HERE, True)]


def test_who_goes_on_is_no_longer_told_to_stand_still(monkeypatch):
    monkeypatch.setattr(standing._Looks, "_look", lambda looks: None)
    looks, run = standing._Looks(), Run(START, after(0, 0, 0), after(0.98, 0, 20, wants=True))
    looks.begin(run)
    for _ in range(3):
        looks._look_once()
    assert run.noted == [(HERE, False), (HERE, True), (HERE, False)]


def test_runs_that_follow_each_other_share_a_thread_that_ends_with_the_last(monkeypatch):
    paused, goes_on, ended = queue.Queue(), queue.Queue(), threading.Event()

    class Looks(standing._Looks):
        def _goes_on(self):
            there = super()._goes_on()
            if not there:
                ended.set()
            return there

    def pause(seconds):
        paused.put(_thread.get_ident())
        goes_on.get(timeout=60)

    monkeypatch.setattr(standing, "_pause", pause)
    looks, first, second, third = Looks(), Run(), Run(), Run()
    looks.begin(first)
    looking = paused.get(timeout=60)
    looks.end(first)
    looks.begin(second)
    goes_on.put(None)
    assert paused.get(timeout=60) == looking
    looks.end(first)  # once more: that is not the run which goes on
    goes_on.put(None)
    assert paused.get(timeout=60) == looking
    looks.end(second)
    goes_on.put(None)
    assert ended.wait(60)
    looks.begin(third)
    paused.get(timeout=60)  # another thread has begun
    looks.end(third)
    goes_on.put(None)


def test_a_look_that_fails_ends_its_thread_and_the_next_run_has_another(monkeypatch):
    monkeypatch.setattr(standing, "_pause", lambda seconds: None)
    monkeypatch.setattr(sys, "unraisablehook", lambda told: failed.set())
    looked, failed = queue.Queue(), threading.Event()

    class Fails:
        def moment(self):
            looked.put(self)
            raise OSError("no such task")

    looks, first, second = standing._Looks(), Fails(), Fails()
    looks.begin(first)
    assert looked.get(timeout=60) is first and failed.wait(60)
    looks.end(first)
    looks.begin(second)
    assert looked.get(timeout=60) is second
    looks.end(second)


LOOKED_AT = """
import gc, math, threading
from distlab.rank.standing import Standing

class Kept:
    def __init__(self):
        self.local, self.own = threading.local(), self
        self.local.value = 0

standing = Standing(math.inf, lambda frame: None, print)
for _ in range(3):
    gc.collect()
    gc.disable()
    due = [dict(a=1) for _ in range(gc.get_threshold()[0] + 100)]
    Kept()
    dicts = [{} for _ in range(10)]
    del dicts  # a dict is at hand without an allocation: the next is that of a frame
    gc.enable()
    standing.moment()
    del due
print(gc.isenabled())
gc.disable()
standing.moment()
print(gc.isenabled())
"""


def test_a_look_while_a_thread_local_is_collected_does_not_wait_for_itself():
    told = subprocess.run(
        [sys.executable, "-c", LOOKED_AT], timeout=60, capture_output=True, text=True
    )
    assert told.stdout == "True\nFalse\n", told.stderr
