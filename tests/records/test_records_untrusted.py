"""What a rank has left where its record should be is read as data or not at all."""

import os
import random

import pytest
from recorded import record

from distlab.records import events, reading
from distlab.records.lint import remarks
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


def test_no_bytes_make_a_record_that_cannot_be_drawn_or_remarked_on():
    generator = random.Random(1)
    for _ in range(200):
        data = bytearray(record())
        for _ in range(generator.randrange(1, 30)):
            data[generator.randrange(events.HEADER_BYTES - 1, len(data))] = generator.randrange(256)
        run = [reading.checked(bytes(data), 0, 2), reading.checked(record(1), 1, 2)]
        assert timeline(run).svg().startswith("<svg")
        remarks(run)


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
