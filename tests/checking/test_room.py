"""What the process that runs a notebook's cells is given time for."""

import os
import signal
import socket
import sys
import time

import numpy as np
import pytest
import torch  # noqa: F401 - before the fork: importing it would be most of a cell's time

from distlab.checking import room
from distlab.engines import by_value, runs, watching  # noqa: F401 - likewise
from distlab.notebook import Cell
from distlab.processes import forkserver, payload, stopped

BUSY = "import time\nbegin = time.process_time()\nwhile time.process_time() - begin < 0.5: pass"
HANGS = "import time\ntime.sleep(60)"


@pytest.fixture
def crowded():
    """This process and its children share one processor with five others that never wait."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    others = [forkserver.spawn(_spin) for _ in range(5)]
    yield
    for pid in others:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    os.sched_setaffinity(0, allowed)


def _spin():
    forkserver.die_with_parent()
    while True:
        pass


@pytest.fixture
def author():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        made = room._Author(room.Forks(theirs), None, room._Clock())
        yield made
        made.close()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says how long a process has waited")
def test_a_cell_has_its_time_on_a_processor_that_others_use(crowded, author, monkeypatch):
    monkeypatch.setattr(watching, "MOST_QUEUED", 30.0)  # the five may not be the only ones
    begin = time.monotonic()
    assert author.run(Cell("relay", BUSY, "solution"), 2.0) is None
    assert time.monotonic() - begin > 2.0, "the machine was not busy enough to tell"


def test_a_cell_that_waits_for_nothing_is_late_however_busy_the_machine_is(crowded, author):
    problem = author.run(Cell("relay", HANGS, "solution"), 1.0)
    assert problem is not None and problem["status"] == "timeout"


class Suspended:
    """A clock that goes on by an hour when it is looked at for the third time."""

    def __init__(self):
        self._looks = 0

    def monotonic(self):
        self._looks += 1
        return time.monotonic() + (3600.0 if self._looks > 2 else 0.0)


def test_a_cell_has_its_time_where_the_machine_is_suspended_meanwhile(author, monkeypatch):
    monkeypatch.setattr(stopped, "time", Suspended())
    assert author.run(Cell("relay", BUSY, "solution"), 20.0) is None
    # nor is it time of the cells that come later
    assert time.monotonic() - author._clock.now() > 3590.0


def test_what_the_cells_waited_is_left_out_of_the_time_of_all_and_no_more_than_that():
    clock = room._Clock()
    begin = clock.now()
    clock.leave_out(30.0)
    assert clock.now() - begin < -29
    clock.leave_out(10 * room.CELLS_LIMIT)
    assert begin - clock.now() <= room.CELLS_LIMIT


class Worst:
    """In place of an author: what takes as long as it may, two thirds of it without a processor.

    Args:
        hangs: which of its cells end or hang the process.
        quick: how many of its cells take no time at all.
    """

    now = 0.0  # of the clock that all see
    hangs, quick, hands_out = (), 0, True

    def __init__(self, starts, guard, clock):
        self._clock = clock

    def _takes(self, limit):
        Worst.now += (1 + watching.MOST_QUEUED) * limit
        self._clock.leave_out(watching.MOST_QUEUED * limit)

    def run(self, cell, limit):
        number = int(cell.name.split()[1])
        if number >= self.quick:
            self._takes(limit)
        return room.problem_of("timeout", "TimeoutError", "") if number in self.hangs else None

    def function(self, name, deadline):
        left = min(max(deadline - self._clock.now(), watching.GRACE), room.PATIENCE)
        self._takes(left)
        return ({} if self.hands_out else room.problem_of("timeout", "TimeoutError", "")), b""

    def close(self):
        pass


@pytest.mark.parametrize("kind", ["solution", "added"])
@pytest.mark.parametrize("hands_out", [True, False])
@pytest.mark.parametrize("quick", [0, 990, 1000])
@pytest.mark.parametrize("hangs", [(), range(1000), range(0, 1000, 7), (999,)])
def test_whatever_a_thousand_cells_do_their_room_answers_while_it_is_waited_for(
    monkeypatch, tmp_path, hangs, quick, hands_out, kind
):
    monkeypatch.setattr(room.time, "monotonic", lambda: Worst.now)
    monkeypatch.setattr(room, "_Author", Worst)
    for name, value in {"now": 0.0, "hangs": hangs, "quick": quick, "hands_out": hands_out}.items():
        monkeypatch.setattr(Worst, name, value)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        inside = room.Inside(tmp_path, room.Forks(theirs), None, walls=False)
        answers = [f"exercise {number}" for number in range(16)]  # no lab has more
        inside.run_cells([Cell(f"cell {n}", "", kind) for n in range(1000)], 10.0, answers)
    # beyond that the session's root waits a little, for what else takes time
    assert Worst.now <= (1 + watching.MOST_QUEUED) * room.CELLS_LIMIT


class Taking(Worst):
    """In place of an author: notes what it is asked to run; the sources "ends" end its process."""

    asked = ()

    def run(self, cell, limit):
        Taking.asked += ((cell.source, cell.takes),)
        Worst.now += 1.0
        ends = cell.source == "ends" or cell.takes == ("hangs",)
        return room.problem_of("crashed", "SystemExit", "") if ends else None


@pytest.mark.parametrize(
    ("added", "taken", "asked"),
    [
        ("ends", "fine", ["a", "ends", "a", ""]),
        ("late", "fine", ["a", ""]),
        ("ends", "hangs", ["a", "ends", "a", "", "a"]),
    ],
)
def test_a_cell_that_is_left_out_keeps_no_answer_from_being_taken_there(
    monkeypatch, tmp_path, added, taken, asked
):
    monkeypatch.setattr(room.time, "monotonic", lambda: Worst.now)
    monkeypatch.setattr(room, "_Author", Taking)
    monkeypatch.setattr(Taking, "asked", ())
    if added == "late":
        monkeypatch.setattr(room, "ADDED_LIMIT", 0.0)
    cells = [Cell("1", "a", "solution"), Cell("2", added, "added", takes=(taken,))]
    inside = room.Inside(tmp_path, None, None, walls=False)
    problems, _ = inside.run_cells(cells, 10.0, [])
    assert [source for source, _ in Taking.asked] == asked
    assert {takes for source, takes in Taking.asked if source == ""} == {(taken,)}
    assert set(problems) == {"2"}


class _Listened(Exception):
    pass


class Listening:
    """In place of ranks' processes: says for how many bytes there is room."""

    def ranks(self, folder, measured):
        return self

    def grow(self, size):
        pass

    def listen(self, expected):
        raise _Listened(expected)


def test_there_is_room_for_what_large_tensors_send_however_short_they_came(tmp_path):
    inputs = [payload.encode({"tensor": np.ones(1 << 20, np.float32)})] * 2
    assert sum(map(len, inputs)) < 1 << 16
    task = {"exercise": "01-message-passing/exchange"}
    with pytest.raises(_Listened) as told:
        room.Inside(tmp_path, Listening(), None, False).run(task, b"", inputs)
    assert told.value.args[0] >= 2 << 22
