"""Who could still communicate while one thread of a rank waits."""

from __future__ import annotations

import _thread
import concurrent.futures
import contextlib
import gc
import io
import multiprocessing
import signal
import threading
import weakref

import pytest
import tqdm

from distlab.rank.recorder import Recorder
from distlab.rank.threads import Threads


@pytest.fixture
def counted():
    """What was last told: (agents, callbacks that wait)."""
    told = [(0, 0)]
    threads = Threads(lambda *counts: told.append(counts))
    threads.begin()
    yield told
    threads.close()


@contextlib.contextmanager
def running():
    """A thread that goes on until the block is left."""
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    try:
        yield
    finally:
        end.set()
        thread.join()


def test_a_thread_counts_from_its_start_to_its_end_and_those_before_do_not(counted):
    with running():
        assert counted[-1] == (1, 0)
        with running():
            assert counted[-1] == (2, 0)
        assert counted[-1] == (1, 0)
    assert counted[-1] == (0, 0)


def test_a_thread_of_before_does_not_count():
    told = []
    with running():
        threads = Threads(lambda *counts: told.append(counts))
        threads.begin()
    threads.close()
    assert told == []


@pytest.mark.parametrize("library", ["tqdm", "queue"])
def test_threads_that_feed_queues_or_redraw_bars_do_not_count(counted, library):
    before = threading.active_count()
    if library == "tqdm":
        kept = tqdm.tqdm(range(2), file=io.StringIO())
        iter(kept)
    else:
        kept = multiprocessing.get_context("spawn").Queue()
        kept.put(1)
    assert (
        threading.active_count() > before or library == "tqdm"
    )  # its monitor may be there already
    assert counted[-1] == (0, 0)
    if library == "queue":
        kept.get()
        kept.close()
        kept.join_thread()


def test_a_timer_may_call_anything_and_so_may_a_function_of_torch(counted):
    import torch.distributed as dist

    for call in (print, dist.send):
        timer = threading.Timer(60, call)
        timer.start()
        assert counted[-1] == (1, 0)
        timer.cancel()
        timer.join()


def test_a_callback_counts_as_waiting_until_its_operation_ends_and_then_until_it_has_run():
    told = []
    threads = Threads(lambda *counts: told.append(counts))
    seen = []
    call = threads.callback(7, lambda future: seen.append(told[-1]))
    assert told[-1] == (0, 1)
    threads.ends(7)
    assert told[-1] == (1, 0)
    foreign = _thread.start_new_thread  # as a back end's threads are
    done = threading.Event()
    foreign(lambda: (call(None), done.set()), ())
    assert done.wait(10) and seen == [(1, 0)] and told[-1] == (0, 0)
    late = threads.callback(7, lambda future: seen.append(told[-1]))
    assert told[-1] == (1, 0)
    late(None)  # at once, on the thread that has added it
    assert seen[-1] == told[-1] == (0, 0)


@contextlib.contextmanager
def ended_at(agents):
    """A thread that ends when so many agents count, and what has been told until then."""
    told, end = [], threading.Event()

    def changed(*counts):
        told.append(counts[0])
        if counts[0] == agents and len(told) > 1:
            end.set()

    threads = Threads(changed)
    threads.begin()
    thread = threading.Thread(target=end.wait, args=(10,))
    thread.start()
    try:
        yield thread, end, told
    finally:
        end.set()
        thread.join()
        threads.close()


def test_who_joins_a_thread_does_not_count_until_that_has_ended():
    with ended_at(0) as (first, _, told):
        second = threading.Thread(target=first.join)
        second.start()
        second.join()
        # both threads, less those that join: the second joins the first, and this one the second
        assert sorted(told[:4]) == [0, 1, 1, 2] and told[3] == 0
        assert told[4:] == [0, 0], "each that ends lets another go on"


def test_a_join_that_can_end_before_its_thread_counts():
    with ended_at(-1) as (thread, end, told):
        thread.join(0.01)
        previous = signal.signal(signal.SIGUSR1, lambda *_: None)
        try:
            threading.Timer(0.05, end.set).start()
            thread.join()
        finally:
            signal.signal(signal.SIGUSR1, previous)
    assert min(told[:-1]) >= 1


@pytest.fixture
def raised():
    """What was last told of a thread's exception."""
    told = [None]

    def note(error):
        if taken := "gloo" not in str(error):
            told.append(error)
        return taken

    threads = Threads(lambda *counts: None, raised=note)
    threads.begin()
    yield told
    threads.close()


def fails():
    raise ZeroDivisionError("beside")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_what_a_thread_raises_is_told(raised):
    thread = threading.Thread(target=fails)
    thread.start()
    thread.join()
    assert str(raised[-1]) == "beside"


@pytest.mark.parametrize("ask", ["result", "exception"])
def test_what_a_call_given_to_an_executor_raises_is_told_until_somebody_asks(raised, ask):
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        done, failed = pool.submit(len, ""), pool.submit(fails)
        concurrent.futures.wait([done, failed])
        assert str(raised[-1]) == "beside"
        assert done.result() == 0 and str(raised[-1]) == "beside"
        with contextlib.suppress(ZeroDivisionError):
            getattr(failed, ask)()
        assert raised[-1] is None


def test_what_is_asked_for_is_told_no_more_though_others_failed_of_it(raised):
    cause, consequence = concurrent.futures.Future(), concurrent.futures.Future()
    cause.set_exception(ZeroDivisionError("the cause"))
    consequence.set_exception(RuntimeError("gloo: connection closed"))
    with contextlib.suppress(ZeroDivisionError):
        cause.result()
    assert raised[-1] is None


class Large:
    """What a call holds when it fails."""


def test_what_a_call_that_failed_had_in_its_hands_goes_with_the_run():
    threads = Threads(lambda *counts: None)
    threads.begin()
    future, large = concurrent.futures.Future(), Large()
    future.set_exception(ZeroDivisionError(large))
    gone = weakref.ref(large)
    gc.disable()
    try:
        del future, large
        threads.close()
        assert gone() is None
    finally:
        gc.enable()


def test_a_future_holds_a_class_of_exceptions_as_without_us(tmp_path):
    record = Recorder(tmp_path / "0.rec", 0, 1)
    record.started()
    try:
        future = concurrent.futures.Future()
        future.set_exception(ZeroDivisionError)
        with pytest.raises(ZeroDivisionError):
            future.result()
    finally:
        record.closed()


def test_a_thread_that_has_ended_goes_as_soon_as_nobody_holds_it(raised):
    thread = threading.Thread(target=len, args=("",))
    thread.start()
    thread.join()
    gone = weakref.ref(thread)
    gc.disable()
    try:
        del thread
        assert gone() is None
    finally:
        gc.enable()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("function", [lambda: None, lambda: _thread.exit()])
def test_a_thread_that_returns_or_exits_tells_nothing(raised, function):
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()
    assert raised == [None]
