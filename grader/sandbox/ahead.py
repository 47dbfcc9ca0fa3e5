"""Try out the sandbox and start a zygote in it while this process does its own imports.

A zygote imports torch, which takes longer than everything else before the first submission can be
judged, so a command that grades begins with it.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import resource
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from distlab.processes.zygote import Zygote
    from grader.sandbox import Grading, Sandbox
    from grader.sandbox.cgroup import Groups


def allow_open_files() -> None:
    """Raise the limit as far as this user may: the kernel bounds by it the descriptors that all
    processes of a user have in flight.
    """
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def tried(settings: Grading) -> tuple[Sandbox, Groups | None]:
    """The sandbox, tried out, and control groups for submissions where there can be some. To be
    called before any process is started: a group can be divided only by a process alone in it.

    Raises:
        NoSandbox: none works.
    """
    from grader.sandbox import cgroup, choose

    allow_open_files()
    sandbox = choose(settings)
    return sandbox, cgroup.find() if sandbox.limits else None


class Ahead:
    """Tries out the configured sandbox in a thread. Closing it ends a zygote that nobody took.

    Args:
        wanted: called in that thread; the extra modules that a zygote is to import, or `None` for
            no zygote.
    """

    def __init__(self, wanted: Callable[[], tuple[str, ...] | None]) -> None:
        self._wanted = wanted
        self._tried: concurrent.futures.Future[tuple[Sandbox, Groups | None]] = (
            concurrent.futures.Future()
        )
        self._zygotes: dict[tuple[str, ...], Zygote] = {}  # one, until it is taken
        self._lock, self._closed = threading.Lock(), False
        self._begun = threading.Thread(target=self._begin, daemon=True)
        self._begun.start()

    def _begin(self) -> None:
        try:
            from grader.sandbox import configured

            sandbox, groups = tried(configured())
        except BaseException as error:  # whoever asks for it has to hear of it
            self._tried.set_exception(error)
            return
        self._tried.set_result((sandbox, groups))
        with contextlib.suppress(Exception):  # whoever needs a zygote starts one, and reports this
            more = self._wanted() if sandbox.shared else None
            with self._lock:
                if more is not None and not self._closed:
                    self._zygotes[more] = sandbox.zygote(more)

    def tried(self) -> tuple[Sandbox, Groups | None]:
        """The result of `tried`; waits for it.

        Raises:
            NoSandbox: none works.
        """
        return self._tried.result()

    def zygote(self, more: tuple[str, ...]) -> Zygote | None:
        """The zygote with the extra modules `more`, which is the caller's from now on; `None` if
        there is none (any more).
        """
        self._begun.join()
        with self._lock:
            found = self._zygotes.get(more)
            return self._zygotes.pop(more) if found and found.alive else None

    def close(self) -> None:
        with self._lock:
            self._closed = True
            left = list(self._zygotes.values())
            self._zygotes.clear()
        for one in left:
            one.close()
