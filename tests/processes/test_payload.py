"""Values cross the wall as data, and only as data."""

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
