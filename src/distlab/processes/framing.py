"""Messages of known length on a stream socket."""

from __future__ import annotations

import selectors
import socket
from collections.abc import Iterable
from typing import Protocol, TypeVar

#: bytes of a message that is sent in one piece on a socket which keeps messages apart: between a
#: notebook's kernel, its template and a nursery
LONGEST = 200_000
_SMALL = 1 << 14  # bytes of a message that is sent in one piece
_PART = 1 << 18  # bytes asked for at once: no socket here holds more


class _Open(Protocol):
    def fileno(self) -> int: ...


_Stream = TypeVar("_Stream", bound=_Open | int)


def readable(streams: Iterable[_Stream], timeout: float | None) -> list[_Stream]:
    """Those of these sockets or descriptors that can be read, after waiting for the first of them
    for at most `timeout` seconds, or as long as it takes. (`select.select` refuses descriptors
    above 1,023, and a notebook, or a server of many, may have that many open.)
    """
    with selectors.PollSelector() as selector:
        for stream in streams:
            selector.register(stream, selectors.EVENT_READ, stream)
        return [key.data for key, _ in selector.select(timeout)]


def read(connection: socket.socket, limit: int | None = None) -> bytes | bytearray | None:
    """The next message, or `None` when the other end has closed.

    Raises:
        ValueError: the message is longer than `limit` bytes.
        TimeoutError: the socket has a timeout and it passed.
    """
    size = read_size(connection, limit)
    return None if size is None else exactly(connection, size)


def read_size(connection: socket.socket, limit: int | None = None) -> int | None:
    """The length of the next message, whose bytes the caller reads; otherwise as `read`."""
    head = exactly(connection, 8)
    if head is None:
        return None
    size = int.from_bytes(head, "little")
    if limit is not None and size > limit:
        raise ValueError(_too_long(size, limit))
    return size


class Incoming:
    """A message that is read as it arrives and never waited for: its sender may stall.

    Args:
        limit: bytes that it may have at most.
    """

    def __init__(self, limit: int | None = None) -> None:
        self._limit, self._received = limit, bytearray()
        self._size: int | None = None  # unknown until the 8 bytes of the header are here

    def receive(self, connection: socket.socket) -> bytearray | None:
        """Read what has arrived; returns the message once it is complete, until then `None`.

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


def write(connection: socket.socket, *parts: bytes | bytearray | memoryview) -> None:
    """Send one message that consists of these parts. A small one is sent in a single call, so that
    an interrupt (Ctrl-C) leaves it sent or unsent, never half sent.
    """
    size = sum(map(len, parts))
    if size <= _SMALL:
        connection.sendall(b"".join((_header(size), *parts)))
        return
    announce(connection, size)
    for part in parts:
        connection.sendall(part)


def announce(connection: socket.socket, size: int) -> None:
    """Send the header of a message of `size` bytes, which the caller sends afterwards."""
    connection.sendall(_header(size))


def _header(size: int) -> bytes:
    return size.to_bytes(8, "little")


def relay(source: socket.socket, target: socket.socket | None, size: int) -> None:
    """Copy `size` bytes from one socket to another as they arrive.

    They go through one small buffer: touching new memory costs more than the copy. If the target is
    `None` or fails, the bytes are read all the same, so that the source's next message can be read.

    Raises:
        EOFError, TimeoutError: the source has closed, or stalls; the target has been sent zeros in
            place of the rest.
    """
    buffer = memoryview(bytearray(min(_PART, size)))
    try:
        while size:
            count = source.recv_into(buffer[:size])
            if not count:
                raise EOFError("the other end has closed")
            size -= count
            target = _sent(target, buffer[:count])
    except ConnectionError as error:
        raise EOFError("the other end has closed") from error
    finally:
        while size and target is not None:
            size -= len(zeros := bytes(min(_PART, size)))
            target = _sent(target, zeros)


def _sent(target: socket.socket | None, part: bytes | memoryview) -> socket.socket | None:
    """Send a part; returns the target, or `None` if sending failed."""
    if target is not None:
        try:
            target.sendall(part)
        except OSError:
            return None
    return target


def _too_long(size: int, limit: int) -> str:
    return f"a message of {size} bytes where at most {limit} are allowed"


def exactly(connection: socket.socket, size: int) -> bytes | bytearray | None:
    """The next `size` bytes, or `None` if the other end closes before they are all here."""
    if not size:
        return b""
    try:
        first = connection.recv(size, socket.MSG_WAITALL)  # all of it, where the socket blocks
    except ConnectionError:
        return None
    if len(first) == size:
        return first
    received = bytearray(size)
    received[: len(first)] = first
    with memoryview(received) as whole:
        left = whole[len(first) :]
        while first and left:
            try:
                count = connection.recv_into(left)
            except ConnectionError:
                return None
            if not count:
                return None
            left = left[count:]
    return received if first else None
