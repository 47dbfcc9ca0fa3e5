"""Who judges, and with which GPUs."""

import threading

import pytest

from grader.judges import Devices, devices


def test_a_host_lends_each_device_to_one_submission_at_a_time():
    host = Devices({"a": ["0", "1", "2", "3", "4", "5"]})
    with host.lent("a", 2) as first, host.lent("a", 3) as second:
        assert len(first) == 2 and len(second) == 3 and not set(first) & set(second)


def test_one_that_needs_more_than_there_are_gets_all():
    with Devices({"a": ["0", "1"], "b": []}).lent("a", 5) as mine:
        assert mine == ["0", "1"]
    with Devices({"b": []}).lent("b", 5) as mine:
        assert mine == []


def test_one_that_finds_too_few_waits_until_they_are_given_back():
    host = Devices({"a": ["0", "1", "2"]})
    got: list[list[str]] = []

    def take():
        with host.lent("a", 2) as mine:
            got.append(mine)

    with host.lent("a", 2):
        waiting = threading.Thread(target=take)
        waiting.start()
        waiting.join(0.2)
        assert waiting.is_alive() and not got
    waiting.join(10)
    assert len(got) == 1


@pytest.mark.parametrize(
    ("visible", "expected"), [("", []), ("-1", []), ("2,5", ["2", "5"]), ("GPU-1a", ["GPU-1a"])]
)
def test_devices_are_those_that_the_job_was_given(monkeypatch, visible, expected):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert devices() == expected
