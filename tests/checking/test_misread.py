"""A message that is received as another dtype than it was sent is told as the cause."""

import sys

import cloudpickle
import pytest
import torch
import torch.distributed as dist

from distlab import Ranks, check
from distlab.checking.check import CheckFailed
from distlab.engines.results import RunFailed
from distlab.records import redaction
from grader.coursedir import LABS

cloudpickle.register_pickle_by_value(sys.modules[__name__])


@pytest.fixture(autouse=True)
def lab(monkeypatch):
    monkeypatch.chdir(LABS / "01-message-passing")
    monkeypatch.setattr(sys.modules["distlab.checking.check"], "_references", {})


def failed(answer):
    """The verdict on a wrong answer."""
    with pytest.raises(CheckFailed) as found:
        check(answer)
    return found.value.verdict


def test_equally_many_bytes_of_another_dtype_are_named_with_both_lines_and_dtypes(capsys):
    def exchange(rank, size, tensor):
        received = torch.empty(tensor.shape, dtype=torch.int32)
        for request in [dist.isend(tensor, rank ^ 1), dist.irecv(received, rank ^ 1)]:
            request.wait()
        return received.to(tensor.dtype)

    line = exchange.__code__.co_firstlineno + 2
    verdict = failed(exchange)
    assert verdict.status == "wrong" and verdict.hint == "other dtype"
    assert f"isend(dst=0) at exchange:{line} sends float32, but rank 0's irecv(src=1) at " in (
        verdict.happened
    )
    assert f"exchange:{line} wants int32: the bytes arrive" in verdict.happened


def test_fewer_bytes_than_there_is_room_for_are_named_too():
    def exchange(rank, size, tensor):
        received = torch.zeros(tensor.shape, dtype=torch.float64)
        for request in [dist.isend(tensor, rank ^ 1), dist.irecv(received, rank ^ 1)]:
            request.wait()
        return received.float()

    assert "sends float32, but rank 0's irecv(src=1)" in failed(exchange).happened


def test_a_collective_of_two_dtypes_is_told_whether_or_not_it_ended_before_anybody_looked():
    def exchange(rank, size, tensor):
        given = torch.zeros(2) if rank % 2 else torch.zeros(1, dtype=torch.float64)
        dist.all_gather([torch.empty_like(given) for _ in range(size)], given)
        return tensor

    happened = failed(exchange).happened
    assert "are one collective, but have types float64 and float32" in happened


def test_bytes_that_are_meant_to_be_read_as_another_dtype_stay_right(capsys):
    def exchange(rank, size, tensor):
        bits = torch.empty(tensor.shape, dtype=torch.int32)
        for request in [dist.isend(tensor, rank ^ 1), dist.irecv(bits, rank ^ 1)]:
            request.wait()
        return bits.view(torch.float32)

    assert check(exchange) is None
    assert "exchange passed its" in capsys.readouterr().out


def test_an_answer_that_is_wrong_for_another_reason_is_told_of_no_dtype():
    def exchange(rank, size, tensor):
        received = torch.empty(tensor.shape, dtype=tensor.dtype)
        for request in [dist.isend(tensor, rank ^ 1), dist.irecv(received, rank ^ 1)]:
            request.wait()
        return -received

    verdict = failed(exchange)
    assert "wants" not in verdict.happened and verdict.hint != "other dtype"


def test_what_a_rank_raises_because_of_it_is_told_with_it():
    def exchange(rank, size, tensor):
        length = torch.tensor([float(tensor.numel())])
        there = torch.zeros(1, dtype=torch.int32)
        for request in [dist.isend(length, rank ^ 1), dist.irecv(there, rank ^ 1)]:
            request.wait()
        return torch.empty(int(there)).view(tensor.shape)

    verdict = failed(exchange)
    assert verdict.status == "error"
    assert "sends float32, but rank 0's irecv(src=1)" in verdict.happened


def test_a_deadlock_that_comes_of_it_is_told_with_it():
    def program(rank, size):
        count = torch.tensor([2.0]) if rank == 0 else torch.zeros(1, dtype=torch.int32)
        if rank == 0:
            dist.send(count, 1)
            dist.send(torch.ones(1), 1)
            dist.send(torch.ones(1), 1)
        else:
            dist.recv(count, 0)
            for _ in range(int(count)):
                dist.recv(torch.ones(1), 0)

    with pytest.raises(RunFailed) as found:
        Ranks(2, deadline=30).run(program)
    assert "but rank 0 has already returned without sending it. Before that, rank 0's " in str(
        found.value
    )
    assert "sends float32, but rank 1's recv(src=0) at program:" in str(found.value)


def test_on_a_hidden_case_it_is_told_by_lines_alone():
    said = (
        "rank 1's isend(dst=0) with tag 77 at secret_12:4 sends float32, but rank 0's irecv(src=1) "
        "at secret_12:9 wants int32"
    )
    assert redaction.operations(said, 2) == (
        "rank 1's isend(dst=0) with tag # at line 4 sends float32, but rank 0's irecv(src=1) at "
        "line 9 wants int32"
    )
