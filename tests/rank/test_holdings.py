"""What tensors held: kept by value or by norm, read back, and kept nowhere else."""

import inspect

import pytest
import torch
from recorded import event

from distlab.checking import room
from distlab.engines import runs
from distlab.rank.holdings import MOST_NORMED, Holdings
from distlab.records import redaction
from distlab.records.events import Held, RankRecord
from distlab.records.holdings import MOST_VALUES, ROW, SUFFIX, attach


def kept(tmp_path, *tensors):
    """What is read back of these tensors, kept before the third entry and after the fifth."""
    Holdings(tmp_path / "0.rec").keep(2, 0, list(tensors))
    Holdings(tmp_path / "0.rec").keep(4, 1, list(tensors))
    record = RankRecord(0, 2, events=[event(0, index, "send", peer=1) for index in range(5)])
    attach(record, tmp_path / f"0{SUFFIX}")
    others = [e for e in record.events if e.index not in (2, 4)]
    assert all(e.before is e.after is None for e in others)
    # as text: a norm that was not computed is NaN, which equals nothing
    assert repr(record.events[2].before) == repr(record.events[4].after)
    assert record.events[2].after is record.events[4].before is None
    return record.events[2].before


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.uint8])
def test_few_elements_are_kept_by_value(tmp_path, dtype):
    held = kept(tmp_path, torch.tensor([[1, 2], [3, 4]], dtype=dtype))
    assert held.values == (1.0, 2.0, 3.0, 4.0)


def test_results_in_several_tensors_are_kept_together(tmp_path):
    held = kept(tmp_path, torch.tensor([1.0]), torch.tensor([True]), torch.tensor(5))
    assert held.values == (1.0, 1.0, 5.0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.int32])
def test_more_elements_are_kept_by_their_norm(tmp_path, dtype):
    tensor = torch.ones(50, 2, dtype=dtype).t()  # not contiguous
    held = kept(tmp_path, tensor)
    assert held.values == () and held.norm == 10.0


def test_gradients_and_what_has_them_are_kept(tmp_path):
    held = kept(tmp_path, torch.ones(2, 2, requires_grad=True))
    assert held.values == (1.0,) * 4


class Asking(torch.Tensor):
    """A tensor that does something when it is looked at."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func.__name__ not in ("__get__", "numel"):
            raise AssertionError(f"{func} was called")
        return super().__torch_function__(func, types, args, kwargs or {})


@pytest.mark.parametrize(
    "tensor",
    [
        torch.ones(3).as_subclass(Asking), torch.empty(0), torch.empty(3, device="meta"),
        torch.ones(3).to_sparse(),
        torch.ones(3, dtype=torch.complex64), torch.ones(99, dtype=torch.complex64),
        torch.empty(MOST_NORMED + 1, dtype=torch.uint8),
    ],
    ids=["subclass", "empty", "meta", "sparse", "complex", "much complex", "too large"],
)  # fmt: skip
def test_what_is_no_list_of_numbers_or_too_large_is_not_kept(tmp_path, tensor):
    Holdings(tmp_path / "0.rec").keep(0, 0, [tensor])
    record = RankRecord(0, 2, events=[event(0, 0, "send", peer=1)])
    attach(record, tmp_path / f"0{SUFFIX}")
    assert record.events[0].before is None


def test_a_file_that_is_cut_or_scribbled_on_gives_what_can_be_read(tmp_path):
    path = tmp_path / f"0{SUFFIX}"
    record = RankRecord(0, 2, events=[event(0, index, "send", peer=1) for index in range(3)])
    attach(record, path)  # there is none
    path.write_bytes(b"\xff" * ROW.size + b"\1" * (ROW.size // 2))
    attach(record, path)
    assert all(e.before is e.after is None for e in record.events)
    assert MOST_VALUES + 1 < 255


def test_ranks_keep_what_they_send_and_what_they_get(ranks):
    import torch.distributed as dist

    def both(rank, size):
        mine = torch.full((2,), float(rank))
        dist.all_reduce(mine)
        parts = [torch.zeros(1) for _ in range(size)]
        request = dist.all_gather(parts, torch.tensor([rank + 0.5]), async_op=True)
        request.wait()
        if rank == 0:
            dist.send(torch.arange(100.0), 1)
        elif rank == 1:
            dist.recv(torch.zeros(100), 0)

    for strict in (False, True):
        records = ranks.run(both, strict=strict).records
        reduced, gathered = records[3].events
        assert reduced.before.values == (3.0, 3.0) and reduced.after.values == (6.0, 6.0)
        assert gathered.after.values == (0.5, 1.5, 2.5, 3.5)
        sent, got = records[0].events[-1], records[1].events[-1]
        assert sent.before.norm == pytest.approx(got.after.norm) == pytest.approx(573.0, abs=0.1)


def test_nothing_is_kept_where_answers_are_judged():
    assert inspect.signature(runs.drive).parameters["keeps"].default is False
    assert "keeps" not in inspect.getsource(room)


def test_nothing_that_was_kept_stays_in_a_record_of_hidden_inputs():
    one = event(0, 0, "send", peer=1)
    one.before = one.after = Held((42.0,), 42.0)
    (record,) = redaction.events([RankRecord(0, 2, events=[one])])
    assert record.events[0].before is record.events[0].after is None
