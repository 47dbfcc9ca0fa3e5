"""Every IPv4 packet that comes into this network namespace, in a ring that the kernel fills.

The ring is memory shared with the kernel (packet(7), `PACKET_RX_RING`, version 3). Packets wait in
it while this process does something else; when it is full, the kernel drops packets and counts
them. None is lost uncounted.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import select
import socket
import struct
import time
import weakref
from collections.abc import Callable, Iterator

from distlab.network import rtnetlink

LEAST = 4 << 20  # bytes of a ring
#: A packet has up to 64 KiB and does not span two blocks: a quarter of a small one may stay empty.
_BLOCK, _LARGE_BLOCK = 256 << 10, 1 << 20
FLUSH = 50  # milliseconds after which a block that is not full is handed out

_ETH_P_ALL = 0x0003
_SOL_PACKET = 263
_RX_RING, _STATISTICS, _VERSION, _IGNORE_OUTGOING = 5, 6, 10, 23
_TPACKET_V3 = 2
_ATTACH_FILTER = 26
_KERNEL, _USER = 0, 1  # who may use a block
_BLOCK_STATUS = struct.Struct("=8xIII")  # status, packets, offset of the first
_PACKET = struct.Struct("=I8xIIIHH")  # next, captured, length, status, link header, network header
_INTERFACE = 48 + 4  # offset of sll_ifindex, in the address that follows the packet's header
_INDEX = struct.Struct("=i")
_MARK = bytes(60_000)  # a few of them fill a block

#: Classic BPF: keep IPv4 only, and of TCP only packets with a payload or that open a connection.
_LOAD_BYTE, _LOAD_HALF, _LOAD_LENGTH = 0x30, 0x28, 0x80
_LOAD_IP_HEADER, _LOAD_BYTE_X = 0xB1, 0x50  # X = 4 * (byte & 15); A = byte at X + offset
_EQUAL, _ANY_BIT, _GREATER_X, _AND, _SHIFT_RIGHT, _ADD_X, _ADD, _TO_X, _RETURN = (
    0x15, 0x45, 0x2D, 0x54, 0x74, 0x0C, 0x04, 0x07, 0x06,
)  # fmt: skip
_FILTER = [
    (_LOAD_HALF, 0, 0, 12),
    (_EQUAL, 0, 16, 0x0800),  # not IPv4: drop
    (_LOAD_BYTE, 0, 0, 23),
    (_EQUAL, 0, 13, 6),  # not TCP: keep
    (_LOAD_HALF, 0, 0, 20),
    (_ANY_BIT, 11, 0, 0x1FFF),  # not the first fragment: keep
    (_LOAD_IP_HEADER, 0, 0, 14),
    (_LOAD_BYTE_X, 0, 0, 14 + 13),
    (_ANY_BIT, 8, 0, 0x02),  # SYN: keep
    (_LOAD_BYTE_X, 0, 0, 14 + 12),
    (_AND, 0, 0, 0xF0),
    (_SHIFT_RIGHT, 0, 0, 2),
    (_ADD_X, 0, 0, 0),
    (_ADD, 0, 0, 14),  # A = bytes of all headers
    (_TO_X, 0, 0, 0),
    (_LOAD_LENGTH, 0, 0, 0),
    (_GREATER_X, 0, 1, 0),
    (_RETURN, 0, 0, 0xFFFFFFFF),
    (_RETURN, 0, 0, 0),
]

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [
    ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long,
]  # fmt: skip
_libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
_libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]

Take = Callable[[int, memoryview], None]


class Ring:
    """Packets as they come in. Needs `CAP_NET_RAW` and a loopback device that is up.

    Children of this process do not inherit it: a process with the ring could forge packets in it.

    Args:
        room: bytes of packets that it can hold. The kernel allocates them at once, and charges them
            to no process.

    Raises:
        OSError: the kernel does not allow it, or has no memory for it.
    """

    def __init__(self, room: int = LEAST) -> None:
        self.room = max(room, LEAST)
        self._block = _BLOCK if self.room <= 2 * LEAST else _LARGE_BLOCK
        self._blocks, self._at = -(-self.room // self._block), 0
        self._lost, self._marks = 0, 0
        # it hears all devices; the index of a packet's device tells which rank sent it
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ETH_P_ALL))
        self._setting(_VERSION, struct.pack("=i", _TPACKET_V3))
        self._setting(_IGNORE_OUTGOING, struct.pack("=i", 1))
        _attach(self._socket)
        size = self._block, self._blocks
        self._setting(_RX_RING, struct.pack("=7I", *size, *size, FLUSH, 0, 0))
        self._shared = _Shared(self._socket.fileno(), self._block * self._blocks)
        self._memory = self._shared.view
        self._poll = select.poll()
        self._poll.register(self._socket, select.POLLIN)
        self._echo = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._echo.bind(("127.0.0.1", 0))
        os.register_at_fork(after_in_child=_forgetting(weakref.ref(self)))

    def _setting(self, name: int, value: bytes) -> None:
        self._socket.setsockopt(_SOL_PACKET, name, value)

    def fileno(self) -> int:
        """Readable when a block is full, or `FLUSH` ms after the first packet of a block."""
        return self._socket.fileno()

    def drain(self, take: Take) -> int:
        """Pass the packets of finished blocks to `take(device, packet)`, in order, and give the
        blocks back to the kernel. A packet is a view that is valid until `take` returns. Returns
        the number of the last mark (`settle`) among them.
        """
        mark = 0
        for _ in range(self._blocks):  # blocks that are filled meanwhile can wait
            if not self._is_full(self._at):
                break
            for device, packet in self._packets(self._at):
                if device == rtnetlink.LOOPBACK:
                    mark = int.from_bytes(packet[42:50], "little")
                else:
                    take(device, packet)
            struct.pack_into("=I", self._memory, self._at * self._block + 8, _KERNEL)
            self._at = (self._at + 1) % self._blocks
        return mark

    def settle(self, take: Take, patience: float = 2.0) -> None:
        """Drain everything that has come in before this call.

        The kernel hands out a block when the next packet does not fit into it: this sends packets
        to itself, marks, until one of them has come out.
        """
        self._marks += 1
        mark = self._marks.to_bytes(8, "little") + _MARK
        where, deadline = self._echo.getsockname(), time.monotonic() + patience
        while time.monotonic() < deadline:
            for _ in range(self._block // len(mark) + 1):
                self._echo.sendto(mark, where)
            if self.drain(take) == self._marks:
                return
            self._poll.poll(10)
        self._lost += 1  # packets may still be in there, nobody knows how many

    def lost(self) -> int:
        """How many packets since the last call found no room in the ring, or were cut."""
        counted = self._socket.getsockopt(_SOL_PACKET, _STATISTICS, 12)
        dropped: int = struct.unpack("=III", counted)[1]
        lost, self._lost = self._lost + dropped, 0
        return lost

    def _is_full(self, number: int) -> bool:
        return bool(self._memory[number * self._block + 8] & _USER)

    def _packets(self, number: int) -> Iterator[tuple[int, memoryview]]:
        begin = number * self._block
        _, count, first = _BLOCK_STATUS.unpack_from(self._memory, begin)
        at = begin + first
        for _ in range(count):
            following, captured, length, _, link, _ = _PACKET.unpack_from(self._memory, at)
            (device,) = _INDEX.unpack_from(self._memory, at + _INTERFACE)
            if captured < length:
                self._lost += 1
            yield device, self._memory[at + link : at + link + captured]
            at += following

    def close(self) -> None:
        self._socket.close()
        self._echo.close()
        self._memory = memoryview(b"")
        self._shared.close()


class _Shared:
    """Memory shared with the kernel, which children do not have.

    Not Python's `mmap`: that keeps a copy of the descriptor, which children would inherit, and
    would unmap in a child whatever lies at that address there.
    """

    def __init__(self, descriptor: int, size: int) -> None:
        self._size, access = size, mmap.PROT_READ | mmap.PROT_WRITE
        self._at = _libc.mmap(None, size, access, mmap.MAP_SHARED, descriptor, 0)
        if self._at in (None, ctypes.c_void_p(-1).value):
            number = ctypes.get_errno()
            raise OSError(number, f"mapping a packet ring: {os.strerror(number)}")
        _libc.madvise(self._at, size, mmap.MADV_DONTFORK)
        self.view = memoryview((ctypes.c_char * size).from_address(self._at)).cast("B")

    def close(self) -> None:
        """Nobody may look at it afterwards."""
        self.view.release()
        _libc.munmap(self._at, self._size)


def _forgetting(ring: weakref.ref[Ring]) -> Callable[[], None]:
    """A function that closes the ring's sockets in a child, which has not got its memory."""

    def forget() -> None:
        if (known := ring()) is not None:
            known._socket.close()
            known._echo.close()

    return forget


def _attach(taker: socket.socket) -> None:
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *rule) for rule in _FILTER))
    program = struct.pack("HxxxxxxP", len(_FILTER), ctypes.addressof(code))
    taker.setsockopt(socket.SOL_SOCKET, _ATTACH_FILTER, program)
