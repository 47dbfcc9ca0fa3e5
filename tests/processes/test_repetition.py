import subprocess
import sys

import numpy as np
import pytest

from distlab.processes import payload, repetition
from distlab.processes.repetition import LEAST, Kept, lengthened, resized

BLOCKS = np.arange(8192.0).reshape(2, -1)
TIMES = [LEAST // 32768, 3]
SHAPE = [sum(TIMES) * 4096]


@pytest.fixture
def kept(monkeypatch):
    made = Kept(8 * LEAST)
    monkeypatch.setattr(repetition, "kept", made)
    return made


def test_what_was_asked_for_before_is_the_same_array(kept):
    first = lengthened(BLOCKS, TIMES, SHAPE)
    assert lengthened(BLOCKS.copy(), list(TIMES), tuple(SHAPE)) is first
    assert np.array_equal(first, np.repeat(BLOCKS, TIMES, axis=0).reshape(SHAPE))


@pytest.mark.parametrize(
    "other",
    [
        lambda: lengthened(-BLOCKS, TIMES, SHAPE),
        lambda: lengthened(BLOCKS, TIMES[::-1], SHAPE),
        lambda: lengthened(BLOCKS, TIMES, [2, SHAPE[0] // 2]),
        lambda: lengthened(BLOCKS.view("int64"), TIMES, SHAPE),
        lambda: lengthened(BLOCKS.view("complex128"), TIMES, [SHAPE[0] // 2]),
    ],
    ids=["values", "times", "shape", "dtype", "items"],
)
def test_what_differs_in_anything_is_another_array(kept, other):
    first = lengthened(BLOCKS, TIMES, SHAPE)
    found = other()
    assert found is not first
    assert (found.shape, found.dtype) != (first.shape, first.dtype) or (found != first).any()


def test_nobody_can_write_to_what_others_have(kept):
    whole, part = resized(BLOCKS[0], SHAPE), resized(BLOCKS[0], [9])
    for made in (lengthened(BLOCKS, TIMES, SHAPE), whole, part):
        with pytest.raises(ValueError, match="read-only"):
            made[0] = 1.0


def test_ranks_get_tensors_of_their_own(kept):
    sent = payload.encode(np.zeros(LEAST))
    payload.decode(sent)
    tensor = payload.decode(sent, as_torch=True)
    tensor += 1.0
    assert not payload.decode(sent).any()


def test_a_process_keeps_nothing_unless_it_says_so(monkeypatch):
    new = "from distlab.processes import repetition; print(repetition.kept.limit)"
    told = subprocess.run([sys.executable, "-c", new], capture_output=True, text=True, check=True)
    assert told.stdout == "0\n"
    monkeypatch.setattr(repetition, "kept", Kept())  # grading has said so in this process
    assert lengthened(BLOCKS, TIMES, SHAPE) is not lengthened(BLOCKS, TIMES, SHAPE)


def test_no_more_is_kept_than_the_limit_says():
    kept = Kept(100)
    for number in range(50):
        kept.put(number, f"value {number}", 30)
    assert sum(kept.get(number) is not None for number in range(50)) == 3
    assert kept.get(49) == "value 49"
    kept.put("large", "one", 101)
    assert kept.get("large") is None


@pytest.mark.parametrize("count", [1, 5, 4096, 4097, 3 * 4096])
def test_a_block_fills_a_shape_as_numpy_resizes_it(count):
    block = np.arange(4096.0)
    assert np.array_equal(resized(block, [count]), np.resize(block, [count]))


def test_a_shape_that_a_rank_has_told_is_not_multiplied_out(kept):
    class Told(int):
        def __rmul__(self, other):
            raise AssertionError("of 100,000 factors that takes seconds, and all threads wait")

    assert lengthened(BLOCKS, TIMES, [Told(SHAPE[0])]).shape == tuple(SHAPE)
