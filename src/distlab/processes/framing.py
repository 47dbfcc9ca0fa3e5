"""Messages of known length on a stream socket."""

from __future__ import annotations

import socket

_PART = 1 << 18  # bytes asked for at once: no socket here holds more


def read(connection: socket.socket, limit: int | None = None) -> bytearray | None:
    """The next message, or `None` when the other end has closed.

    Raises:
        ValueError: the message is longer than `limit` bytes.
        TimeoutError: the socket has a timeout and it passed.
    """
    head = _exactly(connection, 8)
    if head is None:
        return None
    size = int.from_bytes(head, "little")
    if limit is not None and size > limit:
        raise ValueError(_too_long(size, limit))
    return _exactly(connection, size)


class Incoming:
    """A message read as it arrives, without waiting for the rest of it: whoever sends it may stall.

    Args:
        limit: bytes that it may have.
    """

    def __init__(self, limit: int | None = None) -> None:
        self._limit, self._received = limit, bytearray()
        self._size: int | None = None  # not known before its 8 bytes are here

    def receive(self, connection: socket.socket) -> bytearray | None:
        """Take what is there; the message once it is whole, until then `None`.

        Raises:
            EOFError: the other end has closed.
            ValueError: the message is longer than it may be.
        """
        timeout = connection.gettimeout()
        connection.setblocking(False)
        try:
            return self._take(connection)
        finally:
            connection.settimeout(timeout)

    def _take(self, connection: socket.socket) -> bytearray | None:
        while self._size is None or len(self._received) < self._size:
            missing = (8 if self._size is None else self._size) - len(self._received)
            try:
                part = connection.recv(min(missing, _PART))
            except BlockingIOError:
                return None
            except ConnectionError:
                part = b""
            if not part:
                raise EOFError("the other end has closed")
            self._received += part
            if self._size is None and len(self._received) == 8:
                self._size, self._received = int.from_bytes(self._received, "little"), bytearray()
                if self._limit is not None and self._size > self._limit:
                    raise ValueError(_too_long(self._size, self._limit))
        return self._received


def write(connection: socket.socket, data: bytes | bytearray) -> None:
    connection.sendall(len(data).to_bytes(8, "little"))
    connection.sendall(data)


def _too_long(size: int, limit: int) -> str:
    return f"a message of {size} bytes where at most {limit} are allowed"


def _exactly(connection: socket.socket, size: int) -> bytearray | None:
    received = bytearray(size)
    with memoryview(received) as left:
        while left:
            try:
                count = connection.recv_into(left)
            except ConnectionError:
                return None
            if not count:
                return None
            left = left[count:]
    return received
