"""Forks templates for the kernels of one user, so that all users' kernels share what they import.

On the Hub a process of root's imports what kernels need. For each student's server it forks one
process that runs `serve`, in the control group and with the rights of that student
(deploy/hub/nursery.py).
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import signal
import socket
import struct
import sys
import tempfile
import time

from distlab.processes import children, framing, kernel
from distlab.processes.environment import at_begin

_PEER = struct.Struct("3i")  # process, user and group at the other end of a connection


def serve(listener: socket.socket, server: int) -> None:
    """Fork a template for each kernel of this process's user, until that user's server has ended.

    Args:
        listener: where `kernel.main` asks for one.
        server: the process id of Jupyter's server.
    """
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for templates
    try:
        watched = os.pidfd_open(server)
    except ProcessLookupError:
        return
    while watched not in framing.readable([listener.fileno(), watched], None):
        with listener.accept()[0] as connection:
            if children.fork() == 0:
                # it returns and ends as any Python does: the kernel has things to do at its exit
                listener.close()
                os.close(watched)
                _begin(connection)


def _begin(connection: socket.socket) -> None:
    """Be the template that the other end of the connection asks for."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    connection.settimeout(kernel.PATIENCE)
    peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
    message, files, _, _ = socket.recv_fds(connection, framing.LONGEST, 3)
    if _PEER.unpack(peer)[1] != os.getuid() or len(files) != 3:
        sys.exit("somebody else has asked for a kernel")
    asked = json.loads(message)
    if at_begin(asked["environment"]) != kernel.BEGAN:
        sys.exit()  # who asked imports for itself
    os.setsid()
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(asked["folder"])
    sys.argv[1:] = asked["arguments"]
    _be_new(asked["environment"])
    connection.sendall(kernel.BEGUN)
    status = kernel.begin(asked["environment"], starter=connection)
    with contextlib.suppress(OSError):  # nobody is there any more
        connection.sendall(str(status).encode())
    os._exit(0)


def _be_new(env: dict[str, str]) -> None:
    """Set anew what this process took from its environment, or drew at random, when it started: it
    stands for a process that another user has started now.
    """
    os.environ.clear()
    os.environ.update(env)
    time.tzset()
    tempfile.tempdir = None
    # where what is spawned finds modules
    multiprocessing.process.ORIGINAL_DIR = os.getcwd()  # type: ignore[attr-defined]
    multiprocessing.current_process().authkey = os.urandom(32)
