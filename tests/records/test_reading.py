"""Records as bytes: what a watcher adds to them, and what was written too late."""

import struct

import pytest
import recorded

from distlab.records import events, reading
from distlab.records.deadlock import Watcher
from distlab.records.events import (
    DONE,
    ENTRY,
    FAILED,
    HEADER,
    HEADER_BYTES,
    OP_CODE,
    PACK,
    POSTED,
    RAISED,
    RETURNED,
    RUNNING,
)


def entry(state, begin, end):
    return PACK.pack(
        state, OP_CODE["recv"], 0, 0, 0, 1, 0, 3, 1, 1, 1, 4, 1, 0, 0, 0, 0, 0,
        begin, end, begin, end, 0.0, 0, 0, b"recv", b"f", b"cell", b"", 0.0, 0, 0, 0, 0, 0.0,
    )  # fmt: skip


def test_what_a_rank_noted_after_its_run_was_ended_is_left_out(tmp_path):
    path = tmp_path / "0.rec"
    header = HEADER.pack(0, 2, 3, RAISED, 1.0, 5.1, 0, 0.0, 0.0)
    rows = entry(DONE, 2.0, 3.0) + entry(FAILED, 4.0, 5.05) + entry(FAILED, 5.06, 5.09)
    path.write_bytes(header.ljust(HEADER_BYTES, b"\0") + rows)
    assert reading.read(path).progress == RAISED
    reading.stop(path, 5.0)
    for record in (reading.read(path), reading.read(reading.trimmed(path))):
        assert (record.progress, record.end, record.stopped) == (RUNNING, 0.0, 5.0)
        assert [e.state for e in record.events] == [DONE, POSTED]
        assert record.waiting() is record.events[1]


def test_a_wait_that_began_after_the_run_was_ended_is_left_out_of_an_operation_that_began_before(
    tmp_path,
):
    path = tmp_path / "0.rec"
    header = HEADER.pack(0, 2, 1, RUNNING, 1.0, 0.0, 0, 0.0, 0.0)
    row = bytearray(entry(FAILED, 4.0, 5.05))
    struct.pack_into("<d", row, ENTRY.fields["wait_begin"][1], 5.02)
    path.write_bytes(header.ljust(HEADER_BYTES, b"\0") + row)
    reading.stop(path, 5.0)
    record = reading.read(path)
    assert [(e.state, e.wait_begin) for e in record.events] == [(POSTED, 0.0)]


def test_times_of_another_clock_are_moved_at_every_look(tmp_path):
    path = tmp_path / "0.rec"
    header = HEADER.pack(0, 2, 2, RUNNING, 101.0, 0.0, 0, 0.0, -100.0)
    path.write_bytes(header.ljust(HEADER_BYTES, b"\0") + entry(DONE, 102.0, 103.0))
    follower = reading.Follower(path, 0, 2)
    with path.open("ab") as file:
        file.write(entry(POSTED, 104.0, 0.0))
    for record in (reading.read(path), follower.look()):
        assert (record.begin, record.end, record.offset) == (1.0, 0.0, -100.0)
        assert [(e.begin, e.end) for e in record.events] == [(2.0, 3.0), (4.0, 0.0)]
    path.write_bytes(path.read_bytes()[: -PACK.size] + entry(DONE, 104.0, 105.0))
    assert [e.end for e in follower.look().events] == [3.0, 5.0]


@pytest.mark.parametrize(
    ("members", "note"),
    [
        ((), b""), ((3,), b"3"), ((0, 5), b"0,5"), ((5, 2, 0), b"5,2,0"), ((4, 5, 6), b"4-6"),
        (range(0, 64, 8), b"0-56/8"), (range(1, 30_000, 2), b"1-29999/2"), ((7, 7, 7), b"7,7,7"),
    ],
)  # fmt: skip
def test_the_members_of_a_group_are_read_as_they_were_written(members, note):
    assert events.members_text(members) == note
    row = recorded.row(op=OP_CODE["new_group"], group=1, note=note)
    (made,) = reading.read(recorded.record_of([row], 0, 1 << 15)).events
    assert made.group == tuple(members)


def test_a_group_whose_members_are_too_many_for_a_note_accuses_nobody():
    members, size = [0, 2, 4, 6, *range(10, 39, 2)], 39
    note = events.members_text(members)
    ranks = []
    for rank in range(size):
        inside = rank in members
        rows = [recorded.row(op=OP_CODE["new_group"], group=1 if inside else -1, note=note)]
        if inside and rank != 38:  # that is late; all that are no members have returned
            rows.append(recorded.row(op=OP_CODE["all_reduce"], group=1, state=POSTED, wait_end=0.0))
        progress = RUNNING if inside else RETURNED
        ranks.append(reading.read(recorded.record_of(rows, rank, size, progress)))
    watcher = Watcher(clock=iter(range(0, 10_000, 100)).__next__)
    assert [watcher(ranks, set()) for _ in range(3)] == [None] * 3


def test_a_record_that_is_not_there_is_not_made_by_a_stop(tmp_path):
    reading.stop(tmp_path / "0.rec", 1.0)
    assert not (tmp_path / "0.rec").exists()
