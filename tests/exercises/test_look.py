"""What rules and hints ask of a finished run."""

import numpy as np
import pytest

from distlab.exercises.exercise import Case, Exercise, Look


def look(expected, got, inputs=None):
    case = Case(len(got), 1)
    exercise = Exercise(points=1, make=lambda case: [], asks="", visible=())
    return Look(exercise, case, inputs or [{}] * len(got), expected, got, [])


def test_by_rank():
    seen = look(
        [{"returned": 1, "step": 3}] * 2,
        [{"returned": 1, "step": 3}, {"returned": 2}],
        [{"tensor": 5}, {"tensor": 6}],
    )
    assert seen.given("tensor") == [5, 6]
    assert seen.left("step") == [3, None]
    assert seen.asked("step") == [3, 3]
    assert (seen.wanted, seen.returned) == ([1, 1], [1, 2])
    assert seen.pairs() == [(1, 1), (1, 2)]
    assert seen.pairs("step") == [(3, 3), (3, None)]


def test_what_a_function_returned_alone():
    """A harness may give what was returned, and nothing beside it."""
    seen = look([{"a": 1}], [{"a": 2}])
    assert (seen.wanted, seen.returned) == ([{"a": 1}], [{"a": 2}])
    assert look([1.0], [None]).returned == [None]


@pytest.mark.parametrize(
    ("found", "different"),
    [
        ({"weights": np.ones(3, "float32")}, False),
        ({"weights": np.ones(3, "float32") * 2}, True),
        ({"weights": np.ones(3, "float64")}, True),  # judged as outputs are, dtypes included
        ({"weights": None}, True),
        ({}, False),  # the harness did not get so far
    ],
)
def test_differs(found, different):
    right = {"weights": np.ones(3, "float32"), "loss": 0.5}
    seen = look([right, right], [right, found | {"loss": 0.5}])
    assert seen.differs("weights") is different
    assert seen.differs("loss") is False
    assert seen.differs("loss", "weights") is different
    assert seen.right_but("weights")
    assert seen.right_but("loss") is not different


def test_ranks_differ():
    alone, twice = {"weights": np.ones(2)}, {"weights": np.ones(2) * 2}
    assert not look([alone] * 3, [twice] * 3).ranks_differ("weights")
    assert look([alone] * 3, [twice, twice, alone]).ranks_differ("weights")
    assert not look([alone] * 3, [alone, {}, alone]).ranks_differ("weights")
    assert look([alone] * 3, [{}, alone, twice]).ranks_differ("weights")
