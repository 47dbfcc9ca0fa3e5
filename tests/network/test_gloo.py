"""Messages of gloo are told apart however their connection is cut to packets."""

import re
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from distlab.network import gloo
from distlab.network.gloo import Stream

ROOT = Path(__file__).resolve().parents[2]
HELLO = struct.pack("<Q", 1)
FIRST = 0xFFFFFFF0  # sequence numbers begin again at 0


def frame(slot=0, size=0, opcode=1, payload=None):
    head = struct.pack("<6Q", 48 + (size if opcode < 2 else 0), opcode, slot, 0, size, 0)
    return head + (b"x" * size if payload is None and opcode < 2 else payload or b"")


def call(kind, number, delta=0):
    return kind << 56 | number << 24 | delta


def heard(*packets, opens=False):
    """What a stream tells of packets (offset, bytes), and the stream."""
    told = []
    stream = Stream(FIRST, opens, lambda *message: told.append(message))
    for offset, data in packets:
        stream.take((FIRST + offset) & 0xFFFFFFFF, memoryview(data))
    return told, stream


def test_the_version_that_the_course_is_tested_with_has_been_listened_to():
    (pinned,) = re.findall(r"^torch==(\S+)$", (ROOT / "constraints.txt").read_text(), re.M)
    assert gloo.known(pinned) and gloo.known(f"{pinned}+cpu")
    assert not gloo.known("3.0.0") and not gloo.known("2.1.1")


def test_a_message_between_two_ranks_has_its_tag_and_its_size():
    told, stream = heard((0, frame(7, 16, opcode=2) + frame(7, 16)))
    assert told == [("message", 7, 16)]
    assert not stream.foreign and not stream.pending


def test_a_message_may_be_empty():
    assert heard((0, frame(3, 0)))[0] == [("message", 3, 0)]


def test_calls_of_a_collective_are_told_apart_and_its_pieces_are_not():
    data = frame(call(4, 9), 5) + frame(call(4, 9, 1), 3) + frame(call(4, 10), 5)
    told, _ = heard((0, data))
    assert [kind for kind, _, _ in told] == ["all_reduce"] * 3
    assert told[0][1] == told[1][1] != told[2][1]


@pytest.mark.parametrize("opcode", [2, 3])
def test_a_notice_is_no_message(opcode):
    assert heard((0, frame(0, 4000, opcode=opcode)))[0] == []


def test_whoever_opens_a_connection_greets_first():
    assert heard((0, HELLO + frame(0, 4)), opens=True)[0] == [("message", 0, 4)]
    told, stream = heard((0, frame(0, 4)), opens=True)
    assert told == [] and stream.pending
    assert heard((0, b"GET / HTTP/1.1"), opens=True)[1].foreign == 14


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\nHost: rank1\r\n\r\nand some more of that",
        frame(0, 4, opcode=9), frame(call(77, 0), 4),
        struct.pack("<6Q", 47, 1, 0, 0, 0, 0), struct.pack("<6Q", 90, 2, 0, 0, 42, 0),
    ],
)  # fmt: skip
def test_what_gloo_does_not_send_is_counted(data):
    told, stream = heard((0, data), (len(data), b"more"))
    assert told == [] and stream.foreign == len(data) + 4


def test_an_unfinished_message_is_none():
    told, stream = heard((0, frame(0, 1000)[:900]))
    assert told == [] and stream.pending == 852
    stream.take((FIRST + 900) & 0xFFFFFFFF, b"x" * 148)
    assert told == [("message", 0, 1000)] and not stream.pending


def test_a_missing_packet_is_waited_for():
    data = frame(0, 100) + frame(1, 100)
    told, stream = heard((0, data[:50]), (150, data[150:]))
    assert told == [] and stream.gap
    stream.take((FIRST + 50) & 0xFFFFFFFF, data[50:160])
    assert told == [("message", 0, 100), ("message", 1, 100)] and not stream.gap


def test_only_so_much_is_kept_of_what_comes_too_early(monkeypatch):
    monkeypatch.setattr(gloo, "MOST_EARLY", 1000)
    _, stream = heard((10, b"x" * 600), (900, b"x" * 600))
    assert stream.overrun


@given(
    st.lists(st.tuples(st.integers(0, 8), st.integers(0, 99), st.integers(0, 300))),
    st.randoms(use_true_random=False),
)
def test_packets_of_any_size_in_any_order_and_more_than_once_say_the_same(messages, chance):
    data = HELLO + b"".join(frame(call(kind, n), size) for kind, n, size in messages)
    cuts = sorted({0, len(data), *(chance.randrange(len(data)) for _ in range(20))})
    packets = [(a, data[a:b]) for a, b in zip(cuts, cuts[1:], strict=False)]
    again = [(at, data[at : at + chance.randrange(1, 99)]) for at in chance.choices(cuts, k=5)]
    packets += [(at, some_of) for at, some_of in again if some_of]
    chance.shuffle(packets)
    told, stream = heard(*packets, opens=True)
    assert [(kind, size) for kind, _, size in told] == [
        (gloo.KINDS[kind], size) for kind, _, size in messages
    ]
    assert not stream.foreign and not stream.pending and not stream.gap
