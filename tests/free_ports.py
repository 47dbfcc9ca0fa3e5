"""Ports that nobody else is given between their choice and their use."""

import contextlib
import random
import socket

#: what no system gives to a program that asks for any port
OUTSIDE = range(10_000, 32_768)


def some(count):
    """So many of them, free now, in order."""
    found = set()
    while len(found) < count:
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", random.SystemRandom().choice(OUTSIDE)))
            found.add(probe.getsockname()[1])
    return sorted(found)
