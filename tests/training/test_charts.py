"""Lab 05's pictures: what is drawn is what was measured."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

from distlab.processes.wrong_argument import WrongArgument
from distlab.training import charts


@pytest.fixture(autouse=True)
def closed(monkeypatch):
    monkeypatch.setattr(plt, "show", lambda: None)
    yield
    plt.close("all")


def words(axis):
    return [text.get_text() for text in axis.texts]


def test_amdahls_law_goes_through_what_two_ranks_reached():
    rates = {1: [100.0, 100.0], 2: [150.0, 150.0], 4: [200.0, 200.0]}
    found = {n: [(r[0] / 100, r[0] / 100 / n)] * 2 for n, r in rates.items()}
    charts.scaling_curves(
        {"strong: 64": rates, "weak: 32": rates}, dict.fromkeys(("strong: 64", "weak: 32"), found)
    )
    throughput, speedup, efficiency = plt.gcf().axes
    law = next(line for line in speedup.lines if line.get_label().startswith("Amdahl"))
    assert law.get_label() == "Amdahl, 33% undivided"
    assert law.get_ydata() == pytest.approx([1, 1.5, 2])
    assert throughput.get_legend_handles_labels()[1] == ["perfect", "strong", "weak"]
    assert efficiency.get_ylim()[0] == 0


def test_every_sample_has_a_field_with_its_rank_and_place():
    charts.division([[[2, 0], [1]], [[1, 0], [2]]])
    axis = plt.gca()
    assert sorted(words(axis)) == sorted(["0.0", "0.1", "1.0"] * 2)
    assert [label.get_text() for label in axis.get_yticklabels()] == ["epoch 0", "epoch 1"]


def test_losses_are_means_of_equally_many_images():
    seen, means = charts.smooth([1.0, 3.0, 5.0, 7.0], 256)
    assert seen.tolist() == [256.0, 768.0] and means == [2.0, 6.0]


def test_bars_of_accuracy_fit_into_the_picture():
    losses = np.ones(4)
    names = [f"{n} images, rate {n}" for n in (32, 64, 128, 256)]
    charts.trainings({name: (losses, 0.2 * i + 0.4) for i, name in enumerate(names)}, 1000)
    curves, bars = plt.gcf().axes
    assert bars.get_xlim()[1] > 1.0 == bars.get_xticks()[-1]
    assert words(bars) == [" 0.400", " 0.600", " 0.800", " 1.000"]
    assert [label.get_text() for label in bars.get_yticklabels()] == names  # not by colour alone


def test_the_share_of_waiting_leaves_the_first_wait_out():
    charts.waiting({"starved": [[(0, 5, 6), (6, 7, 8), (8, 9, 10)]]})
    assert words(plt.gca()) == ["  waits 50% of the time"]


def test_formats_compression_options_and_thousands_of_gpus_are_drawn():
    row = {"fetched": [1.0, 2.0], "fetched and decoded": [1.0, 1.0], "files": 3, "kilobytes": 4.1}
    charts.formats({"HDF5": row, "LMDB": row})
    assert words(plt.gcf().axes[1]) == [" 3 file(s)"] * 2
    charts.compression(dict.fromkeys(("float32", "fp16", "bf16", "PowerSGD"), (84.6, 0.5)), 1000)
    assert words(plt.gcf().axes[0]) == [" 84.6"] * 4
    charts.options({"plain": [1.0, 2.0, 3.0], "--amp": [4.0, 4.0, 4.0], "both": [1.0, 1.0, 1.0]})
    assert "the plain one being 1" in plt.gca().get_xlabel()
    rates = {8: 8.0, 64: 60.0}
    found = {8: (8.0, 1.0), 64: (60.0, 0.94)}
    charts.at_scale(dict.fromkeys("abcd", rates), dict.fromkeys("abcd", found))
    speeds, efficiencies = plt.gcf().axes
    assert [line.get_ydata().tolist() for line in efficiencies.lines] == [[1.0, 0.94]] * 4
    assert speeds.get_legend_handles_labels()[1] == list("abcd")


def test_no_axis_names_an_accuracy_above_one():
    charts.compression({name: (10.0, 1.0) for name in ("a", "b", "c", "d")}, 1000)
    _, accuracies = plt.gcf().axes
    left, right = accuracies.get_xlim()
    assert left < accuracies.get_xticks()[0] and accuracies.get_xticks()[-1] <= 1 < right


@pytest.mark.parametrize("draw", [charts.trainings, charts.compression])
def test_what_was_measured_in_part_is_not_drawn_and_it_is_said_why(draw):
    with pytest.raises(WrongArgument, match="1 of 4 are there: run the cell above to its end"):
        draw({"32 images": ([1.0], 0.5)}, 1000)
