"""A rank that stays warm: what a notebook's ranks begin with."""

from __future__ import annotations

import socket
from pathlib import Path

from distlab.processes import forkserver
from distlab.rank import execute, world


def serve(connection: socket.socket, folder: str) -> None:
    """Execute the tasks that come over the connection."""
    forkserver.log_to(Path(folder) / "ranks.log")  # gloo complains there, not in the terminal
    connection.sendall(world.READY)
    execute.serve(connection)
