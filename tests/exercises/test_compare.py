"""The comparison passes what is equal within the tolerance and nothing else."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from distlab.exercises.compare import Tolerance, compare, describe
from distlab.processes.payload import Foreign

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


def test_a_hidden_difference_has_no_place():
    wrong = np.zeros(10_000)
    wrong[6417] = 1.0
    found = compare({"gradients": [np.zeros(10_000)]}, {"gradients": [wrong]}, T)
    assert "at [0][6417]" in found.in_full()
    assert found.kind_only() == "left wrong values in the gradients"
    deeper = compare([[0, [1.0, 2.0]]], [[0, [1.0, math.nan]]], T)
    assert deeper.kind_only() == "returned NaN"


def test_an_int_of_hundreds_of_digits_is_only_a_wrong_number():
    assert compare(1.0, 10**400, Tolerance()).kind == "value"


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        (np.zeros(3), "seven eleven"),
        (np.zeros(3), Foreign("seven_eleven")),
        (np.zeros(3), np.zeros((711, 711))),
        (np.zeros(3), np.zeros(711)),
        (np.zeros(3), {"seven": 711}),
        ({"loss": 1.0}, {"seven": 711}),
        ([1], [1] * 711),
        (1.0, "711"),
        (None, "seven"),
    ],
)
def test_what_is_told_of_a_hidden_case_is_nothing_that_an_answer_can_choose(expected, got):
    said = compare(expected, got, Tolerance()).kind_only()
    assert "711" not in said and "seven" not in said


def test_a_float_for_an_int_is_named_though_both_look_alike():
    difference = compare(128, 128.0, T)
    assert difference.kind == "type"
    assert difference.in_full() == "returned the float 128.0 where 128 was expected"


@pytest.mark.parametrize(
    ("expected", "got", "said"),
    [
        (0.015, 0.014999999664723873, "0.0149999997 where 0.015 was expected"),
        (1.0, 1 + 1e-12, "1.000000000001 where 1 was expected"),
        (np.arange(9) + 2**60, np.arange(9) * 2 + 2**60, f"{2**60 + 2} at [1] where {2**60 + 1}"),
        (np.full(9, 0.1), np.full(9, 0.1 + 1e-9), "0.100000001 at [0] where 0.1 was expected"),
        (np.full(1, 0.1), np.full(1, 0.1 + 1e-9), "tensor([0.100000001]) where tensor([0.1]) was"),
    ],
)
def test_two_unequal_numbers_never_look_alike(expected, got, said):
    exact = Tolerance(rtol=1e-14, atol=0.0)
    assert compare(expected, got, exact).in_full().startswith(f"returned {said}")


@pytest.mark.parametrize(
    ("expected", "got", "said"),
    [
        ([1, 2, 3], [1], "returned 1 item where 3 items were expected"),
        ([1], [], "returned 0 items where 1 item was expected"),
        ({"a": 1, "b": 2}, {"a": 1}, "returned the keys 'a' where the keys 'a', 'b' were expected"),
        ({"a": 1, "b": 2}, {}, "returned no keys where the keys 'a', 'b' were expected"),
        (1, [1, 2], "returned a list of 2 items where 1 was expected"),
        (
            {"returned": 1, "sampler": "one kind", "share": [0, 2]},
            {"returned": 1, "sampler": "another"},
            "left 'another' in the sampler where 'one kind' was expected",
        ),
        ({"loss": 1.5}, {"loss": 2}, "left the loss at 2 where 1.5 was expected"),
        (
            {"number of steps": 3},
            {"number of steps": 4},
            "left the number of steps at 4 where 3 was expected",
        ),
        ({"loss": 1.5}, {"loss": None}, "left None in the loss where the number 1.5 was expected"),
        (
            {"weights downloaded": False},
            {"weights downloaded": True},
            "should not have left weights downloaded, and did",
        ),
        (
            {"all steps done": True},
            {"all steps done": False},
            "should have left all steps done, and did not",
        ),
        ({"returned": True}, {"returned": False}, "returned False where True was expected"),
        ("a list of ints", "a Tensor", "returned a Tensor where a list of ints was expected"),
        ({"returned": ["[2]"]}, {"returned": ["[]"]}, "returned [] at [0] where [2] was expected"),
        ("[2]", "", "returned '' where [2] was expected"),
        ("[2]", "\x1b[2J\n", r"returned '\x1b[2J\n' where [2] was expected"),
        ("[2]", None, "returned None where [2] was expected"),
    ],
)
def test_what_is_different_is_said_in_words(expected, got, said):
    assert compare(expected, got, Tolerance()).in_full() == said


def test_a_tensors_numbers_stand_close_together():
    told = {describe(np.array(one)) for one in ([-0.5, 0.9895, 2.0], [[1, -200], [3, 4]], [])}
    assert told == {"tensor([-0.5, 0.9895, 2.])", "tensor([[1, -200], [3, 4]])", "tensor([])"}


def test_of_a_hidden_case_a_number_and_a_state_are_told_without_what_was_found():
    found = compare({"loss": 1.5}, {"loss": 2.0}, Tolerance())
    assert found.kind_only() == "left the loss at a wrong value"
    for expected in (True, False):
        found = compare({"weights kept": expected}, {"weights kept": not expected}, Tolerance())
        assert found.kind_only() == "is wrong in this: weights kept"


def test_what_a_harness_leaves_under_a_name_with_an_apostrophe_is_called_by_it():
    name = "gradients of its stage's parameters"
    found = compare({name: [1.0]}, {name: [2.0]}, Tolerance())
    assert found.in_full() == f"left 2 in the {name} at [0] where 1 was expected"


def test_a_sum_that_cancels_out_among_large_ones_may_be_off_as_they_may():
    draw = np.random.default_rng(0).standard_normal((300_000, 4)).astype("float32")
    one_way, other = draw.sum(0, dtype="float32"), draw[::-1].cumsum(0)[-1]
    one_way[0], other[0] = 400.0, 400.0
    one_way[1], other[1] = 0.0, 1e-3  # the rest of terms of hundreds
    assert compare(one_way, other, Tolerance()) is None
    other[1] = 0.1
    assert compare(one_way, other, Tolerance()).kind == "value"
    assert compare(np.array([0.0, 1.0]), np.array([1e-3, 1.0]), Tolerance()).kind == "value"


def test_a_tensor_that_is_no_array_is_told_by_its_dtype_or_layout():
    expected = np.ones(3, "float32")
    found = compare(expected, Foreign("torch.Tensor of dtype complex128"), Tolerance())
    assert found.in_full() == "returned a tensor of dtype complex128 where float32 was expected"
    assert found.kind_only() == (
        "returned a tensor of dtype complex128, which is not the dtype that is asked for"
    )
    found = compare(expected, Foreign("torch.Tensor of layout sparse_coo"), Tolerance())
    assert "returned a tensor of layout sparse_coo where" in found.in_full()
    own = compare(expected, Foreign("torch.Tensor of dtype 3.25"), Tolerance())  # an answer's words
    assert "3.25" not in own.kind_only()


def test_a_double_that_was_single_on_its_way_is_found_where_that_is_asked():
    right = np.array([1 / 3, 2 / 3])
    rounded = right.astype("float32").astype("float64")
    assert compare(right, rounded, Tolerance()) is None
    assert compare(right, rounded, Tolerance(doubles=1e-9)).kind == "value"
    summed = right * 3 * (1 / 3)
    assert compare(right, summed, Tolerance(doubles=1e-9)) is None
    single = right.astype("float32")
    assert compare(single, single + np.float32(1e-6), Tolerance(doubles=1e-9)) is None


@pytest.mark.parametrize(
    ("expected", "got", "said"),
    [
        (3219.9378875997, 3219.9379882812, "3219.938 where 3219.9379"),
        (0.1, 0.10000000149011612, "returned 0.100000001 where 0.1 was"),
        (2.0, 3.0, "3 where 2"),
        (
            np.array([1.0]),
            np.array([1.0000001]),
            "returned tensor([1.0000001]) where tensor([1.]) was",
        ),
        (np.array([1.0, 2.0]), np.array([1.0, 3.0]), "tensor([1., 3.]) where tensor([1., 2.])"),
    ],
)
def test_numbers_that_differ_look_different(expected, got, said):
    found = compare(expected, got, Tolerance(1e-9, 0.0))
    assert said in found.in_full()
    assert found.expected != found.got


@pytest.mark.parametrize(
    ("expected", "got", "calls", "said"),
    [
        ([None], [3], 1, "returned 3 where None was expected"),
        ([1, [2, 3]], [1, [2, 4]], 2, "returned 4 at [1] in call 2 of 2 where 3 was expected"),
    ],
)
def test_of_several_calls_the_one_is_named_and_no_list_that_the_answer_never_made(
    expected, got, calls, said
):
    for name in (None, "returned"):
        both = (expected, got) if name is None else ({name: expected}, {name: got})
        found = compare(*both, Tolerance())
        assert found.of_a_call(calls).in_full() == said
        assert "call" not in found.of_a_call(calls).kind_only()


def test_what_a_harness_leaves_beside_what_was_returned_is_of_no_call():
    found = compare({"returned": [1], "logs": [1]}, {"returned": [1], "logs": [2]}, Tolerance())
    assert found.of_a_call(1) == found


def test_a_dict_of_other_keys_in_a_hidden_case():
    found = compare({"step": 3}, {"stop": 3}, Tolerance())
    assert found.kind_only() == "returned a dict of other keys than are asked for"
    right = {"index": {"step": 3}, "returned": None}
    beside = compare(right, right | {"index": {}}, Tolerance())
    assert beside.kind_only() == "left a dict of other keys than are asked for in the index"
