"""What ranks tell of their training, and how it is read back."""

import math
import os

import pytest

from distlab import report
from distlab.rank import reports
from distlab.records import reports as reading
from distlab.records.reports import MOST, ROW, Report, rate


@pytest.fixture
def path(tmp_path):
    reports.begin(tmp_path / "0.told")
    yield tmp_path / "0.told"
    reports.end()


def test_where_nobody_watches_a_report_does_nothing():
    class Unasked:
        def __float__(self):
            raise AssertionError("nobody wants to know")

    report(loss=Unasked(), images=1)


@pytest.mark.filterwarnings("error")
def test_losses_and_images_are_read_back_in_order(path):
    import torch

    report(loss=2.5, images=32)
    report(images=16)
    report(loss=torch.tensor([0.5], requires_grad=True))
    told = reading.read(path, offset=10.0)
    assert [(one.loss, one.images) for one in told] == [(2.5, 32.0), (None, 16.0), (0.5, 0.0)]
    times = [one.time for one in told]
    assert times == sorted(times) and times[0] > 10.0


def test_a_loss_that_is_no_number_is_told_as_one(path):
    report(loss=float("nan"))
    report(loss=float("inf"))
    told = [one.loss for one in reading.read(path)]
    assert math.isnan(told[0]) and told[1] == math.inf


def test_reports_end_at_a_limit_and_with_the_run(path):
    for _ in range(MOST + 5):
        report(images=1)
    assert len(reading.read(path)) == MOST == os.path.getsize(path) // ROW.size
    reports.end()
    report(images=1)
    assert os.path.getsize(path) == MOST * ROW.size


def test_a_file_that_holds_anything_is_read_as_far_as_it_can_be(tmp_path):
    good = ROW.pack(5.0, 1.0, 8.0, 1)
    bad = [ROW.pack(math.nan, 1.0, 8.0, 1), ROW.pack(6.0, 1.0, -3.0, 1)]
    (tmp_path / "0.told").write_bytes(good + b"".join(bad) + good[:7])
    told = reading.read(tmp_path / "0.told")
    assert told == [Report(5.0, 1.0, 8.0), Report(5.0, None, 0.0), Report(5.0, None, 0.0)]
    (tmp_path / "1.told").symlink_to("/dev/zero")
    assert reading.read(tmp_path / "1.told") == reading.read(tmp_path / "2.told") == []


def test_masses_of_images_are_no_rate_that_a_page_cannot_tell(tmp_path):
    (tmp_path / "1.told").write_bytes(b"".join(ROW.pack(t, 1.0, 1e308, 1) for t in (1, 2, 3)))
    told = reading.read(tmp_path / "1.told")
    assert [row.images for row in told] == [0.0] * 3 and math.isnan(rate(told))


def test_a_follower_reads_what_is_new(path):
    follower = reading.Follower(path)
    report(images=1)
    assert len(follower.look()) == 1
    report(images=2)
    assert [one.images for one in follower.look()] == [1.0, 2.0]


def test_images_a_second_are_those_of_the_last_seconds():
    told = [Report(float(second), None, 10.0) for second in range(10)]
    assert rate(told) == pytest.approx(10.0)
    told += [Report(9.0 + 0.1 * k, None, 10.0) for k in range(1, 40)]
    assert rate(told, over=3.0) == pytest.approx(100.0)
    assert math.isnan(rate(told[:1]))
    assert math.isnan(rate([Report(1.0, 2.0, 0.0), Report(2.0, 1.0, 0.0)]))
    slow = [Report(0.0, None, 8.0), Report(60.0, None, 8.0)]
    assert rate(slow, over=3.0) == pytest.approx(8 / 60)  # of two at least
