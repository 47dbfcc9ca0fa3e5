"""Descriptors 0, 1 and 2, which whoever starts a process may have closed.

A daemon, a supervisor or `>&-` leaves them closed. Whatever is opened next would then get their
numbers: a socket to a rank would become that rank's standard output.
"""

from __future__ import annotations

import os
import sys
from typing import TextIO


def occupy() -> None:
    """Open those that are closed on /dev/null, for this process and those that it starts."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:  # the lowest free number is given: all below are open by now
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    # not on descriptors 1 and 2: the program may have opened files of its own there since
    if sys.stdout is None:
        sys.stdout = _nowhere()
    if sys.stderr is None:
        sys.stderr = _nowhere()


def _nowhere() -> TextIO:
    return os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")
