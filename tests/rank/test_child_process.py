"""Functions in processes of their own."""

import asyncio
import fcntl
import os
import resource
import select
import signal
import threading
import time

import pytest

from distlab.course.lab08_tensorflow_strategies import stall
from distlab.rank import child_process
from distlab.rank.sharing import Board


def test_a_process_returns_what_its_function_returns_and_has_another_number():
    assert child_process.call(lambda: [1, "two"]) == [1, "two"]
    assert child_process.call(os.getpid) != os.getpid()


def test_what_is_raised_there_is_told_here_by_type_message_and_line():
    def fails():
        raise KeyError("not there")

    with pytest.raises(child_process.Raised) as caught:
        child_process.call(fails)
    assert caught.value.described["type"] == "KeyError"
    assert caught.value.described["message"] == "'not there'"


def test_a_rank_may_have_more_files_open_than_select_takes():
    """As many as a notebook, whose limit its ranks have."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    try:
        far = fcntl.fcntl(0, fcntl.F_DUPFD, 1100)  # the lowest that is free from there
        with child_process.Process(lambda: 3) as process:
            os.dup2(process._reading, far)
            os.close(process._reading)
            process._reading = far
            assert process.ended(30) and process.result() == 3
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_process_that_ends_itself_has_died():
    with pytest.raises(child_process.Died):
        child_process.call(lambda: os._exit(0))


def test_a_process_that_dies_while_it_tells_what_it_returned_has_died():
    with child_process.Process(lambda: b"more than a pipe holds" * 10_000) as process:
        select.select([process._reading], [], [])
        os.kill(process.pid, signal.SIGKILL)
        while not process.ended(1.0):
            pass
        with pytest.raises(child_process.Died, match="in the middle"):
            process.result()


def test_a_process_that_returns_too_much_is_said_to_do_so(monkeypatch):
    monkeypatch.setattr(child_process, "LIMIT", 1 << 20)
    with pytest.raises(child_process.Died, match="more than 1 MB"):
        child_process.call(lambda: bytes(1 << 20))


def test_an_exception_that_is_no_ordinary_one_is_told_as_others_are():
    def stops():
        raise asyncio.CancelledError("enough")

    with pytest.raises(child_process.Raised, match="CancelledError: enough"):
        child_process.call(stops)


def test_a_process_is_gone_when_it_is_ended():
    with child_process.Process(lambda: time.sleep(60)) as process:
        assert not process.ended()
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)


def test_notes_of_ranks_are_seen_by_all_and_a_silent_rank_is_named(tmp_path):
    here, there = Board(0, 2, tmp_path), Board(1, 2, tmp_path)
    here.note("address", "a:1")
    with pytest.raises(TimeoutError, match="rank 1"):
        here.everybody("address", 0.05)
    there.note("address", "b:2")
    assert here.everybody("address", 1.0) == there.everybody("address", 1.0) == ["a:1", "b:2"]


def test_a_process_that_waits_for_ever_is_told_with_the_line_where_it_waits(tmp_path, monkeypatch):
    monkeypatch.setattr(stall, "STILL", 0.6)
    path = tmp_path / "place"

    def waits():
        stall.listen(path)
        time.sleep(60)

    Board(1, 2, tmp_path).note("ended", stall.RETURNED)
    with child_process.Process(waits) as process, pytest.raises(stall.Standstill) as caught:
        stall.wait(process, Board(0, 2, tmp_path), path)
    assert "rank 0 waits at waits:" in caught.value.described["message"]
    assert caught.value.described["frames"][0]["function"] == "waits"


def test_a_process_that_has_no_processor_at_once_says_where_it_stands(tmp_path):
    path, begun = tmp_path / "place", tmp_path / "begun"
    os.mkfifo(begun)

    def waits():
        stall.listen(path)
        begun.write_text("")
        time.sleep(60)

    with child_process.Process(waits) as process:
        begun.read_text()
        os.kill(process.pid, signal.SIGSTOP)
        threading.Timer(1.0, os.kill, (process.pid, signal.SIGCONT)).start()
        (frame,) = stall.place(process.pid, path)
    assert frame["function"] == "waits"


def test_nobody_is_said_to_wait_for_ever_as_long_as_nobody_has_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(stall, "STILL", 0.2)
    with child_process.Process(lambda: time.sleep(2)) as process:
        stall.wait(process, Board(0, 1, tmp_path), tmp_path / "place")
        assert process.result() is None


def test_who_waits_for_a_rank_that_has_returned_is_told_so(tmp_path, monkeypatch):
    monkeypatch.setattr(stall, "STILL", 0.6)
    Board(1, 2, tmp_path).note("ended", stall.RETURNED)
    path = tmp_path / "place"

    said = pytest.raises(stall.Standstill, match="rank 1 has returned")
    with child_process.Process(lambda: time.sleep(60)) as process, said:
        stall.wait(process, Board(0, 2, tmp_path), path)


def test_a_process_that_computes_is_not_at_rest_and_one_that_sleeps_is():
    def computes():
        while True:
            pass

    with (
        child_process.Process(computes) as busy,
        child_process.Process(lambda: time.sleep(60)) as idle,
    ):
        rests = [stall.Rest(busy.pid), stall.Rest(idle.pid)]
        deadline = time.monotonic() + 60
        while rests[1].seconds() < 1.5 and time.monotonic() < deadline:
            assert rests[0].seconds() < 1.5
            time.sleep(0.1)
        assert rests[1].seconds() >= 1.5
