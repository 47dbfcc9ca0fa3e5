"""Schedules of pipelines, measured and drawn."""

import torch
from torch import nn

from distlab.simulation.schedules import BACKWARD, FORWARD, Schedule, Slot, Work, compare, fastest


def two_ranks():
    """Two micro-batches through two ranks; backward as long as forward."""
    return Schedule([
        [Slot(FORWARD, 0, 0, 1), Slot(FORWARD, 1, 1, 2), Slot(BACKWARD, 0, 4, 5),
         Slot(BACKWARD, 1, 5, 6)],
        [Slot(FORWARD, 0, 1, 2), Slot(FORWARD, 1, 2, 3), Slot(BACKWARD, 0, 3, 4),
         Slot(BACKWARD, 1, 4, 5)],
    ])  # fmt: skip


def test_idle_time_is_what_is_left_of_the_step():
    schedule = two_ranks()
    assert schedule.seconds == 6
    assert abs(schedule.idle - 1 / 3) < 1e-12  # (p − 1)/(m + p − 1) for p = m = 2


def test_micro_batches_in_flight_are_counted():
    assert two_ranks().in_flight == [2, 2]
    in_turn = [Slot(FORWARD, 0, 0, 1), Slot(BACKWARD, 0, 1, 2), Slot(FORWARD, 1, 2, 3)]
    assert Schedule([in_turn]).in_flight == [1]


def test_work_takes_its_time_and_notes_it_and_passes_gradients_on():
    layer, work = nn.Linear(3, 2), Work(0.001)
    for _ in range(2):
        work(layer(torch.ones(4, 3))).sum().backward()
    noted = work.noted()
    assert [(s.kind, s.number) for s in noted] == [
        (FORWARD, 0), (BACKWARD, 0), (FORWARD, 1), (BACKWARD, 1),
    ]  # fmt: skip
    assert all(s.end - s.begin >= (0.004 if s.kind == FORWARD else 0.008) for s in noted)
    assert layer.bias.grad.tolist() == [8, 8]
    work(layer(torch.ones(1, 3)))
    assert [s.number for s in work.noted()] == [0]


def test_work_does_not_sleep_for_tensors_without_memory():
    work = Work(100.0)
    assert work(torch.empty(4, 3, device="meta")).shape == (4, 3)


def test_the_fastest_of_several_steps_is_the_same_step_on_all_ranks():
    steps = [[Slot(FORWARD, 0, 0, 3)], [Slot(FORWARD, 0, 5, 6)]]
    later = [[Slot(FORWARD, 0, 3, 6)], [Slot(FORWARD, 0, 6, 7)]]
    assert fastest([steps, later]).logs == [steps[1], later[1]]


def test_an_empty_schedule_is_not_idle():
    assert Schedule([[], []]).idle == 0


def test_the_figure_has_a_row_for_each_rank_and_says_how_much_is_idle():
    import matplotlib

    matplotlib.use("Agg")
    figure = compare({"GPipe": two_ranks(), "again": two_ranks()})
    assert len(figure.axes) == 2
    assert "33% of it idle" in figure.axes[0].get_title(loc="left")
    assert [t.get_text() for t in figure.axes[1].get_yticklabels()] == ["rank 0", "rank 1"]
