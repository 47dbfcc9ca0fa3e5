"""What users, and whoever was refused something, leave behind: processes, lines of the log."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

from distlab.processes.forkserver import NAME

# What students were refused, and should be, the Hub writes down as errors; and that a route which
# it takes out has gone already. It has where a server ends while the Hub, just started, looks
# through the routes: JupyterHub goes on from there (`delete_route`), as the route was to go.
EXPECTED = re.compile(
    r"not allowed to access|'Forbidden'"
    r"|api_request to proxy failed: 404, .*/api/routes/(user|services)/"
)
# from its end to its next start it says what its end has interrupted
ENDING, STARTING = "Received signal SIGTERM", "Running JupyterHub version"


def ranks(hub, student: str) -> set[int]:
    """A student's processes that ranks are forked from, and the ranks."""
    found = set()
    for pid, name in hub.processes().items():
        with contextlib.suppress(OSError):
            if name == student and Path(f"/proc/{pid}/comm").read_bytes().strip() == NAME:
                found.add(pid)
    return found


def errors(hub) -> list[str]:
    """The lines of the Hub's log that say that something went wrong while it was up, each with the
    lines around it.
    """
    wrong, up = [], True
    lines = hub.log.read_text("utf-8", "replace").splitlines()
    for number, line in enumerate(lines):
        up = (up or STARTING in line) and ENDING not in line
        if up and re.search(r"^\[[EC] |Traceback|\berror\b", line) and not EXPECTED.search(line):
            wrong.append("\n".join(lines[max(0, number - 2) : number + 40]))
            print(wrong[-1])  # whole: pytest cuts what it compares
    return wrong
