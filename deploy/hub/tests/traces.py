"""What users, and whoever was refused something, leave behind: processes, lines of the log."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

# what students were refused, and should be, the Hub writes down as errors; and that it is to end
EXPECTED = re.compile(r"not allowed to access|'Forbidden'|Received signal SIGTERM")


def ranks(hub, student: str) -> set[int]:
    """A student's processes that ranks are forked from, and the ranks."""
    found = set()
    for pid, name in hub.processes().items():
        with contextlib.suppress(OSError):
            if name == student and b"distlab.zygote" in Path(f"/proc/{pid}/cmdline").read_bytes():
                found.add(pid)
    return found


def errors(hub) -> list[str]:
    """The lines of the Hub's log that say that something went wrong."""
    said = hub.log.read_text("utf-8", "replace").splitlines()
    wrong = [line for line in said if re.search(r"^\[[EC] |Traceback|\berror\b", line)]
    return [line for line in wrong if not EXPECTED.search(line)]
