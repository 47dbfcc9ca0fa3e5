"""How long a process that waits for others did nothing itself.

A machine or a container was suspended, somebody pressed Ctrl-Z, memory had to come back from the
disk: the monotonic clock goes on meanwhile, and a deadline passes that nobody has missed. Whoever
waits looks at the clock several times a second. What passes between two looks beyond the usual, and
not by computing, is time in which this process was stopped, and mostly those that it waits for too.
"""

from __future__ import annotations

import socket
import threading
import time

from distlab.processes import framing

USUAL = 0.5  # seconds between two looks of a process that goes on, on a busy machine too
EACH = 0.25  # seconds from one look to the next of whoever waits here

#: seconds that this thread has computed; where nothing tells, those of all threads
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
        """The time on the monotonic clock, after a look at how long ago the last one was."""
        now, had = time.monotonic(), _computed()
        self.seconds += max(now - self._now - (had - self._had) - USUAL, 0.0)
        self._now, self._had = now, had
        return now


class _Threads(threading.local):
    def __init__(self) -> None:
        self.stops = Stops()


_threads = _Threads()


def here() -> Stops:
    """The stops of the thread that asks, as all those see them that wait in it."""
    return _threads.stops


class Stopwatch:
    """Seconds from now on, without those in which this thread was stopped. This one, or another of
    the same thread, is to be looked at several times a second.
    """

    def __init__(self) -> None:
        self._stops = here()
        self._begin = self._stops.look()
        self._before = self._stops.seconds

    @property
    def stopped(self) -> float:
        """Seconds of stops up to the last look."""
        return self._stops.seconds - self._before

    def seconds(self) -> float:
        """Those so far, after a look."""
        now = self._stops.look()
        return now - self._begin - self.stopped


def await_readable(connection: socket.socket, seconds: float) -> None:
    """Wait until there is something to be read, or the other end has closed.

    Raises:
        TimeoutError: there was nothing for so many seconds, stops left out.
    """
    watch = Stopwatch()
    while not framing.readable([connection], min(EACH, seconds)):
        if watch.seconds() >= seconds and not framing.readable([connection], 0):
            raise TimeoutError(f"no answer within {seconds:g} s")
