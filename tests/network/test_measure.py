"""What is heard of packets, of which some may be missing."""

import socket
import struct
from types import SimpleNamespace

import pytest

from distlab.network import measure
from distlab.network.seen import Seen

SYN, PUSH = 0x02, 0x18
PAYLOAD = bytes(100)
MESSAGE = struct.pack("<6Q", 48 + len(PAYLOAD), 0, 7, 0, len(PAYLOAD), 0) + PAYLOAD
HELLO = struct.pack("<Q", 0)


def packet(sequence, data=b"", flags=PUSH, port=5000):
    """From rank 0 to rank 1, by TCP."""
    ends = socket.inet_aton(measure._address(0)), socket.inet_aton(measure._address(1))
    ip = struct.pack("!BxHHHBBH4s4s", 0x45, 40 + len(data), 0, 0, 64, 6, 0, *ends)
    tcp = struct.pack("!HHIIBBHHH", port, 4000, sequence, 0, 5 << 4, flags, 0, 0, 0)
    return memoryview(bytes(14) + ip + tcp + data)


@pytest.fixture
def heard():
    made = measure._Heard()
    made.packet(measure._HUB_DEVICES, packet(99, flags=SYN))
    made.packet(measure._HUB_DEVICES, packet(100, HELLO))
    return made


def take(heard, at, data, **about):
    heard.packet(measure._HUB_DEVICES, packet(108 + at, data, **about))


def test_a_message_is_heard_however_it_was_cut(heard):
    take(heard, 30, MESSAGE[30:])
    take(heard, 0, MESSAGE[:30])
    seen = heard.seen()
    assert seen.messages == {(0, 1, len(PAYLOAD)): 1} and not seen.foreign and not seen.lost


@pytest.mark.parametrize("end", [10, 49, 100, len(MESSAGE) - 1])
def test_the_rest_of_a_message_makes_the_beginning_nobodys_unless_packets_are_missing(heard, end):
    take(heard, 0, MESSAGE[:end])
    assert heard.seen().foreign == {(0, 1): end if end < 48 else end - 48}
    heard.lost = 1
    assert not heard.seen().foreign
    heard.lost = 0
    take(heard, end, MESSAGE[end:])
    assert not heard.seen().foreign


def test_a_connection_that_could_not_be_followed_counts_as_lost(heard):
    (stream,) = heard._followed()
    stream.overrun = True
    assert heard.seen().lost == 1


def test_what_a_gap_hides_is_held_against_nobody(heard):
    take(heard, 0, MESSAGE[:60])
    take(heard, 70, MESSAGE[70:])
    assert heard.gaps() == 1
    seen = heard.seen(heard.gaps())
    assert seen.lost == 1 and not seen.foreign


def test_what_gloo_does_not_say_is_foreign_whatever_is_missing(heard):
    take(heard, 0, b"x" * 200)
    assert heard.seen(missing=1).foreign == {(0, 1): 200}


def test_a_connection_that_begins_anew_keeps_what_was_said_on_it_before(heard):
    take(heard, 0, b"x" * 200)
    heard.packet(measure._HUB_DEVICES, packet(7777, flags=SYN))
    assert heard.seen(missing=1).foreign == {(0, 1): 200}


def test_an_earlier_run_is_not_held_against_a_later_one(heard):
    take(heard, 0, MESSAGE[:60])
    heard.begin()
    assert not heard.seen().foreign
    take(heard, 60, MESSAGE[60:90])
    assert heard.seen().foreign
    take(heard, 90, MESSAGE[90:] + b"y" * 48)
    assert heard.seen().foreign == {(0, 1): 48}


class Later(measure.Wire):
    """Whoever measures is stopped for an hour in its first look; a packet comes looks after that.

    Args:
        comes: at which look.
    """

    def __init__(self, comes):
        self.now, self._looks, self._comes = 1000.0, 0, comes
        self._begun, self._drained = [], []
        self._ring = SimpleNamespace(settle=self._settle, lost=lambda: 0, close=lambda: None)
        self._heard = SimpleNamespace(
            lost=0, packet=None, gaps=lambda: 0, seen=lambda missing: Seen({}, {}, {}, {}, lost=0)
        )

    def _counted(self):
        return []

    def _settle(self, heard):
        self._looks += 1
        self.now += 3600.0 if self._looks == 1 else 0.0

    def missing(self, seen):
        return ["a message that was not sent"] if self._looks < self._comes else []

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


@pytest.mark.parametrize(("comes", "doubted"), [(1, False), (3, False), (10_000, True)])
def test_nobody_has_tampered_because_whoever_measures_was_stopped(monkeypatch, comes, doubted):
    wire = Later(comes)
    monkeypatch.setattr(measure, "time", wire)
    assert bool(wire.seen(wire.missing).doubts) is doubted
