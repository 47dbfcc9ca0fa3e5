"""A student's own notebook, run in spawned processes: for systems on which forking is not safe once
torch is loaded.

As in a `Session`, the cells have a process of their own, and so has each rank. But ranks stay from
one exercise to the next, as they do in a notebook, since each takes seconds to start. There are no
walls: this is for one's own code.
"""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from distlab.checking import room
from distlab.checking.room import OUTPUT_LIMIT
from distlab.checking.session import Source, todo
from distlab.engines.outcomes import Outcome, Run
from distlab.engines.spawned import SpawnedRanks, await_ready
from distlab.notebook import Cell
from distlab.processes import entry_points, forkserver
from distlab.rank import world
from distlab.records.choices import Schedule

HOME = "h"  # a short name: Unix sockets may lie in it, whose paths end at 103 characters on macOS


class SpawnedSession:
    """Has the methods of a `Session`. A notebook's code runs in processes of `source`."""

    def __init__(self, source: Source) -> None:
        self._home = source.folder / HOME
        self._home.mkdir(exist_ok=True)
        self._inside = room.Inside(self._home, _Spawns(source, self._home), None, walls=False)
        self._functions: dict[str, tuple[dict[str, Any], bytes]] = {}
        self._sources: dict[str, str] = {}
        self.reuses = False

    def cells(
        self, cells: Sequence[Cell], limit: float, answers: Iterable[str] = ()
    ) -> dict[str, dict[str, Any]]:
        """Run a notebook's cells; otherwise as `Session.cells`."""
        names = {cell.name for cell in cells if cell.kind == "solution"} | set(answers)
        problems, self._functions = self._inside.run_cells(list(cells), limit, sorted(names))
        self._sources = {cell.name: cell.source for cell in cells}
        return problems

    def run(
        self, exercise: str, inputs: Sequence[bytes], deadline: float,
        schedule: Schedule | None = None,
    ) -> Run:  # fmt: skip
        """Run the function that answers an exercise; ranks are up before its time counts."""
        from distlab.course import find

        name = find(exercise).name
        told, function = self._functions.get(name) or (todo(name), b"")
        if told:
            return Run([Outcome(0, "raised", error=told)], [], 0.0, deadline)
        tree = {
            "exercise": exercise, "sources": self._sources, "deadline": deadline,
            "schedule": schedule.name if schedule else None, "reuses": self.reuses,
        }  # fmt: skip
        return self._inside.run(tree, function, inputs)

    def end_room(self) -> None:
        """The next exercise gets the same ranks with new connections."""
        self.reuses = False

    def close(self) -> None:
        self._inside.close()

    def __enter__(self) -> SpawnedSession:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


class _Spawns:
    """Starts a room's processes by spawning them."""

    def __init__(self, source: Source, home: Path) -> None:
        self._source, self._home = source, home

    def cells(self) -> tuple[int, socket.socket]:
        started, connection = self._source.connect(entry_points.CELLS, home=str(self._home))
        await_ready(connection)
        return started.pids()[0], connection

    def end(self, pid: int) -> None:
        self._source.kill(pid)

    def ranks(self, folder: Path, measured: bool) -> SpawnedRanks:
        return SpawnedRanks(folder, OUTPUT_LIMIT, self._rank, self.end)

    def _rank(self) -> tuple[int, socket.socket]:
        started, connection = self._source.connect(entry_points.TASKS, home=str(self._home))
        return started.pids()[0], connection


def cells(connection: socket.socket, home: str) -> None:
    """The process that runs a notebook's cells."""
    _settle_in(home, connection)
    room.serve_cells(connection)


def tasks(connection: socket.socket, home: str) -> None:
    """A rank."""
    from distlab.rank import execute

    _settle_in(home, connection)
    execute.serve(connection)


def _settle_in(home: str, connection: socket.socket) -> None:
    os.chdir(home)
    forkserver.log_to(Path(home, "log"))  # gloo complains there, not in the terminal
    os.environ.update(HOME=home, TMPDIR=home, DISTLAB_GRADING="1")
    tempfile.tempdir = None
    connection.sendall(world.READY)
