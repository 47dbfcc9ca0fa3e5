"""What lab 05's measurements return, on real ranks and on made-up figures."""

import functools
import sys

import cloudpickle
import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from distlab import Ranks
from distlab.training import data, scaling, storage

cloudpickle.register_pickle_by_value(sys.modules[__name__])


def test_each_measurement_is_judged_by_itself():
    rates = {1: [100.0, 50.0], 2: [150.0, 100.0]}

    def formula(one):
        return {size: (rate / one[1], rate / one[1] / size) for size, rate in one.items()}

    assert scaling.by_repeat(rates, formula) == {
        1: [(1.0, 1.0), (1.0, 1.0)],
        2: [(1.5, 0.75), (2.0, 1.0)],
    }


def test_a_step_takes_as_long_as_on_the_slowest_rank():
    found = scaling.slowest([{"": [1.0, 4.0]}, {"": [2.0, 3.0]}])
    assert np.array_equal(found[""], [2.0, 4.0])


def loader_of(path, rank, size, batch_size):
    images = TensorDataset(torch.rand(64, 3, 32, 32), torch.zeros(64, dtype=torch.int64))
    return DataLoader(images, batch_size)


@pytest.fixture(scope="module")
def two():
    with Ranks(2) as ranks:
        yield ranks


def test_throughput_is_that_of_all_ranks_and_one_for_each_repeat(two):
    measure = functools.partial(scaling.measure_throughput, per_rank=2, steps=1, repeats=3)
    by_rank = list(two.run(measure))
    assert by_rank[0] == by_rank[1] and len(by_rank[0]) == 3 and min(by_rank[0]) > 0


def test_the_waits_are_in_order_and_the_plain_loader_pays_for_every_file(two, tmp_path):
    pixels = torch.zeros(3, 32, 32, dtype=torch.uint8)
    storage.write_files([(storage.jpeg(pixels), 0)] * 64, tmp_path / "files")
    (tmp_path / "none").mkdir()
    plain = two.run(scaling.waits_for_data, tmp_path / "files", None, 2)[0]
    fed = two.run(scaling.waits_for_data, tmp_path / "none", loader_of, 2)[0]
    for times in (plain, fed):
        assert all(asked <= got <= end for asked, got, end in times) and len(times) == 2
    assert all(got - asked >= 32 * 0.002 for asked, got, _ in plain)


def test_accuracy_is_over_the_whole_test_set(two, tmp_path):
    split = data.load(synthetic=True, limit=8, test_limit=101)
    scaling.InMemory.write(split, tmp_path / "images.pt")
    share = (split.test.labels == 3).sum().item() / 101
    assert list(two.run(always_three, tmp_path / "images.pt")) == [share, share]


def always_three(rank, size, path):
    images = scaling.InMemory(path)
    inputs, labels = images.batch(torch.tensor([0, 5]))
    assert inputs.shape == (2, 3, 32, 32) and labels.tolist() == images.labels[[0, 5]].tolist()
    return images.accuracy(lambda x: torch.eye(10)[torch.full((len(x),), 3)], rank, size)
