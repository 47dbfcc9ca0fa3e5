"""One submission's code, run away from whoever judges it.

A `Session` is a process tree forked from a zygote:

    session's root                   holds what the cells answered; never runs student code
    ├─ room of the cells             process 1 of its own namespaces; never runs student code
    │   └─ the process that runs the notebook's cells in order
    └─ room of exercises             process 1 of other namespaces, made ahead of time
        └─ the ranks

A room ends with what it was made for, and everything that was started there ends with it. So rooms
have nothing in common but what the cells had made before: their functions, which travel to the
ranks by value, as they do in a notebook, and the files that they wrote. Only data comes out.

The judge's side is the class `Session`; everything else in this module runs inside, and so does
what a room does (`distlab.checking.room`).
"""

from __future__ import annotations

import contextlib
import gc
import os
import shutil
import signal
import socket
import struct
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

from distlab.checking.room import BEGUN, CELLS_LIMIT, PATIENCE, problem_of, serve_room
from distlab.engines import run_messages, watching
from distlab.engines.outcomes import Outcome, Run
from distlab.notebook import Cell
from distlab.processes import entry_points, forkserver, framing, isolation, payload, stopped
from distlab.processes.isolation import Limits
from distlab.processes.starting import Children
from distlab.records.choices import Schedule

REPLY_LIMIT = 64 << 20  # bytes of one answer of the session
FUNCTIONS_LIMIT = 256 << 20  # bytes of all that the cells answered, pickled
_LOST = {"lost": "what ran there took its whole sandbox along"}
_UNBEGUN = {"unbegun": "its first room did not begin"}
_UCRED = struct.Struct("iii")  # process, user and group (unix(7))


class SessionLost(RuntimeError):
    """The session's root is gone or does not answer. It runs no student code, so something outside
    ended it: this says nothing about the submission.
    """


class NotBegun(SessionLost):
    """The first room ended, or did not answer, before any of the submission's code was there."""


class RoomLost(RuntimeError):
    """The room of an exercise is gone or does not answer: what ran there took it along."""


class Source(Protocol):
    """What sessions are forked from: a zygote, or what stands for one."""

    @property
    def folder(self) -> Path: ...
    def connect(self, entry: str, **arguments: Any) -> tuple[Children, socket.socket]: ...
    def kill(self, pid: int) -> None: ...


class Session:
    """The judge's end. A context manager; closing it kills everything inside.

    Args:
        limits: what the submission may use; `None` for one's own, trusted code.
        walls: put up walls inside the zygote's sandbox, so that it can be shared (`isolation`).
        devices: the GPUs that its ranks may use; all that the zygote sees if `None`.
        user: the user id that the submission's processes run as, where the zygote may change it.
        admit: called with the id of the process from which all others will be forked, before any of
            them is there.

    Attributes:
        reuses: ranks keep their connections from run to run, until their room ends.

    Raises:
        SessionLost: its root did not begin.
        ZygoteLost: the zygote has ended.
    """

    def __init__(
        self, source: Source, limits: Limits | None = None, walls: bool = False,
        devices: str | None = None, user: int | None = None,
        admit: Callable[[int], None] | None = None,
    ) -> None:  # fmt: skip
        self._source, self.reuses = source, False
        forked, self._socket = source.connect(
            entry_points.SESSION, walls=walls, devices=devices, user=user,
            folder=None if limits else str(source.folder), limits=limits and vars(limits),
        )  # fmt: skip
        self.pid = forked.pids()[0]
        try:
            if admit is not None:
                admit(self._number_here())
            else:
                self._ask({"op": "hello", "patience": PATIENCE}, [])
        except BaseException:
            self.close()
            raise

    def _number_here(self) -> int:
        """The root's process id in this process's namespace, as the kernel tells it."""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self._socket.settimeout(4 * PATIENCE)
        try:
            framing.write(self._socket, *payload.parts({"op": "hello"}))
            stopped.await_readable(self._socket, 4 * PATIENCE)
            data, told, _, _ = self._socket.recvmsg(
                1, socket.CMSG_SPACE(_UCRED.size), socket.MSG_PEEK
            )
            if not data:
                raise SessionLost("the session ended before it began")
            framing.read(self._socket, REPLY_LIMIT)
        except (OSError, ValueError) as error:
            raise SessionLost(str(error)) from error
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 0)
        number: int = _UCRED.unpack(told[0][2])[0]
        return number

    def cells(
        self, cells: Sequence[Cell], limit: float, answers: Iterable[str] = ()
    ) -> dict[str, dict[str, Any]]:
        """Run a notebook's cells; returns {name: problem} of those that did not work.

        A problem has a `status` ("error", "crashed", "timeout"), a `type` and a `message`. A cell
        that kills or hangs its process is left out, and the others are run again without it. Can be
        called again; then only what the cells answer the last time counts.

        Args:
            limit: seconds for each cell.
            answers: names of exercises that are answered outside the solution cells of that name.

        Raises:
            NotBegun: the machine is short of something, whatever the submission does.
            RoomLost, SessionLost.
        """
        names = {cell.name for cell in cells if cell.kind == "solution"} | set(answers)
        tree = {
            "op": "cells", "cells": [vars(cell) for cell in cells], "limit": limit,
            "answers": sorted(names), "patience": (1 + watching.MOST_QUEUED) * CELLS_LIMIT,
        }  # fmt: skip
        reply = self._ask(tree, [])[0]  # there is time for all answers to be handed out as well
        try:
            return {str(name): _checked(problem) for name, problem in reply["problems"].items()}
        except (KeyError, TypeError, AttributeError) as error:
            raise RoomLost(f"no answer: {error}") from error

    def run(
        self, exercise: str, inputs: Sequence[bytes], deadline: float,
        schedule: Schedule | None = None,
    ) -> Run:  # fmt: skip
        """Run the function that answers an exercise, on ranks that the room has already, and new
        ones. Of the exercises of a room all are `measured`, or none is.

        Raises:
            RoomLost, SessionLost.
        """
        patience = (1 + watching.MOST_QUEUED) * deadline + PATIENCE
        tree = {
            "op": "run", "exercise": exercise, "deadline": deadline, "patience": patience,
            "schedule": schedule.name if schedule else None, "reuses": self.reuses,
        }  # fmt: skip
        reply = self._ask(tree, inputs, relayed=True)
        try:
            run = run_messages.unpack(reply)
        except ValueError as error:
            raise RoomLost(str(error)) from error
        if run.ok and run.size != len(inputs):
            raise RoomLost(f"a run of {run.size} ranks where {len(inputs)} were asked for")
        return run

    def end_room(self) -> None:
        """End the room, and with it all that its exercises have started: the next exercise gets a
        new one.
        """
        self.reuses = False
        self._ask({"op": "end", "patience": PATIENCE}, [])

    def _ask(
        self, tree: dict[str, Any], blocks: Sequence[bytes], relayed: bool = False
    ) -> tuple[Any, ...]:
        """The reply. One that is `relayed`, which the root hands on from a room as it comes, is
        followed by another, which says how that went.
        """
        patience = tree["patience"] + 3 * PATIENCE
        self._socket.settimeout(patience)
        try:
            framing.write(self._socket, *payload.parts(tree, *blocks))
            stopped.await_readable(self._socket, patience)
            try:
                reply = payload.receive(self._socket, REPLY_LIMIT)
            except ValueError:
                if not relayed:
                    raise
                reply = None
            told = payload.receive(self._socket, REPLY_LIMIT) if relayed else reply
        except (OSError, ValueError) as error:
            raise SessionLost(str(error)) from error
        if told is None:
            raise SessionLost("the session ended")
        if isinstance(told[0], dict) and "unbegun" in told[0]:
            raise NotBegun(str(told[0]["unbegun"]))
        if isinstance(told[0], dict) and "lost" in told[0]:
            raise RoomLost(str(told[0]["lost"]))
        if reply is None:
            raise RoomLost("what came out of it was no reply")
        return reply

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
        while (message := payload.receive_head(judge)) is not None:
            root.answer(*message)
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
        self._judge = judge
        self._room: _Room | None = None
        self._ahead: _Room | None = None
        self._untouched = True  # has none of the submission's code run yet?
        # so that not every room has to import them
        import distlab.course
        import distlab.engines.forked  # noqa: F401

    def answer(self, tree: dict[str, Any], lengths: Sequence[int]) -> None:
        """Answer a message of the judge's, whose blocks of these lengths are still unread."""
        told: dict[str, Any] = {}
        if tree["op"] == "cells":
            told = self._cells(tree)
        elif tree["op"] == "run":
            told = self._run(tree, lengths)
        elif tree["op"] == "end":
            self._leave()
        framing.write(self._judge, *payload.parts(told))

    def _cells(self, tree: dict[str, Any]) -> dict[str, Any]:
        self._leave()
        room = self._entered()
        if room is None:
            return _UNBEGUN
        self._untouched = False
        room.send(tree)
        self._make_ahead()  # one is enough: most submissions need no third room
        reply = room.reply(tree["patience"] + PATIENCE, FUNCTIONS_LIMIT)
        self._leave()
        if reply is None:
            return _LOST
        tree_of, *blocks = reply
        self._belongings = blocks[0]
        told = tree_of["functions"]
        self._functions = dict(zip(told, zip(told.values(), blocks[1:], strict=True), strict=True))
        self._sources = {cell["name"]: cell["source"] for cell in tree["cells"]}
        return {"problems": tree_of["problems"]}

    def _run(self, tree: dict[str, Any], lengths: Sequence[int]) -> dict[str, Any]:
        """Have a room answer the judge: inputs and reply pass through piece by piece."""
        from distlab.course import find

        name = find(tree["exercise"]).name
        told, function = self._functions.get(name) or (todo(name), b"")
        if told:
            framing.exactly(self._judge, sum(lengths))
            outcome = Outcome(0, "raised", error=told)
            reply = run_messages.parts(Run([outcome], [], 0.0, tree["deadline"]))
            framing.write(self._judge, *reply)
            return {}
        room, equipped = self._entered(), {**tree, "sources": self._sources}
        assert room is not None  # the cells have run
        room.send(equipped, [function, self._belongings], lengths, self._judge)
        if room.answer(self._judge, tree["patience"] + PATIENCE, REPLY_LIMIT):
            return {}
        self._leave()
        return _LOST

    def _entered(self) -> _Room | None:
        """The room in use, a new one where there is none; `None` where the very first one does not
        begin. (Of a later one the submission may be the cause: then it just does not answer.)
        """
        if self._room is None:
            try:
                self._room, self._ahead = self._ahead or self._made(), None
            except OSError:
                if self._untouched:
                    return None
                raise
            if not self._room.began() and self._untouched:
                self._leave()
        return self._room

    def _make_ahead(self) -> None:
        """Make the next room while this one is at work. Where this one has taken all processes or
        memory there are, the next is made when it is needed, after this one has ended.
        """
        if self._ahead is None and self._walls:
            with contextlib.suppress(OSError):
                self._ahead = self._made()

    def _made(self) -> _Room:
        private = [self._judge, *(room.socket for room in (self._room,) if room)]
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
    """A room seen from the session's root: process 1 of its namespaces, or without walls a process.

    Args:
        folder: where its files go if there are no walls.
        private: sockets of this process that the room must not have.
    """

    def __init__(
        self, limits: Limits | None, walls: bool, folder: str | None,
        private: Sequence[socket.socket],
    ) -> None:  # fmt: skip
        self.socket, theirs = socket.socketpair()
        self._begun = False  # has it said so?
        self._home = None if walls else Path(tempfile.mkdtemp(prefix="s-", dir=folder))

        def entry() -> None:
            for connection in (*private, self.socket):
                connection.close()
            serve_room(theirs, self._home, limits, walls)

        with theirs:
            if walls:
                assert limits is not None  # walls are for code that is not trusted
                self._pid = isolation.start(limits, entry)
            else:
                self._pid = forkserver.spawn(entry)

    def began(self) -> bool:
        """Wait until the room is there, walls and limits included; False if it does not come."""
        with contextlib.suppress(OSError):
            self._await(PATIENCE)
        return self._begun

    def _await_reply(self, patience: float) -> None:
        if not self._begun:  # on a slow machine it may not have said so yet
            self._await(patience)
        self._await(patience)

    def _await(self, patience: float) -> None:
        """Wait until it says something, and read its `BEGUN` if that is still to come."""
        self.socket.settimeout(patience)
        stopped.await_readable(self.socket, patience)
        if not self._begun:
            self._begun = self.socket.recv(len(BEGUN)) == BEGUN

    def send(
        self, tree: dict[str, Any], blocks: Sequence[bytes] = (), lengths: Sequence[int] = (),
        source: socket.socket | None = None,
    ) -> None:  # fmt: skip
        """Send a message. After `blocks` come more, of these lengths, which `source` sends."""
        head = payload.head(tree, [*map(len, blocks), *lengths])
        self.socket.settimeout(PATIENCE)
        target: socket.socket | None = self.socket
        try:
            framing.announce(self.socket, len(head) + sum(map(len, blocks)) + sum(lengths))
            for part in (head, *blocks):
                self.socket.sendall(part)
        except OSError:  # the reply will tell
            target = None
        if source is not None:
            framing.relay(source, target, sum(lengths))

    def reply(self, patience: float, limit: int) -> tuple[Any, ...] | None:
        """The reply; `None` where the room is gone or does not answer in time."""
        try:
            self._await_reply(patience)
            return payload.receive(self.socket, limit)
        except (OSError, ValueError):
            return None

    def answer(self, judge: socket.socket, patience: float, limit: int) -> bool:
        """Hand the reply on to the judge as it comes, or an empty one. False where it is cut short
        or did not come at all.
        """
        size = None
        with contextlib.suppress(OSError, ValueError):
            self._await_reply(patience)
            size = framing.read_size(self.socket, limit)
        framing.announce(judge, size or 0)
        try:
            framing.relay(self.socket, judge, size or 0)
        except (OSError, EOFError):
            return False
        return size is not None

    def close(self) -> None:
        self.socket.close()
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)  # with walls: returns when all that it had started is gone
        if self._home is not None:
            shutil.rmtree(self._home, ignore_errors=True)


def _checked(problem: dict[str, Any]) -> dict[str, Any]:
    """A problem as told by an untrusted process."""
    status = problem["status"] if problem["status"] in ("error", "timeout") else "crashed"
    return problem_of(status, problem["type"], problem["message"])


def todo(name: str) -> dict[str, Any]:
    """What is told of an exercise that nobody has answered."""
    return {"type": "NotImplementedError", "message": f"TODO {name}", "frames": []}
