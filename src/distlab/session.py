"""One submission's code, run away from whoever judges it.

A `Session` is a process tree forked from a zygote. Its root is clean: it never runs student code.
It forks one process that runs the notebook's cells in order, and fresh ranks for each exercise. A
function travels from the cells' process to the ranks by value, as it does in a notebook. Only data
comes out.

The judge's side is the class `Session`; everything else in this module runs inside.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import socket
import sys
import tempfile
import types
from collections.abc import Sequence
from pathlib import Path

from distlab import frames, notebook, payload, runs, zygote
from distlab.notebook import Cell

REPLY_LIMIT = 64 << 20  # bytes of one answer of the session
OUTPUT_LIMIT = 16 << 20  # bytes that a rank may return
PATIENCE = 5.0  # seconds that the session may take beyond what it was given


class SessionLost(RuntimeError):
    """The session ended or does not answer: whatever ran in it took it along."""


class Session:
    """The judge's end. A context manager; closing it kills everything inside."""

    def __init__(self, source: zygote.Zygote, folder: Path) -> None:
        self._socket, theirs = socket.socketpair()
        with theirs:
            self.pid = source.fork("distlab.session:serve", [theirs.fileno()], folder=str(folder))

    def cells(self, cells: Sequence[Cell], limit: float) -> dict[str, dict]:
        """Run a notebook's cells; returns {name: problem} of those that did not work.

        A problem has a `status` ("error", "crashed", "timeout"), a `type` and a `message`. A cell
        that kills or hangs its process is left out and the others are run again without it.
        `limit`: seconds for each cell.
        """
        tree = {"op": "cells", "cells": [vars(cell) for cell in cells], "limit": limit}
        return self._ask(tree, [], limit * (len(cells) + 1))[0]["problems"]

    def run(self, exercise: str, inputs: Sequence[bytes], deadline: float) -> runs.Run:
        """Run the function that answers an exercise on fresh or warm ranks."""
        tree = {"op": "run", "exercise": exercise, "deadline": deadline}
        reply = self._ask(tree, inputs, deadline + PATIENCE)
        return runs.unpack(reply)

    def end_exercise(self) -> None:
        """Kill the ranks: the next exercise gets new ones."""
        self._ask({"op": "end"}, [], PATIENCE)

    def _ask(self, tree: dict, blocks: Sequence[bytes], timeout: float) -> tuple:
        self._socket.settimeout(timeout + PATIENCE)
        try:
            frames.write(self._socket, payload.pack(tree, *blocks))
            reply = frames.read(self._socket, REPLY_LIMIT)
        except (OSError, ValueError) as error:
            raise SessionLost(str(error)) from error
        if reply is None:
            raise SessionLost("the session ended")
        return payload.unpack(reply)

    def close(self) -> None:
        self._socket.close()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(self.pid, signal.SIGKILL)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *exc) -> None:
        self.close()


def serve(fds: list[int], folder: str) -> None:
    """The root of a session: answer the judge until it hangs up."""
    # a short name: DataLoader workers put Unix sockets in it, whose paths end at 107 characters
    folder = Path(tempfile.mkdtemp(prefix="s-", dir=folder))
    os.chdir(folder)
    zygote.log_to(folder / "log")  # gloo and mp.spawn complain there, not in the grader's terminal
    os.environ.update(HOME=str(folder), TMPDIR=str(folder), DISTLAB_GRADING="1")
    tempfile.tempdir = None
    connection = socket.socket(fileno=fds[0])
    inside = _Inside(folder, connection)
    try:
        while (message := frames.read(connection)) is not None:
            tree, *blocks = payload.unpack(message)
            frames.write(connection, inside.answer(tree, blocks))
    finally:
        inside.close()
        shutil.rmtree(folder, ignore_errors=True)


class _Inside:
    """The state of a session: the process that holds the cells, and the ranks of this exercise."""

    def __init__(self, folder: Path, outer: socket.socket) -> None:
        self._folder, self._outer = folder, outer
        self._author: _Author | None = None
        self._engines = None
        self._functions: dict[str, tuple[dict, bytes]] = {}
        self._sources: dict[str, str] = {}

    def answer(self, tree: dict, blocks: list[bytes]) -> bytes:
        if tree["op"] == "cells":
            cells = [Cell(**cell) for cell in tree["cells"]]
            return payload.pack({"problems": self._run_cells(cells, tree["limit"])})
        if tree["op"] == "run":
            return runs.pack(self._run(tree["exercise"], blocks, tree["deadline"]))
        self._end_ranks()
        return payload.pack({})

    def _run_cells(self, cells: list[Cell], limit: float) -> dict[str, dict]:
        self._sources = {cell.name: cell.source for cell in cells}
        problems: dict[str, dict] = {}
        self._author = _Author(self._outer)
        for number, cell in enumerate(cells):
            problem = self._author.run(cell, limit)
            if problem is None:
                continue
            problems[cell.name] = problem
            if problem["status"] != "error":  # the process is gone: all again without this cell
                self._author.close()
                self._author = _Author(self._outer)
                for before in cells[:number]:
                    if problems.get(before.name, {}).get("status", "error") == "error":
                        self._author.run(before, limit)
        return problems

    def _run(self, exercise: str, inputs: list[bytes], deadline: float) -> runs.Run:
        from distlab.course import find
        from distlab.deadlock import Watcher
        from distlab.engines import ForkedEngines

        found = find(exercise)
        if exercise not in self._functions:
            self._functions[exercise] = self._author.function(found.name)
        told, function = self._functions[exercise]
        if told:
            outcome = runs.Outcome(0, "raised", error=told)
            return runs.Run([outcome], [], 0.0, deadline)
        if self._engines is None or len(self._engines) < len(inputs):
            self._end_ranks()
            self._engines = ForkedEngines(
                len(inputs), self._folder, OUTPUT_LIMIT, [self._outer, self._author.socket]
            )
        return runs.drive(
            self._engines, function, inputs, harness=exercise, group=found.group, strict=True,
            sources=self._sources, deadline=deadline, watch=Watcher(),
        )  # fmt: skip

    def _end_ranks(self) -> None:
        if self._engines is not None:
            self._engines.close()
            self._engines = None

    def close(self) -> None:
        self._end_ranks()
        if self._author is not None:
            self._author.close()


class _Author:
    """The process that runs the notebook's cells, seen from the session's root."""

    def __init__(self, outer: socket.socket) -> None:
        self.socket, theirs = socket.socketpair()

        def serve() -> None:
            outer.close()
            self.socket.close()
            _serve_cells(theirs)

        with theirs:
            self._pid = zygote.spawn(serve)

    def run(self, cell: Cell, limit: float) -> dict | None:
        reply = self._ask({"op": "cell", "cell": vars(cell)}, limit)
        return reply if isinstance(reply, dict) else reply[0]["problem"]

    def function(self, name: str) -> tuple[dict, bytes]:
        """(error, b"") or ({}, the pickled answer to the exercise `name`)."""
        reply = self._ask({"op": "get", "name": name}, PATIENCE)
        if isinstance(reply, dict):
            return {"type": "RuntimeError", "message": reply["message"], "frames": []}, b""
        return reply[0]["error"] or {}, reply[1]

    def _ask(self, tree: dict, limit: float) -> tuple | dict:
        """The reply, or the problem that there is none."""
        try:
            frames.write(self.socket, payload.pack(tree))
            if not select.select([self.socket], [], [], limit)[0]:
                return {
                    "status": "timeout", "type": "TimeoutError",
                    "message": f"the cell had not ended after {limit:.0f} s",
                }  # fmt: skip
            self.socket.settimeout(limit)
            if (reply := frames.read(self.socket, OUTPUT_LIMIT)) is not None:
                return payload.unpack(reply)
        except (OSError, ValueError):
            pass
        return {
            "status": "crashed", "type": "SystemExit", "message": "the cell ended its process",
        }  # fmt: skip

    def close(self) -> None:
        self.socket.close()
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)


def _serve_cells(connection: socket.socket) -> None:
    """Run cells in a `__main__` of their own and hand out what they defined."""
    import torch

    from distlab import pickling, rank

    torch.set_num_threads(1)
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    answers: dict[str, object] = {}
    while (message := frames.read(connection)) is not None:
        tree = payload.unpack(message)[0]
        with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere), \
                contextlib.redirect_stderr(nowhere):  # fmt: skip
            if tree["op"] == "cell":
                problem = _run_cell(Cell(**tree["cell"]), main.__dict__, answers)
                reply = payload.pack({"problem": problem})
            else:
                try:
                    blob = pickling.dumps(_answer(tree["name"], main.__dict__, answers))
                    reply = payload.pack({"error": None}, blob)
                except Exception as error:
                    reply = payload.pack({"error": rank.describe(error)}, b"")
        frames.write(connection, reply)


def _run_cell(cell: Cell, namespace: dict, answers: dict) -> dict | None:
    from distlab import rank

    try:
        notebook.run_cell(cell, namespace, keep_going=cell.kind == "added")
    except (Exception, SystemExit, KeyboardInterrupt) as error:
        return {"status": "error", **rank.describe(error)}
    finally:
        if cell.kind == "solution" and cell.name in cell.defines() and cell.name in namespace:
            answers[cell.name] = namespace[cell.name]
    return None


def _answer(name: str, namespace: dict, answers: dict) -> object:
    if name in answers:
        return answers[name]
    if name in namespace:
        return namespace[name]
    raise NotImplementedError(f"TODO {name}")
