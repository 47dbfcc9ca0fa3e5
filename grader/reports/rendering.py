"""Pages are made in a process of their own, with limits of time, memory and size.

Pages show what strangers wrote, and the libraries that turn text into HTML (Markdown, highlighting,
HTML parsers) take minutes or gigabytes on some inputs, known and unknown. The process that grades,
or serves the formgrader, therefore never makes a page itself: `page` asks a process that makes all
of them. The kernel ends it when a page takes too long, and it is started again. In place of such a
page there is one without colours and formatting that says so.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import importlib
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from distlab.processes import framing
from grader.paths import ROOT

SECONDS = 10.0  # of the processor's time that a page may take; the longest of the course takes 1
PATIENCE = 120.0  # seconds by the clock, on a machine that is busy with other things
MEMORY = 2 << 30  # bytes of address space of the process
SIZE = 20 << 20  # bytes of a page
PRELOAD = ("grader.reports.feedback",)

_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}  # each more takes memory
_LAST = Markup(
    "<!doctype html><meta charset=utf-8><title>no page</title><p>This page could not be made: {}. "
    "The notebook itself is in the folder of submissions.</p>"
)


class NotMade(RuntimeError):
    """A page was not made. The message says why, in half a sentence."""


def page(maker: str, **values: Any) -> str:
    """A page; if it cannot be made, one without colours and formatting; or else one sentence.

    Args:
        maker: "module:function", called in the other process with `values` and with `why`: empty,
            or why the page is to be plain.
        values: what JSON can hold.
    """
    why = ""
    for _ in range(2):
        try:
            return renderer().make(maker, {**values, "why": why})
        except NotMade as reason:
            why = str(reason)
    return _LAST.format(why)


@functools.cache
def renderer() -> Renderer:
    """This process's renderer."""
    made = Renderer()
    atexit.register(made.close)
    return made


class Renderer:
    """A process that makes pages, one at a time, for all threads.

    Args:
        seconds: of the processor's time that a page may take.
        size: bytes that it may have.
        preload: modules that the process imports before it is asked for anything.
    """

    def __init__(
        self, seconds: float = SECONDS, size: int = SIZE, preload: Sequence[str] = PRELOAD
    ) -> None:
        self._seconds, self._size, self._preload = seconds, size, preload
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None

    def start(self) -> None:
        """Start the process before the first page, so that it imports what it needs meanwhile."""
        with self._lock, contextlib.suppress(OSError):  # the first page tries again
            self._start()

    def make(self, maker: str, values: dict[str, Any]) -> str:
        """Call a maker of pages.

        Raises:
            NotMade: it raised, or took too much of what is limited.
        """
        with self._lock:
            try:
                connection = self._start()
                framing.write(connection, json.dumps([maker, values]).encode())
                return self._answer(connection)
            except NotMade:
                raise
            except (OSError, EOFError) as error:
                ended = self._end()
                if ended is None:
                    raise NotMade(f"no process could be started to make it ({error})") from error
                said = f"took more than {self._seconds:g} s"
                if ended not in (-signal.SIGPROF, -signal.SIGKILL):
                    said = f"ended with the exit status {ended}"
                raise NotMade(f"making it {said}") from error
            except ValueError as error:
                self._end()
                raise NotMade(f"it has more than {self._size / 2**20:g} MB") from error
            except BaseException:  # an interrupt: its answer would be taken for the next page
                self._end()
                raise

    def _start(self) -> socket.socket:
        """Start the process unless it runs; returns the socket that it listens to."""
        running = self._process is not None and self._process.poll() is None
        if running and self._socket is not None:
            return self._socket
        self._end()
        self._socket, theirs = socket.socketpair()
        self._socket.settimeout(PATIENCE)
        with theirs:
            words = ["-m", "grader.reports.rendering", str(theirs.fileno()), str(self._seconds),
                     *self._preload]  # fmt: skip
            self._process = subprocess.Popen(
                [sys.executable, *words], cwd=ROOT, env={**os.environ, **_ONE_THREAD},
                pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, start_new_session=True,  # Ctrl-C is for us alone
            )  # fmt: skip
        return self._socket

    def _answer(self, connection: socket.socket) -> str:
        incoming, deadline = framing.Incoming(self._size), time.monotonic() + PATIENCE
        while (left := deadline - time.monotonic()) > 0:
            framing.readable([connection], left)
            if (reply := incoming.receive(connection)) is not None:
                if reply[:1] == b"\0":
                    raise NotMade(reply[1:].decode())
                return reply.decode()
        raise TimeoutError

    def _end(self) -> int | None:
        """End the process, if it has not ended by itself; returns its exit status."""
        if self._process is None:
            return None
        if self._socket is not None:
            self._socket.close()
        self._process.kill()
        status, self._process = self._process.wait(), None
        return status

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._end()


def serve(connection: socket.socket, seconds: float, preload: Sequence[str]) -> None:
    """Make pages until the other end closes."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for name in preload:
        importlib.import_module(name)
    while (message := framing.read(connection)) is not None:
        maker, values = json.loads(message)
        # without a handler the signal ends this process, also where a parser is stuck in C
        signal.setitimer(signal.ITIMER_PROF, seconds)
        try:
            module, function = maker.split(":")
            made = getattr(importlib.import_module(module), function)(**values)
            reply = made.encode("utf-8", "replace")
        except Exception as error:
            reply = f"\0it ended with a {type(error).__name__}".encode()
        signal.setitimer(signal.ITIMER_PROF, 0)
        framing.write(connection, reply)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])), float(sys.argv[2]), sys.argv[3:])
