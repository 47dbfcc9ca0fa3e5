"""Does this machine reach itself? Ranks meet over it, so where it does not, no answer is judged."""

from __future__ import annotations

import errno
import socket

PATIENCE = 5.0  # seconds for a connection that takes microseconds


class Down(OSError):
    """This machine does not reach itself. Notebooks show the sentence alone."""

    def __str__(self) -> str:
        return str(self.args[0])

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def need() -> None:
    """Check that a connection to this machine's own address can be made now.

    Raises:
        Down: it cannot. The message says what to do.
    """
    try:
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen()
            socket.create_connection(listener.getsockname(), PATIENCE).close()
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE):
            raise Down(
                f"no connection can be made here ({error.strerror}), without which ranks cannot "
                "meet, so that nothing can be said of your code: close what was left open, or "
                "start anew"
            ) from error
        raise Down(
            f"this machine does not reach itself at 127.0.0.1 ({error.strerror or error}), where "
            "ranks meet, so that nothing can be said of your code: bring its loopback up "
            "(`ip link set lo up`) and start anew"
        ) from error
