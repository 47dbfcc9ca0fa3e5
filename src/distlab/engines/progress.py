"""A line below a cell that takes long: what it waits for, and how many seconds it has waited."""

from __future__ import annotations

import contextlib
import contextvars
import functools
import threading
from collections.abc import Iterator
from typing import Any

from distlab.viz.widget.kernel import in_notebook

PATIENCE = 2.0  # seconds before anything is said


@contextlib.contextmanager
def line(what: str, patience: float = PATIENCE) -> Iterator[None]:
    """Say what the block waits for, once it has taken `patience` seconds and then each second; the
    line is gone when the block ends. Outside of a notebook nothing is said.

    An interrupt is told in the same words.
    """
    done = threading.Event()
    # the context knows which cell the line belongs to
    telling = threading.Thread(
        target=contextvars.copy_context().run, args=(_tell, what, patience, done), daemon=True
    )
    if in_notebook():
        telling.start()
    try:
        with interruptible(what):
            yield
    finally:
        done.set()
        if telling.ident is not None:
            telling.join()


@contextlib.contextmanager
def interruptible(what: str) -> Iterator[None]:
    """Of an interrupt of the block Jupyter shows these words and where ranks stood, not the
    machinery's frames.
    """
    try:
        yield
    except KeyboardInterrupt as interrupt:
        shown = functools.partial(_interrupted, what, interrupt)
        interrupt._render_traceback_ = shown  # type: ignore[attr-defined]  # Jupyter looks for it
        raise


def _interrupted(what: str, interrupt: KeyboardInterrupt) -> list[str]:
    said = f"KeyboardInterrupt: interrupted while {what}"
    run = getattr(interrupt, "run", None)
    if run is None:
        return [said]
    from distlab.engines.printed import printed
    from distlab.engines.results import Result

    return [f"{said}. Until then:", Result("", run).story(), *printed(run).splitlines()]


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
