"""Descriptors 0, 1 and 2, which whoever starts a process may have closed.

A daemon, a supervisor or `>&-` leaves them closed. What is opened next would then have their
numbers: a socket to a rank would be what that rank finds as its standard output.
"""

from __future__ import annotations

import os
import sys


def occupy() -> None:
    """Have all three open, on nothing where they are closed, and what this process starts too."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:  # the lowest free number is given: all below are open by now
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", errors="replace", closefd=False)
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="replace", closefd=False)
