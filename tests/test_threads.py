"""Who could still communicate while one thread of a rank waits."""

from __future__ import annotations

import contextlib
import io
import multiprocessing
import threading

import pytest
import tqdm

from distlab.threads import Threads


@contextlib.contextmanager
def running(call=lambda: None):
    """A thread that has done `call` and goes on until the block is left."""
    done, end = threading.Event(), threading.Event()

    def work():
        call()
        done.set()
        end.wait()

    thread = threading.Thread(target=work)
    thread.start()
    done.wait()
    try:
        yield
    finally:
        end.set()
        thread.join()


def test_a_thread_of_the_function_counts_while_it_lives_and_those_before_it_do_not():
    with running():
        threads = Threads()
        assert not threads.others()
        with running():
            assert threads.others()
        assert not threads.others()


def test_the_function_itself_counts_for_its_threads():
    threads, seen = Threads(), []
    with running(lambda: seen.append(threads.others())):
        assert seen == [True]


@pytest.mark.parametrize("library", ["tqdm", "queue"])
def test_threads_that_feed_queues_or_redraw_bars_do_not_count(library):
    threads, before = Threads(), threading.active_count()
    if library == "tqdm":
        kept = tqdm.tqdm(range(2), file=io.StringIO())
        iter(kept)
    else:
        kept = multiprocessing.get_context("spawn").Queue()
        kept.put(1)
    assert (
        threading.active_count() > before or library == "tqdm"
    )  # its monitor may be there already
    assert not threads.others()
    if library == "queue":
        kept.get()
        kept.close()
        kept.join_thread()


def test_a_timer_may_call_anything():
    threads, timer = Threads(), threading.Timer(60, print)
    timer.start()
    assert threads.others()
    timer.cancel()
