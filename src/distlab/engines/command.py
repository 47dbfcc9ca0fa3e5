"""Commands run from a notebook as a terminal would run them: `torchrun`, `python`, their output."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
import tty
from collections import Counter
from dataclasses import dataclass, field

from distlab.engines import progress
from distlab.processes import run_delay, wrong_argument
from distlab.processes.environment import interface

#: variables that a launcher sets, and that a command run from here must not take for its own
_LAUNCHERS = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
_PARTING = 10.0  # seconds in which a launcher ends its ranks


@wrong_argument.takes(f"output_of {wrong_argument.A_COMMAND}")
def output_of(command: str, limit: float = 60) -> tuple[str, int]:
    """Run a command and wait for it.

    Args:
        command: words separated by blanks. `python` and `torchrun` are those of this Python.
        limit: seconds after which it is ended, with all processes that it has started.

    Returns:
        What it printed, stdout and stderr together, and its exit status.

    Raises:
        WrongArgument: it is no text, or empty; or `limit` is no positive number.
    """
    output, status, _ = _run(command, limit)
    return output, status


def _run(command: str, limit: float) -> tuple[str, int, bool]:
    """What a command printed, its exit status, and whether the limit ended it."""
    words = wrong_argument.text(command, "a terminal").split()
    limit = min(wrong_argument.seconds(limit, "limit"), threading.TIMEOUT_MAX)
    if words[0] == "torchrun":
        words[:1] = [sys.executable, "-m", "torch.distributed.run"]
    elif words[0] == "python":
        words[0] = sys.executable
    kept = {name: value for name, value in os.environ.items() if name not in _LAUNCHERS}
    kept.pop("PYTHONUNBUFFERED", None)  # as images of containers have it: see `_terminal_pair`
    # a thread for each rank, an interface that reaches this machine wherever it is, and tracebacks
    # in one colour, which Python 3.13 has several of on a terminal: `_ended_with` reads them
    environment = {
        "OMP_NUM_THREADS": "1", **kept, "GLOO_SOCKET_IFNAME": interface(kept), "PYTHON_COLORS": "0",
    }  # fmt: skip
    screen, end = _terminal_pair()
    try:
        shown = _Shown(screen)  # before the process: it may be that no thread can start
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=end, stderr=end, env=environment,
            start_new_session=True,
        )  # fmt: skip
    except OSError as error:  # told as a shell tells it
        if isinstance(error, FileNotFoundError):
            return f"{words[0]}: command not found\n", 127, False
        return f"{words[0]}: {error.strerror}\n", 126, False
    finally:
        os.close(end)
    late = False
    try:
        latest = time.monotonic() + limit
        shown.join(limit)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, latest - time.monotonic()))
        if shown.is_alive() or process.returncode is None:
            _end(process, shown)
            late = True
    except BaseException:  # the notebook's stop button
        _end(process, shown)
        raise
    return shown.text(), process.returncode, late


def _terminal_pair() -> tuple[int, int]:
    """A pseudo-terminal, as descriptors to read from and to print to.

    On a terminal Python prints a line at once. Into a pipe it prints either long after the moment
    or, unbuffered, `print("rank", 1)` in four pieces, and two ranks' lines mix.
    """
    try:
        screen, end = os.openpty()
    except OSError:  # a container without any
        return os.pipe()
    tty.setraw(end)  # a line ends as the program ends it
    return screen, end


class _Shown(threading.Thread):
    """Collects what is printed to a pseudo-terminal until nobody has it open any more, and closes
    it then.
    """

    def __init__(self, screen: int) -> None:
        super().__init__(daemon=True)
        self._screen, self._parts = screen, list[bytes]()
        try:
            self.start()
        except BaseException:
            os.close(screen)
            raise

    def run(self) -> None:
        with contextlib.suppress(OSError):  # how Linux says that the other end is closed
            while part := os.read(self._screen, 1 << 16):
                self._parts.append(part)
        os.close(self._screen)

    def text(self) -> str:
        return b"".join(self._parts).decode(errors="replace")


def _end(process: subprocess.Popen[bytes], shown: _Shown) -> None:
    """End a process with all that it has started: one that went on would keep printing."""
    others: list[int] = []  # as descriptors: a number may be another process's by then
    try:
        for sign in (signal.SIGTERM, signal.SIGKILL):
            others += _opened(process.pid)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, sign)
            if _ended(process, shown):
                break
    finally:
        for other in others:  # torchrun's ranks have sessions of their own
            with contextlib.suppress(OSError):
                signal.pidfd_send_signal(other, signal.SIGKILL)
            os.close(other)
    _ended(process, shown)


def _opened(pid: int) -> list[int]:
    """Descriptors of the processes that a process has started, where the system tells."""
    found: list[int] = []
    if not hasattr(os, "pidfd_open"):  # conda-forge's Python for old kernels, say
        return found
    for other in run_delay.started(pid):
        with contextlib.suppress(OSError):
            found.append(os.pidfd_open(int(other)))
    return found


def _ended(process: subprocess.Popen[bytes], shown: _Shown) -> bool:
    """Wait for a while; has the process ended, and has everybody closed the terminal?"""
    shown.join(_PARTING)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_PARTING)
    return not shown.is_alive() and process.returncode is not None


@wrong_argument.takes(f"terminal {wrong_argument.A_COMMAND}")
def terminal(command: str, only: str | tuple[str, ...] = "", limit: float = 60) -> None:
    """Run a command and print what a terminal would show of it.

    Args:
        command: as for `output_of`.
        limit: seconds, as for `output_of`.
        only: print lines that begin with this alone, or with one of these; and where the command
            fails, which exceptions it ended with.
    """
    print("$", wrong_argument.text(command, "terminal"))
    with progress.interruptible("the command runs"):
        output, status, late = _run(command, limit)
    for line in output.splitlines():
        if line.startswith(only):
            print(line)
    if status:
        for line in _ended_with(output) if only else ():
            print(line)
        print(f"not done after {limit:g} s, and ended" if late else f"exit status {status}")


_TRACEBACK = "Traceback (most recent call last):"


@dataclass
class _Tracebacks:
    """Tracebacks whose lines came between each other's: of ranks that failed at the same moment."""

    begun: int = 0
    places: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def inside(self) -> bool:
        return len(self.errors) < self.begun

    def told(self) -> list[str]:
        """Each exception, after its last place where all of the tracebacks went through the same:
        else it may be another one's.
        """
        alike = all(n % self.begun == 0 for n in Counter(self.places).values())
        place = self.places[-1] + ": " if self.places and alike and not self.inside() else ""
        # a launcher says no more than that its ranks have failed, and has no text on that line
        return [place + error for error in self.errors if not error.rstrip().endswith(":")]


def _ended_with(output: str) -> list[str]:
    """Each exception whose traceback was printed, after its last place, or how the output ends.

    Ranks that fail in the same way are told once.
    """
    groups = [_Tracebacks()]
    for line in output.splitlines():
        last = groups[-1]
        if line == _TRACEBACK:
            if not last.inside():
                groups.append(last := _Tracebacks())
            last.begun += 1
        elif last.inside() and line.startswith("  File "):
            last.places.append(line.strip())
        elif last.inside() and line and not line.startswith(" "):
            last.errors.append(line)
    found = [one for group in groups for one in group.told()]
    return list(dict.fromkeys(found)) or output.splitlines()[-3:]
