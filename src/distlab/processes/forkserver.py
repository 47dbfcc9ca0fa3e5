"""The process that ranks are forked from: it has torch imported, and has done nothing else.

The zygote, as it is called elsewhere (`distlab.processes.zygote`), imports what ranks need, runs no
torch operation and touches no GPU (threads and CUDA contexts do not survive a fork), and forks a
child for each request. Children die with it, and it dies with the process that started it, SIGKILL
included.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import os
import shutil
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from distlab.processes import entry_points, framing

#: optional imports of other packages, which do without. Keras imports the first two: one looks for
#: fonts for seconds, the other for semaphores, and both complain in a sandbox. ipykernel imports
#: debugpy, which no engine uses
UNWANTED = ("matplotlib", "sklearn", "debugpy")
_PR_SET_PDEATHSIG, _PR_SET_NAME = 1, 15
NAME = b"distlab-zygote"  # what `ps` calls a zygote and whatever it forks


def die_with_parent(number: int = signal.SIGKILL) -> None:
    """Ask Linux for a signal when the parent ends; elsewhere a closed socket tells of that."""
    if _libc is not None:
        _libc.prctl(_PR_SET_PDEATHSIG, number)


_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


def spawn(entry: Callable[..., object], *args: Any, **kwargs: Any) -> int:
    """Fork this process and call `entry(*args, **kwargs)` in the child, which then ends."""
    parent = os.getpid()
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        if os.getppid() != parent:  # it died before it could be asked for
            os._exit(1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.set_wakeup_fd(-1)
        draw_anew()
        entry(*args, **kwargs)
        status = 0
    except SystemExit as stop:
        status = stop.code if isinstance(stop.code, int) else 1
    except BaseException:
        traceback.print_exc()  # torch's own hook would label each line a second time
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


def draw_anew() -> None:
    """Seed NumPy's global generator anew, which a fork copies; Python does so with its own."""
    if numpy := sys.modules.get("numpy.random"):
        numpy.seed()


def seed_anew() -> None:
    """Seed PyTorch's default generator anew: for a fork that stands for a process of its own, which
    would have drawn a seed when it imported torch. Ranks keep their zygote's.
    """
    if torch := sys.modules.get("torch"):
        torch.default_generator.seed()


def log_to(path: Path) -> None:
    """From now on append what this process and its children print to a file."""
    with path.open("ab") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)


def reap(statuses: dict[int, int]) -> None:
    """Add the exit statuses of the children that have ended."""
    with contextlib.suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            statuses[ended[0]] = ended[1]


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Discard standard error: TensorFlow and Matplotlib write to it when they are imported."""
    ours = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)
    try:
        yield
    finally:
        sys.stderr.flush()
        os.dup2(ours, 2)
        os.close(ours)


class _Server:
    """The zygote's own side: one request a line.

    Attributes:
        loaded: what of `preload` has been imported so far.
    """

    def __init__(self, fd: int, listening: int) -> None:
        self.loaded: set[str] = set()
        self._connection = socket.socket(fileno=fd)
        self._listener = socket.socket(fileno=listening)
        self._statuses: dict[int, int] = {}
        self._pending = b""
        self._complete = False
        self._held = 0.0  # until this time nothing more is imported

    def early(self) -> None:
        """Between two imports: answer requests until one needs a module that is still missing."""
        while self._answer_early():
            left = max(0.0, self._held - time.monotonic())
            if not framing.readable([self._connection], left):
                return
            if not self._receive():
                os.kill(os.getpid(), signal.SIGTERM)
                return

    def _answer_early(self) -> bool:
        """Returns whether all requests are answered: none waits for an import."""
        while b"\n" in self._pending:
            request = json.loads(self._pending.split(b"\n", 1)[0])
            if "entry" in request:
                if request["after"] not in self.loaded:
                    return False
                self._held = time.monotonic() + request.get("hold", 0.0)
            self._answer_next()
        return True

    def serve(self) -> None:
        """Answer until the parent closes the socket."""
        self._complete = True
        while True:
            while b"\n" in self._pending:
                self._answer_next()
            framing.readable([self._connection], 5.0)
            reap(self._statuses)
            if framing.readable([self._connection], 0) and not self._receive():
                return

    def _receive(self) -> bool:
        try:
            data = self._connection.recv(65536)
        except ConnectionResetError:  # the parent has ended, with answers unread
            data = b""
        self._pending += data
        return bool(data)

    def _answer_next(self) -> None:
        line, self._pending = self._pending.split(b"\n", 1)
        request = json.loads(line)
        if "kill" in request:
            if request["kill"] not in self._statuses:  # it has not ended: the number is its own
                with contextlib.suppress(ProcessLookupError):
                    os.kill(request["kill"], signal.SIGKILL)
            return
        if "status" in request:
            answer = {"status": _status(request["status"], self._statuses)}
        else:
            answer = self._forked(request)
        with contextlib.suppress(ConnectionError):  # the parent has ended: `_receive` will tell
            self._connection.sendall((json.dumps(answer) + "\n").encode())

    def _forked(self, request: dict[str, Any]) -> dict[str, Any]:
        """Fork all the children that are asked for, or none."""
        gc.freeze()  # a collection in a child would write to every object, and so copy its page
        made = [self._listener.accept()[0]] if request.get("connect") else []
        inherited = (self._connection, self._listener)
        pids: list[int] = []
        answer: dict[str, Any] = {"pids": pids, "early": not self._complete}
        try:
            for _ in range(request["times"]):
                pids.append(pid := spawn(_child, inherited, request, made))
                self._statuses.pop(pid, None)  # of an earlier one, whose number it has
        except OSError as error:  # no room for another: those that were forked before need this one
            for pid in pids:
                os.kill(pid, signal.SIGKILL)
            answer["failed"] = error.strerror
        for connection in made:
            connection.close()
        return answer


def _status(pid: int, statuses: dict[int, int], patience: float = 1.0) -> int | None:
    deadline = time.monotonic() + patience
    while pid not in statuses and time.monotonic() < deadline:
        reap(statuses)
        time.sleep(0.005)  # a process that has closed its socket is about to end
    return statuses.pop(pid, None)


def _child(
    inherited: Sequence[socket.socket], request: dict[str, Any], made: Sequence[socket.socket]
) -> None:
    gc.enable()
    for connection in inherited:
        connection.close()
    entry = entry_points.load(request["entry"])
    entry(*made, **request["arguments"])


@contextlib.contextmanager
def _without(names: Iterable[str]) -> Iterator[None]:
    """Hide modules, so that imports do without them as if they were not installed."""
    hidden = [name for name in names if name not in sys.modules]
    for name in hidden:
        sys.modules[name] = None  # type: ignore[assignment]  # Python's way to hide a module
    try:
        yield
    finally:
        for name in hidden:
            sys.modules.pop(name, None)


def load_ahead(name: str) -> None:
    """Import a module, if it is installed, or call a function ("module:function")."""
    with contextlib.suppress(ImportError), _silent():
        if ":" in name:  # outside `_without`: it sees the modules that children will see
            entry_points.load(name)()
            return
        with _without(UNWANTED):
            importlib.import_module(name)


def run(arguments: Sequence[str]) -> None:
    """Be a zygote, until the process that started it closes its socket or ends."""
    fd, listening, folder, *preload = arguments

    def end(*_: object) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(0)

    signal.signal(signal.SIGTERM, end)
    die_with_parent(signal.SIGTERM)
    if _libc is not None:
        _libc.prctl(_PR_SET_NAME, NAME)
    # every fork, DataLoader workers included, asks to be killed when its own parent ends
    os.register_at_fork(after_in_child=die_with_parent)
    server = _Server(int(fd), int(listening))
    # imports make so many objects that the collector would run again and again. It is not run once
    # at the end either: finding 9,000 objects of half a million takes half a second
    gc.disable()
    for name in preload:
        server.early()  # outside `_without`: what is forked here may import anything
        load_ahead(name)
        server.loaded.add(name)
    server.early()
    server.serve()
    end()


if __name__ == "__main__":
    run(sys.argv[1:])
