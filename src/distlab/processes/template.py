"""Forks zygotes for a notebook's kernel, from the process that the kernel was forked from.

So kernel and ranks share what they import in memory, and ranks are there as soon as they are asked
for. A template has no threads, runs no torch operation, and ends as its kernel does.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Sequence
from typing import Any

from distlab.processes import cheap_forks, children, forkserver, framing
from distlab.processes.environment import at_begin, environment

LOOK = 1.0  # seconds between two checks that what started the template is still there


class Forks:
    """The kernel's side: asks the template for zygotes; one of `children.forks`."""

    def __init__(self, connection: socket.socket, env: dict[str, str]) -> None:
        self._connection, self._lock, self._asked = connection, threading.Lock(), 0
        self._began = at_begin(environment(env))

    def __call__(
        self, arguments: Sequence[str], given: Sequence[int], env: dict[str, str]
    ) -> children.Child | None:
        if at_begin(env) != self._began:  # some settings differ from what the template began with
            return None
        what = {"arguments": arguments[len(given) :], "environment": env}
        try:
            pid = self.ask({**what, "folder": os.getcwd()}, given)
        except OSError:  # too much for a message, no folder, or the template is about to end
            return None
        return _Forked(self, pid) if pid else None

    def ask(self, what: dict[str, Any], given: Sequence[int] = ()) -> Any:
        """The answer to a request.

        Raises:
            OSError: there is none.
        """
        with self._lock:
            self._asked += 1
            request = json.dumps({**what, "number": self._asked}).encode()
            if len(request) > framing.LONGEST:
                raise OSError("too much for a message")
            socket.send_fds(self._connection, [request], list(given))
            while answer := self._connection.recv(framing.LONGEST):
                number, told = json.loads(answer)
                if number == self._asked:  # else that of an interrupted request
                    return told
        raise OSError("the template has ended")


class _Forked:
    """A child of the template, which this process handles as if it had started it."""

    def __init__(self, forks: Forks, pid: int) -> None:
        self.pid, self._forks = pid, forks
        self._status: int | None = None

    def poll(self) -> int | None:
        return self._ask("poll")

    def wait(self) -> int:
        status = self._ask("wait")
        return 0 if status is None else status

    def _ask(self, what: str) -> int | None:
        if self._status is None:
            try:
                self._status = self._forks.ask({what: self.pid})
            except OSError:  # the template has ended, and its children with it
                self._status = -signal.SIGKILL
        return self._status


class Template:
    """The template's side, from the kernel's beginning to its end.

    Args:
        parent: the process that started this one, as it was at the beginning.
        starter: a connection to the process that Jupyter started, if that is not this one.
    """

    def __init__(
        self,
        kernel: int,
        connection: socket.socket,
        parent: int,
        starter: socket.socket | None = None,
    ) -> None:
        self._kernel, self._parent, self._starter = kernel, parent, starter
        self._woken, self._wakes = socket.socketpair()
        self._watched = [connection, self._woken, *([starter] if starter else ())]
        for one in (self._woken, self._wakes):
            one.setblocking(False)
        signal.set_wakeup_fd(self._wakes.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # sent to the group, for the kernel
        signal.signal(signal.SIGTERM, lambda *_: self._end_kernel(signal.SIGTERM))

    def _end_kernel(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._kernel, number)

    def serve(self, rest: Sequence[str]) -> int:
        """Import `rest`, and answer the kernel until it has ended; returns its exit code."""
        for name in rest:  # before any fork, so that all share it
            forkserver.load_ahead(name)
        cheap_forks.empty_caches()
        gc.collect()
        while (status := _status(self._kernel, os.WNOHANG)) is None:
            # a template of a nursery outlives that; the connection tells of its starter's end
            if self._starter is None and os.getppid() != self._parent:
                self._end_kernel(signal.SIGKILL)
            for one in framing.readable(self._watched, LOOK):
                self._hear(one)
        return status

    def _hear(self, one: socket.socket) -> None:
        if one is self._woken:
            with contextlib.suppress(BlockingIOError):
                one.recv(4096)
            return
        if one is self._starter:
            self._pass_on(one.recv(framing.LONGEST))
            return
        message, given, _, _ = socket.recv_fds(one, framing.LONGEST, 8)
        if not message:  # the kernel is about to end
            self._watched.remove(one)
            return
        request = json.loads(message)
        if "poll" in request:
            answer = _status(request["poll"], os.WNOHANG)
        elif "wait" in request:
            answer = _status(request["wait"])
        else:
            gc.freeze()
            try:
                answer = forkserver.spawn(_zygote, request, given, [*self._watched, self._wakes])
            except OSError:  # no further process may be started: the kernel will say so
                answer = None
        for fd in given:
            os.close(fd)
        with contextlib.suppress(OSError):  # nobody hears it any more
            one.sendall(json.dumps([request["number"], answer]).encode())

    def _pass_on(self, told: bytes) -> None:
        """Handle what the starter tells: a signal that it has got, or its end."""
        if not told:  # Jupyter has killed the starter's group: do so with the kernel's
            os.killpg(os.getpgrp(), signal.SIGKILL)
        elif (number := int(told)) == signal.SIGINT:
            os.killpg(os.getpgrp(), number)  # as Jupyter does
        else:
            self._end_kernel(number)


def _status(pid: int, options: int = 0) -> int | None:
    """How a child has ended, as `subprocess` tells it; `None` while it lives."""
    try:
        ended, status = os.waitpid(pid, options)
    except ChildProcessError:  # not a child, or one whose status was taken before
        return 0
    return os.waitstatus_to_exitcode(status) if ended else None


def _zygote(request: dict[str, Any], given: Sequence[int], others: Sequence[socket.socket]) -> None:
    """Be what `Zygote` has asked for."""
    for connection in others:
        connection.close()
    os.setsid()
    forkserver.seed_anew()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    # ranks find what lies beside the notebook behind Python's own modules (`own_modules`)
    sys.path[:] = filter(None, sys.path)
    torch = sys.modules.get("torch")
    if torch and request["environment"].get("OMP_NUM_THREADS") == "1":
        torch.set_num_threads(1)  # torch, imported before, has not read that variable
    forkserver.run([*map(str, given), *request["arguments"]])
