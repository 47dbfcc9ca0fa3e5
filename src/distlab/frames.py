"""Messages of known length on a stream socket."""

from __future__ import annotations

import socket


def read(connection: socket.socket, limit: int | None = None) -> bytes | None:
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
        raise ValueError(f"a message of {size} bytes where at most {limit} are allowed")
    return _exactly(connection, size)


def write(connection: socket.socket, data: bytes) -> None:
    connection.sendall(len(data).to_bytes(8, "little"))
    connection.sendall(data)


def _exactly(connection: socket.socket, size: int) -> bytes | None:
    received = bytearray()
    while len(received) < size:
        try:
            part = connection.recv(min(size - len(received), 1 << 20))
        except ConnectionError:
            return None
        if not part:
            return None
        received += part
    return bytes(received)
