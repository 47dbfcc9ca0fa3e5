"""Values cross the wall as data, and only as data."""

import json

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from distlab.processes import payload
from distlab.processes.payload import Foreign

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner, inner),
    max_leaves=20,
)


@given(plain)
def test_plain_trees_come_back_as_they_were(tree):
    assert payload.decode(payload.encode(tree)) == tree


@given(
    st.sampled_from(["float32", "float64", "int64", "uint8", "bool"]),
    st.lists(st.integers(0, 4), max_size=3),
)
def test_arrays_come_back_with_shape_and_dtype(dtype, shape):
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    back = payload.decode(payload.encode({"x": array}))["x"]
    assert back.dtype == array.dtype and back.shape == array.shape
    assert np.array_equal(back, array)


def test_tensors_become_arrays_and_arrays_become_tensors_of_their_own():
    tensor = torch.arange(6.0).reshape(2, 3).t()
    array = payload.decode(payload.encode(tensor))
    assert np.array_equal(array, tensor.numpy())
    again = payload.decode(payload.encode(array), as_torch=True)
    again += 1
    assert torch.equal(again - 1, tensor)


def test_on_a_rank_an_array_is_no_tensor():
    assert payload.decode(payload.encode(np.ones(2), arrays=False)) == Foreign("numpy.ndarray")


def test_a_key_of_numpy_is_the_number_that_finds_it():
    back = payload.decode(payload.encode({np.int64(2): np.int64(3)}))
    assert back == {2: Foreign("numpy.int64")}
    assert [type(key) for key in back] == [int]


def test_an_object_becomes_its_type_name():
    assert payload.decode(payload.encode([torch.nn.ReLU()])) == [
        Foreign("torch.nn.modules.activation.ReLU")
    ]


def test_a_number_that_claims_to_equal_everything_is_reduced_to_its_value():
    class Liar(int):
        def __eq__(self, other):
            return True

        __hash__ = int.__hash__

    back = payload.decode(payload.encode(Liar(3)))
    assert type(back) is int and back != 4


def test_a_tree_without_end_is_cut():
    endless: list = []
    endless.append(endless)
    assert "nested too deeply" in repr(payload.decode(payload.encode(endless)))


@given(st.binary(max_size=200))
def test_bytes_that_are_no_payload_are_refused(data):
    with pytest.raises(ValueError):
        payload.decode(data)


def test_a_payload_that_is_cut_short_is_refused():
    whole = payload.encode({"x": np.ones(100)})
    for length in (4, 20, len(whole) - 1):
        with pytest.raises(ValueError):
            payload.decode(whole[:length])


@given(
    st.sampled_from(["float32", "float64", "int16", "uint8", "bool", "complex64"]),
    st.lists(st.tuples(st.integers(0, 2), st.integers(1, 9)), min_size=1, max_size=6),
    st.booleans(),
)
def test_blocks_that_repeat_themselves_come_back_bit_by_bit(dtype, runs, as_torch):
    kinds = np.random.default_rng(0).integers(0, 2, (3, payload.BLOCK), dtype=np.uint8)
    kinds[2] = 255 if dtype != "bool" else 1  # NaN, of floating-point numbers
    blocks = np.concatenate([kinds[[which] * often] for which, often in runs])
    array = blocks.reshape(-1).view(dtype).reshape(len(blocks), 4, -1)
    sent = payload.encode([array, 1])
    back = payload.decode(sent, as_torch)[0]
    if as_torch:
        back.resize_(back.shape)  # it is a tensor of its own, which can be written to
        back.reshape(-1)[:1] = back.reshape(-1)[:1].clone()
        back = back.numpy()
    assert back.dtype == array.dtype and back.shape == array.shape
    assert back.tobytes() == array.tobytes()


def test_of_what_repeats_itself_little_is_sent():
    rows = np.repeat(np.arange(3.0)[:, None], 1 << 19, axis=1)
    assert len(payload.encode(rows)) < 4 * payload.BLOCK
    assert len(payload.encode(rows, shorten=False)) > rows.nbytes
    assert np.array_equal(payload.decode(payload.encode(rows)), rows)
    mixed = np.random.default_rng(0).random(1 << 16)
    assert len(payload.encode(mixed)) > mixed.nbytes


def test_the_size_of_a_payload_is_that_of_all_its_blocks():
    rows = np.repeat(np.arange(4.0), 1 << 16)
    for value in (
        rows,
        {"x": [rows, rows + 1], "y": 1.0},
        np.random.default_rng(0).random(9999),
        3,
    ):
        whole = len(payload.encode(value, shorten=False))
        assert abs(payload.full_size(payload.encode(value)) - whole) < 1000


def _claims(**shortened):
    block = np.zeros(payload.BLOCK // 4, "float32")
    return payload.pack([{"tensor": "0"}, shortened], payload.safe.save({"0": block}))


@pytest.mark.parametrize(
    "claim",
    [
        [[1 << 40], [1 << 40, payload.BLOCK // 4]],  # more memory than there is
        [[-1], [-1, payload.BLOCK // 4]],
        [[2], [1, payload.BLOCK // 4]],  # one block more than the shape says
        [[1.5], [payload.BLOCK // 4]],
        [[], [0]],
        [["1"], [payload.BLOCK // 4]],
        [[1, 1, 1], [payload.BLOCK // 4]],
        [[2], [-2, -payload.BLOCK // 4]],
        [[1.0], [payload.BLOCK // 4]],
        [[1], [999] * 400_000],  # a product of a million digits
        7,
    ],
)
def test_a_claim_of_repetition_that_does_not_fit_is_refused(claim):
    with pytest.raises(ValueError):
        payload.decode(_claims(**{"0": claim}))


@pytest.mark.parametrize("length", [0, 1])
def test_nothing_but_whole_blocks_can_repeat_itself(length):
    """Of no bytes there is room for any number, and to copy these would take for ever."""
    few = payload.safe.save({"0": np.zeros(length, "float32")})
    with pytest.raises(ValueError, match="too often"):
        payload.decode(payload.pack([{"tensor": "0"}, {"0": [[1 << 40], [length << 40]]}], few))


def test_what_is_larger_than_the_limit_is_sent_as_it_is():
    zeros = np.zeros((payload.LARGEST + payload.BLOCK) // 8)
    half = np.ones(payload.LARGEST // 16 + payload.BLOCK)
    for value in (zeros, [half, half]):
        back = payload.decode(payload.encode(value))
        assert np.array_equal(back, value)


@pytest.mark.parametrize("kind", ["set", "dict"])
def test_numbers_that_collide_are_few(kind):
    same = [((1 << 61) - 1) * (i + 1) for i in range(payload.MOST_KEYS + 1)]
    items = same if kind == "set" else [[one, 0] for one in same]
    with pytest.raises(ValueError, match="more than"):
        payload.decode(payload.pack({kind: items}, payload.safe.save({})))


def test_numbers_that_collide_are_few_in_several_sets_together():
    half = {"set": [((1 << 61) - 1) * (i + 1) for i in range(payload.MOST_KEYS // 2)]}
    tensors = payload.safe.save({})
    assert len(payload.decode(payload.pack({"list": [half] * 4}, tensors))) == 4
    with pytest.raises(ValueError, match="more than"):
        payload.decode(payload.pack({"list": [half] * 5}, tensors))


def test_tuples_that_collide_are_fewer_the_more_there_is_to_compare():
    """Python gives −1 and −2 one hash, and so all tuples of these of one length."""
    same = [
        {"tuple": [-2 if number >> bit & 1 else -1 for bit in range(40)]} for number in range(3000)
    ]
    for tree in ({"set": same}, {"dict": [[key, 0] for key in same]}):
        with pytest.raises(ValueError, match="more than 10000 items"):
            payload.decode(payload.pack(tree, payload.safe.save({})))
    pairs = {(src, dst) for src in range(60) for dst in range(60)}
    assert payload.decode(payload.encode(pairs)) == pairs


def test_a_key_that_is_nested_deeper_than_anything_is_refused():
    key: object = 0
    for _ in range(400):
        key = {"tuple": [key]}
    for tree in ({"set": [key]}, {"dict": [[key, 0]]}):
        with pytest.raises(ValueError, match="nested too deeply"):
            payload.decode(payload.pack(tree, payload.safe.save({})))


def test_tensors_without_elements_are_not_without_end():
    """16 MB can list 200,000 of them, which take a judge ten seconds."""
    empty = {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}
    header = json.dumps({str(number): empty for number in range(40_000)}).encode()
    with pytest.raises(ValueError, match="too many"):
        payload.decode(payload.pack({"tensor": "0"}, len(header).to_bytes(8, "little") + header))
    several = [np.zeros(0, np.float32)] * 5_000
    assert len(payload.decode(payload.encode(several))) == 5_000


def test_many_small_dicts_are_read():
    many = [{"loss": 1.0, "step": number} for number in range(20_000)]
    assert payload.decode(payload.encode(many)) == many


@pytest.mark.parametrize(
    ("tensor", "odd"),
    [
        (torch.ones(3, dtype=torch.complex128), "dtype complex128"),
        (torch.ones(3, dtype=torch.bfloat16), "dtype bfloat16"),
        (torch.ones(3).to(torch.float8_e5m2), "dtype float8_e5m2"),
        (torch.eye(3).to_sparse(), "layout sparse_coo"),
    ],
)
def test_a_tensor_that_is_no_array_is_told_by_what_it_is(tensor, odd):
    assert payload.decode(payload.encode(tensor, arrays=False)) == Foreign(f"torch.Tensor of {odd}")
    assert payload.decode(payload.encode(torch.ones(2, device="meta"))) == Foreign("torch.Tensor")


def test_a_tensor_whose_memory_was_freed_is_not_read():
    freed = torch.ones(1000, 1000).t()
    freed.untyped_storage().resize_(0)
    told = payload.decode(payload.encode([freed, torch.ones(0, 3)], arrays=False))
    assert told[0] == Foreign("torch.Tensor of freed memory") and told[1].shape == (0, 3)


def test_a_tensor_without_memory_of_its_own_is_told_by_its_type():
    seen = []
    torch.vmap(lambda row: seen.append(row) or row)(torch.ones(3, 2))
    seen += [torch.nn.LazyLinear(2).weight, torch.nn.parameter.UninitializedBuffer()]
    told = payload.decode(payload.encode(seen, arrays=False))
    assert all(isinstance(one, Foreign) for one in told) and len(told) == 3


def test_a_tensor_that_a_gradient_was_taken_by_is_sent_with_its_values():
    """It has no memory of its own either: `torch.func.grad` hands out one that wraps another."""
    seen = []
    torch.func.grad(lambda row: seen.append(row) or row.sum())(torch.arange(3.0))
    assert payload.decode(payload.encode(seen, arrays=False))[0].tolist() == [0, 1, 2]


def test_a_gpu_that_has_failed_is_no_odd_tensor():
    class OnGpu(torch.Tensor):
        """An earlier kernel failed, which is told by whatever waits for the GPU next."""

        def detach(self):
            raise torch.AcceleratorError("CUDA error: device-side assert triggered")

    with pytest.raises(torch.AcceleratorError, match="device-side assert"):
        payload.encode(torch.ones(2).as_subclass(OnGpu), arrays=False)


def test_a_tensor_that_stands_for_others_is_told_by_its_type():
    class Distributed(torch.Tensor):
        """Holds its elements elsewhere, as a DTensor does."""

        @staticmethod
        def __new__(cls, local):
            return torch.Tensor._make_wrapper_subclass(cls, local.shape, dtype=local.dtype)

        @classmethod
        def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
            return cls(torch.ones(3))

    (told,) = payload.decode(payload.encode([Distributed(torch.ones(3))], arrays=False))
    assert told.type_name.endswith("Distributed")


def test_an_int_that_no_message_holds_is_told_as_one():
    large = 10**4000
    told = payload.decode(payload.encode([large, -large, 10**5000, -(10**5000)]))
    assert told[:2] == [large, -large]
    assert told[2] == told[3] == Foreign("builtins.int of more than 4,300 digits")


def test_all_tensors_of_a_payload_share_one_limit():
    half = [[payload.LARGEST // payload.BLOCK // 2 + 1], [-1]]
    half[1] = [half[0][0] * payload.BLOCK // 4]
    block = np.zeros(payload.BLOCK // 4, "float32")
    sent = payload.pack([None, {"0": half, "1": half}], payload.safe.save({"0": block, "1": block}))
    with pytest.raises(ValueError, match="too often"):
        payload.decode(sent)
    assert payload.decode(_claims(**{"0": half})).nbytes > payload.LARGEST // 2
    with pytest.raises(ValueError):
        payload.decode(_claims(**{"1": half}))  # a tensor that is not there
