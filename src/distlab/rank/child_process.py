"""A function in a process of its own, forked from this one, that ends with it.

Some frameworks can be set up once in a process: TensorFlow divides devices before its first
operation and never again. What needs another set-up gets another process. Forking one takes
milliseconds where the framework is imported already, and is sound as long as it has not run here.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
from collections.abc import Callable
from typing import Any

import cloudpickle

from distlab.processes import forkserver, framing
from distlab.rank.described import Described

LIMIT = 64 << 20  # bytes that a process may tell


class Raised(Described):
    """What was raised in a process of its own."""


class Died(RuntimeError):
    """A process ended without a result: it was killed, or it ended itself."""


class Process:
    """Calls `function()` in a new process. What it returns or raises comes back as data.

    The process stays until it is ended, also when its function has returned: others may still be
    connected to it.
    """

    def __init__(self, function: Callable[[], Any]) -> None:
        self._reading, writing = os.pipe()
        self._told = bytearray()

        def serve() -> None:
            os.close(self._reading)
            with os.fdopen(writing, "wb") as pipe:
                pipe.write(_outcome(function))
            signal.pause()

        self.pid = forkserver.spawn(serve)
        os.close(writing)

    def ended(self, timeout: float = 0.0) -> bool:
        """Has its function returned or raised, or the process died? Waits up to `timeout`."""
        while len(self._told) < LIMIT and framing.readable([self._reading], timeout):
            if not (more := os.read(self._reading, 1 << 16)):
                return True
            self._told += more
        return len(self._told) >= LIMIT

    def result(self) -> Any:
        """What the function returned, once it has `ended`.

        Raises:
            Raised: it raised.
            Died: the process ended before, or returned more than `LIMIT` bytes.
        """
        if len(self._told) >= LIMIT:
            raise Died(f"process {self.pid} returned more than {LIMIT >> 20} MB")
        try:
            told = pickle.loads(bytes(self._told))
        except (EOFError, pickle.UnpicklingError):  # nothing, or only a part of it
            raise Died(f"process {self.pid} ended in the middle of its function") from None
        if told["error"]:
            raise Raised(told["error"])
        return cloudpickle.loads(told["result"])

    def end(self) -> None:
        """Kill the process, if it lives, and wait until it is gone."""
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        with contextlib.suppress(OSError):
            os.close(self._reading)

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *exc) -> None:
        self.end()


def _outcome(function: Callable[[], Any]) -> bytes:
    from distlab.rank import exceptions

    try:
        told = {"result": cloudpickle.dumps(function()), "error": None}
    except BaseException as error:
        told = {"result": b"", "error": exceptions.describe(error)}
    return pickle.dumps(told)


def call(function: Callable[[], Any]) -> Any:
    """Call a function in a process of its own and wait for what it returns.

    Raises:
        Raised, Died: see `Process.result`.
    """
    with Process(function) as process:
        while not process.ended(1.0):
            pass
        return process.result()
