"""Messages carry a number that only their receiver can hand back, and nothing else changes."""

import pytest
import torch

from distlab.rank import group_maker, recorder, recording
from distlab.rank.stamps import BELOW, Stamps
from grader import collected

LAB = "01-message-passing"
BLOCKING = """
def run_blocking(rank, size):
    {body}
    return tensor
"""
#: right answers that look closely at what they send and receive
RIGHT = {
    "asserts what arrived": """
    tensor = torch.zeros(1)
    if rank == 0:
        tensor += 1
        dist.send(tensor, 1)
    else:
        dist.recv(tensor, 0)
    assert tensor.shape == (1,) and tensor.item() == 1.0 and tensor.dtype == torch.float32""",
    "spells the dtype": """
    tensor = torch.zeros(1, dtype=torch.float32)
    if rank == 0:
        tensor = tensor + torch.ones(1, dtype=torch.float32)
        dist.send(tensor, 1)
    else:
        dist.recv(tensor, 0)""",
    "receives into a piece of something larger": """
    whole = torch.zeros(4)
    tensor = whole[2:3]
    if rank == 0:
        tensor += 1
        dist.send(tensor, 1)
    else:
        dist.recv(tensor, 0)
    assert whole.tolist() == [0.0, 0.0, 1.0, 0.0]""",
}
#: what returns the right tensors without the message
WRONG = {
    "no message": "tensor = torch.ones(1)",
    "a message that is not the one": """
    tensor = torch.ones(1)
    dist.all_reduce(tensor)
    tensor = tensor / 2""",
    "a message that is thrown away": """
    tensor = torch.ones(1)
    if rank == 0:
        dist.send(tensor, 1)
    else:
        dist.recv(torch.zeros(1), 0)""",
}


def verdict(zygote, body):
    grader = collected.grader(LAB, ["run_blocking"])
    source = "import torch\nimport torch.distributed as dist\n" + BLOCKING.format(body=body)
    plan = grader.plan(collected.handed_in(LAB, run_blocking=source))
    (found,) = grader.grade(plan, zygote)
    return found


@pytest.mark.parametrize("body", RIGHT.values(), ids=RIGHT)
def test_a_right_answer_notices_nothing(body, zygote):
    found = verdict(zygote, body)
    assert found.status == "passed", found.message


@pytest.mark.parametrize("body", WRONG.values(), ids=WRONG)
def test_right_tensors_without_the_message_are_wrong(body, zygote):
    found = verdict(zygote, body)
    assert found.status == "wrong" and "rank" in found.happened


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64, torch.int32])
@pytest.mark.parametrize("shape", [(1,), (2, 3), (), (0,)])
def test_what_is_put_on_comes_off(shape, dtype):
    tensor = torch.arange(torch.Size(shape).numel()).reshape(shape).to(dtype)
    sender, receiver = Stamps(BELOW - 1), Stamps(None)
    sent, buffer = sender.put_on(tensor), receiver.room_for(torch.empty_like(tensor))
    assert sent.dtype == dtype and sent.shape == buffer.shape
    assert torch.equal(receiver.taken_off(buffer.copy_(sent)).view(shape), tensor)
    assert receiver.arrived == [BELOW - 1]


@pytest.mark.parametrize("dtype", [torch.float16, torch.uint8, torch.bool])
def test_a_type_too_small_for_the_number_is_no_error(dtype):
    stamps = Stamps(BELOW - 1)
    stamps.taken_off(stamps.put_on(torch.zeros(2, dtype=dtype)))
    assert stamps.arrived != [BELOW - 1]


def test_only_while_the_harness_asks_for_it(tmp_path):
    group_maker.install(recorder.Recorder(tmp_path / "0.rec", 0, 2))
    try:
        with recording.stamped(7):
            assert recording.active().stamps is not None
        assert recording.active().stamps is None
    finally:
        group_maker.uninstall()
