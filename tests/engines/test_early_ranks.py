"""Ranks that are forked before their source has imported everything: who may use them."""

import os
import sys
import threading

import cloudpickle
import pytest
import torch
import torch.distributed as dist

from distlab import Ranks, check
from distlab.checking.check import CheckFailed
from grader.coursedir import LABS

cloudpickle.register_pickle_by_value(sys.modules[__name__])


def opened_by_a_thread(gate, after=None):
    """Have the gate opened, once somebody writes to the pipe `after`."""

    def open_it():
        if after is not None:
            open(after).close()
        open(gate, "w").close()

    thread = threading.Thread(target=open_it, daemon=True)
    thread.start()
    return thread


def is_complete(rank, size):
    return "imported_late" in sys.modules


def is_complete_and_trains(rank, size):
    torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], 0.1)
    return "imported_late" in sys.modules


def test_a_function_that_needs_little_is_run_at_once(gate):
    assert list(Ranks(2).run(is_complete)) == [False, False]
    open(gate, "w").close()


def test_a_function_that_trains_waits_for_what_each_rank_would_import_for_itself(gate):
    thread = opened_by_a_thread(gate)
    assert list(Ranks(2).run(is_complete_and_trains)) == [True, True]
    thread.join()


@pytest.fixture
def begun(tmp_path, monkeypatch):
    """Named to the answers below: a pipe that says that an early rank has begun."""
    monkeypatch.chdir(LABS / "01-message-passing")
    path = tmp_path / "begun"
    os.mkfifo(path)
    return str(path)


def test_an_answer_is_not_said_to_be_wrong_for_what_an_early_rank_lacks(gate, begun, capsys):
    def exchange(rank, size, tensor):
        if "imported_late" not in sys.modules:
            open(begun, "w").close() if rank == 0 else None
            raise AttributeError("module 'torch.distributed' has no attribute 'nn'")
        received = torch.empty_like(tensor)
        requests = [dist.isend(tensor, rank ^ 1), dist.irecv(received, rank ^ 1)]
        for request in requests:
            request.wait()
        return received

    thread = opened_by_a_thread(gate, after=begun)
    check(exchange)
    assert "exchange passed its" in capsys.readouterr().out
    thread.join()


def test_what_fails_on_complete_ranks_too_has_failed(gate, begun):
    def exchange(rank, size, tensor):
        if "imported_late" not in sys.modules:
            open(begun, "w").close() if rank == 0 else None
        raise AttributeError("of its own")

    thread = opened_by_a_thread(gate, after=begun)
    with pytest.raises(CheckFailed) as failed:
        check(exchange)
    assert "of its own" in failed.value.verdict.message
    thread.join()
