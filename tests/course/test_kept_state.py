"""How much an optimizer's state holds, in whatever kind of object its tensors lie."""

import array
import functools
import io
import itertools
from collections import deque

import numpy as np
import pytest
import torch
from torch.distributed._functional_collectives import AsyncCollectiveTensor

from distlab.course.lab06_model_parallel.kept import Kept, elements


class Slots:
    __slots__ = ("first", "later")

    def __init__(self, tensor):
        self.first = tensor

    def add(self, other):
        self.first += other


class Attributes:
    def __init__(self, tensor):
        self.held = {"one": [tensor]}


class Number(float):
    """Holds a tensor as an attribute, beside its number."""

    def __new__(cls, tensor):
        self = super().__new__(cls)
        self.held = tensor
        return self


class Impostor(Attributes):
    __class__ = float


class OwnOptimizer(torch.optim.Optimizer):
    def __init__(self, parameters):
        super().__init__(parameters, {})
        self.moments = torch.zeros(5)


def closure(tensor):
    later = None

    def inner():
        return tensor, later, unset

    if later:
        unset = 1
    return inner


def default(tensor):
    return lambda held=tensor: held


def named_default(tensor):
    return lambda *, held=tensor: held


@pytest.mark.parametrize(
    "holding",
    [
        lambda t: t,
        lambda t: [(t,), {1}],
        Impostor,
        lambda t: deque([t]),
        lambda t: np.array(t),
        Slots,
        Attributes,
        closure,
        default,
        named_default,
        lambda t: functools.partial(print, t, end=""),
        lambda t: Slots(t).add,
        lambda t: t.add_,
        lambda t: itertools.chain([[t]]),
        lambda t: functools.reduce(lambda inner, _: [inner], range(30), t),
        lambda t: OwnOptimizer([torch.zeros(99)]),
        AsyncCollectiveTensor,  # like a DTensor, it is around another tensor
    ],
)
def test_a_tensor_is_found_wherever_it_is_kept(holding):
    assert elements([{"state": holding(torch.zeros(5))}]) == Kept(5, 0)


def test_what_a_suspended_generator_holds_is_told_apart():
    def averages(count):
        kept = torch.zeros(count)
        while True:
            sent = yield kept
            kept += sent

    def outer(count):
        yield from averages(count)

    running = outer(3)
    next(running)
    running.send(torch.ones(3))
    assert elements([{"a": running, "b": torch.zeros(2)}]) == Kept(2, 6)
    running.close()
    assert elements([running]) == Kept(0, 0)


def test_memory_that_is_shared_counts_once_and_given_memory_not_at_all():
    both = torch.zeros(2, 4)
    assert elements([{"both": both, "first": both[0], "second": both[1]}]) == Kept(8, 0)
    given = torch.zeros(6)
    assert elements([[given.view(2, 3), torch.zeros(1)]], besides=[given]) == Kept(1, 0)


def test_what_is_saved_in_bytes_is_told_apart_too():
    saved = io.BytesIO(bytes(40))
    held = [{"a": saved, "b": bytes(8), "c": bytearray(12), "d": array.array("f", [0.0] * 5)}]
    assert elements(held) == Kept(0, 0, 20)
    assert elements([{"text": "forty bytes", "steps": 3}]) == Kept(0, 0)


def test_a_complex_number_is_two_and_a_list_of_floats_is_told_apart():
    pair = torch.complex(torch.zeros(3), torch.zeros(3))
    assert elements([{"pair": pair, "view": pair[:2]}]) == Kept(6, 0)
    assert elements([{"pair": pair.numpy()}]) == Kept(6, 0)
    assert elements([{"lists": ([0.0] * 3, (1.5,)), "steps": 2, "t": torch.zeros(1)}]) == Kept(
        1, 0, 4
    )
    assert elements([{"odd": [1 + 2j, *np.zeros(2, "float32"), *np.zeros(1, "complex64")]}]) == (
        0, 0, 6,
    )  # fmt: skip


def test_a_number_that_holds_a_tensor_is_looked_into():
    assert elements([{"lr": Number(torch.zeros(4))}]) == Kept(4, 0, 1)


def test_global_variables_are_not_looked_at():
    functions = [closure(None), Slots, torch, test_global_variables_are_not_looked_at]
    assert elements(functions) == Kept(0, 0)
