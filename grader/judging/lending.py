"""What those who are judged at once share: GPUs, the machine's quiet, users of the kernel's."""

from __future__ import annotations

import contextlib
import errno
import itertools
import socket
import threading
from collections.abc import Iterator, Sequence


class Devices:
    """The GPUs of each host, lent to one submission at a time.

    Args:
        hosts: host, or a part of it, → its devices, as `CUDA_VISIBLE_DEVICES` names them.
    """

    def __init__(self, hosts: dict[str, Sequence[str]]) -> None:
        self._all = {host: len(devices) for host, devices in hosts.items()}
        self._free = {host: list(devices) for host, devices in hosts.items()}
        self._changed = threading.Condition()

    @contextlib.contextmanager
    def lent(self, host: str, wanted: int) -> Iterator[list[str]]:
        """Wait for `wanted` devices of a host, for all of them where it has fewer."""
        wanted = min(wanted, self._all[host])
        with self._changed:
            self._changed.wait_for(lambda: len(self._free[host]) >= wanted)
            mine = [self._free[host].pop(0) for _ in range(wanted)]
        try:
            yield mine
        finally:
            with self._changed:
                self._free[host] += mine
                self._changed.notify_all()


class Turns:
    """Who may use the machine: many beside each other, or one alone.

    Whoever wants it alone waits until the others are done, and goes before those that come later.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._sharing = self._waiting = 0
        self._taken = False

    @contextlib.contextmanager
    def shared(self) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: not (self._taken or self._waiting))
            self._sharing += 1
        try:
            yield
        finally:
            with self._changed:
                self._sharing -= 1
                self._changed.notify_all()

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        with self._changed:
            self._waiting += 1
            self._changed.notify_all()
            self._changed.wait_for(lambda: not (self._taken or self._sharing))
            self._waiting -= 1
            self._taken = True
        try:
            yield
        finally:
            with self._changed:
                self._taken = False
                self._changed.notify_all()


class Users:
    """Users of the kernel's, lent to one submission at a time: the kernel counts the processes of
    each, whoever has started them. So no two graders of a machine lend the same one at once.
    """

    def __init__(self, first: int | None) -> None:
        self._first = first

    @contextlib.contextmanager
    def lent(self) -> Iterator[int | None]:
        """A user that nobody else is now; `None` where there are none to lend."""
        if self._first is None:
            yield None
            return
        for user in itertools.count(self._first):
            with socket.socket(socket.AF_UNIX) as taken:
                try:  # a name that is there as long as this process has it
                    taken.bind(f"\0distlab user {user}")
                except OSError as error:
                    if error.errno != errno.EADDRINUSE:
                        raise
                    continue
                yield user
                return
