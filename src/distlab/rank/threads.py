"""What of a rank's function goes on beside it: threads that it has started, and callbacks.

Each is an agent of its own: a rank can do nothing more only if all of them wait in an operation
that cannot end. So they are counted from before they begin until they have ended. A thread may
communicate unless it is known never to, as those of libraries that feed queues or draw progress
bars. One that joins another without a timeout can do nothing meanwhile, and is not counted then.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # typeshed lacks it
import _thread
import concurrent.futures
import contextlib
import functools
import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

#: modules whose threads never communicate; a thread belongs to that of its target or of its class
_LIBRARIES = (
    "multiprocessing.queues", "torch.utils.data", "torch._inductor", "torch._dynamo", "tqdm",
    "ipykernel", "ipyparallel", "IPython", "tornado", "zmq", "tensorboard", "socketserver",
    "horovod", "tensorflow",
)  # fmt: skip
_PREFIXES = tuple(f"{module}." for module in _LIBRARIES)


class Threads:
    """Counts the threads and the callbacks of one function.

    Args:
        changed: called with the number of those that can do something by themselves, and of the
            callbacks that wait for an operation to end, whenever one of the two changes.
        place: called where a thread is about to be started; says where in the student's code that
            is, for `started_at`.
        raised: called with what a thread, or a call given to an executor, raises, and with `None`
            once somebody has asked for that. Says whether it takes note of it.
    """

    def __init__(
        self, changed: Callable[[int, int], None], place: Callable[[], Any] = lambda: None,
        raised: Callable[[BaseException | None], bool] = lambda error: True,
    ) -> None:  # fmt: skip
        self._changed, self.place, self._raised = changed, place, raised
        self._noted: object = None  # whose exception was told last
        self._lock = threading.RLock()
        self._agents = 0
        self._pending: Counter[int] = Counter()  # callbacks, by their operation
        self._ended: set[int] = set()
        self._threads: set[threading.Thread] = set()  # that count
        self._joined: Counter[threading.Thread] = Counter()  # how many wait for each to end
        self._handlers = _handlers()
        self._process = os.getpid()

    def begin(self) -> None:
        """Count the threads that are started from now on."""
        global _counting
        _watch_threads()
        _counting = self
        self._threads.add(threading.current_thread())  # the function's own, until `function_ends`

    def function_ends(self) -> None:
        with self._lock:
            self._threads.discard(threading.current_thread())

    def close(self) -> None:
        global _counting
        if _counting is self:
            _counting = None
        self._noted = None  # of its exception there hang frames, and all that these hold

    def _count(self, more: int) -> None:
        with self._lock:
            self._agents += more
            self._changed(self._agents, self._pending.total())

    def counts(self, thread: threading.Thread) -> bool:
        """Count this thread until `gone`; False for one that is not counted."""
        if not may_communicate(thread) or os.getpid() != self._process:
            return False
        with self._lock:
            self._threads.add(thread)
            self._count(1)
        return True

    def counts_call(self, function: Callable[..., Any]) -> bool:
        """The same for a function that runs on a thread which `threading` does not know."""
        if is_librarys(function) or os.getpid() != self._process:
            return False
        self._count(1)
        return True

    def gone(self, thread: threading.Thread | None = None) -> None:
        if os.getpid() != self._process:  # a forked child has the same record before it
            return
        with self._lock:
            joined = 0
            if thread is not None:
                self._threads.discard(thread)
                joined = self._joined.pop(thread, 0)  # they go on
            self._count(joined - 1)

    @contextlib.contextmanager
    def joined(self, thread: threading.Thread) -> Iterator[None]:
        """Meanwhile whoever asks waits for this thread to end."""
        with self._lock:
            both = {thread, threading.current_thread()} <= self._threads
            # a signal could have a function of the student's called meanwhile
            counts = both and os.getpid() == self._process and _handlers() == self._handlers
            if counts:
                self._joined[thread] += 1
                self._count(-1)
        try:
            yield
        finally:
            with self._lock:
                if counts and thread in self._threads:  # interrupted
                    self._joined[thread] -= 1
                    self._count(1)

    def note(self, owner: object, error: BaseException | None) -> None:
        """A thread, or a future, has an exception, which nobody may ever ask for."""
        # a future can also hold a class, of which an exception is made when it is raised
        told = isinstance(error, BaseException) and not isinstance(error, SystemExit)
        ours = _counting is self and os.getpid() == self._process
        if told and ours and self._raised(error):
            self._noted = owner

    def asked(self, owner: object) -> None:
        """Somebody has asked for what this future holds."""
        if self._noted is owner and os.getpid() == self._process:
            self._noted = None
            self._raised(None)

    def callback(self, operation: int, callback: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """A callback that runs when an operation ends, counted until then and while it runs."""
        with self._lock:
            if operation in self._ended:
                self._count(1)
            else:
                self._pending[operation] += 1
                self._count(0)

        @functools.wraps(callback)
        def counted(future: Any) -> Any:
            # one that runs at once, on the thread that has added it, is no agent of its own
            own = not isinstance(threading.current_thread(), threading._DummyThread)
            if own:
                self.gone()
            try:
                return callback(future)
            finally:
                if not own:
                    self.gone()

        return counted

    def ends(self, operation: int) -> None:
        """The operation is about to be known as ended: its callbacks run from now on."""
        with self._lock:
            self._ended.add(operation)
            self._count(self._pending.pop(operation, 0))


def may_communicate(thread: threading.Thread) -> bool:
    return not is_librarys(getattr(thread, "_target", None) or type(thread))


def is_librarys(target: Any) -> bool:
    """Is it of a module whose threads never communicate?"""
    return f"{getattr(target, '__module__', None) or ''}.".startswith(_PREFIXES)


def started_at() -> Any:
    """Where the thread that asks was started, as its `Threads` says; None where that is unknown."""
    thread = threading._active.get(threading.get_ident())  # type: ignore[attr-defined]  # it is
    return getattr(thread, "_distlab_started_at", None)


_counting: Threads | None = None  # of the function that runs on this rank
# `Any`: what is Python's own affair is in no stub
_Thread: Any = threading.Thread
_start, _run, _join = _Thread.start, _Thread._bootstrap_inner, _Thread.join
_Future: Any = concurrent.futures.Future
_set_exception, _exception = _Future.set_exception, _Future.exception
_get_result = _Future._Future__get_result
#: starts what is none of the function's own; `threading` has it by a name of its own, too
start_uncounted: Any = _thread.start_new_thread


def _counted_start(thread: Any) -> None:
    counting = _counting
    thread._distlab_counting = counting if counting and counting.counts(thread) else None
    thread._distlab_started_at = counting.place() if counting else None
    try:
        _start(thread)
    except BaseException:
        if thread._distlab_counting is not None:
            thread._distlab_counting.gone(thread)
        raise


def _counted_run(thread: Any) -> None:
    counting: Threads | None = getattr(thread, "_distlab_counting", None)
    if counting is None:
        _run(thread)
        return
    tell = thread._invoke_excepthook
    thread._invoke_excepthook = _noting(counting, thread, tell)
    try:
        _run(thread)
    finally:
        thread._invoke_excepthook = tell  # else it would keep the thread, and that what it holds
        counting.gone(thread)


def _noting(
    counting: Threads, thread: threading.Thread, tell: Callable[..., None]
) -> Callable[..., None]:
    """What a thread calls with its exception, which it tells as before."""

    def noted(*arguments: Any) -> None:
        counting.note(thread, sys.exc_info()[1])
        tell(*arguments)

    return noted


def _noted_set_exception(future: Any, exception: BaseException | None) -> None:
    if _counting is not None:
        _counting.note(future, exception)
    _set_exception(future, exception)


def _asked_result(future: Any) -> Any:
    if _counting is not None:
        _counting.asked(future)
    return _get_result(future)


def _asked_exception(future: Any, timeout: float | None = None) -> Any:
    found = _exception(future, timeout)
    if found is not None and _counting is not None:
        _counting.asked(future)
    return found


def _counted_join(thread: threading.Thread, timeout: float | None = None) -> None:
    counting = _counting
    if counting is None or timeout is not None:
        _join(thread, timeout)
    else:
        with counting.joined(thread):
            _join(thread)


@functools.wraps(start_uncounted)
def _counted_start_new(function: Any, *arguments: Any) -> Any:
    counting = _counting
    if counting is None or not callable(function) or not counting.counts_call(function):
        return start_uncounted(function, *arguments)

    @functools.wraps(function)
    def counted(*args: Any, **kwargs: Any) -> None:
        try:
            function(*args, **kwargs)
        finally:
            counting.gone()

    try:
        return start_uncounted(counted, *arguments)
    except BaseException:
        counting.gone()
        raise


def _handlers() -> list[Any]:
    """What is called at signals."""
    # `signal` would make a member of an enumeration of each
    return list(map(_signal.getsignal, range(1, signal.NSIG)))


def _watch_threads() -> None:
    """Have every thread of this process counted from its start to its end."""
    _Thread.start = _counted_start
    _Thread._bootstrap_inner = _counted_run
    _Thread.join = _counted_join
    _Future.set_exception, _Future.exception = _noted_set_exception, _asked_exception
    _Future._Future__get_result = _asked_result
    _thread.start_new_thread = _thread.start_new = _counted_start_new
