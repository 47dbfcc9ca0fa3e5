"""A process to fork ranks from, seen from whoever asks for them.

`import torch` takes seconds and a fork takes milliseconds. So one process imports what ranks need
(`distlab.processes.forkserver`), and forks a child for each request.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from distlab.processes import children, entry_points, framing, standard_files, temporary
from distlab.processes.entry_points import FORKSERVER, LAST_PRELOAD, RANK, RANK_PRELOAD
from distlab.processes.environment import environment

#: what every rank needs, whatever it runs
FIRST_PRELOAD = ("torch", "torch.distributed", "cloudpickle", "safetensors.numpy", *RANK_PRELOAD)
#: what torch.optim and DDP import at their first use; it takes nearly as long as torch itself
TRAINING_PRELOAD = ("torch._dynamo", "torch.nn.parallel", "torch.optim", *LAST_PRELOAD)
PRELOAD = (*FIRST_PRELOAD, *TRAINING_PRELOAD)
#: what programs that train mention. Ranks that import the above each for themselves, all at once,
#: take longer than their zygote does
TRAINS = re.compile(
    rb"optim|DistributedDataParallel|fully_shard|checkpoint|compile|autograd\.[Ff]unction"
    rb"|functional_collectives|distributed(\.| import )tensor|DTensor|fsdp|FullySharded|pipelining"
)
NEEDED = RANK  # the last module of FIRST_PRELOAD
ENGINE_PRELOAD = ("ipykernel.debugger", "ipyparallel.engine.app", "ipyparallel.controller.app")
_LOST = "the process that ranks are forked from has ended; try `distlab info`"


class ZygoteLost(RuntimeError):
    """The zygote has ended, and all that was forked from it."""


class NoFork(ZygoteLost):
    """The machine lets the zygote fork no further process now. What it forked before lives on."""


class Zygote:
    """A process to fork from. A context manager; closing it kills its children.

    Args:
        preload: modules that it imports, where they are installed, and functions
            ("module:function") that it calls, in this order.
        prefix: a command that starts it, such as a sandbox; it must pass file descriptors on.
        env: its environment; this process's own if `None`.
        within: where its folder is made; the folder for temporary files if `None`.

    Attributes:
        complete: had it imported everything when it last answered?
    """

    #: a child that is forked early, `after` some module, lacks the modules that come later
    ripens = True

    def __init__(
        self,
        preload: Iterable[str] = PRELOAD,
        prefix: Sequence[str] = (),
        env: dict[str, str] | None = None,
        within: Path | None = None,
    ) -> None:
        self._owner, self._closed, self.complete = os.getpid(), False, False
        standard_files.occupy()
        ours, theirs = socket.socketpair()
        #: for whatever its children write; removed with the zygote, also when that is killed
        self._temporary = temporary.Folder(within=within)
        self.folder = self._temporary.path
        with contextlib.ExitStack() as unless_started, theirs:
            unless_started.callback(self._temporary.remove)
            unless_started.callback(ours.close)
            listener = self._listener = _Listener(self.folder)
            unless_started.callback(listener.close)
            with listener.socket:
                given = [theirs.fileno(), listener.socket.fileno()]
                arguments = [*map(str, given), str(self.folder), *preload]
                self.process = _server(prefix, arguments, given, environment(env))
            unless_started.pop_all()
        self._socket, self._pending = ours, b""
        self._lock = threading.Lock()  # one request at a time, from whichever thread
        self._sent = self._received = 0
        self._answers: dict[int, dict[str, Any]] = {}  # that nobody has asked for yet

    def fork(self, entry: str, after: str | None = None, **arguments: Any) -> int:
        """Call `entry` ("module:function") in a new child; returns its process id.

        The child gets `arguments` (JSON). `after`: wait until this module of `preload` has been
        imported, not for all of them.
        """
        return self.forks(1, entry, after, **arguments).pids()[0]

    def forks(self, times: int, entry: str, after: str | None = None, **arguments: Any) -> Forked:
        """Have it fork several children alike, as soon as it can."""
        request = {"entry": entry, "arguments": arguments, "times": times, "after": after}
        return Forked(self, self._send(request))

    def connect(
        self, entry: str, after: str | None = None, hold: float = 0.0, **arguments: Any
    ) -> tuple[Forked, socket.socket]:
        """Have it fork one child that is connected to this process.

        Args:
            hold: seconds for which the zygote imports nothing more, unless the next request needs
                it: its children have the processor meanwhile.

        The child calls `entry(connection, **arguments)` with its end of the socket. The child's end
        is accepted from a listening socket and not sent as a descriptor: the kernel counts the
        descriptors in flight of all processes of a user, so that others could use the limit up.
        """
        request = {
            "entry": entry, "arguments": arguments, "times": 1, "after": after, "connect": True,
            "hold": hold,
        }  # fmt: skip
        with self._lock:  # connections are accepted in the order of the requests
            try:
                connection = self._listener.connected()
            except OSError as error:
                raise ZygoteLost(_LOST) from error
            try:
                return Forked(self, self._sent_now(request)), connection
            except ZygoteLost:
                connection.close()
                raise

    def _send(self, request: dict[str, Any]) -> int:
        """Send a request; returns the number of its answer."""
        with self._lock:
            return self._sent_now(request)

    def _sent_now(self, request: dict[str, Any]) -> int:
        try:
            self._socket.sendall((json.dumps(request) + "\n").encode())
        except OSError as error:
            raise ZygoteLost(_LOST) from error
        self._sent += 1
        return self._sent

    def answered(self, number: int) -> bool:
        """Has this answer arrived?"""
        with self._lock:
            while number not in self._answers and framing.readable([self._socket], 0):
                self._receive()
            return number in self._answers

    def answer(self, number: int) -> dict[str, Any]:
        """Wait for an answer; each can be had once."""
        with self._lock:
            while number not in self._answers:
                self._receive()
            return self._answers.pop(number)

    def _receive(self) -> None:
        try:
            data = self._socket.recv(65536)
        except OSError as error:
            raise ZygoteLost(_LOST) from error
        if not data:
            raise ZygoteLost(_LOST)
        *lines, self._pending = (self._pending + data).split(b"\n")
        for line in lines:  # answers come in the order of the requests
            self._received += 1
            self._answers[self._received] = json.loads(line)

    def status(self, pid: int) -> int | None:
        """How a child ended, as `os.waitpid` gives it; `None` while it lives or is not known."""
        status: int | None = self.answer(self._send({"status": pid}))["status"]
        return status

    def kill(self, pid: int) -> None:
        """End a child. In a sandbox processes have numbers of their own, so the zygote does it."""
        with self._lock, contextlib.suppress(OSError):  # they die with the zygote
            self._socket.sendall((json.dumps({"kill": pid}) + "\n").encode())

    def prepare(self, count: int) -> None:
        """Nothing: a fork has its modules when it is made."""

    def end(self, pid: int) -> None:
        """End a child at once. Only without a sandbox, in which its number would be another."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

    def ended(self, pid: int) -> bool:
        """Has a child ended? Always no where this Python lacks `os.pidfd_open`."""
        if not hasattr(os, "pidfd_open"):
            return False
        try:
            watched = os.pidfd_open(pid)
        except ProcessLookupError:
            return True
        try:
            return bool(framing.readable([watched], 0))
        finally:
            os.close(watched)

    @property
    def alive(self) -> bool:
        """Does it run? One that has ended keeps its number until `close`, which signals to it."""
        try:
            ended = os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:  # a template's child, or waited for already
            return self.process.poll() is None
        return ended is None

    def close(self) -> None:
        self._socket.close()
        self._listener.close()
        if os.getpid() != self._owner or self._closed:  # in a fork of this process: not its zygote
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self._closed = True  # from now on another process may get its number
        self._temporary.remove()

    def __enter__(self) -> Zygote:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


class Forked:
    """Children that a zygote has forked or is going to."""

    def __init__(self, source: Zygote, number: int) -> None:
        self._source, self._number = source, number

    @property
    def there(self) -> bool:
        """Has it forked them?"""
        return self._source.answered(self._number)

    def pids(self) -> list[int]:
        """Their process ids, as soon as it has; to be asked once.

        Raises:
            NoFork: it could not fork them.
        """
        answer = self._source.answer(self._number)
        self._source.complete = not answer["early"]
        if "failed" in answer:
            raise NoFork(
                f"no further process can be started here ({answer['failed']}): end programs that "
                "are no longer needed, or raise the limit (`ulimit -u`)"
            )
        pids: list[int] = answer["pids"]
        return pids


class _Listener:
    """A Unix socket on which the zygote accepts connections of the process that started it."""

    def __init__(self, folder: Path) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self._folder = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        path = str(folder / "fork")
        # a Unix socket's path has at most 107 characters; that of a temporary folder may have more
        short = len(path.encode()) < 100
        self._path = path if short else f"/proc/self/fd/{self._folder}/fork"
        self.socket.bind(self._path)
        self.socket.listen(128)

    def connected(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(self._path)
        except OSError:
            connection.close()
            raise
        return connection

    def close(self) -> None:
        with contextlib.suppress(OSError):
            os.close(self._folder)
        self._folder = -1


def _server(
    prefix: Sequence[str], arguments: Sequence[str], given: Sequence[int], env: dict[str, str]
) -> children.Child:
    """A process that runs this module: forked by a template where there is one, else started."""
    if not prefix and children.forks and (forked := children.forks[0](arguments, given, env)):
        return forked
    return children.started(
        [*prefix, *entry_points.command(FORKSERVER), *arguments],
        pass_fds=given,
        stdin=subprocess.DEVNULL,
        env=env,
        start_new_session=True,  # Ctrl-C in a terminal is for the parent to handle
    )
