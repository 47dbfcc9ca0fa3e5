"""A line below a cell that takes long: what it waits for, and how many seconds it has waited."""

from __future__ import annotations

import contextlib
import contextvars
import threading
from collections.abc import Iterator
from typing import Any

from distlab.viz.widget.kernel import in_notebook

PATIENCE = 2.0  # seconds before anything is said


@contextlib.contextmanager
def line(what: str, patience: float = PATIENCE) -> Iterator[None]:
    """Say what the block waits for, once it has taken `patience` seconds and then each second; the
    line is gone when the block ends. Outside of a notebook nothing is said.
    """
    if not in_notebook():
        yield
        return
    done = threading.Event()
    # the context knows which cell the line belongs to
    telling = threading.Thread(
        target=contextvars.copy_context().run, args=(_tell, what, patience, done), daemon=True
    )
    telling.start()
    try:
        yield
    finally:
        done.set()
        telling.join()


def _tell(what: str, patience: float, done: threading.Event) -> None:
    from IPython.display import display

    if done.wait(patience):
        return
    seconds = patience
    shown: Any = display(_said(what, seconds), raw=True, display_id=True)
    while not done.wait(1.0):
        seconds += 1
        shown.update(_said(what, seconds), raw=True)
    shown.update({"text/plain": ""}, raw=True)


def _said(what: str, seconds: float) -> dict[str, str]:
    return {"text/plain": f"{what}: {seconds:.0f} s"}
