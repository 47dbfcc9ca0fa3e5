"""What a rank has left where its record should be is read as data or not at all."""

import os
import random

import pytest

from distlab.records import events, reading
from distlab.records.lint import remarks
from distlab.viz.timeline import timeline

ROW = {
    "state": events.DONE, "op": 1, "flags": 3, "redop": 0, "group": 0, "peer": 1, "tag": 0,
    "line": 3, "dtype": 1, "ndim": 1, "pieces": 1, "nbytes": 4, "shape": [1, 0, 0, 0, 0, 0],
    "begin": 1.0, "end": 2.0, "wait_begin": 1.0, "wait_end": 2.0, "value": 1.0, "crc_begin": 0,
    "crc_end": 0, "api": b"send", "function": b"relay", "file": b"relay", "note": b"", "until": 0.0,
    "thread": 0, "more": 0, "polls": 0, "seen": 0, "polled": 0.0,
}  # fmt: skip


def record(rank=0, size=2, **changes) -> bytes:
    fields = {**ROW, **changes}
    shape = fields.pop("shape")
    values = list(fields.values())
    row = events.PACK.pack(*values[:12], *shape, *values[12:])
    head = events.HEADER.pack(rank, size, 1, events.RETURNED, 1.0, 2.0, 0, 0.0, 0.0)
    return head.ljust(events.HEADER_BYTES, b"\0") + row


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
