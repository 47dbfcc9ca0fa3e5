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
import time
import types
from collections.abc import Iterable, Sequence
from pathlib import Path

from distlab import frames, isolation, notebook, payload, runs, zygote
from distlab.isolation import Limits
from distlab.notebook import Cell

REPLY_LIMIT = 64 << 20  # bytes of one answer of the session
OUTPUT_LIMIT = 16 << 20  # bytes that a rank may return
PATIENCE = 10.0  # seconds that the session may take beyond what it was given
STALL = 2.0  # seconds in which the cells' process takes a cell
CELLS_LIMIT = 180.0  # seconds that all cells may take together
ADDED_LIMIT = 30.0  # seconds of these that the cells may take that the student has added
FILES = 8  # how often the files that a process may have open, all processes may together


class SessionLost(RuntimeError):
    """The session ended or does not answer: whatever ran in it took it along."""


class Session:
    """The judge's end. A context manager; closing it kills everything inside.

    Args:
        limits: what the submission may use; `None` for one's own, trusted code.
        walls: put up walls inside the zygote's sandbox, so that it can be shared (`isolation`).
        devices: the GPUs that its ranks may use; all that the zygote sees if `None`.
    """

    def __init__(
        self, source: zygote.Zygote, limits: Limits | None = None, walls: bool = False,
        devices: str | None = None,
    ) -> None:  # fmt: skip
        self._socket, theirs = socket.socketpair()
        self._source = source
        with theirs:
            self.pid = source.fork(
                "distlab.session:serve", [theirs.fileno()], walls=walls, devices=devices,
                folder=None if limits else str(source.folder), limits=limits and vars(limits),
            )  # fmt: skip

    def cells(
        self, cells: Sequence[Cell], limit: float, answers: Iterable[str] = ()
    ) -> dict[str, dict]:
        """Run a notebook's cells; returns {name: problem} of those that did not work.

        A problem has a `status` ("error", "crashed", "timeout"), a `type` and a `message`. A cell
        that kills or hangs its process is left out and the others are run again without it.

        Args:
            limit: seconds for each cell.
            answers: names of exercises that are answered outside the solution cells of that name.
        """
        names = {cell.name for cell in cells if cell.kind == "solution"} | set(answers)
        tree = {
            "op": "cells", "cells": [vars(cell) for cell in cells], "limit": limit,
            "answers": sorted(names),
        }  # fmt: skip
        reply = self._ask(tree, [], 2 * CELLS_LIMIT)[0]  # for all answers to be handed out as well
        try:
            return {str(name): _checked(problem) for name, problem in reply["problems"].items()}
        except (KeyError, TypeError, AttributeError) as error:
            raise SessionLost(f"no answer: {error}") from error

    def run(self, exercise: str, inputs: Sequence[bytes], deadline: float) -> runs.Run:
        """Run the function that answers an exercise on fresh or warm ranks."""
        tree = {"op": "run", "exercise": exercise, "deadline": deadline}
        reply = self._ask(tree, inputs, (1 + runs.MOST_QUEUED) * deadline + PATIENCE)
        try:
            return runs.unpack(reply)
        except ValueError as error:
            raise SessionLost(str(error)) from error

    def end_exercise(self) -> None:
        """Kill the ranks: the next exercise gets new ones."""
        self._ask({"op": "end"}, [], PATIENCE)

    def _ask(self, tree: dict, blocks: Sequence[bytes], timeout: float) -> tuple:
        self._socket.settimeout(timeout + PATIENCE)
        try:
            frames.write(self._socket, payload.pack(tree, *blocks))
            reply = frames.read(self._socket, REPLY_LIMIT)
            if reply is None:
                raise SessionLost("the session ended")
            return payload.unpack(reply)
        except (OSError, ValueError) as error:
            raise SessionLost(str(error)) from error

    def close(self) -> None:
        self._socket.close()
        self._source.kill(self.pid)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *exc) -> None:
        self.close()


def serve(
    fds: list[int], folder: str | None, limits: dict | None, walls: bool, devices: str | None
) -> None:
    """The root of a session: answer the judge until it hangs up."""
    if devices is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = devices
    if walls:
        isolation.enter(Limits(**limits))
        folder = isolation.HOME
    elif limits:
        isolation.limit(Limits(**limits))
    # a short name: DataLoader workers put Unix sockets in it, whose paths end at 107 characters
    home = Path(tempfile.mkdtemp(prefix="s-", dir=folder))
    os.chdir(home)
    # gloo and mp.spawn complain there, not in the grader's terminal
    zygote.log_to(Path(os.devnull) if limits else home / "log")
    os.environ.update(HOME=str(home), TMPDIR=str(home), DISTLAB_GRADING="1")
    tempfile.tempdir = None
    connection = socket.socket(fileno=fds[0])
    inside = _Inside(home, connection, Limits(**limits) if limits else None, walls)
    try:
        while (message := frames.read(connection)) is not None:
            tree, *blocks = payload.unpack(message)
            frames.write(connection, inside.answer(tree, blocks))
    finally:
        inside.close()
        shutil.rmtree(home, ignore_errors=True)


class _Inside:
    """The state of a session: what its cells answered, and the ranks of this exercise."""

    def __init__(
        self, folder: Path, outer: socket.socket, limits: Limits | None, walls: bool
    ) -> None:
        self._folder, self._outer = folder, outer
        self._engines = None
        self._functions: dict[str, tuple[dict, bytes]] = {}
        self._sources: dict[str, str] = {}
        self._walls = walls
        self._guard = _Guard(limits) if walls else None
        self._leftovers: isolation.Leftovers | None = None

    def answer(self, tree: dict, blocks: list[bytes]) -> bytes:
        if tree["op"] == "cells":
            cells = [Cell(**cell) for cell in tree["cells"]]
            problems = self._run_cells(cells, tree["limit"], tree["answers"])
            return payload.pack({"problems": problems})
        if tree["op"] == "run":
            return runs.pack(self._run(tree["exercise"], blocks, tree["deadline"]))
        self._end_ranks()
        return payload.pack({})

    def _run_cells(self, cells: list[Cell], limit: float, answers: list[str]) -> dict[str, dict]:
        """Run the cells and keep what they answered; their process is gone afterwards."""
        self._sources = {cell.name: cell.source for cell in cells}
        problems: dict[str, dict] = {}
        deadline = time.monotonic() + CELLS_LIMIT
        left = ADDED_LIMIT
        author = _Author(self._outer, self._guard)
        for number, cell in enumerate(cells):
            begin = time.monotonic()
            most = min(limit, deadline - begin, left if cell.kind == "added" else limit)
            if most <= 0:
                problems[cell.name] = _late()
                continue
            problem = author.run(cell, most)
            if problem is not None:
                problems[cell.name] = problem
                if _fatal(problem):  # the process is gone: all again without this cell
                    author = self._again(author, cells[:number], problems, limit, deadline)
            if cell.kind == "added":
                left -= time.monotonic() - begin
        for name in answers:
            told, function = author.function(name, deadline)
            if told.get("status"):  # handing it out ended or hung the process
                problems[name] = told
                author = self._again(author, cells, problems, limit, deadline)
            else:
                self._functions[name] = told, function
        self._end(author)
        self._leftovers = isolation.Leftovers(self._folder) if self._walls else None
        return problems

    def _again(
        self, author: _Author, cells: list[Cell], problems: dict[str, dict], limit: float,
        deadline: float,
    ) -> _Author:  # fmt: skip
        """A new process that has run these cells, without those that ended or hung theirs."""
        self._end(author)
        author = _Author(self._outer, self._guard)
        for cell in cells:
            if _fatal(problems.get(cell.name)):
                continue
            left = deadline - time.monotonic()
            problem = author.run(cell, min(limit, left)) if left > 0 else _late()
            if _fatal(problem):  # this time it has ended or hung the process, too
                problems[cell.name] = problem
                if left > 0:
                    return self._again(author, cells, problems, limit, deadline)
        return author

    def _end(self, author: _Author) -> None:
        author.close()
        if self._walls:
            isolation.sweep()

    def _run(self, exercise: str, inputs: list[bytes], deadline: float) -> runs.Run:
        from distlab.course import find
        from distlab.deadlock import Watcher
        from distlab.forked import ForkedEngines

        found = find(exercise)
        told, function = self._functions.get(found.name) or (_todo(found.name), b"")
        if told:
            outcome = runs.Outcome(0, "raised", error=told)
            return runs.Run([outcome], [], 0.0, deadline)
        if self._engines is None:
            self._engines = ForkedEngines(len(inputs), self._folder, OUTPUT_LIMIT, [self._outer])
        self._engines.grow(len(inputs))
        guard = self._guard

        class Guarded(Watcher):
            def __call__(self, records, dead):
                return guard and guard.exceeded() or super().__call__(records, dead)

        return runs.drive(
            self._engines, function, inputs, harness=exercise, group=found.group, strict=True,
            sources=self._sources, deadline=deadline, watch=Guarded(),
        )  # fmt: skip

    def _end_ranks(self) -> None:
        if self._engines is not None:
            self._engines.close()
            self._engines = None
        if self._walls:
            isolation.sweep()
            if self._leftovers is not None:
                self._leftovers.remove()

    def close(self) -> None:
        if self._engines is not None:
            self._engines.close()


class _Guard:
    """Tells when all that a session has started uses more than it may."""

    def __init__(self, limits: Limits) -> None:
        self._usage, self._limits = isolation.Usage(), limits

    def exceeded(self) -> runs.Finding | None:
        memory, files = self._usage.measured()
        if memory > self._limits.memory:
            return runs.Finding(
                "limit",
                f"the processes of this exercise used more than {self._limits.memory / 2**30:.3g} "
                "GiB of memory together and were ended",
                "Look for tensors far larger than the inputs, or for a list that grows in a loop.",
            )
        if files > FILES * self._limits.files:
            return runs.Finding(
                "limit",
                f"the processes of this exercise had more than {FILES * self._limits.files} open "
                "files together and were ended",
                "Close files, sockets and pipes, and look for a loop that opens them.",
            )
        return None


class _Author:
    """The process that runs the notebook's cells, seen from the session's root."""

    def __init__(self, outer: socket.socket, guard: _Guard | None) -> None:
        self._socket, theirs = socket.socketpair()
        self._guard, self._asked = guard, 0

        def serve() -> None:
            outer.close()
            self._socket.close()
            _serve_cells(theirs)

        with theirs:
            self._pid = zygote.spawn(serve)

    def run(self, cell: Cell, limit: float) -> dict | None:
        reply = self._ask({"op": "cell", "cell": vars(cell)}, limit)
        if isinstance(reply, dict):
            return reply
        try:
            told = reply[0]["problem"]
            return None if told is None else _problem("error", told["type"], told["message"])
        except (KeyError, TypeError, IndexError, AttributeError):
            return _nonsense()

    def function(self, name: str, deadline: float) -> tuple[dict, bytes]:
        """({}, the pickled answer to the exercise `name`), or the error or problem in its place."""
        left = min(max(deadline - time.monotonic(), runs.GRACE), PATIENCE)
        reply = self._ask({"op": "get", "name": name}, left)
        if isinstance(reply, dict):
            return reply, b""
        try:
            error, function = reply[0]["error"], reply[1]
            return runs.checked(error) or {}, function
        except (ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError):
            return _nonsense(), b""

    def _ask(self, tree: dict, limit: float) -> tuple | dict:
        """The reply, or the problem that there is none.

        An answer to another request is none: a cell can have written it itself.
        """
        self._asked += 1
        deadline = time.monotonic() + max(limit, 0.0)
        incoming = frames.Incoming(OUTPUT_LIMIT)
        try:
            self._socket.settimeout(STALL)
            frames.write(self._socket, payload.pack({**tree, "number": self._asked}))
            while time.monotonic() < deadline:
                if found := self._guard and self._guard.exceeded():
                    return _problem("crashed", "MemoryError", found.message)
                select.select([self._socket], [], [], runs.POLL)
                if (reply := incoming.receive(self._socket)) is None:
                    continue
                incoming, reply = frames.Incoming(OUTPUT_LIMIT), payload.unpack(reply)
                if isinstance(reply[0], dict) and reply[0].get("number") == self._asked:
                    return reply
        except (OSError, EOFError):
            return _problem("crashed", "SystemExit", "the cell ended its process")
        except ValueError:
            return _nonsense()
        return _problem("timeout", "TimeoutError", f"the cell had not ended after {limit:.0f} s")

    def close(self) -> None:
        self._socket.close()
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)


def _checked(problem: dict) -> dict:
    """A problem as told by an untrusted process."""
    status = problem["status"] if problem["status"] in ("error", "timeout") else "crashed"
    return _problem(status, problem["type"], problem["message"])


def _problem(status: str, type: str, message: str) -> dict:
    return {
        "status": status, "type": payload.text(type)[:80], "message": payload.text(message)[:2000],
    }  # fmt: skip


def _fatal(problem: dict | None) -> bool:
    """Did a cell leave no process to go on with?"""
    return problem is not None and problem["status"] != "error"


def _late() -> dict:
    return _problem("timeout", "TimeoutError", "the cells before it had used up all the time")


def _nonsense() -> dict:
    return _problem("crashed", "SystemExit", "the cell's process answered with nonsense")


def _todo(name: str) -> dict:
    return {"type": "NotImplementedError", "message": f"TODO {name}", "frames": []}


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
                reply = payload.pack({"problem": problem, "number": tree["number"]})
            else:
                try:
                    blob = pickling.dumps(_answer(tree["name"], main.__dict__, answers))
                    reply = payload.pack({"error": None, "number": tree["number"]}, blob)
                except Exception as error:
                    told = {"error": rank.describe(error), "number": tree["number"]}
                    reply = payload.pack(told, b"")
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
