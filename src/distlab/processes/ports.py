"""Ports of this machine that stay free until the process that was told of them listens there."""

from __future__ import annotations

import socket
from types import TracebackType


class Held:
    """A port that nobody else is given while it is held. A context manager.

    A port that was only found to be free may be taken a moment later: every connection that any
    program makes takes one. This one is bound, and does not listen. Servers that set SO_REUSEADDR,
    as torch's stores do, can listen there all the same.

    Args:
        host: the address that the port is held on; "" means all addresses.
    """

    def __init__(self, host: str = "127.0.0.1") -> None:
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.bind((host, 0))
        self.port: int = self._socket.getsockname()[1]

    def let_go(self) -> None:
        self._socket.close()

    def __enter__(self) -> Held:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.let_go()
