"""Follows gloo on its TCP connections: where one message ends and the next begins.

gloo (`gloo/transport/tcp/pair.h`) puts a header of 48 bytes before everything that it sends: the
number of bytes in all, the kind of message, its slot, and the number of bytes of its payload. The
first byte of a slot tells a collective (`gloo/types.h`) from a message between two ranks, whose
slot is its tag; the slot of a collective holds the number of the call in its process group. Before
the first header, the side that opened the connection sends 8 bytes.

Nothing here looks at a payload. The stream is followed however it was cut into packets.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

#: versions of torch whose gloo does it like this, as `tests/network/test_wire.py` has checked
KNOWN = ("2.11", "2.13", "2.14")

#: first byte of a slot → operation
KINDS = {
    0: "message", 1: "gather", 2: "all_gather", 3: "reduce", 4: "all_reduce", 5: "scatter",
    6: "broadcast", 7: "barrier", 8: "all_to_all",
}  # fmt: skip

_PREAMBLE = struct.Struct("<6Q")  # nbytes, opcode, slot, offset, length, roffset
_HELLO = struct.Struct("<Q")  # a rank, or a number that counts connections
_MOST_HELLO = 1 << 20
_SEND_BUFFER, _SEND_UNBOUND_BUFFER, _NOTIFY_SEND_READY, _NOTIFY_RECV_READY = range(4)
_CALL = 24  # from this bit of a slot on, calls of a collective differ
_HALF, _ALL = 1 << 31, (1 << 32) - 1
MOST_EARLY = 32 << 20  # bytes kept of packets that have overtaken others

Bytes = bytes | memoryview

#: operation, number of the call (of a message: its tag), bytes of the payload
Heard = Callable[[str, int, int], None]


def known(version: str) -> bool:
    """Does the gloo of this version of torch send what is described here?"""
    return ".".join(version.split(".")[:2]) in KNOWN


class Stream:
    """One direction of a TCP connection, from its packets.

    Args:
        first: sequence number of its first byte.
        opens: is it what the side sends that opened the connection?
        heard: called for each message once it is complete.
    """

    def __init__(self, first: int, opens: bool, heard: Heard) -> None:
        self.first = first
        self.foreign = 0  # bytes, from the first one on that gloo would not have sent
        self.overrun = False  # more came out of order than is kept
        self._next, self._heard = first, heard
        self._early: dict[int, bytes] = {}
        self._greets = opens
        self._head = bytearray()
        self._left = self._taken = 0  # bytes of the payload: still to come, and here
        self._message = ("", 0, 0)

    @property
    def pending(self) -> int:
        """Bytes that belong to no complete message."""
        return len(self._head) + self._taken

    @property
    def gap(self) -> bool:
        """Have bytes come, and not yet those in front of them?"""
        return bool(self._early)

    def take(self, sequence: int, data: Bytes) -> None:
        """Take the payload of a packet; packets may come twice and in any order."""
        ahead = (sequence - self._next) & _ALL
        if 0 < ahead < _HALF:
            self._keep(sequence, data)
            return
        self._advance(ahead, data)
        while self._early:
            behind = {s: (s - self._next) & _ALL for s in self._early}
            reached = next((s for s, by in behind.items() if not 0 < by < _HALF), None)
            if reached is None:
                return
            self._advance(behind[reached], self._early.pop(reached))

    def _keep(self, sequence: int, data: Bytes) -> None:
        if len(data) > len(self._early.get(sequence, b"")):
            self._early[sequence] = bytes(data)
        if sum(map(len, self._early.values())) > MOST_EARLY:
            self._early, self.overrun = {}, True

    def _advance(self, ahead: int, data: Bytes) -> None:
        """Read the new part of `data`, which begins at the next expected byte, or before it.

        Args:
            ahead: its sequence number minus the expected one, modulo 2³²: 0, or a large number.
        """
        if ahead:
            data = data[_ALL + 1 - ahead :]
        self._read(data)
        self._next = (self._next + len(data)) & _ALL

    def _read(self, data: Bytes) -> None:
        at, end = 0, len(data)
        while at < end:
            if self.foreign:
                self.foreign += end - at
                return
            if self._left:
                here = min(self._left, end - at)
                self._left, self._taken, at = self._left - here, self._taken + here, at + here
            else:
                wanted = _HELLO.size if self._greets else _PREAMBLE.size
                here = min(wanted - len(self._head), end - at)
                self._head += data[at : at + here]
                at += here
                if len(self._head) < wanted:
                    return
                self._understand(bytes(self._head))
                self._head.clear()
            if self._message[0] and not self._left:
                self._heard(*self._message)
                self._message, self._taken = ("", 0, 0), 0

    def _understand(self, head: bytes) -> None:
        if self._greets:
            self._greets = False
            self.foreign = 0 if _HELLO.unpack(head)[0] < _MOST_HELLO else len(head)
            return
        nbytes, opcode, slot, _, length, _ = _PREAMBLE.unpack(head)
        sends = opcode in (_SEND_BUFFER, _SEND_UNBOUND_BUFFER)
        kind = KINDS.get(slot >> 56)
        told = sends or opcode in (_NOTIFY_SEND_READY, _NOTIFY_RECV_READY)
        if not told or kind is None or nbytes != _PREAMBLE.size + length * sends:
            self.foreign = len(head)
        elif sends:
            self._message = (kind, slot if kind == "message" else slot >> _CALL, length)
            self._left = length
