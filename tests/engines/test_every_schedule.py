"""Functions that receive from anybody, run on real ranks under every schedule that they have."""

import sys

import cloudpickle
import pytest
import torch
import torch.distributed as dist

from distlab import course
from distlab.checking.check import Local, Shown, _reference
from distlab.engines.results import AllSchedules, RunFailed
from distlab.exercises.judge import judge
from grader.coursedir import LABS

cloudpickle.register_pickle_by_value(sys.modules[__name__])


def first_come(rank, size):
    if rank:
        dist.send(torch.tensor([float(rank)]), 0)
        return None
    return [dist.recv(torch.zeros(1)) for _ in range(size - 1)]


def test_every_order_of_arrival_is_run_and_has_a_name_that_runs_it_again(ranks):
    found = ranks.run(first_come, schedules="all")
    assert isinstance(found, AllSchedules) and found.exploration.complete
    assert len(found.schedules) == 6
    for name, result in found.schedules.items():
        assert "-".join(map(str, result[0])) == name
    assert ranks.run(first_come, schedules="3-1-2")[0] == [3, 1, 2]
    page = found._repr_html_()
    assert page.count("<svg") == 2 and "takes the message of rank" in page


def test_a_function_without_a_choice_is_run_once_and_that_is_said_to_be_proof(ranks):
    def program(rank, size):
        dist.all_reduce(torch.ones(1))

    found = ranks.run(program, schedules="all")
    assert len(found.schedules) == 1 and "One run is proof for all" in repr(found)


def test_what_failed_is_told_before_how_many_schedules_there_are(ranks):
    def program(rank, size):
        raise NotImplementedError("TODO program")

    with pytest.raises(RunFailed) as failed:
        ranks.run(program, schedules="all")
    story = str(failed.value)
    assert story.index("TODO program") < story.index("One run is proof for all")


def test_a_hang_in_one_schedule_is_a_verdict_with_its_schedule(ranks):
    def program(rank, size):
        buffer = torch.zeros(1)
        if rank == 0:
            if dist.recv(buffer) == 2:
                dist.recv(buffer, 2)
            else:
                dist.recv(buffer)
                dist.recv(buffer)
        elif rank < 3:
            dist.send(buffer, 0)
        else:
            dist.send(buffer, 0)

    with pytest.raises(RunFailed) as failed:
        ranks.run(program, schedules="all")
    story = str(failed.value)
    assert "takes the message of rank 2 before" in story and "rank 0 waits in recv(src=2)" in story


def test_a_schedule_that_does_not_exist_is_refused(ranks):
    def program(rank, size):
        if rank == 0:
            first = dist.recv(torch.zeros(1))
            dist.send(torch.ones(1), 2)
            return first, dist.recv(torch.zeros(1))
        if rank == 2:
            dist.recv(torch.zeros(1), 0)
        if rank < 3:
            dist.send(torch.ones(1), 0)

    assert ranks.run(program, schedules="1-2")[0] == (1, 2)
    with pytest.raises(ValueError, match="no schedule '2-1'"):
        ranks.run(program, schedules="2-1")


def test_what_ranks_tell_each_other_through_the_store_keeps_its_order(ranks):
    def program(rank, size):
        store = dist.distributed_c10d._get_default_store()
        if rank == 0:
            first = dist.recv(torch.zeros(1))
            store.set("one has come", "")
            return first, dist.recv(torch.zeros(1))
        if rank == 1:
            dist.send(torch.ones(1), 0)
        if rank == 2:
            store.wait(["one has come"])
            dist.send(torch.ones(1), 0)

    found = ranks.run(program, schedules="all")
    assert list(found.schedules) == ["1-2"]


def test_what_only_buffered_sends_allow_has_a_name_of_its_own(ranks):
    def program(rank, size):
        if rank == 0:
            return [dist.recv(torch.zeros(1)) for _ in range(2)]
        if rank == 1:
            dist.send(torch.ones(1), 0)
            dist.send(torch.ones(1), 2)
        if rank == 2:
            dist.recv(torch.zeros(1), 1)
            dist.send(torch.ones(1), 0)

    found = ranks.run(program, schedules="all")
    assert set(found.schedules) == {"1-2", "b2-1"}


def test_polling_is_tried_with_both_answers(ranks):
    def program(rank, size):
        buffer = torch.zeros(1)
        if rank == 0:
            request = dist.irecv(buffer, 1)
            early = request.is_completed()
            request.wait()
            return early, buffer.item()
        if rank == 1:
            dist.send(torch.ones(1), 0)

    found = ranks.run(program, schedules="all")
    assert {result[0] for result in found.schedules.values()} == {(False, 1.0), (True, 1.0)}


# judged


@pytest.fixture
def lab(monkeypatch):
    monkeypatch.chdir(LABS / "04-ring-allreduce")
    monkeypatch.setattr(sys.modules["distlab.checking.check"], "_references", {})


def judged(answer, name="sync_parameter_server"):
    asked = course.find(f"04-ring-allreduce/{name}")
    return judge(asked, asked.visible, _reference, Local(answer, 4))


def server(rank, size, parameters, gradients, lr, mixes):
    """A synchronous server that receives each tensor from whomever; `mixes` those of workers."""
    if rank == 0:
        total = [torch.zeros_like(g) for g in gradients]
        for _ in range(1, size):
            source = None
            for tensor in total:
                buffer = torch.empty_like(tensor)
                source = dist.recv(buffer, None if mixes else source)
                tensor += buffer
        parameters = [
            p - lr * t / (size - 1) for p, t in zip(parameters, total, strict=True)
        ]  # fmt: skip
        for worker in range(1, size):
            for p in parameters:
                dist.send(p, worker)
    else:
        for g in gradients:
            dist.send(g, 0)
        for p in parameters:
            dist.recv(p, 0)
    return parameters


def test_an_answer_that_is_right_in_every_order_passes_and_says_so(lab):
    verdict = judged(lambda *arguments: server(*arguments, mixes=False))
    assert verdict.status == "passed"
    assert "schedules, all there are" in repr(Shown(verdict))


def test_an_answer_that_passes_by_luck_fails_with_the_schedule_named_and_drawn(lab):
    verdict = judged(lambda *arguments: server(*arguments, mixes=True))
    assert verdict.status in ("wrong", "deadlock", "crashed", "error")
    if verdict.right is not None:  # the first run was right, as it mostly is
        assert verdict.schedule in verdict.message and "Right in" in verdict.message
        assert Shown(verdict)._repr_html_().count("<svg") == 2
