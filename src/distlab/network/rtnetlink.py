"""Network devices, addresses and routes of the calling process's network namespace.

The few messages of rtnetlink(7) that `distlab.network.measure` needs, packed with `struct`. What
the numbers mean is in the kernel's headers `linux/rtnetlink.h`, `if_link.h`, `if_addr.h` and
`veth.h`.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterator, Sequence

_AT_ONCE = 64  # messages; the answers to more may not fit into the socket's buffer
LOOPBACK = 1  # the index of `lo` in every network namespace
UP, NOARP = 0x1, 0x80  # IFF_UP, IFF_NOARP

_NETLINK_ROUTE = 0
_ERROR = 2  # NLMSG_ERROR, which also says that all is well
_NEWLINK, _NEWADDR, _NEWROUTE, _GETSTATS = 16, 20, 24, 94
_REQUEST, _ACK, _EXCLUSIVE, _CREATE = 0x1, 0x4, 0x200, 0x400
_NESTED = 0x8000
_ADDRESS, _NAME, _MTU, _LINK_INFO, _AF_SPEC, _NAMESPACE = 1, 3, 4, 18, 26, 28
_INFO_KIND, _INFO_DATA, _VETH_PEER = 1, 2, 1
_INET_CONF, _FORWARDING, _RP_FILTER = 1, 1, 8  # IFLA_INET_CONF and numbers of linux/ip.h
_INET6_ADDR_GEN_MODE, _NONE = 8, 1
_LOCAL, _DESTINATION, _OUT = 2, 1, 4  # IFA_LOCAL, RTA_DST, RTA_OIF
_MAIN_TABLE, _STATIC, _LINK_SCOPE, _UNICAST = 254, 4, 253, 1
_HEADER = struct.Struct("=IHHII")
_ATTRIBUTE = struct.Struct("=HH")
_LINK = struct.Struct("=BxHiII")
_STATS, _LINK_64 = struct.Struct("=BxxxII"), 1  # struct if_stats_msg, IFLA_STATS_LINK_64
_RECEIVED_BYTES = 16  # offset of rx_bytes in struct rtnl_link_stats64


class Netlink:
    """A socket to the network namespace that the calling process is in when it is made.

    Every method raises `OSError` with the kernel's own error number.
    """

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_ROUTE)

    def close(self) -> None:
        self._socket.close()

    def do(self, messages: Sequence[bytes]) -> None:
        """Send them, many at once; raises for the first that fails."""
        for begin in range(0, len(messages), _AT_ONCE):
            self._do(messages[begin : begin + _AT_ONCE])

    def _do(self, messages: Sequence[bytes]) -> None:
        self._socket.send(b"".join(messages))
        left, failed = len(messages), 0
        while left:
            for kind, body in _split(self._socket.recv(1 << 16)):
                if kind == _ERROR:
                    left -= 1
                    failed = failed or -struct.unpack_from("=i", body)[0]
        if failed:
            raise OSError(failed, f"rtnetlink: {os.strerror(failed)}")

    def received(self, index: int) -> int:
        """Bytes that the device has received since it was made."""
        # of all that is known of a device the statistics alone
        asked = _STATS.pack(socket.AF_UNSPEC, index, 1 << (_LINK_64 - 1))
        self._socket.send(_message(_GETSTATS, _REQUEST, asked))
        for kind, body in _split(self._socket.recv(1 << 16)):
            if kind == _ERROR:
                number = -struct.unpack_from("=i", body)[0]
                raise OSError(number, f"rtnetlink: {os.strerror(number)}")
            for name, value in _attributes(body[_STATS.size :]):
                if name == _LINK_64:
                    received: int = struct.unpack_from("=Q", value, _RECEIVED_BYTES)[0]
                    return received
        raise OSError("rtnetlink: a device without statistics")


def pair(
    name: str, index: int, peer: str, peer_index: int, where: int, mtu: int, mac: bytes
) -> bytes:
    """Make two joined devices: one here, the other in the namespace of the descriptor `where`.

    Both have the same hardware address, so that each takes what the other sends without having to
    ask for it (ARP is off).
    """
    alike = _attribute(_MTU, struct.pack("=I", mtu)) + _attribute(_ADDRESS, mac)
    other = (
        _link(peer_index, NOARP) + _attribute(_NAME, peer.encode() + b"\0") + alike
        + _attribute(_NAMESPACE, struct.pack("=I", where))
    )  # fmt: skip
    data = _attribute(_INFO_DATA | _NESTED, _attribute(_VETH_PEER | _NESTED, other))
    return _message(
        _NEWLINK, _REQUEST | _ACK | _CREATE | _EXCLUSIVE,
        _link(index, NOARP) + _attribute(_NAME, name.encode() + b"\0") + alike
        + _attribute(_LINK_INFO | _NESTED, _attribute(_INFO_KIND, b"veth\0") + data),
    )  # fmt: skip


def up(index: int, forwards: bool = False) -> bytes:
    """Switch a device on, without IPv6 addresses of its own.

    Args:
        forwards: hand on the IPv4 packets that arrive on it, if the route back to their source is
            this device (strict reverse path filtering, RFC 3704).
    """
    conf = _attribute(_FORWARDING, struct.pack("=I", 1)) + _attribute(
        _RP_FILTER, struct.pack("=I", 1)
    )
    inet = _attribute(socket.AF_INET | _NESTED, _attribute(_INET_CONF | _NESTED, conf))
    silent = _attribute(_INET6_ADDR_GEN_MODE, bytes([_NONE]))
    inet6 = _attribute(socket.AF_INET6 | _NESTED, silent)
    spec = (inet if forwards else b"") + inet6
    return _message(
        _NEWLINK, _REQUEST | _ACK, _link(index, UP) + _attribute(_AF_SPEC | _NESTED, spec)
    )


def address(index: int, ip: str, prefix: int) -> bytes:
    """Give a device an IPv4 address, with a route to its network."""
    body = struct.pack("=BBBBi", socket.AF_INET, prefix, 0, 0, index)
    return _message(
        _NEWADDR, _REQUEST | _ACK | _CREATE | _EXCLUSIVE,
        body + _attribute(_LOCAL, socket.inet_aton(ip)),
    )  # fmt: skip


def route(ip: str, index: int) -> bytes:
    """One IPv4 address is reached through this device."""
    body = struct.pack(
        "=BBBBBBBBI", socket.AF_INET, 32, 0, 0, _MAIN_TABLE, _STATIC, _LINK_SCOPE, _UNICAST, 0
    )
    return _message(
        _NEWROUTE, _REQUEST | _ACK | _CREATE | _EXCLUSIVE,
        body + _attribute(_DESTINATION, socket.inet_aton(ip))
        + _attribute(_OUT, struct.pack("=i", index)),
    )  # fmt: skip


def _link(index: int, flags: int = 0) -> bytes:
    return _LINK.pack(socket.AF_UNSPEC, 0, index, flags, flags)


def _message(kind: int, flags: int, body: bytes) -> bytes:
    return _HEADER.pack(_HEADER.size + len(body), kind, flags, 0, 0) + body


def _attribute(kind: int, value: bytes) -> bytes:
    return _ATTRIBUTE.pack(_ATTRIBUTE.size + len(value), kind) + value + bytes(-len(value) % 4)


def _split(data: bytes) -> Iterator[tuple[int, bytes]]:
    while len(data) >= _HEADER.size:
        length, kind, _, _, _ = _HEADER.unpack_from(data)
        yield kind, data[_HEADER.size : length]
        data = data[(length + 3) & ~3 :]


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    while len(data) >= _ATTRIBUTE.size:
        length, kind = _ATTRIBUTE.unpack_from(data)
        if length < _ATTRIBUTE.size:
            return
        yield kind & 0x3FFF, data[_ATTRIBUTE.size : length]
        data = data[(length + 3) & ~3 :]
