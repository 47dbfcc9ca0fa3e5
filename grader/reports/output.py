"""What the tables of a command are printed to: a terminal, a file or a pipe."""

from __future__ import annotations

import os
import sys

from rich.console import Console


class _Output(Console):
    def on_broken_pipe(self) -> None:
        """Go on unheard: `distlab grade | head` has seen enough, the class is not graded yet."""
        self.quiet = True
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def output() -> Console:
    """Standard output as it is when this is called."""
    found = _Output()
    # a file or a pipe has no width that a table must fit
    return found if found.is_terminal else _Output(width=200)
