"""Lab 04's checks: a ring's traffic is exact, and an asynchronous case has one outcome alone."""

import itertools
from fractions import Fraction

import cloudpickle
import numpy as np
import pytest
import torch

from distlab import Ranks, course, each, notebook
from distlab.simulation import cost_model
from grader import coursedir

LAB = "04-ring-allreduce"


@pytest.fixture(scope="module")
def solution():
    module = notebook.load(
        coursedir.SOLUTIONS / LAB / course.notebook_name(LAB), name="solution_04"
    )
    cloudpickle.register_pickle_by_value(module)
    return module


@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_a_ring_sends_exactly_2_size_minus_1_over_size_of_the_bytes(solution, size):
    tensors = [torch.arange(60.0) * rank for rank in range(size)]
    result = Ranks(size).run(solution.ring_all_reduce, each(tensors))
    shares = cost_model.sent_shares(result.records, tensors[0].nbytes)
    assert shares == [Fraction(2 * (size - 1), size)] * size
    assert all(set(to) == {(rank + 1) % size} for rank, to in
               enumerate(cost_model.sent_bytes(result.records)))  # fmt: skip
    assert all(torch.equal(total, sum(tensors)) for total in result)


ASYNC = course.exercises(LAB)["async_parameter_server"]
CASES = coursedir.cases(ASYNC)


def outcomes(case):
    """What every order within the turns leads to: (parameters, staleness, what workers see)."""
    inputs = ASYNC.inputs(case)
    for orders in itertools.product(*(itertools.permutations(t) for t in case.params["turns"])):
        server = [p.astype("float64") for p in inputs[0]["parameters"]]
        given = {worker: [server] for worker in range(1, case.size)}
        known, stalest = dict.fromkeys(given, 0), 0
        for updates, worker in enumerate(itertools.chain(*orders)):
            gradient = [p - m for p, m in zip(given[worker][-1], inputs[worker]["minimum"],
                                              strict=True)]  # fmt: skip
            server = [p - inputs[0]["lr"] * g for p, g in zip(server, gradient, strict=True)]
            stalest = max(stalest, updates - known[worker])
            known[worker] = updates + 1
            given[worker].append(server)
        yield server, stalest, {worker: seen[:-1] for worker, seen in given.items()}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_no_order_of_workers_that_push_together_can_be_told_from_the_result(case):
    (first, stalest, seen), *others = outcomes(case)
    for parameters, staleness, views in others:
        assert staleness == stalest
        for a, b in zip(first, parameters, strict=True):
            np.testing.assert_allclose(a, b)
        for worker, view in views.items():
            for a, b in zip(itertools.chain(*seen[worker]), itertools.chain(*view), strict=True):
                np.testing.assert_allclose(a, b)
    for rank, expected in enumerate(coursedir.reference(ASYNC, case)):
        if rank == 0:
            assert expected["returned"]["max_staleness"] == stalest
            for a, b in zip(first, expected["returned"]["parameters"], strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
        else:
            assert len(expected["parameters that gradient_fn was given"]) == len(seen[rank])


def test_a_course_in_turns_is_told_from_one_in_a_fixed_order():
    """Were all cases round robin, a server that asks the workers one after the other would pass."""
    round_robin = [
        [w for turn in case.params["turns"] for w in turn]
        == [*range(1, case.size)] * ASYNC.inputs(case)[0]["steps"]
        for case in CASES
    ]
    assert not round_robin[0] and sum(round_robin) < len(CASES) / 2
