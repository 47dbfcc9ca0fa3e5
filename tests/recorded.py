"""Events, and whole records as bytes, for tests of what reads records."""

from distlab.records import events
from distlab.records.events import DONE, Event


def event(rank, index, op, size=2, peer=None, tag=0, **changes) -> Event:
    values = dict(
        rank=rank, index=index, op=op, api=op, group=tuple(range(size)), group_index=0, peer=peer,
        tag=tag, nbytes=4, dtype="float32", shape=(1,), pieces=1, reduction="", function="f",
        file="cell", line=index + 1, state=DONE, flags=events.BLOCKING | events.WAITED,
        begin=1.0, end=0.0, wait_begin=1.0, wait_end=0.0, value=1.0,
    )  # fmt: skip
    return Event(**{**values, **changes})


_ROW = {
    "state": events.DONE, "op": 1, "flags": 3, "redop": 0, "group": 0, "peer": 1, "tag": 0,
    "line": 3, "dtype": 1, "ndim": 1, "pieces": 1, "nbytes": 4, "shape": [1, 0, 0, 0, 0, 0],
    "begin": 1.0, "end": 2.0, "wait_begin": 1.0, "wait_end": 2.0, "value": 1.0, "crc_begin": 0,
    "crc_end": 0, "api": b"send", "function": b"relay", "file": b"relay", "note": b"", "until": 0.0,
    "thread": 0, "more": 0, "polls": 0, "seen": 0, "polled": 0.0,
}  # fmt: skip


def record(rank=0, size=2, **changes) -> bytes:
    """A record of one event, as a rank leaves it."""
    return record_of([row(**changes)], rank, size)


def record_of(rows, rank, size, progress=events.RETURNED, end=2.0, goes_on=0) -> bytes:
    head = events.HEADER.pack(rank, size, len(rows), progress, 1.0, end, goes_on, 0.0, 0.0)
    return head.ljust(events.HEADER_BYTES, b"\0") + b"".join(rows)


def row(**changes) -> bytes:
    """One entry of a record."""
    fields = {**_ROW, **changes}
    shape = fields.pop("shape")
    values = list(fields.values())
    return events.PACK.pack(*values[:12], *shape, *values[12:])
