"""Which threads of a rank could still ask torch.distributed for something while one of them waits.

A rank sits still in an operation only if none of them does: a student's own thread may post what
releases it. Threads of libraries that feed queues or draw progress bars don't count.
"""

from __future__ import annotations

import threading

#: modules whose threads never communicate; a thread belongs to that of its target or of its class
_LIBRARIES = (
    "multiprocessing.queues", "torch", "tqdm", "ipykernel", "ipyparallel", "IPython", "tornado",
    "zmq", "tensorboard", "socketserver", "horovod", "tensorflow",
)  # fmt: skip


class Threads:
    """The threads of a rank, counted from the moment at which its function begins."""

    def __init__(self) -> None:
        self._function = threading.current_thread()
        self._ident = self._function.ident
        # those that were there before belong to the engine
        self._known = set(threading.enumerate())

    def others(self) -> bool:
        """May a thread other than the one that asks still communicate?"""
        me = threading.get_ident()
        in_function = me == self._ident
        # asked for each operation: what `threading.enumerate` takes its list from, without its lock
        if in_function and self._known.issuperset(threading._active.values()):
            return False
        alive = threading.enumerate()
        # a thread of torch's own (autograd's) works on behalf of the function, which waits for it
        own = in_function or any(t.ident == me and not _is_foreign(t) for t in alive)
        return any(
            thread.ident != me
            and (thread not in self._known or (thread is self._function and own))
            and _may_communicate(thread)
            for thread in alive
        )


def _is_foreign(thread: threading.Thread) -> bool:
    """Was it started by something other than Python's threading?"""
    return isinstance(thread, threading._DummyThread)


def _may_communicate(thread: threading.Thread) -> bool:
    target = getattr(thread, "_target", None) or type(thread)
    module = getattr(target, "__module__", None) or ""
    return not (_is_foreign(thread) or f"{module}.".startswith(tuple(f"{m}." for m in _LIBRARIES)))
