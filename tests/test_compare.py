"""The comparison passes what is equal within the tolerance and nothing else."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from distlab.compare import Tolerance, compare
from distlab.payload import Foreign

T = Tolerance()
floats = st.floats(-1e6, 1e6, width=32)
shapes = st.lists(st.integers(1, 4), max_size=3)


def arrays(shape, seed, dtype="float32"):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


@given(shapes, st.integers(0, 99), st.sampled_from(["float32", "float64"]))
def test_a_tree_equals_itself(shape, seed, dtype):
    tree = {"loss": 0.5, "parameters": [arrays(shape, seed, dtype), None, 3, "text"]}
    assert compare(tree, tree, T) is None


@given(shapes, st.integers(0, 99), st.data())
def test_one_element_that_is_off_is_found_and_named(shape, seed, data):
    expected = arrays(shape, seed)
    got = expected.copy()
    at = tuple(data.draw(st.integers(0, n - 1)) for n in shape)
    got[at] += 0.01 * (1 + abs(got[at]))
    found = compare([expected], [got], T)
    assert found is not None and found.kind == "value"
    assert found.where.startswith("[0]")


@given(floats, floats)
def test_floats_differ_just_when_they_are_outside_the_tolerance(a, b):
    outside = abs(a - b) > T.atol + T.rtol * abs(a)
    assume(abs(abs(a - b) - (T.atol + T.rtol * abs(a))) > 1e-9)
    assert (compare(a, b, T) is not None) == outside


@pytest.mark.parametrize(
    ("expected", "got", "kind"),
    [
        (np.ones(3, "float32"), np.ones(3), "dtype"),
        (np.ones(3), np.ones((3, 1)), "shape"),
        (np.ones(1), 1.0, "type"),
        (np.ones(3), np.array([1, np.nan, 1]), "nan"),
        (np.ones(3), None, "type"),
        (None, np.ones(3), "type"),
        (1, True, "type"),
        (1, 1.0, "type"),
        (1.0, True, "type"),
        (1.0, np.ones(()), "type"),
        (0.5, float("nan"), "nan"),
        ({"a": 1}, {"b": 1}, "keys"),
        ([1, 2], [1], "length"),
        ({"a"}, {"b"}, "value"),
        (np.arange(3), np.array([0, 1, 3]), "value"),
        (np.ones(3), Foreign("numpy.ndarray"), "type"),
    ],
)
def test_each_kind_of_difference_is_told(expected, got, kind):
    assert compare(expected, got, T).kind == kind


@pytest.mark.parametrize(
    ("expected", "got"), [((1, 2), [1, 2]), (2.0, 2), (np.zeros(0), np.zeros(0)), ({1, 2}, {2, 1})]
)
def test_what_a_teacher_would_accept_is_accepted(expected, got):
    assert compare(expected, got, T) is None


def test_a_hidden_difference_tells_neither_side():
    found = compare({"returned": np.full(3, 41.0)}, {"returned": np.full(3, 42.0)}, T)
    assert "41" in found.in_full() and "42" in found.in_full()
    assert "41" not in found.kind_only() and "42" not in found.kind_only()


def test_a_float_for_an_int_is_named_though_both_look_alike():
    difference = compare(128, 128.0, T)
    assert difference.kind == "type"
    assert difference.in_full() == "returned the float 128.0 where 128 was expected"
