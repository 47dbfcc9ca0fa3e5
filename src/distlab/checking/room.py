"""What runs inside the rooms of a session: the notebook's cells, and the ranks of exercises.

A room answers the root of its session (`distlab.checking.session`) until that hangs up. Its process
1 never runs student code: it forks the process that runs the cells, and the ranks.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import gc
import multiprocessing.process
import os
import signal
import socket
import sys
import tempfile
import time
import types
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TextIO

from distlab import notebook
from distlab.checking import belongings
from distlab.checking.doubts import doubts
from distlab.engines import run_messages, runs, watching
from distlab.engines.outcomes import Finding, Run, checked
from distlab.notebook import Cell
from distlab.processes import forkserver, framing, isolation, payload, scheduling
from distlab.processes.isolation import Limits
from distlab.processes.run_delay import RunDelay
from distlab.processes.stopped import Stopwatch
from distlab.rank import own_modules
from distlab.records import events, reading
from distlab.records.choices import Schedule
from distlab.records.leftovers import all_met

if TYPE_CHECKING:
    from distlab.engines.forked import ForkedEngines

OUTPUT_LIMIT = 16 << 20  # bytes that a rank may return; an answer may have a little less
PATIENCE = 10.0  # seconds that a room may take beyond the time it was given
STALL = 2.0  # seconds in which the cells' process has to read a cell
CELLS_LIMIT = 180.0  # seconds that all cells may take together
ADDED_LIMIT = 30.0  # seconds, of these, that cells added by the student may take together
BEGUN = b"!"  # what a room says first, before it is sent any student code
FILES = 16  # all processes together may have this many times the open files of one


def serve_room(root: socket.socket, home: Path | None, limits: Limits | None, walls: bool) -> None:
    """Process 1 of a room: answer the session's root until that hangs up."""
    if home is None:
        home = Path(isolation.HOME, "home")  # the same in every room: cells may keep its path
        home.mkdir()
    else:
        os.setsid()
        if limits:
            isolation.limit(limits)
        else:  # one's own code: what lies beside the notebook is there for it
            own_modules.find_beside(os.getcwd())
    os.chdir(home)
    # where processes that are spawned find modules
    multiprocessing.process.ORIGINAL_DIR = str(home)  # type: ignore[attr-defined]  # not in the stub
    scheduling.in_turn()
    # gloo and mp.spawn complain there, not in the grader's terminal
    forkserver.log_to(Path(os.devnull) if limits else home / "log")
    # a short name: DataLoader workers put Unix sockets in it, whose paths end at 107 characters
    os.environ.update(HOME=str(home), TMPDIR=str(home), DISTLAB_GRADING="1")
    tempfile.tempdir = None
    inside = Inside(home, Forks(root), limits, walls)
    try:
        root.sendall(BEGUN)
        while (message := payload.receive(root)) is not None:
            tree, *blocks = message
            framing.write(root, *inside.answer(tree, blocks))
    finally:
        inside.close()


class Starts(Protocol):
    """How a room starts the processes that run student code."""

    def cells(self) -> tuple[int, socket.socket]: ...  # calls `serve_cells` with its end
    def end(self, pid: int) -> None: ...  # such a process, whether it lives or not
    def ranks(self, folder: Path, measured: bool) -> ForkedEngines: ...


class Forks:
    """Starts processes as forks of the room's own.

    Args:
        outer: the room's connection to its session, which they must not have.
    """

    def __init__(self, outer: socket.socket) -> None:
        self._outer = outer

    def cells(self) -> tuple[int, socket.socket]:
        ours, theirs = socket.socketpair()

        def serve() -> None:
            self._outer.close()
            ours.close()
            gc.freeze()
            gc.enable()
            serve_cells(theirs)

        with theirs:
            return forkserver.spawn(serve), ours

    def end(self, pid: int) -> None:
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)

    def ranks(self, folder: Path, measured: bool) -> ForkedEngines:
        from distlab.engines.forked import ForkedEngines

        return ForkedEngines(0, folder, OUTPUT_LIMIT, [self._outer], measured)


class Inside:
    """The state of a room: the ranks of its exercises."""

    def __init__(self, folder: Path, starts: Starts, limits: Limits | None, walls: bool) -> None:
        self._folder, self._starts = folder, starts
        self._engines: ForkedEngines | None = None
        self._walls = walls
        self._guard = _Guard(limits) if walls and limits else None
        self._clock = _Clock()

    def answer(self, tree: dict[str, Any], blocks: list[bytes]) -> list[payload.Block]:
        if tree["op"] == "cells":
            cells = [Cell(**cell) for cell in tree["cells"]]
            problems, functions = self.run_cells(cells, tree["limit"], tree["answers"])
            told = {name: problem for name, (problem, _) in functions.items()}
            blobs = [blob for _, blob in functions.values()]
            left = belongings.packed(self._folder)
            return payload.parts({"problems": problems, "functions": told}, left, *blobs)
        function, left, *inputs = blocks
        if self._engines is None:
            belongings.unpack(left, self._folder)
        return run_messages.parts(self.run(tree, function, inputs))

    def run_cells(
        self, cells: list[Cell], limit: float, answers: list[str]
    ) -> tuple[dict[str, dict[str, Any]], dict[str, tuple[dict[str, Any], bytes]]]:
        """Run the cells. Returns their problems by cell, and for each answer ({}, its pickle) or
        (an error, b"").
        """
        problems: dict[str, dict[str, Any]] = {}
        functions: dict[str, tuple[dict[str, Any], bytes]] = {}
        deadline = self._clock.now() + CELLS_LIMIT
        left = ADDED_LIMIT
        author = _Author(self._starts, self._guard, self._clock)
        for number, cell in enumerate(cells):
            begin = self._clock.now()
            most = min(limit, deadline - begin, left if cell.kind == "added" else limit)
            if most <= 0:
                problems[cell.name] = _late()
                cell, most = _emptied(cell), min(limit, deadline - begin)
                if not cell.takes or most <= 0:
                    continue
            problem = author.run(cell, most)
            if problem is not None:
                problems[cell.name] = problem
                if is_fatal(problem):  # the process is gone: run all again without this cell
                    author = self._again(author, cells[: number + 1], problems, limit, deadline)
            if cell.kind == "added":
                left -= self._clock.now() - begin
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
        """A new process that has run these cells without those that ended or hung a process. In
        their place, only the answers that their test cells ask for are taken.
        """
        self._end(author)
        author = _Author(self._starts, self._guard, self._clock)
        for number, cell in enumerate(cells):
            left_out = is_fatal(problems.get(cell.name))
            if left_out and not cell.takes:
                continue
            left = deadline - self._clock.now()
            run = _emptied(cell) if left_out else cell
            problem = author.run(run, min(limit, left)) if left > 0 else _late()
            # a cell may end or hang its process this time only
            if problem is not None and is_fatal(problem):
                problems[cell.name] = problem
                if left > 0:
                    rest = list(cells)
                    if left_out:  # taking answers did it: they are asked for at the end, as of then
                        rest[number] = dataclasses.replace(cell, takes=())
                    return self._again(author, rest, problems, limit, deadline)
        return author

    def _end(self, author: _Author) -> None:
        author.close()
        if self._walls:
            isolation.sweep()

    def run(self, tree: dict[str, Any], function: bytes, inputs: Sequence[bytes]) -> Run:
        """Run the pickled function that answers an exercise, as `Session.run` asks for it."""
        from distlab.course import find
        from distlab.records.deadlock import Watcher

        exercise = find(tree["exercise"])
        engines, guard = self._engines, self._guard
        if engines is None:
            measured = self._walls and exercise.measured
            engines = self._engines = self._starts.ranks(self._folder, measured)
        engines.grow(len(inputs))

        class Guarded(Watcher):
            def __call__(self, records: Sequence[events.RankRecord], dead: set[int]) -> Any:
                return guard and guard.exceeded() or super().__call__(records, dead)

        engines.listen(sum(map(payload.full_size, inputs)))
        run = runs.drive(
            engines, function, inputs, harness=tree["exercise"], group=exercise.group,
            strict=True, sources=tree["sources"], deadline=tree["deadline"], watch=Guarded(),
            schedule=Schedule.named(tree["schedule"]) if tree["schedule"] else None,
        )  # fmt: skip
        if run.ok:
            # compared here, where records are whole: of long ones the judge gets only the beginning
            whole = [reading.checked(data, r, run.size) for r, data in enumerate(run.raw)]
            run.seen = engines.seen(
                functools.partial(
                    doubts, whole, unrecorded=exercise.unrecorded, stamped=exercise.stamped
                )
            )
            # the course's own collectives are in no record, so nothing tells what they have left
            looked_at = tree["reuses"] and not exercise.unrecorded
            engines.leave(run.size, keep=looked_at and _nothing_left(run, whole))
        return run

    def close(self) -> None:
        if self._engines is not None:
            self._engines.close()


def _nothing_left(run: Run, whole: Sequence[events.RankRecord]) -> bool:
    """Can the ranks use their connections again, with nothing of this run left on them?"""
    seen = run.seen
    clean = seen is None or not (seen.lost or seen.doubts or seen.foreign)
    return run.usable and clean and all_met(whole)


class _Guard:
    """Tells when all processes that a session has started use more than they may together."""

    def __init__(self, limits: Limits) -> None:
        self._usage, self._limits = isolation.Usage(), limits
        self._due = 0.0  # when to look again, which takes some milliseconds

    def exceeded(self) -> Finding | None:
        now = time.monotonic()
        if now < self._due:
            return None
        self._due = now + watching.POLL
        memory, files = self._usage.measured()
        if memory > self._limits.memory:
            return Finding(
                "limit",
                f"the processes of this exercise used more than {self._limits.memory / 2**30:.3g} "
                "GiB of memory together and were ended",
                "Look for tensors far larger than the inputs, or for a list that grows in a loop.",
            )
        if files > FILES * self._limits.files:
            return Finding(
                "limit",
                f"the processes of this exercise had more than {FILES * self._limits.files} open "
                "files together and were ended",
                "Close files, sockets and pipes, and look for a loop that opens them.",
            )
        return None


class _Clock:
    """The time in seconds, without that in which the cells waited for a processor or the machine
    was suspended.
    """

    def __init__(self) -> None:
        self._waited = self._stopped = 0.0

    def now(self) -> float:
        return time.monotonic() - self._waited - self._stopped

    def leave_stop_out(self, seconds: float) -> None:
        self._stopped += seconds

    def leave_out(self, seconds: float) -> None:
        """At most as much as all cells have: one of them may be what the machine is busy with."""
        self._waited = min(self._waited + seconds, CELLS_LIMIT)


class _Author:
    """The process that runs the notebook's cells, seen from the session's root."""

    def __init__(self, starts: Starts, guard: _Guard | None, clock: _Clock) -> None:
        self._starts, self._guard, self._asked, self._clock = starts, guard, 0, clock
        self._delay = RunDelay()
        self._pid, self._socket = starts.cells()

    def run(self, cell: Cell, limit: float) -> dict[str, Any] | None:
        reply = self._ask({"op": "cell", "cell": vars(cell)}, limit)
        if isinstance(reply, dict):
            return reply
        try:
            told = reply[0]["problem"]
            return None if told is None else problem_of("error", told["type"], told["message"])
        except (KeyError, TypeError, IndexError, AttributeError):
            return _nonsense()

    def function(self, name: str, deadline: float) -> tuple[dict[str, Any], bytes]:
        """({}, the pickled answer to the exercise `name`), or the error or problem in its place."""
        left = min(max(deadline - self._clock.now(), watching.GRACE), PATIENCE)
        reply = self._ask({"op": "get", "name": name}, left)
        if isinstance(reply, dict):
            return reply, b""
        try:
            error, function = reply[0]["error"], reply[1]
            return checked(error) or {}, function
        except (ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError):
            return _nonsense(), b""

    def _ask(self, tree: dict[str, Any], limit: float) -> tuple[Any, ...] | dict[str, Any]:
        """The reply, or the problem that none came within `limit` seconds, not counting those in
        which the process waited for a processor.

        An answer to another request does not count: a cell can have written it itself.
        """
        watch, before = Stopwatch(), self._queued()
        try:
            return self._answer(tree, limit, watch, before)
        finally:
            self._clock.leave_out(self._waited(watch.seconds(), before))
            self._clock.leave_stop_out(watch.stopped)

    def _queued(self) -> float:
        return self._delay.seconds([self._pid])

    def _waited(self, spent: float, before: float) -> float:
        """Of the seconds that were spent, those that do not count."""
        most = spent * watching.MOST_QUEUED / (1 + watching.MOST_QUEUED)
        return min(max(self._queued() - before, 0.0), most)

    def _in_time(self, limit: float, spent: float, before: float) -> bool:
        return spent < limit or spent - self._waited(spent, before) < limit

    def _answer(
        self, tree: dict[str, Any], limit: float, watch: Stopwatch, before: float
    ) -> tuple[Any, ...] | dict[str, Any]:
        self._asked += 1
        incoming = framing.Incoming(OUTPUT_LIMIT)
        try:
            self._socket.settimeout(STALL)
            framing.write(self._socket, *payload.parts({**tree, "number": self._asked}))
            while self._in_time(limit, watch.seconds(), before):
                if found := self._guard and self._guard.exceeded():
                    return problem_of("crashed", "MemoryError", found.message)
                framing.readable([self._socket], watching.POLL)
                if (message := incoming.receive(self._socket)) is None:
                    continue
                incoming, reply = framing.Incoming(OUTPUT_LIMIT), payload.unpack(message)
                if isinstance(reply[0], dict) and reply[0].get("number") == self._asked:
                    return reply
        except (OSError, EOFError):
            return problem_of("crashed", "SystemExit", "the cell ended its process")
        except ValueError:
            return _nonsense()
        return problem_of("timeout", "TimeoutError", f"the cell had not ended after {limit:.0f} s")

    def close(self) -> None:
        self._socket.close()
        self._starts.end(self._pid)


def problem_of(status: str, type: str, message: str) -> dict[str, Any]:
    return {
        "status": status, "type": payload.text(type)[:80], "message": payload.text(message)[:2000],
    }  # fmt: skip


def is_fatal(problem: dict[str, Any] | None) -> bool:
    """Did a cell end or hang its process, so that there is none to go on with?"""
    return problem is not None and problem["status"] != "error"


def _emptied(cell: Cell) -> Cell:
    """What is run in place of a cell that is left out. Its answers are still taken, as what stands
    under their names without it.
    """
    return dataclasses.replace(cell, source="")


def _late() -> dict[str, Any]:
    return problem_of("timeout", "TimeoutError", "the cells before it had used up all the time")


def _nonsense() -> dict[str, Any]:
    return problem_of("crashed", "SystemExit", "the cell's process answered with nonsense")


def serve_cells(connection: socket.socket) -> None:
    """Run cells in a `__main__` of their own and hand out what they defined."""
    import torch

    from distlab.engines import by_value
    from distlab.rank import exceptions

    torch.set_num_threads(1)
    own_modules.find_beside()  # modules that cells write, too
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    answers: dict[str, _Answer] = {}
    nowhere = _nowhere()  # the same for all cells: what one saves is `sys.stdout` in the next too
    while (message := payload.receive(connection)) is not None:
        tree = message[0]
        nowhere = _nowhere() if nowhere.closed else nowhere
        with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
            if tree["op"] == "cell":
                problem = _run_cell(Cell(**tree["cell"]), main.__dict__, answers)
                reply = payload.parts({"problem": problem, "number": tree["number"]})
            else:
                try:
                    blob = _pickled(tree["name"], main.__dict__, answers)
                    by_value.need_room(tree["name"], blob)
                    reply = payload.parts({"error": None, "number": tree["number"]}, blob)
                except BaseException as error:
                    told = {"error": exceptions.describe(error), "number": tree["number"]}
                    reply = payload.parts(told, b"")
        framing.write(connection, *reply)


def _nowhere() -> TextIO:
    return open(os.devnull, "w")


@dataclasses.dataclass
class _Answer:
    """The answer to an exercise as it is where the notebook checks it: later cells may give the
    names of its helpers to something else.

    Args:
        pickled: the function by value; empty where that was not possible yet.
        lacking: names that it uses and that were not defined yet.
    """

    function: object
    pickled: bytes = b""
    lacking: frozenset[str] = frozenset()


def _run_cell(
    cell: Cell, namespace: dict[str, Any], answers: dict[str, _Answer]
) -> dict[str, Any] | None:
    from distlab.notebook import shell
    from distlab.rank import exceptions

    if cell.kind == "todo" and cell.name in namespace:  # by `exec`, say
        return None
    shell.raised.clear()
    try:
        notebook.run_cell(cell, namespace, keep_going=cell.kind == "added")
        if shell.raised and not all(name in namespace for name in cell.takes):
            raise shell.raised[0]
    except BaseException as error:  # asyncio's CancelledError is no Exception
        return {"status": "error", **exceptions.describe(error)}
    finally:
        for name in cell.takes:
            if name in namespace:
                answers[name] = _taken(namespace[name])
    return None


def _taken(function: object) -> _Answer:
    from distlab.engines import by_value

    try:
        return _Answer(function, *by_value.taken(function))
    except BaseException:  # it is tried once more, and told of then
        return _Answer(function)


def _pickled(name: str, namespace: dict[str, Any], answers: dict[str, _Answer]) -> bytes:
    """The answer to an exercise, by value. Where it needs what only a later cell defines, it is
    taken with what all cells together have left, as when the notebook's check is run again.
    """
    from distlab.engines import by_value

    if (answer := answers.get(name)) is None:
        if name not in namespace:
            raise NotImplementedError(f"TODO {name}")
        return by_value.dumps(namespace[name])
    if answer.pickled and not answer.lacking & namespace.keys():
        return answer.pickled
    return by_value.dumps(answer.function)
