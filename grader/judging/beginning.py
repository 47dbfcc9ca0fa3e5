"""Can a process that begins now judge by the course as it is on the disk?"""

from __future__ import annotations

import importlib
import subprocess
import sys

from grader.paths import ROOT

PATIENCE = 300.0  # seconds that a busy machine may take to import the course
_PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
try:
    from grader.judging import beginning
    beginning.imported()
except BaseException as error:
    print(f"{type(error).__name__}: {error}")
    sys.exit(1)
"""


def fault() -> str:
    """Why it cannot; empty if it can. A new process tries: this one has imported the course as it
    was.
    """
    try:
        tried = subprocess.run(
            [sys.executable, "-c", _PROGRAM, str(ROOT)], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=PATIENCE,
            start_new_session=True,  # Ctrl-C is for us alone
        )  # fmt: skip
    except OSError as error:
        return str(error)
    except subprocess.TimeoutExpired:
        return f"not done after {PATIENCE:g} s"
    if not tried.returncode:
        return ""
    said = " ".join(tried.stdout.decode("utf-8", "replace").split())
    return said or f"exit status {tried.returncode}"


def imported() -> None:
    """Import all that grading on submit, its sandboxes and its pages begin with."""
    from distlab import course
    from distlab.processes.entry_points import EVERY
    from grader.reports.rendering import PRELOAD

    for name in ("grader.commands", "grader.plugins.autograde_on_submit", *PRELOAD, *EVERY):
        importlib.import_module(name.partition(":")[0])
    course.load()
