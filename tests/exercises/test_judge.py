"""What a verdict says."""

import types

import pytest

from distlab.exercises import judge


@pytest.mark.parametrize(
    ("left", "said"),
    [
        (60.0, "after 60 s"),
        (59.7, "after 60 s"),
        (0.1, "when the 60 s that all cases have were over"),
    ],
)
def test_a_case_that_is_late_because_of_others_before_is_told_so(left, said):
    exercise, run = types.SimpleNamespace(deadline=60.0), types.SimpleNamespace(deadline=left)
    assert judge._late(exercise, run) == said
