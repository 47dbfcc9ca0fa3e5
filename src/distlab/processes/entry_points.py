"""Modules and functions that are named by a string, because other processes import or start them.

They stand in one table, so that a test notices a file that has moved, and not a rank.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

# started by `command`, or by `python -m`
FORKSERVER = "distlab.processes.forkserver"
SPAWNED = "distlab.processes.spawned"
WALLS_TRIAL = "distlab.processes.isolation"
SLURM_TASK = "distlab.engines.slurm.task"

# called in a process that was forked or spawned for it
SESSION = "distlab.checking.session:serve"
ENGINE = "distlab.engines.ipyparallel:engine"
CONTROLLER = "distlab.engines.ipyparallel:controller"
WARM = "distlab.rank.warm:serve"
PROGRAM = "distlab.engines.launch:serve"
CELLS = "distlab.checking.spawned_session:cells"
TASKS = "distlab.checking.spawned_session:tasks"

# called in a rank, which thus runs exercises without importing them
EXERCISE = "distlab.course:find"

# imported before the first fork
RANK = "distlab.rank.warm"
RANK_PRELOAD = (
    "distlab.rank.recorder", "distlab.rank.process_group", "distlab.rank.group_maker",
    "distlab.rank.execute", "distlab.rank.late_names:prepare", RANK,
)  # fmt: skip
LAST_PRELOAD = ("distlab.training.vision",)
ROOM_PRELOAD = (
    "distlab.records.deadlock", "distlab.engines.forked", "distlab.checking.session",
    "distlab.checking.check", "distlab.engines.ranks",  # what notebooks begin with
)  # fmt: skip
#: called before the first fork, once all is imported
ROOM_PREPARE = (
    "distlab.course:load", "distlab.engines.by_value:prepare",
    "distlab.processes.cheap_forks:prepare",
)  # fmt: skip
HOROVOD_PRELOAD = ("distlab.course.lab07_horovod.records",)

RECORDING_MODULES = (
    "distlab.rank.recorder", "distlab.rank.recording", "distlab.rank.group_maker",
    "distlab.rank.process_group", "distlab.rank.work", "distlab.rank.futures", "distlab.rank.races",
    "distlab.rank.holdings",
)  # fmt: skip
EVERY = (
    FORKSERVER, SPAWNED, WALLS_TRIAL, SLURM_TASK, SESSION, ENGINE, CONTROLLER, WARM, PROGRAM, CELLS,
    TASKS, EXERCISE,
    *RANK_PRELOAD, *LAST_PRELOAD, *ROOM_PRELOAD, *ROOM_PREPARE, *RECORDING_MODULES,
)  # fmt: skip

#: Python looks for modules in the folder that it is started in first: a `random.py` beside a
#: notebook would be imported in place of Python's own. This library is imported from where this
#: process has it
_STARTED = (
    "import sys; sys.path[:] = [*filter(None, sys.path), {library!r}]; import runpy; "
    "runpy.run_module({module!r}, run_name='__main__', alter_sys=True)"
)


def command(module: str) -> list[str]:
    """A command that runs a module as `python -m` does, whatever lies in the current folder."""
    library = str(Path(__file__).resolve().parents[2])
    return [sys.executable, "-c", _STARTED.format(library=library, module=module)]


def load(name: str) -> Callable[..., Any]:
    """The function that "module:function" names."""
    module, _, function = name.partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(module), function)
    return found
