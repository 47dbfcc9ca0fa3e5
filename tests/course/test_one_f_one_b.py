"""The order of 1F1B, and which calls may come in any."""

import dataclasses
import gc

import pytest

from distlab.course.lab06_model_parallel import one_f_one_b_step
from distlab.records.events import DONE, Event

EVENT = Event(
    1, 0, "send", "isend", (0, 1, 2), 0, 2, 0, 4, "float32", (1,), 1, "", "step", "cell", 3,
    DONE, 0, 1.0, 2.0, 0.0, 0.0, 0.0,
)  # fmt: skip


def calls(*told):
    """Events of (api, op, peer, line, begin)."""
    return [
        dataclasses.replace(EVENT, api=api, op=op, peer=peer, line=line, begin=begin)
        for api, op, peer, line, begin in told
    ]


@pytest.mark.parametrize(
    ("rank", "size", "parts", "passes"),
    [
        (0, 3, 4, "FFFBFBBB"),
        (1, 3, 4, "FFBFBFBB"),
        (2, 3, 4, "FBFBFBFB"),
        (0, 4, 2, "FFBB"),
        (2, 4, 2, "FFBB"),
        (0, 1, 3, "FBFBFB"),
    ],
)
def test_the_passes_of_a_rank(rank, size, parts, passes):
    assert one_f_one_b_step._passes(rank, size, parts) == passes
    held = [passes[: i + 1].count("F") - passes[:i].count("B") for i in range(len(passes))]
    assert max(held) == min(size - rank, parts)


def test_each_pass_receives_and_sends():
    assert one_f_one_b_step._calls("FB", 1, 3) == [
        ("recv", 0),
        ("send", 2),
        ("recv", 2),
        ("send", 0),
    ]
    assert one_f_one_b_step._calls("FB", 0, 2) == [("send", 1), ("recv", 1)]
    assert one_f_one_b_step._calls("FB", 0, 1) == []


def test_calls_of_one_batch_are_one_group():
    batch = "batch_isend_irecv"
    events = calls(
        (batch, "recv", 2, 7, 1.0), (batch, "send", 2, 7, 1.1),  # one batch
        (batch, "send", 2, 7, 1.2),  # the same again is another one
        (batch, "recv", 0, 9, 1.3),  # from another line
        ("isend", "send", 0, 9, 1.4), ("isend", "send", 2, 9, 1.5),  # no batch
    )  # fmt: skip
    assert [len(group) for group in one_f_one_b_step._groups(events)] == [2, 1, 1, 1, 1]


def test_what_comes_after_a_wait_is_another_batch():
    batch = "batch_isend_irecv"
    first, second = calls((batch, "recv", 2, 7, 1.0), (batch, "send", 2, 7, 2.0))
    assert len(list(one_f_one_b_step._groups([first, second]))) == 1
    waited = dataclasses.replace(first, wait_begin=1.5)
    assert len(list(one_f_one_b_step._groups([waited, second]))) == 2


def test_saved_tensors_count_until_their_graph_is_gone():
    import torch
    from torch import nn

    stage = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
    memory = one_f_one_b_step._Memory(allowed=3)
    with memory.watching(stage, receives=True):
        for _ in range(3):  # one at a time
            stage(torch.ones(1, 2, requires_grad=True)).sum().backward()
        assert (memory.most_kept, memory.most_inputs) == (1, 1)
        inputs = [torch.ones(1, 2, requires_grad=True) for _ in range(2)]
        outputs = [stage(one) for one in inputs]
        assert (memory.most_kept, memory.most_inputs) == (2, 2)
        for output in outputs:
            output.sum().backward()
        stage(torch.ones(1, 2, requires_grad=True))
        assert (memory.most_kept, memory.most_inputs) == (2, 3)


def test_what_nobody_can_reach_does_not_count_whenever_it_is_collected():
    import torch
    from torch import nn

    stage = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
    memory = one_f_one_b_step._Memory(allowed=1)
    gc.disable()
    try:
        with memory.watching(stage, receives=True):
            for _ in range(4):
                given = torch.ones(1, 2, requires_grad=True)
                cycle = [given, stage(given)]
                cycle[1].sum().backward()
                cycle.append(cycle)
                del given, cycle
    finally:
        gc.enable()
    assert memory.most_kept == 1 and memory.most_inputs <= 2


def test_a_send_of_another_thread_may_leave_late_and_no_receive_may_begin_early():
    wanted = [("recv", 0), ("send", 2), ("recv", 2), ("send", 0)]

    def ordered(*told):
        events = [
            dataclasses.replace(EVENT, op=op, peer=peer, thread=thread) for op, peer, thread in told
        ]
        return [(e.op, e.peer) for e in one_f_one_b_step._as_programmed(events, wanted)]

    late = ordered(("recv", 0, 0), ("recv", 2, 0), ("send", 2, 1), ("send", 0, 1))
    same_thread = ordered(("recv", 0, 0), ("recv", 2, 0), ("send", 2, 0), ("send", 0, 0))
    early = ordered(("recv", 2, 1), ("recv", 0, 0), ("send", 2, 0), ("send", 0, 0))
    assert late == wanted and same_thread != wanted and early != wanted
