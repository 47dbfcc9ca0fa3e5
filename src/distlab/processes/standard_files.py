"""Descriptors 0, 1 and 2, which whoever starts a process may have closed.

A daemon, a supervisor or `>&-` leaves them closed. What is opened next would then have their
numbers: a socket to a rank would be what that rank finds as its standard output.
"""

from __future__ import annotations

import os
import sys
from typing import TextIO


def occupy() -> None:
    """Have all three open, on nothing where they are closed, and what this process starts too."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:  # the lowest free number is given: all below are open by now
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    # not on 1 and 2 as they are now: these may be files that the program has opened since
    if sys.stdout is None:
        sys.stdout = _nowhere()
    if sys.stderr is None:
        sys.stderr = _nowhere()


def _nowhere() -> TextIO:
    return os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")
