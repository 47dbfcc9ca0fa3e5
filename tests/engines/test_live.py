"""A run seen while it goes on: what is shown, what that may take, and that it costs no run."""

import re
import sys
import threading
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent.parent / "viz"))

from test_timeline import add, long_run, world  # noqa: E402

from distlab.engines import live  # noqa: E402
from distlab.records.events import DONE, RUNNING  # noqa: E402
from distlab.records.matching import Ledger  # noqa: E402
from distlab.records.reports import ROW  # noqa: E402


class Clock:
    """Time that passes when it is told to."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


class Finding:
    message = "each waits for the other"


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def looks():
    return []


@pytest.fixture
def seen(clock, looks):
    """What shows a run, by this clock; making pictures takes no effort."""
    made = live.Live("step on 2 ranks", looks.append, clock)
    made.purse = live.Purse(clock, lambda: 0.0)
    return made


def look(show, records, clock, finding=None):
    ledger = Ledger(len(records))
    ledger.update(records)
    show(records, ledger, finding)
    clock.now += live.SELDOM


def posted():
    """Rank 0 waits for rank 1, which computes."""
    records = world(2, RUNNING)
    for record in records:
        record.begin = 99.0
    add(records, 0, "recv", 99.5, None, 1)
    return records


def test_a_look_tells_who_waits_and_since_when(seen, looks, clock, tmp_path):
    show, records = seen.of(tmp_path, 2), posted()
    look(show, records, clock)
    (told,) = looks
    assert told["tree"]["live"] and not told["over"] and told["run"] == 1
    assert told["tree"]["title"] == "step on 2 ranks" and told["tree"]["verdict"] == ""
    assert told["tree"]["horizon"] == pytest.approx(1.0)  # until now, not until the last event
    assert told["tree"]["ranks"][0]["shares"] == pytest.approx([0.5, 0.0, 0.5])
    assert told["tree"]["ranks"][1]["shares"] == pytest.approx([1.0, 0.0, 0.0])
    assert all(isinstance(column, bytes) for column in told["columns"])


def test_what_has_arrived_is_communication_and_no_waiting(seen, looks, clock, tmp_path):
    show, records = seen.of(tmp_path, 2), posted()
    add(records, 1, "send", 99.8, None, 0)
    look(show, records, clock)
    assert looks[0]["tree"]["ranks"][0]["shares"] == pytest.approx([0.5, 0.2, 0.3])


def test_before_anything_happens_nothing_is_shown(seen, looks, clock, tmp_path):
    look(seen.of(tmp_path, 2), world(2, RUNNING), clock)
    assert looks == []
    seen.end()
    assert looks == []  # not even that there is no more


def test_a_deadlock_is_shown_whatever_was_spent(seen, looks, clock, tmp_path):
    show, records = seen.of(tmp_path, 2), posted()
    seen.purse.spent = 1e9
    look(show, records, clock)
    assert looks == []
    look(show, records, clock, Finding())
    (told,) = looks
    assert told["over"] and not told["tree"]["live"]
    assert told["tree"]["verdict"] == Finding.message
    seen.end()
    assert looks[1:] == [{}]


def test_pictures_take_what_they_may_and_no_more(clock):
    effort = Clock()
    purse = live.Purse(clock, effort)
    pictures, each, seconds = 0, 0.02, 60
    while clock.now < 100 + seconds:
        if purse.open():
            with purse.paying():
                effort.now += each
            pictures += 1
        clock.now += 0.05
    assert purse.spent <= live.FIRST + live.SHARE * seconds + each
    assert pictures >= live.FIRST / each  # and they are shown
    assert live.FIRST + live.SHARE * seconds < 0.02 * seconds  # of a minute's epoch


def test_pictures_come_quickly_at_first_and_then_less_often(clock):
    purse, begin, shown = live.Purse(clock, lambda: 0.0), clock.now, []
    while clock.now < begin + 10:
        if purse.open():
            with purse.paying():
                shown.append(clock.now - begin)
        clock.now += 0.05
    apart = [after - before for before, after in zip(shown, shown[1:], strict=False)]
    assert sum(at < 1 for at in shown) >= 3 and apart == [*map(pytest.approx, sorted(apart))]
    assert apart[0] < 2 * live.OFTEN and live.SELDOM <= apart[-1] < live.SELDOM + 0.1


def test_the_next_run_of_a_cell_is_seen_as_soon_as_the_first(seen, looks, clock, tmp_path):
    """Until then the front end shows the one before, as if it still went on."""
    for _ in range(3):
        show, begin, number = seen.of(tmp_path, 2), clock.now, len(looks)
        records = posted()
        while len(looks) == number:
            look(show, records, clock)
            clock.now += live.OFTEN / 4 - live.SELDOM
        assert clock.now - begin <= 2 * live.OFTEN
        for _ in range(6):
            look(show, records, clock)
        clock.now -= live.SELDOM - 0.001


def test_looks_are_apart_in_time(seen, looks, clock, tmp_path):
    show, records = seen.of(tmp_path, 2), posted()
    look(show, records, clock)
    clock.now -= live.SELDOM - live.OFTEN / 2
    look(show, records, clock)
    assert len(looks) == 1


def test_a_front_end_that_fails_ends_the_picture_and_not_the_run(clock, tmp_path):
    def broken(look):
        raise RuntimeError("no comm any more")

    made = live.Live("a run", broken, clock)
    show = made.of(tmp_path, 2)
    look(show, posted(), clock)
    look(show, posted(), clock, Finding())
    made.end()
    assert made.shown == 0


def test_a_record_that_no_picture_can_be_made_of_ends_the_picture_alone(
    seen, looks, clock, tmp_path
):
    show, records = seen.of(tmp_path, 2), posted()
    records[0].events[0].shape = None
    look(show, records, clock)
    assert looks == [] and not seen._works


def test_a_look_at_a_long_run_is_small_and_matched_as_the_whole(seen, looks, clock, tmp_path):
    """Messages match by their number since the run's begin, however much has left the picture."""
    records, show = long_run(400, 2), seen.of(tmp_path, 2)
    for record in records:
        record.progress, record.end = RUNNING, 0.0
    clock.now = records[0].events[-1].end
    seen.purse = live.Purse(clock, lambda: 0.0)
    look(show, records, clock)
    tree, columns = looks[0]["tree"], looks[0]["columns"]
    count = tree["events"]["count"]
    assert count <= live.EVENTS
    import numpy as np

    def column(name):
        return np.frombuffer(
            columns[tree["events"][name]["column"]], "<" + tree["events"][name]["type"]
        )

    mate, begin = column("mate"), column("begin")
    message = (column("flags") & 1).astype(bool)
    matched = message & (mate >= 0)
    assert matched.sum() > 0.9 * message.sum()
    # a send begins with its receive's step: 0.1 ms before it
    assert np.abs(np.abs(begin[matched] - begin[mate[matched]]) - 1e-4).max() < 1e-9
    assert all(call["members"] == [0, 1] for call in tree["collectives"])
    assert sum(map(len, columns)) < 60_000


def test_a_run_that_goes_on_is_matched_on_as_its_tail_moves(seen, looks, clock, tmp_path):
    whole, show = long_run(300, 2), seen.of(tmp_path, 2)
    growing = world(2, RUNNING)
    for upto in (100, 350, 600, 900):
        for record, source in zip(growing, whole, strict=True):
            record.events[:] = source.events[:upto]
        clock.now = 1e6 + upto
        look(show, growing, clock)
        assert looks[-1]["tree"]["events"]["count"] == 2 * min(upto, live.EVENTS // 2)
        assert len(looks[-1]["tree"]["collectives"]) == min(upto, live.EVENTS // 2) // 3
    assert whole[0].events[0].state == DONE  # nothing of the run was touched


def test_losses_and_images_a_second_are_told(seen, looks, clock, tmp_path):
    rows = [ROW.pack(98.0 + 0.1 * k, 2.0 - 0.1 * k, 32.0, 1) for k in range(10)]
    (tmp_path / "0.told").write_bytes(b"".join(rows) + b"half a row")
    (tmp_path / "1.told").write_bytes(ROW.pack(98.0, float("nan"), 8.0, 1))
    look(seen.of(tmp_path, 2), posted(), clock)
    training = looks[0]["tree"]["training"]
    assert training["ranks"][0]["loss"] == pytest.approx(1.1)
    assert training["ranks"][0]["rate"] == pytest.approx(320.0)
    assert training["ranks"][0]["images"] == 320
    assert training["ranks"][1] == {"loss": "nan", "rate": None, "images": 8.0, "reports": 1}


@pytest.mark.slow  # engines that import torch
def test_a_deadlock_of_real_ranks_is_shown_and_leaves_no_thread(ranks, monkeypatch):
    import torch.distributed as dist

    from distlab import report

    def stuck(rank, size):
        import torch

        report(loss=1.5, images=4)
        dist.recv(torch.zeros(1), (rank + 1) % size)  # a pair would be proven to hang by itself

    looks, before = [], set(threading.enumerate())
    monkeypatch.setattr(live.kernel, "pushed", lambda: looks.append)
    result = ranks.run(stuck, may_fail=True)
    assert looks[-1] == {} and looks[-2]["over"]
    assert looks[-2]["tree"]["verdict"] == result.run.finding.message
    assert [[told.loss for told in own] for own in result.reports] == [[1.5]] * 4
    assert set(threading.enumerate()) <= before
    # and soon: from its last operation on, the looks that prove it and the picture
    last = max(event.begin for record in result.records for event in record.events)
    assert looks[-2]["at"] - last < result.run.seconds


@pytest.mark.slow  # engines that import torch
def test_who_looks_at_nothing_is_shown_nothing(ranks, monkeypatch):
    monkeypatch.setenv("DISTLAB_WIDGETS", "off")
    with live.shown("a run") as seen:
        assert seen is None
    assert ranks.run(lambda rank, size: rank)[1] == 1


def test_where_answers_are_judged_nothing_is_shown():
    """The room that judges hands no picture to its runs, and its ranks keep no reports."""
    import distlab.checking.room
    import grader.judging.record

    for module in (distlab.checking.room, grader.judging.record):
        text = Path(module.__file__).read_text("utf-8")
        assert not re.search(r"\blive\b", text) and "keeps=" not in text
