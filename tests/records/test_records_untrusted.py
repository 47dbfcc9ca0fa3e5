"""What a rank has left where its record should be is read as data or not at all."""

import json
import os
import random
import time
import tracemalloc

import pytest
from recorded import record, record_of, row

from distlab.records import causality, events, leftovers, reading, told
from distlab.records.deadlock import Scheduled, Watcher, remarks
from distlab.records.pairing import pair
from distlab.records.wording import summary
from distlab.viz.timeline import timeline


def test_a_plain_record_is_taken_as_it_is():
    (event,) = reading.checked(record(), 0, 2).events
    assert str(event) == "send(dst=1)" and event.place == "relay:3"


@pytest.mark.parametrize(
    "changes",
    [
        {"peer": -1}, {"peer": 7}, {"state": 9}, {"line": -1}, {"nbytes": -4}, {"tag": -1},
        {"begin": float("inf")}, {"end": float("nan")}, {"wait_end": 1e300}, {"begin": -1.0},
        {"shape": [-1, 0, 0, 0, 0, 0]}, {"op": 12, "note": b"0-32767"},
    ],
)  # fmt: skip
def test_an_event_that_cannot_be_is_left_out(changes):
    assert reading.checked(record(**changes), 0, 2).events == []


@pytest.mark.parametrize("where", [{"rank": 1}, {"size": 30_000}])
def test_a_record_of_another_rank_is_none(where):
    assert reading.checked(record(**where), 0, 2) == events.RankRecord(0, 2)


@pytest.mark.parametrize(("size", "note"), [(2, b"0-32767"), (30_000, b"0-29999")])
def test_thousands_of_groups_of_thousands_of_ranks_take_no_memory(size, note):
    data = record_of([row(op=12, group=1, note=note)] * 500, 0, size)
    tracemalloc.start()
    try:
        assert reading.checked(data, 0, 2).events == []
        assert tracemalloc.get_traced_memory()[1] < 10 << 20
    finally:
        tracemalloc.stop()


def test_groups_that_were_given_are_numbered_in_no_time():
    made = [
        row(op=12, group=group, note=b"0,1", more=events.GIVEN >> 8) for group in range(1, 30_000)
    ]
    begin = time.process_time()
    given = reading.checked(record_of(made, 0, 2), 0, 2).given
    assert time.process_time() - begin < 10
    assert given[29_999] == ((0, 1), events.GIVEN_GROUPS + 29_998)


def test_no_bytes_make_a_record_that_cannot_be_drawn_or_remarked_on():
    generator = random.Random(1)
    for _ in range(200):
        data = bytearray(record())
        for _ in range(generator.randrange(1, 30)):
            data[generator.randrange(events.HEADER_BYTES - 1, len(data))] = generator.randrange(256)
        run = [reading.checked(bytes(data), 0, 2), reading.checked(record(1), 1, 2)]
        assert timeline(run).svg().startswith("<svg")
        remarks(run)


def _scribbled(generator, rank, size):
    """A record of operations each of which is possible, though no program would do them."""
    choose, ranks = generator.choice, range(size)

    def moment():
        return choose([0.0, 1.0, 2.0, 3.0, 4 * generator.random()])

    rows = [
        row(
            state=choose([events.POSTED, events.POSTED, events.DONE, events.FAILED]),
            op=choose([1, 2, *range(1, len(events.OPS))]), flags=choose([0, 2, 3, 8, 12, 128, 134]),
            more=choose([0, 0, 0, *(1 << bit for bit in range(9))]), group=choose([0, 0, 1, 2, -1]),
            peer=choose([-1, *ranks]), tag=choose([0, 0, 5]), nbytes=choose([0, 4, 100]),
            begin=moment() or 1.0, end=moment(), wait_begin=moment(), wait_end=moment(),
            api=choose([b"send", b"backward", b""]), function=choose([b"f", b""]),
            note=choose([b"", b"0", b"1", b"0,1", b"0-2", b"1,1", b"1,2>2,1", b"read 5 f"]),
            until=choose([0.0, 0.0, 1.5]), thread=choose([0, 0, 1]), polls=choose([0, 2]),
            seen=choose([0, 1]), polled=choose([0.0, 1.2]),
        )
        for _ in range(generator.randrange(6))
    ]  # fmt: skip
    progress, goes_on = choose([events.RUNNING, *range(4)]), choose([0, 0, 1, 1 << 16])
    return record_of(rows, rank, size, progress, choose([0.0, 3.0]), goes_on)


def test_whatever_operations_ranks_have_scribbled_everything_that_reads_them_answers():
    generator = random.Random(1)
    for _ in range(3_000):
        size = generator.choice([1, 2, 2, 3])
        data = [_scribbled(generator, rank, size) for rank in range(size)]
        run = [reading.checked(one, rank, size) for rank, one in enumerate(data)]
        dead = {rank for rank in range(size) if generator.random() < 0.1}
        times = iter(range(0, 1_000, 100))
        watcher, scheduled = Watcher(clock=lambda times=times: next(times)), Scheduled(Watcher())
        for found in (*(watcher(run, dead) for _ in range(2)), watcher.hindsight(run)):
            assert json.dumps(told.as_data(run, found, ""), allow_nan=False)
        for _ in range(2):
            scheduled(run, dead)
        watcher.conflict(run, dead)
        remarks(run)
        causality.choices(run)
        leftovers.all_met(run)
        assert summary(run, pair(run))


@pytest.mark.parametrize("kind", ["pipe", "link", "folder"])
def test_what_is_no_plain_file_is_no_record(tmp_path, kind):
    path = tmp_path / "0.rec"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "link":
        path.symlink_to("/dev/zero")
    else:
        path.mkdir()
    assert reading.Follower(path, 0, 2).look().events == []
