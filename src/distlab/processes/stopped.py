"""How long a process that waits for others was stopped itself.

A machine or a container is suspended, somebody presses Ctrl-Z, memory has to come back from the
disk: the monotonic clock goes on meanwhile, and a deadline passes through nobody's fault. A process
that waits looks at the clock several times a second. If more than the usual time passes between two
looks, and it did not compute meanwhile, it was stopped, and so were mostly those that it waits for.
"""

from __future__ import annotations

import socket
import threading
import time

from distlab.processes import framing

USUAL = 0.5  # seconds between two looks, at most, of a process that runs, on a busy machine too
EACH = 0.25  # seconds between two looks in `await_readable`

#: processor seconds of this thread; where the system does not tell these, of all threads
_computed = getattr(time, "thread_time", time.process_time)


class Stops:
    """How long a thread was stopped.

    Attributes:
        seconds: of all stops so far.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self._now, self._had = time.monotonic(), _computed()

    def look(self) -> float:
        """Look at the clock: add what is a stop since the last look; returns the monotonic time."""
        now, had = time.monotonic(), _computed()
        self.seconds += max(now - self._now - (had - self._had) - USUAL, 0.0)
        self._now, self._had = now, had
        return now


class _Threads(threading.local):
    def __init__(self) -> None:
        self.stops = Stops()


_threads = _Threads()


def here() -> Stops:
    """The stops of the calling thread, shared by everything that waits in it."""
    return _threads.stops


class Stopwatch:
    """Counts seconds from now on, without those in which this thread was stopped. Call `seconds` of
    this stopwatch, or of another one in the same thread, several times a second.
    """

    def __init__(self) -> None:
        self._stops = here()
        self._begin = self._stops.look()
        self._before = self._stops.seconds

    @property
    def stopped(self) -> float:
        """Seconds of stops from its beginning to the last look."""
        return self._stops.seconds - self._before

    def seconds(self) -> float:
        """Look at the clock; returns the seconds so far."""
        now = self._stops.look()
        return now - self._begin - self.stopped


def await_readable(connection: socket.socket, seconds: float) -> None:
    """Wait until there is something to be read, or the other end has closed.

    Raises:
        TimeoutError: nothing came for so many seconds, stops not counted.
    """
    watch = Stopwatch()
    while not framing.readable([connection], min(EACH, seconds)):
        if watch.seconds() >= seconds and not framing.readable([connection], 0):
            raise TimeoutError(f"no answer within {seconds:g} s")
