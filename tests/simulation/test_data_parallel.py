"""Simulated data-parallel training: what it costs to wait for gradients and for the latest GPU."""

import pytest

from distlab.simulation import ETHERNET_100, data_parallel_rates

NODES = [1, 8, 64]


def test_without_gradients_every_gpu_counts_in_full():
    rates = data_parallel_rates(NODES, lambda size: 64, gradient_bytes=0)
    assert list(rates) == [8, 64, 512]
    for size, rate in rates.items():
        assert rate == pytest.approx(size * 1000, rel=0.02)


def test_gradients_cost_time_and_more_over_the_slower_network():
    free, fast, slow = (
        data_parallel_rates(NODES, lambda size: 64, *link, gradient_bytes=size)
        for link, size in (((), 0), ((), 102e6), ((ETHERNET_100,), 102e6))
    )
    assert all(free[size] > fast[size] >= slow[size] for size in free)
    assert fast[512] > slow[512]


def test_who_is_late_by_chance_holds_up_all_the_more_the_more_there_are():
    punctual, late = (data_parallel_rates(NODES, lambda size: 64, spread=s) for s in (0, 0.05))
    losses = [late[size] / punctual[size] for size in punctual]
    assert losses == sorted(losses, reverse=True) and losses[-1] < 0.95


def test_a_fixed_batch_is_divided():
    rates = data_parallel_rates(NODES, lambda size: 4096 / size)
    assert rates[512] / 512 < rates[64] / 64 < rates[8] / 8
