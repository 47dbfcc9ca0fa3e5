"""Processes of this library's own that another one starts: by `subprocess`, or by whoever forks."""

from __future__ import annotations

import concurrent.futures
import contextlib
import os
import queue
import subprocess
import threading
from collections.abc import Callable, Sequence
from typing import Any, Protocol


class Child(Protocol):
    """What `subprocess.Popen` is to whoever has started a process."""

    pid: int

    def poll(self) -> int | None: ...
    def wait(self) -> int: ...


#: makes a child that is forked from elsewhere, with everything imported: its arguments, the
#: descriptors that these name, and its environment; `None` where that does not work now
Forks = Callable[[Sequence[str], Sequence[int], dict[str, str]], Child | None]
#: for whom a process is started, and the arguments of `subprocess.Popen`
_Start = tuple[concurrent.futures.Future[subprocess.Popen[Any]], tuple[Any, ...], dict[str, Any]]
# of the thread that starts processes, once there is one
_starting: list[queue.SimpleQueue[_Start]] = []
#: who forks for this process, if anybody does
forks: list[Forks] = []
os.register_at_fork(after_in_child=_starting.clear)
os.register_at_fork(after_in_child=forks.clear)


def fork() -> int | None:
    """`os.fork`; `None` where there can be no other process now. Whoever forks for others lives on:
    all that it has forked may end with it.
    """
    with contextlib.suppress(OSError):
        return os.fork()
    return None


def started(*args: Any, **kwargs: Any) -> subprocess.Popen[Any]:
    """`subprocess.Popen` in a thread that lives as long as this process.

    To Linux a child's parent is the thread that started it: one that dies with its parent would die
    with whichever thread of a pool happened to need it.
    """
    if not _starting:
        requests: queue.SimpleQueue[_Start] = queue.SimpleQueue()
        threading.Thread(target=_start_what_comes, args=(requests,), daemon=True).start()
        _starting.append(requests)  # of two that come at once the first one's serves both
    made: concurrent.futures.Future[subprocess.Popen[Any]] = concurrent.futures.Future()
    _starting[0].put((made, args, kwargs))
    return made.result()


def _start_what_comes(requests: queue.SimpleQueue[_Start]) -> None:
    while True:
        made, args, kwargs = requests.get()
        try:
            made.set_result(subprocess.Popen(*args, **kwargs))
        except BaseException as error:  # whoever asked for it has to hear of it
            made.set_exception(error)
