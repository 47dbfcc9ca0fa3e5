"""Ports of this machine that stay free until who was told them listens there."""

from __future__ import annotations

import socket
from types import TracebackType


class Held:
    """A port that nobody else is given in the meantime. A context manager.

    Who only looks for a free port and tells its number may find it taken a moment later: every
    connection that any program here makes takes one as well. This one is bound and does not listen.
    Servers that set SO_REUSEADDR, as torch's stores do, can listen there all the same.

    Args:
        host: the address that it is held for; "" stands for all.
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
