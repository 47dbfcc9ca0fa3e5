"""The α–β model finds the link that made the times, and traffic is counted exactly."""

import sys
from fractions import Fraction

import cloudpickle
import pytest
import torch
import torch.distributed as dist
from hypothesis import given
from hypothesis import strategies as st

from distlab import Ranks
from distlab.simulation import cost_model

cloudpickle.register_pickle_by_value(sys.modules[__name__])

SIZES = [4, 1024, 65_536, 1 << 20, 1 << 24]


@given(st.floats(1e-7, 1e-2), st.floats(1e6, 1e11))
def test_a_fit_of_exact_times_finds_the_link(latency, bandwidth):
    link = cost_model.Link(latency, bandwidth)
    found = cost_model.fit(SIZES, [link.message_time(n) for n in SIZES])
    assert [found.message_time(n) for n in SIZES] == pytest.approx(
        [link.message_time(n) for n in SIZES], rel=1e-6
    )


def test_a_fit_gives_small_messages_their_say():
    """An error of 10% in the largest message must not drown the latency."""
    link = cost_model.Link(50e-6, 1e9)
    times = [link.message_time(n) for n in SIZES]
    times[-1] *= 1.1
    assert cost_model.fit(SIZES, times).latency == pytest.approx(50e-6, rel=0.1)


def test_a_latency_is_never_negative():
    found = cost_model.fit([1000, 2000, 4000], [1e-6, 2.2e-6, 4.6e-6])
    assert found.latency == 0 and found.bandwidth == pytest.approx(0.92e9, rel=0.05)


@pytest.mark.parametrize(
    ("sizes", "seconds", "complaint"),
    [
        ([8], [1.0], "two sizes"),
        ([8, 8], [1.0, 2.0], "two sizes"),
        ([8, 16], [1.0], "two sizes"),
        ([8, 16], [0.0, 1.0], "more than 0 s"),
        ([8, 16_000_000], [2.0, 1.0], "no longer"),
    ],
)
def test_what_cannot_be_fitted_is_refused_in_words(sizes, seconds, complaint):
    with pytest.raises(ValueError, match=complaint):
        cost_model.fit(sizes, seconds)


def test_trees_and_halving_cost_what_their_rounds_cost():
    assert cost_model.tree_time(1e6, 8, 1e-3, 1e9) == pytest.approx(2 * 3 * (1e-3 + 1e-3))
    assert cost_model.tree_time(1e6, 5, 1e-3, 1e9) == cost_model.tree_time(1e6, 8, 1e-3, 1e9)
    assert cost_model.tree_time(1e6, 1, 1e-3, 1e9) == 0
    assert cost_model.halving_doubling_time(8e6, 8, 1e-3, 1e9) == pytest.approx(
        2 * 3 * 1e-3 + 2 * (4e6 + 2e6 + 1e6) / 1e9
    )
    with pytest.raises(ValueError, match="power of two"):
        cost_model.halving_doubling_time(8e6, 6, 1e-3, 1e9)


def test_bytes_sent_are_counted_by_destination():
    def program(rank, size):
        if rank == 0:
            dist.send(torch.zeros(5), 1)
            dist.send(torch.zeros(3, dtype=torch.float64), 2)
        else:
            dist.recv(torch.zeros(5) if rank == 1 else torch.zeros(3, dtype=torch.float64), 0)

    records = Ranks(3).run(program).records
    assert cost_model.sent_bytes(records) == [{1: 20, 2: 24}, {}, {}]
    assert cost_model.sent_shares(records, 20) == [Fraction(11, 5), 0, 0]
