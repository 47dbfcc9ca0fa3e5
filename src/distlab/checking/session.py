"""One submission's code, run away from whoever judges it.

A `Session` is a process tree forked from a zygote:

    session's root                   holds what the cells answered; never runs student code
    ├─ room of the cells             process 1 of its own namespaces; never runs student code
    │   └─ the process that runs the notebook's cells in order
    └─ room of an exercise           process 1 of other namespaces, made ahead of time
        └─ the ranks

A room ends with what it was made for, and with it all that was started there. So nothing of one
exercise is left for the next but what the cells had made before the first: their functions, which
travel to the ranks by value, as they do in a notebook, and the files that they wrote. Only data
comes out.

The judge's side is the class `Session`; everything else in this module runs inside.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import os
import select
import shutil
import signal
import socket
import struct
import sys
import tempfile
import time
import types
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from distlab import notebook
from distlab.checking import belongings
from distlab.checking.doubts import doubts
from distlab.engines import runs
from distlab.notebook import Cell
from distlab.processes import entry_points, forkserver, framing, isolation, payload
from distlab.processes.isolation import Limits
from distlab.records import events as records
from distlab.records.choices import Schedule

if TYPE_CHECKING:
    from distlab.engines.forked import ForkedEngines

REPLY_LIMIT = 64 << 20  # bytes of one answer of the session
FUNCTIONS_LIMIT = 256 << 20  # bytes of all that the cells answered, pickled
OUTPUT_LIMIT = 16 << 20  # bytes that a rank may return
PATIENCE = 10.0  # seconds that the session may take beyond what it was given
STALL = 2.0  # seconds in which the cells' process takes a cell
CELLS_LIMIT = 180.0  # seconds that all cells may take together
ADDED_LIMIT = 30.0  # seconds of these that the cells may take that the student has added
_UCRED = struct.Struct("iii")  # process, user and group (unix(7))
FILES = 8  # how often the files that a process may have open, all processes may together


class SessionLost(RuntimeError):
    """The session's root is gone or does not answer. It runs no student code: whoever broke it
    was outside, so that this says nothing about the submission.
    """


class RoomLost(RuntimeError):
    """The room of an exercise is gone or does not answer: what ran there took it along."""


class Source(Protocol):
    """What sessions are forked from: a zygote, or what stands for one."""

    @property
    def folder(self) -> Path: ...
    def connect(self, entry: str, **arguments: Any) -> tuple[forkserver.Forked, socket.socket]: ...
    def kill(self, pid: int) -> None: ...


class Session:
    """The judge's end. A context manager; closing it kills everything inside.

    Args:
        limits: what the submission may use; `None` for one's own, trusted code.
        walls: put up walls inside the zygote's sandbox, so that it can be shared (`isolation`).
        devices: the GPUs that its ranks may use; all that the zygote sees if `None`.
        user: the kernel's user that the submission's processes are, where the zygote may change it.
        admit: called with the number of the process that all others will come from, before any
            of them is there.

    Raises:
        ZygoteLost: the zygote has ended.
    """

    def __init__(
        self, source: Source, limits: Limits | None = None, walls: bool = False,
        devices: str | None = None, user: int | None = None,
        admit: Callable[[int], None] | None = None,
    ) -> None:  # fmt: skip
        self._source = source
        forked, self._socket = source.connect(
            entry_points.SESSION, walls=walls, devices=devices, user=user,
            folder=None if limits else str(source.folder), limits=limits and vars(limits),
        )  # fmt: skip
        self.pid = forked.pids()[0]
        if admit is not None:
            admit(self._number_here())

    def _number_here(self) -> int:
        """The number that the root has in this process's namespace, as the kernel tells it."""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self._socket.settimeout(PATIENCE)
        framing.write(self._socket, payload.pack({"op": "hello"}))
        _, told, _, _ = self._socket.recvmsg(1, socket.CMSG_SPACE(_UCRED.size), socket.MSG_PEEK)
        framing.read(self._socket, REPLY_LIMIT)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 0)
        number: int = _UCRED.unpack(told[0][2])[0]
        return number

    def cells(
        self, cells: Sequence[Cell], limit: float, answers: Iterable[str] = ()
    ) -> dict[str, dict[str, Any]]:
        """Run a notebook's cells; returns {name: problem} of those that did not work.

        A problem has a `status` ("error", "crashed", "timeout"), a `type` and a `message`. A cell
        that kills or hangs its process is left out and the others are run again without it. May be
        called again: what the cells answered before is forgotten.

        Args:
            limit: seconds for each cell.
            answers: names of exercises that are answered outside the solution cells of that name.

        Raises:
            RoomLost, SessionLost.
        """
        names = {cell.name for cell in cells if cell.kind == "solution"} | set(answers)
        tree = {
            "op": "cells", "cells": [vars(cell) for cell in cells], "limit": limit,
            "answers": sorted(names), "patience": 2 * CELLS_LIMIT,
        }  # fmt: skip
        reply = self._ask(tree, [])[0]  # there is time for all answers to be handed out as well
        try:
            return {str(name): _checked(problem) for name, problem in reply["problems"].items()}
        except (KeyError, TypeError, AttributeError) as error:
            raise RoomLost(f"no answer: {error}") from error

    def run(
        self, exercise: str, inputs: Sequence[bytes], deadline: float,
        schedule: Schedule | None = None,
    ) -> runs.Run:  # fmt: skip
        """Run the function that answers an exercise on fresh or warm ranks.

        Raises:
            RoomLost, SessionLost.
        """
        patience = (1 + runs.MOST_QUEUED) * deadline + PATIENCE
        tree = {
            "op": "run", "exercise": exercise, "deadline": deadline, "patience": patience,
            "schedule": schedule.name if schedule else None,
        }  # fmt: skip
        reply = self._ask(tree, inputs)
        try:
            return runs.unpack(reply)
        except ValueError as error:
            raise RoomLost(str(error)) from error

    def end_exercise(self) -> None:
        """End all that the exercise has started: the next one gets a new room."""
        self._ask({"op": "end", "patience": PATIENCE}, [])

    def _ask(self, tree: dict[str, Any], blocks: Sequence[bytes]) -> tuple[Any, ...]:
        self._socket.settimeout(tree["patience"] + 3 * PATIENCE)
        try:
            framing.write(self._socket, payload.pack(tree, *blocks))
            reply = framing.read(self._socket, REPLY_LIMIT)
            if reply is None:
                raise SessionLost("the session ended")
            parts = payload.unpack(reply)
        except (OSError, ValueError) as error:
            raise SessionLost(str(error)) from error
        if isinstance(parts[0], dict) and "lost" in parts[0]:
            raise RoomLost(str(parts[0]["lost"]))
        return parts

    def close(self) -> None:
        self._socket.close()
        self._source.kill(self.pid)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def serve(
    judge: socket.socket, folder: str | None, limits: dict[str, Any] | None, walls: bool,
    devices: str | None, user: int | None,
) -> None:  # fmt: skip
    """The root of a session: answer the judge until it hangs up."""
    os.setsid()  # what is sent to a process group ends this submission's processes at most
    gc.disable()  # here and in the rooms, which live for seconds; what they fork enables it
    if devices is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = devices
    if user is not None:
        isolation.become(user)
    root = _Root(judge, folder, Limits(**limits) if limits else None, walls)
    try:
        while (message := framing.read(judge)) is not None:
            framing.write(judge, root.answer(message))
    finally:
        root.close()


class _Root:
    """What the root of a session holds: the cells' answers, and the rooms."""

    def __init__(
        self, judge: socket.socket, folder: str | None, limits: Limits | None, walls: bool
    ) -> None:
        self._functions: dict[str, tuple[dict[str, Any], bytes]] = {}
        self._sources: dict[str, str] = {}
        self._belongings = b""
        self._limits, self._walls, self._folder = limits, walls, folder
        self._private = [judge]  # none of the rooms' business
        self._room: _Room | None = None
        self._ahead: _Room | None = None
        # what rooms would have to import, each for itself
        import distlab.course
        import distlab.engines.forked  # noqa: F401

    def answer(self, message: bytes) -> bytes:
        tree, *blocks = payload.unpack(message)
        if tree["op"] == "cells":
            return self._cells(tree)
        if tree["op"] == "run":
            return self._run(tree, blocks)
        if tree["op"] == "end":
            self._leave()
        return payload.pack({})

    def _cells(self, tree: dict[str, Any]) -> bytes:
        self._leave()
        reply = self._in_room(tree, [])
        self._leave()
        tree_of, *blocks = payload.unpack(reply)
        if "lost" in tree_of:
            return reply
        self._belongings = blocks[0]
        told = tree_of["functions"]
        self._functions = dict(zip(told, zip(told.values(), blocks[1:], strict=True), strict=True))
        self._sources = {cell["name"]: cell["source"] for cell in tree["cells"]}
        return payload.pack({"problems": tree_of["problems"]})

    def _run(self, tree: dict[str, Any], inputs: list[bytes]) -> bytes:
        from distlab.course import find

        name = find(tree["exercise"]).name
        told, function = self._functions.get(name) or (_todo(name), b"")
        if told:
            outcome = runs.Outcome(0, "raised", error=told)
            return runs.pack(runs.Run([outcome], [], 0.0, tree["deadline"]))
        blocks = [function, self._belongings, *inputs]
        return self._in_room({**tree, "sources": self._sources}, blocks)

    def _in_room(self, tree: dict[str, Any], blocks: list[bytes]) -> bytes:
        """A room's reply, or that it has none."""
        if self._room is None:
            self._room, self._ahead = self._ahead or self._made(), None
        room, limit = self._room, FUNCTIONS_LIMIT if tree["op"] == "cells" else REPLY_LIMIT
        room.send(payload.pack(tree, *blocks))
        if self._ahead is None and self._walls:
            self._ahead = self._made()  # while the other one is at work
        reply = room.reply(tree["patience"] + PATIENCE, limit)
        if reply is None:
            self._leave()
            return payload.pack({"lost": "what ran there took its whole sandbox along"})
        return reply

    def _made(self) -> _Room:
        private = [*self._private, *(room.socket for room in (self._room,) if room)]
        return _Room(self._limits, self._walls, self._folder, private)

    def _leave(self) -> None:
        if self._room is not None:
            self._room.close()
            self._room = None

    def close(self) -> None:
        self._leave()
        if self._ahead is not None:
            self._ahead.close()


class _Room:
    """Process 1 of some namespaces, or without walls a process, seen from the session's root.

    Args:
        folder: where its files go, where there are no walls.
        private: sockets of this process that it may not have.
    """

    def __init__(
        self, limits: Limits | None, walls: bool, folder: str | None,
        private: Sequence[socket.socket],
    ) -> None:  # fmt: skip
        self.socket, theirs = socket.socketpair()
        self._home = None if walls else Path(tempfile.mkdtemp(prefix="s-", dir=folder))

        def entry() -> None:
            for connection in (*private, self.socket):
                connection.close()
            _serve_room(theirs, self._home, limits, walls)

        with theirs:
            if walls:
                assert limits is not None  # walls are for code that is not trusted
                self._pid = isolation.start(limits, entry)
            else:
                self._pid = forkserver.spawn(entry)

    def send(self, message: bytes) -> None:
        self.socket.settimeout(PATIENCE)
        with contextlib.suppress(OSError):  # `reply` will tell
            framing.write(self.socket, message)

    def reply(self, patience: float, limit: int) -> bytes | None:
        """The reply; `None` where the room is gone or does not answer in time."""
        self.socket.settimeout(patience)
        try:
            return framing.read(self.socket, limit)
        except (OSError, ValueError):
            return None

    def close(self) -> None:
        self.socket.close()
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)  # with walls: returns when all that it had started is gone
        if self._home is not None:
            shutil.rmtree(self._home, ignore_errors=True)


def _serve_room(root: socket.socket, home: Path | None, limits: Limits | None, walls: bool) -> None:
    """Process 1 of a room: answer the session's root until that hangs up."""
    if home is None:
        home = Path(isolation.HOME, "home")  # the same in every room: cells may keep its path
        home.mkdir()
    else:
        os.setsid()
        if limits:
            isolation.limit(limits)
    os.chdir(home)
    # gloo and mp.spawn complain there, not in the grader's terminal
    forkserver.log_to(Path(os.devnull) if limits else home / "log")
    # a short name: DataLoader workers put Unix sockets in it, whose paths end at 107 characters
    os.environ.update(HOME=str(home), TMPDIR=str(home), DISTLAB_GRADING="1")
    tempfile.tempdir = None
    inside = _Inside(home, root, limits, walls)
    try:
        while (message := framing.read(root)) is not None:
            tree, *blocks = payload.unpack(message)
            framing.write(root, inside.answer(tree, blocks))
    finally:
        inside.close()


class _Inside:
    """The state of a room: the ranks of its exercise."""

    def __init__(
        self, folder: Path, outer: socket.socket, limits: Limits | None, walls: bool
    ) -> None:
        self._folder, self._outer = folder, outer
        self._engines: ForkedEngines | None = None
        self._walls = walls
        self._guard = _Guard(limits) if walls and limits else None

    def answer(self, tree: dict[str, Any], blocks: list[bytes]) -> bytes:
        if tree["op"] == "cells":
            cells = [Cell(**cell) for cell in tree["cells"]]
            problems, functions = self._run_cells(cells, tree["limit"], tree["answers"])
            told = {name: problem for name, (problem, _) in functions.items()}
            blobs = [blob for _, blob in functions.values()]
            left = belongings.packed(self._folder)
            return payload.pack({"problems": problems, "functions": told}, left, *blobs)
        function, left, *inputs = blocks
        return runs.pack(self._run(tree, function, left, inputs))

    def _run_cells(
        self, cells: list[Cell], limit: float, answers: list[str]
    ) -> tuple[dict[str, dict[str, Any]], dict[str, tuple[dict[str, Any], bytes]]]:
        """Run the cells; their problems, and for each answer ({}, its pickle) or an error."""
        problems: dict[str, dict[str, Any]] = {}
        functions: dict[str, tuple[dict[str, Any], bytes]] = {}
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
                functions[name] = told, function
        self._end(author)
        return problems, functions

    def _again(
        self, author: _Author, cells: list[Cell], problems: dict[str, dict[str, Any]], limit: float,
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
            # this time it has ended or hung the process, too
            if problem is not None and _fatal(problem):
                problems[cell.name] = problem
                if left > 0:
                    return self._again(author, cells, problems, limit, deadline)
        return author

    def _end(self, author: _Author) -> None:
        author.close()
        if self._walls:
            isolation.sweep()

    def _run(
        self, tree: dict[str, Any], function: bytes, left: bytes, inputs: list[bytes]
    ) -> runs.Run:
        from distlab.course import find
        from distlab.engines.forked import ForkedEngines
        from distlab.records.deadlock import Watcher

        exercise = find(tree["exercise"])
        engines, guard = self._engines, self._guard
        if engines is None:
            belongings.unpack(left, self._folder)
            engines = self._engines = ForkedEngines(
                0, self._folder, OUTPUT_LIMIT, [self._outer], self._walls and exercise.measured
            )
        engines.grow(len(inputs))

        class Guarded(Watcher):
            def __call__(self, records: Sequence[records.RankRecord], dead: set[int]) -> Any:
                return guard and guard.exceeded() or super().__call__(records, dead)

        engines.listen(sum(map(len, inputs)))
        run = runs.drive(
            engines, function, inputs, harness=tree["exercise"], group=exercise.group,
            strict=True, sources=tree["sources"], deadline=tree["deadline"], watch=Guarded(),
            schedule=Schedule.named(tree["schedule"]) if tree["schedule"] else None,
        )  # fmt: skip
        if run.ok:
            # here, where records are whole: the judge gets the beginning of long ones
            whole = [records.checked(data, r, run.size) for r, data in enumerate(run.raw)]
            run.seen = engines.seen(
                functools.partial(
                    doubts, whole, unrecorded=exercise.unrecorded, stamped=exercise.stamped
                )
            )
        return run

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
            gc.freeze()
            gc.enable()
            _serve_cells(theirs)

        with theirs:
            self._pid = forkserver.spawn(serve)

    def run(self, cell: Cell, limit: float) -> dict[str, Any] | None:
        reply = self._ask({"op": "cell", "cell": vars(cell)}, limit)
        if isinstance(reply, dict):
            return reply
        try:
            told = reply[0]["problem"]
            return None if told is None else _problem("error", told["type"], told["message"])
        except (KeyError, TypeError, IndexError, AttributeError):
            return _nonsense()

    def function(self, name: str, deadline: float) -> tuple[dict[str, Any], bytes]:
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

    def _ask(self, tree: dict[str, Any], limit: float) -> tuple[Any, ...] | dict[str, Any]:
        """The reply, or the problem that there is none.

        An answer to another request is none: a cell can have written it itself.
        """
        self._asked += 1
        deadline = time.monotonic() + max(limit, 0.0)
        incoming = framing.Incoming(OUTPUT_LIMIT)
        try:
            self._socket.settimeout(STALL)
            framing.write(self._socket, payload.pack({**tree, "number": self._asked}))
            while time.monotonic() < deadline:
                if found := self._guard and self._guard.exceeded():
                    return _problem("crashed", "MemoryError", found.message)
                select.select([self._socket], [], [], runs.POLL)
                if (message := incoming.receive(self._socket)) is None:
                    continue
                incoming, reply = framing.Incoming(OUTPUT_LIMIT), payload.unpack(message)
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


def _checked(problem: dict[str, Any]) -> dict[str, Any]:
    """A problem as told by an untrusted process."""
    status = problem["status"] if problem["status"] in ("error", "timeout") else "crashed"
    return _problem(status, problem["type"], problem["message"])


def _problem(status: str, type: str, message: str) -> dict[str, Any]:
    return {
        "status": status, "type": payload.text(type)[:80], "message": payload.text(message)[:2000],
    }  # fmt: skip


def _fatal(problem: dict[str, Any] | None) -> bool:
    """Did a cell leave no process to go on with?"""
    return problem is not None and problem["status"] != "error"


def _late() -> dict[str, Any]:
    return _problem("timeout", "TimeoutError", "the cells before it had used up all the time")


def _nonsense() -> dict[str, Any]:
    return _problem("crashed", "SystemExit", "the cell's process answered with nonsense")


def _todo(name: str) -> dict[str, Any]:
    return {"type": "NotImplementedError", "message": f"TODO {name}", "frames": []}


def _serve_cells(connection: socket.socket) -> None:
    """Run cells in a `__main__` of their own and hand out what they defined."""
    import torch

    from distlab.engines import by_value
    from distlab.rank import execute

    torch.set_num_threads(1)
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    answers: dict[str, object] = {}
    while (message := framing.read(connection)) is not None:
        tree = payload.unpack(message)[0]
        with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere), \
                contextlib.redirect_stderr(nowhere):  # fmt: skip
            if tree["op"] == "cell":
                problem = _run_cell(Cell(**tree["cell"]), main.__dict__, answers)
                reply = payload.pack({"problem": problem, "number": tree["number"]})
            else:
                try:
                    blob = by_value.dumps(_answer(tree["name"], main.__dict__, answers))
                    reply = payload.pack({"error": None, "number": tree["number"]}, blob)
                except Exception as error:
                    told = {"error": execute.describe(error), "number": tree["number"]}
                    reply = payload.pack(told, b"")
        framing.write(connection, reply)


def _run_cell(
    cell: Cell, namespace: dict[str, Any], answers: dict[str, Any]
) -> dict[str, Any] | None:
    from distlab.rank import execute

    try:
        notebook.run_cell(cell, namespace, keep_going=cell.kind == "added")
    except (Exception, SystemExit, KeyboardInterrupt) as error:
        return {"status": "error", **execute.describe(error)}
    finally:
        if cell.kind == "solution" and cell.name in cell.defines() and cell.name in namespace:
            answers[cell.name] = namespace[cell.name]
    return None


def _answer(name: str, namespace: dict[str, Any], answers: dict[str, Any]) -> object:
    if name in answers:
        return answers[name]
    if name in namespace:
        return namespace[name]
    raise NotImplementedError(f"TODO {name}")
