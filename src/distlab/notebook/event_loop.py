"""The event loop that the cells of a notebook share, as they share IPython's.

A task that one cell begins goes on while later ones await, and a lock may be waited for in each.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import threading
import types
from collections.abc import Iterator
from typing import Any

_of_thread = threading.local()


class _Loop(asyncio.SelectorEventLoop):
    """A loop that says it runs where it is seen as the running one: programs that look whether it
    does begin a task or a loop of their own then.
    """

    is_seen = False

    def is_running(self) -> bool:
        return self.is_seen or self.runs()

    def runs(self) -> bool:
        return super().is_running()


def run(code: types.CodeType, namespace: dict[str, Any]) -> None:
    """Run compiled code of a cell, and wait for what it awaits outside of functions.

    Code that awaits nothing finds the loop as the running one all the same, as in IPython's kernel:
    it can begin a task, and cannot call `asyncio.run`.
    """
    loop = _shared()
    if not code.co_flags & inspect.CO_COROUTINE:
        with _seen(loop):
            eval(code, namespace)
    elif loop.runs():  # a timed line of a cell that awaits something
        with _seen(None):
            asyncio.run(eval(code, namespace))
    else:
        with _seen(None):
            loop.run_until_complete(_waited(code, namespace))


async def _waited(code: types.CodeType, namespace: dict[str, Any]) -> None:
    await eval(code, namespace)


@contextlib.contextmanager
def _seen(loop: _Loop | None) -> Iterator[None]:
    """Meanwhile this loop is the running one of this thread, or none is."""
    outer = asyncio._get_running_loop()
    before = [(one, one.is_seen) for one in (outer, loop) if isinstance(one, _Loop)]
    for one, _ in before:
        one.is_seen = one is loop
    asyncio._set_running_loop(loop)
    try:
        yield
    finally:
        for one, is_seen in before:
            one.is_seen = is_seen
        asyncio._set_running_loop(outer)


def _shared() -> _Loop:
    loop: _Loop | None = getattr(_of_thread, "loop", None)
    if loop is None or loop.is_closed():
        loop = _of_thread.loop = _Loop()
    return loop


@contextlib.contextmanager
def own() -> Iterator[None]:
    """Meanwhile cells that this thread runs have a loop of their own, which ends with it."""
    outer, _of_thread.loop = getattr(_of_thread, "loop", None), None
    try:
        yield
    finally:
        loop, _of_thread.loop = _of_thread.loop, outer
        if loop is not None and not loop.is_closed():
            with _seen(None):
                _end(loop)


def _end(loop: asyncio.AbstractEventLoop) -> None:
    """Close a loop, with what is still under way in it cancelled, as `asyncio.run` does."""
    try:
        if left := asyncio.all_tasks(loop):
            for task in left:
                task.cancel()
            loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()
