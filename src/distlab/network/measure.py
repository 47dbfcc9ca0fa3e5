"""What ranks send each other, measured on the network between them.

A rank's own record (`distlab.rank.recorder`) lies in its process, where a student's code can write
to it. Here each rank gets a network namespace of its own, joined by a pair of devices to the
namespace of process 1, which forwards between them and never runs student code. On its ends of the
pairs process 1 sees every packet: the device tells which rank it comes from, and
`distlab.network.gloo` what gloo means by it. `distlab.checking.doubts` compares this with the
records.

Linux only. Process 1 needs `CAP_SYS_ADMIN`, `CAP_NET_ADMIN` and `CAP_NET_RAW` in its own user
namespace; ranks enter their namespaces before they give up these capabilities.
"""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import os
import socket
import struct
import time
from collections import Counter
from collections.abc import Callable, Iterator

from distlab.network import gloo, rtnetlink
from distlab.network.packets import Ring
from distlab.network.seen import Seen

DEVICE = "wire"  # the name of a rank's end
MOST_RANKS = 250
MOST_ROOM = 256 << 20  # bytes of packets that can wait to be read
PATIENCE = 1.0  # seconds to wait for packets to arrive, where something is missing
LOOKS = 20  # and looks, at least: a process that was stopped meanwhile has not really waited

_NETWORK, _HUB_DEVICES, _RANK_DEVICE = "10.77.0.", 1000, 2000  # device indices of the two ends
_MTU = 65535
_MAC = bytes.fromhex("020000000001")  # locally administered
_CLONE_NEWNET = 0x40000000
_IP, _TCP = struct.Struct("!2xH2xHxB2x4s4s"), struct.Struct("!HHIxxxxBB")
_SYN, _ACK = 0x02, 0x10
_PROTOCOL_TCP, _ANY_FRAGMENT = 6, 0x3FFF
_NAMESPACE = "/proc/thread-self/ns/net"
_IPV6 = "/proc/sys/net/ipv6/conf/default/disable_ipv6"  # of devices that are made from now on

_Connection = tuple[int, int, int, int]  # src, dst, and their ports
_Call = tuple[int, int, str, _Connection, int, int]  # src, dst, operation; what tells calls apart


class Wire:
    """A network for `ranks` ranks, on which everything is heard. Made by process 1, while it has no
    other thread.

    Raises:
        OSError: this kernel, or this process's capabilities, do not allow it.
    """

    def __init__(self, ranks: int = 0) -> None:
        self._heard = _Heard()
        self._namespaces: list[int] = []  # descriptors, by rank
        self._hub = rtnetlink.Netlink()
        _no_ipv6()
        self._hub.do([rtnetlink.up(rtnetlink.LOOPBACK)])
        self._ring = Ring()
        self._begun: list[int] = []
        self._drained: list[int] = []  # bytes of each rank before the ring was last settled
        try:
            self.grow(ranks)
        except OSError:
            self.close()
            raise

    def grow(self, ranks: int) -> None:
        """Have at least so many ranks."""
        if ranks > MOST_RANKS:
            raise ValueError(f"a wire has {MOST_RANKS} ranks at most, not {ranks}")
        new = range(len(self._namespaces), ranks)
        if not new:
            return
        inside = []
        for _ in new:
            namespace, netlink = _new_namespace()
            self._namespaces.append(namespace)
            inside.append(netlink)
        self._hub.do([message for rank in new for message in self._joined(rank)])
        for rank, netlink in zip(new, inside, strict=True):
            netlink.do([
                rtnetlink.up(rtnetlink.LOOPBACK), rtnetlink.up(_RANK_DEVICE),
                rtnetlink.address(_RANK_DEVICE, _address(rank), 24),
            ])  # fmt: skip
            netlink.close()
        self._counted()  # raises on a kernel that does not count them: no wire can be used there

    def _joined(self, rank: int) -> list[bytes]:
        here, there = _HUB_DEVICES + rank, self._namespaces[rank]
        return [
            rtnetlink.pair(f"rank{rank}", here, DEVICE, _RANK_DEVICE, there, _MTU, _MAC),
            rtnetlink.up(here, forwards=True),
            rtnetlink.route(_address(rank), here),
        ]

    def enter(self, rank: int) -> None:
        """Move this process, a child of process 1 that still has its capabilities, into the
        namespace of a rank.
        """
        _enter(self._namespaces[rank])
        os.environ["GLOO_SOCKET_IFNAME"] = DEVICE
        self.leave()

    def leave(self) -> None:
        """In a child of process 1: close everything that belongs to the wire."""
        while self._namespaces:
            os.close(self._namespaces.pop())
        self._hub.close()

    def fileno(self) -> int:
        """Readable when `drain` has something to do."""
        return self._ring.fileno()

    def drain(self) -> None:
        """Read what has been sent. To be called while ranks run, so that the ring has room."""
        self._ring.drain(self._heard.packet)

    def begin(self, expected: int = 0) -> None:
        """A run begins: what was sent before does not belong to it.

        Args:
            expected: bytes that it may send: the ring is made large enough to hold them while this
                process waits for a processor.
        """
        self._begun = self._counted()
        quiet = self._begun == self._drained
        if not quiet:
            self._ring.settle(self._heard.packet)
        if self._ring.room < min(expected, MOST_ROOM):
            with contextlib.suppress(OSError):  # else some packets may be lost, which is counted
                small, self._ring = self._ring, Ring(min(expected, MOST_ROOM))
                small.close()
        self._heard.begin()
        self._ring.lost()
        if not quiet:
            self._begun = self._counted()

    def seen(self, compare: Callable[[Seen], list[str]] = lambda seen: []) -> Seen:
        """What was sent since `begin`.

        A run is over when its ranks have answered, and what a rank has received was seen here
        before that. If there are doubts all the same, this waits a moment for messages that are
        still on their way because no rank has taken them.

        Args:
            compare: returns the `doubts` about what was seen.
        """
        deadline = time.monotonic() + PATIENCE
        for look in itertools.count(1):
            self._drained = self._counted()
            self._ring.settle(self._heard.packet)
            self._heard.lost += self._ring.lost()
            late = look > LOOKS and time.monotonic() > deadline
            seen = self._heard.seen(self._heard.gaps() if late else 0)
            seen.sent = [b - a for a, b in zip(self._begun, self._drained, strict=True)]
            seen.doubts = compare(seen)
            if late or seen.lost or not (seen.doubts or self._heard.gaps()):
                break
            time.sleep(0.01)
        return seen

    def _counted(self) -> list[int]:
        ranks = range(len(self._namespaces))
        return [self._hub.received(_HUB_DEVICES + rank) for rank in ranks]

    def close(self) -> None:
        """Close everything; the namespaces end with the last process in them."""
        self._ring.close()
        self.leave()


class _Heard:
    """All connections between ranks, and what was said on them in this run."""

    def __init__(self) -> None:
        self._streams: dict[_Connection, _Stream | None] = {}
        self.begin()

    def begin(self) -> None:
        for key, stream in self._streams.items():
            if stream is not None:
                stream.begin()
                if stream.gap or stream.overrun:  # a part of it was lost: it cannot be followed
                    self._streams[key] = None
        self._messages: Counter[tuple[int, int, int]] = Counter()
        self._calls: set[_Call] = set()
        self._volumes: Counter[tuple[int, int, str]] = Counter()
        # bytes of other protocols than TCP, and foreign bytes of connections that have ended
        self._loose: Counter[tuple[int, int]] = Counter()
        self._unfinished: Counter[tuple[int, int]] = Counter()  # of messages on such connections
        self.lost = 0

    def packet(self, device: int, packet: memoryview) -> None:
        """Note an IPv4 packet, with its Ethernet header, that came in on a rank's device."""
        ip = packet[14:]
        length, fragment, protocol, source, target = _IP.unpack_from(ip)
        src, dst = device - _HUB_DEVICES, _RANKS.get(target)
        if _RANKS.get(source) != src or dst is None:
            return  # such a packet is not forwarded
        if protocol != _PROTOCOL_TCP or fragment & _ANY_FRAGMENT:
            self._loose[src, dst] += length
            return
        at = (ip[0] & 15) * 4
        sport, dport, sequence, offset, flags = _TCP.unpack_from(ip, at)
        key = (src, dst, sport, dport)
        stream = self._streams.get(key)
        if flags & _SYN:
            first = (sequence + 1) & 0xFFFFFFFF
            if stream is None or stream.first != first:
                self._open(key, first, not flags & _ACK)
        elif stream is None:
            self.lost += 1  # it has not been followed from its beginning
        else:
            stream.take(sequence, ip[at + (offset >> 4) * 4 : length])

    def _open(self, key: _Connection, first: int, opens: bool) -> None:
        src, dst = key[:2]

        def heard(operation: str, call: int, size: int) -> None:
            if operation == "message":
                self._messages[src, dst, size] += 1
            else:
                self._calls.add((src, dst, operation, key, first, call))
                self._volumes[src, dst, operation] += size

        if (before := self._streams.get(key)) is not None:
            self._loose[src, dst] += before.untold
            self._unfinished[src, dst] += before.unfinished
        self._streams[key] = _Stream(first, opens, heard)

    def gaps(self) -> int:
        """How many connections have received bytes and not yet those in front of them."""
        return sum(stream.gap for stream in self._followed())

    def _followed(self) -> Iterator[_Stream]:
        return filter(None, self._streams.values())

    def seen(self, missing: int = 0) -> Seen:
        """What was heard. `missing`: lost packets beside those that have been counted."""
        foreign, unfinished = Counter(self._loose), Counter(self._unfinished)
        for (src, dst, *_), stream in self._streams.items():
            if stream is not None:
                foreign[src, dst] += stream.untold
                unfinished[src, dst] += stream.unfinished
        lost = self.lost + missing + sum(stream.overrun for stream in self._followed())
        if not lost:  # else the rest of a message may be what is missing
            foreign += unfinished
        return Seen(
            Counter(self._messages), Counter(call[:3] for call in self._calls),
            Counter(self._volumes), +foreign, lost=lost,
        )  # fmt: skip


class _Stream(gloo.Stream):
    """A stream that tells the bytes of this run from those before.

    `untold`: bytes that are not gloo's. `unfinished`: bytes of a message that is incomplete.
    """

    _foreign_before = _pending_before = 0

    def begin(self) -> None:
        self._foreign_before, self._pending_before = self.foreign, self.pending

    @property
    def untold(self) -> int:
        return self.foreign - self._foreign_before

    @property
    def unfinished(self) -> int:
        return max(self.pending - self._pending_before, 0)


def _address(rank: int) -> str:
    return f"{_NETWORK}{rank + 1}"


_RANKS = {socket.inet_aton(_address(rank)): rank for rank in range(MOST_RANKS)}


def _new_namespace() -> tuple[int, rtnetlink.Netlink]:
    """A descriptor of a new network namespace, and a socket to it. The caller stays in its own."""
    ours = os.open(_NAMESPACE, os.O_RDONLY | os.O_CLOEXEC)
    try:
        _checked(_libc.unshare(_CLONE_NEWNET), "a network namespace")
        try:
            _no_ipv6()
            return os.open(_NAMESPACE, os.O_RDONLY | os.O_CLOEXEC), rtnetlink.Netlink()
        finally:
            _enter(ours)
    finally:
        os.close(ours)


def _no_ipv6() -> None:
    """Switch IPv6 off for devices to come: nobody uses it here, and on each the kernel would be
    busy with it (addresses, neighbours, timers). The loopback, which exists already, keeps it.
    """
    with contextlib.suppress(OSError), open(_IPV6, "w") as file:
        file.write("1")


def _enter(namespace: int) -> None:
    _checked(_libc.setns(namespace, _CLONE_NEWNET), "entering a network namespace")


_libc = ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
