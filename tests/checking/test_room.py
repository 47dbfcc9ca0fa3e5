"""What the process that runs a notebook's cells is given time for."""

import os
import signal
import socket
import sys
import time

import pytest
import torch  # noqa: F401 - before the fork: importing it would be most of a cell's time

from distlab.checking import room
from distlab.engines import by_value  # noqa: F401 - likewise
from distlab.notebook import Cell
from distlab.processes import forkserver

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
        made = room._Author(theirs, None, room._Clock())
        yield made
        made.close()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says how long a process has waited")
def test_a_cell_has_its_time_on_a_processor_that_others_use(crowded, author):
    begin = time.monotonic()
    assert author.run(Cell("relay", BUSY, "solution"), 2.0) is None
    assert time.monotonic() - begin > 2.0, "the machine was not busy enough to tell"


def test_a_cell_that_waits_for_nothing_is_late_however_busy_the_machine_is(crowded, author):
    problem = author.run(Cell("relay", HANGS, "solution"), 1.0)
    assert problem is not None and problem["status"] == "timeout"


def test_what_the_cells_waited_is_left_out_of_the_time_of_all_and_no_more_than_that():
    clock = room._Clock()
    begin = clock.now()
    clock.leave_out(30.0)
    assert clock.now() - begin < -29
    clock.leave_out(10 * room.CELLS_LIMIT)
    assert begin - clock.now() <= room.CELLS_LIMIT
