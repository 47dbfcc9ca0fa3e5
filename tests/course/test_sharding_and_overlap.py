"""Lab 10: what its harnesses hand back."""

from typing import NamedTuple

import torch

from distlab.course.lab10_sharding_and_overlap import flat


class Step(NamedTuple):
    loss: float
    gradients: list


class Gradients(list):
    pass


def test_large_tensors_are_made_short_in_named_tuples_and_lists_of_ones_own():
    large = torch.ones(flat.LARGE + 1)
    plain = flat.shortened((0.5, [large]))
    assert plain[1][0]["shape"] == [flat.LARGE + 1]
    named = flat.shortened(Step(0.5, Gradients([large])))
    assert (type(named), type(named[1])) == (tuple, list)
    assert named[0] == 0.5 and named[1][0].keys() == plain[1][0].keys()
