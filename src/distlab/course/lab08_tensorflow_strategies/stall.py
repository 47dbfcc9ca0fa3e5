"""Processes of a foreign runtime that wait for each other and will wait forever.

The recorder sees operations of torch.distributed alone. Of a runtime that it cannot look into, one
thing can still be seen from outside: that its processes neither compute nor wait for a processor.
When that has gone on for a while, and one of them has ended, nothing will wake the others. This is
patience and no proof, so it counts only where a rank has ended that others may be waiting for.
"""

from __future__ import annotations

import contextlib
import faulthandler
import linecache
import os
import re
import signal
import time
from pathlib import Path
from typing import Any

from distlab.processes import origin
from distlab.rank import child_process
from distlab.rank.sharing import Board

POLL = 0.05  # seconds between two looks at whether a function has ended
LOOK = 0.5  # seconds between two looks at how busy a process is
STILL = 8.0  # seconds without work after which a process stands still
BUSY = 0.04  # share of a processor that the threads of an idle runtime use at most
ALONE = 5.0  # seconds after which a process is ended when another has raised or died
RETURNED, RAISED, DIED = "returned", "raised", "died"  # how a rank's function has ended
PROMPT = 5.0  # seconds that a process has to say where it stands, on a busy machine
LINGER = 20.0  # seconds that a process stays for others that are about to end
_FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+) in (?P<function>\S+)')
_FOREIGN = ("site-packages", "/lib/python")


class Standstill(child_process.Raised):
    """A process waits for others that will not come."""

    def __init__(self, message: str, frames: list[dict[str, Any]]) -> None:
        super().__init__({"type": "Standstill", "message": message, "frames": frames})


class Rest:
    """How long a process has been at rest: with no work, and not for want of a processor."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._since = self._looked = time.monotonic()
        self._worked = _work(pid)

    def seconds(self) -> float:
        now = time.monotonic()
        if now - self._looked >= LOOK:
            worked = _work(self._pid)
            busy = worked - self._worked > BUSY * (now - self._looked)
            if busy or _runnable(self._pid):
                self._since = now
            self._looked, self._worked = now, worked
        return now - self._since


def _work(pid: int) -> float:
    """Seconds that all threads of a process have computed or waited for a processor."""
    spent = [text.split()[:2] for text in _of_threads(pid, "schedstat")]
    return sum(int(computed) + int(queued) for computed, queued in spent) / 1e9


def _runnable(pid: int) -> bool:
    """Is a thread of a process waiting for a processor or a disk right now? `_work` counts the time
    that a thread has waited only when the wait is over.
    """
    states = [text.rpartition(")")[2].split()[0] for text in _of_threads(pid, "stat")]
    return "R" in states or "D" in states


def _of_threads(pid: int, file: str) -> list[str]:
    """What the system tells in this file of each thread of a process."""
    texts = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError):  # threads come and go
                texts.append(Path(f"/proc/{pid}/task/{thread}/{file}").read_text())
    return [text for text in texts if text]


def listen(path: Path) -> None:
    """Have this process write its stack traces to a file on SIGUSR1."""
    file = path.open("w")
    faulthandler.register(signal.SIGUSR1, file=file, all_threads=True)


def place(pid: int, path: Path) -> list[dict[str, Any]]:
    """Where a process that has called `listen` stands: the innermost line outside libraries."""
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGUSR1)
        end = time.monotonic() + PROMPT
        while not path.stat().st_size and time.monotonic() < end:
            time.sleep(POLL)
        time.sleep(4 * POLL)  # for all of it
        for frame in _FRAME.finditer(path.read_text()):
            file, line = frame["file"], int(frame["line"])
            if not _foreign(file):
                about = {"function": frame["function"], "line": line, "file": Path(file).name}
                return [{**about, "text": linecache.getline(file, line)}]
    return []


def wait(process: child_process.Process, board: Board, path: Path) -> None:
    """Wait until the function of this rank's process has ended.

    Raises:
        Standstill: it waits for others, and those have ended or wait as well. Never before some
            rank has ended: a process can be at rest for reasons that cannot be seen from here.
    """
    rest, lost = Rest(process.pid), None
    while not process.ended(POLL):
        still = rest.seconds() > STILL
        _note_rest(board, still)
        ended = board.notes("ended")
        if lost is None and any(how != RETURNED for how in ended.values()):
            lost = time.monotonic()
        alone = lost is not None and time.monotonic() - lost > ALONE
        if alone or still and ended and len(board.notes("rest") | ended) == board.size:
            frames = place(process.pid, path)
            raise Standstill(_told(board, frames), frames)


def _note_rest(board: Board, still: bool) -> None:
    mine = board.folder / f"{board.rank}.rest"
    if still:
        board.note("rest", "")
    else:
        mine.unlink(missing_ok=True)


def _told(board: Board, frames: list[dict[str, Any]]) -> str:
    at = f" at {frames[0]['function']}:{frames[0]['line']}" if frames else ""
    if frames and frames[0]["text"].strip():
        at += f" (`{frames[0]['text'].strip()[:80]}`)"
    ended = board.notes("ended")
    me = f"rank {board.rank} waits{at}"
    others = ", ".join(f"rank {rank} has {how}" for rank, how in sorted(ended.items()))
    return f"{me} for others to join in, and {others}"


def linger(board: Board) -> None:
    """Stay until nobody needs this rank's process: a runtime breaks when a peer is gone."""
    deadline = time.monotonic() + LINGER
    while len(board.notes("ended")) < board.size and time.monotonic() < deadline:
        time.sleep(POLL)


def _foreign(file: str) -> bool:
    return origin.ours(file) or any(part in file for part in _FOREIGN)
