"""How this library starts processes of its own: by `subprocess`, or forked by a template."""

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


#: has a child forked from another process, which has everything imported. Takes its arguments, the
#: descriptors that these name and its environment; returns `None` where that does not work now
Forks = Callable[[Sequence[str], Sequence[int], dict[str, str]], Child | None]
#: where the process is expected, and the arguments of `subprocess.Popen`
_Start = tuple[concurrent.futures.Future[subprocess.Popen[Any]], tuple[Any, ...], dict[str, Any]]
# the queue of the thread that starts processes, once there is one
_starting: list[queue.SimpleQueue[_Start]] = []
#: what forks for this process, if anything does (`distlab.processes.template`)
forks: list[Forks] = []
os.register_at_fork(after_in_child=_starting.clear)
os.register_at_fork(after_in_child=forks.clear)


def fork() -> int | None:
    """`os.fork`; `None` where no further process can be started now. For processes that fork for
    others: these must not end by that, because all that they have forked may end with them.
    """
    with contextlib.suppress(OSError):
        return os.fork()
    return None


def started(*args: Any, **kwargs: Any) -> subprocess.Popen[Any]:
    """`subprocess.Popen`, called in a thread that lives as long as this process.

    On Linux a child that asks to die with its parent dies with the thread that started it, which
    may be one of a pool that ends soon.
    """
    if not _starting:
        requests: queue.SimpleQueue[_Start] = queue.SimpleQueue()
        threading.Thread(target=_start_what_comes, args=(requests,), daemon=True).start()
        _starting.append(requests)  # if two threads come here at once, both use the first queue
    made: concurrent.futures.Future[subprocess.Popen[Any]] = concurrent.futures.Future()
    _starting[0].put((made, args, kwargs))
    return made.result()


def _start_what_comes(requests: queue.SimpleQueue[_Start]) -> None:
    while True:
        made, args, kwargs = requests.get()
        try:
            made.set_result(subprocess.Popen(*args, **kwargs))
        except BaseException as error:  # raised where the process was asked for
            made.set_exception(error)
