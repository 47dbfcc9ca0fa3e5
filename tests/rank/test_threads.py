"""Who could still communicate while one thread of a rank waits."""

from __future__ import annotations

import _thread
import contextlib
import io
import multiprocessing
import threading

import pytest
import tqdm

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
