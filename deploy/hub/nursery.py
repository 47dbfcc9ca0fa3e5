"""What students' kernels have in common lies in memory once: a process of root's imports it, and
forks one for each student's server, which forks templates for that server's kernels.

It has done nothing but import, has no environment of the Hub's and no connection but the Hub's, and
takes requests from the Hub alone. What it forks enters the server's control group and becomes its
user before it listens (`distlab.processes.nursery`).
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import pwd
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_PR_SET_DUMPABLE = 4
_LONGEST = 100_000  # bytes of a request
_PATH = 100  # characters: the path of a Unix socket ends at 107


class Nursery:
    """The Hub's side. The process begins with the first server, and ends with the Hub; what it has
    forked ends with its server.

    Args:
        folder: where it listens, for each server under a name of its own.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: socket.socket | None = None

    def address(self, name: str) -> str:
        """The path where kernels of a server of this name ask; empty if it would be too long."""
        path = str(self._folder / name)
        return path if len(path.encode()) < _PATH else ""

    def serve(self, name: str, user: str, server: int, groups: Sequence[Path]) -> None:
        """Let the kernels of a server be forked from now on.

        Args:
            user: whose it is.
            server: its process id.
            groups: the folders of its control group.

        Raises:
            OSError: that is not possible now.
        """
        self._begin()
        entry = pwd.getpwnam(user)
        request = {
            "user": entry.pw_uid, "group": entry.pw_gid,
            "groups": os.getgrouplist(user, entry.pw_gid),
            "control": list(map(str, groups)), "server": server,
        }  # fmt: skip
        path = Path(self.address(name))
        path.unlink(missing_ok=True)
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
            listener.bind(str(path))
            os.chown(path, entry.pw_uid, -1)
            path.chmod(0o600)
            listener.listen()
            assert self._connection is not None
            socket.send_fds(self._connection, [json.dumps(request).encode()], [listener.fileno()])

    def _begin(self) -> None:
        if self._process is not None and self._process.poll() is None:
            return
        self._folder.mkdir(mode=0o711, exist_ok=True)
        if self._connection is not None:
            self._connection.close()
        self._connection, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._connection.setblocking(False)  # the Hub waits for nobody
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                env={"PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8"},
                cwd="/",
                start_new_session=True,
            )


def main() -> None:
    """Be the process that all are forked from, until the Hub has ended."""
    del sys.path[0]  # this file's folder: a notebook finds nothing there
    from distlab.processes import cheap_forks, children, forkserver, kernel

    hub = socket.socket(fileno=int(sys.argv[1]))
    for name in kernel.prepare():
        forkserver.load_ahead(name)
    cheap_forks.empty_caches()
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them
    while True:
        message, given, _, _ = socket.recv_fds(hub, _LONGEST, 1)
        if not message:
            return
        with socket.socket(fileno=given[0]) as listener:
            if children.fork() == 0:
                hub.close()
                _be_users(json.loads(message), listener)
                return


def _be_users(request: dict[str, Any], listener: socket.socket) -> None:
    """Serve a user, in the server's control group and with the user's rights."""
    from distlab.processes import nursery

    os.setsid()  # a session of its own: whoever is in one may send signals to all of it
    for folder in request["control"]:
        Path(folder, "cgroup.procs").write_text(str(os.getpid()))
    os.setgroups(request["groups"])
    os.setgid(request["group"])
    os.setuid(request["user"])
    # it was root's, whose memory nobody else may look at: /proc/self is closed to such a process
    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 1)
    nursery.serve(listener, request["server"])


if __name__ == "__main__":
    main()
