"""A command as a terminal would run it, from a notebook: `torchrun`, `python`, and their output."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from distlab.processes.environment import interface

#: what a launcher leaves in the environment, and a command of one's own must not believe
_LAUNCHERS = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
_PARTING = 10.0  # seconds in which a launcher ends its ranks


def output_of(command: str, limit: float = 60) -> tuple[str, int]:
    """Run a command and wait for it.

    Args:
        command: words apart by blanks. `python` and `torchrun` are those of this Python.
        limit: seconds after which it is ended, with all processes that it has started.

    Returns:
        What it printed, stdout and stderr in one, and its exit status.
    """
    words = command.split()
    if words[0] == "torchrun":
        words[:1] = [sys.executable, "-m", "torch.distributed.run"]
    elif words[0] == "python":
        words[0] = sys.executable
    kept = {name: value for name, value in os.environ.items() if name not in _LAUNCHERS}
    # a thread for each rank, an interface that reaches this machine wherever it is, and what is
    # printed in the order in which it was
    environment = {
        "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1", **kept,
        "GLOO_SOCKET_IFNAME": interface(kept),
    }  # fmt: skip
    process = subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, errors="replace", env=environment, start_new_session=True,
    )  # fmt: skip
    try:
        output, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        output = _ended(process)
    except KeyboardInterrupt:  # the notebook's stop button
        _ended(process)
        raise
    return output, process.returncode


def _ended(process: subprocess.Popen[str]) -> str:
    """End a process with all that it has started; what it had printed.

    One that went on would keep the pipe open.
    """
    os.killpg(process.pid, signal.SIGTERM)
    try:
        return process.communicate(timeout=_PARTING)[0]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.communicate()[0]


def terminal(command: str, only: str | tuple[str, ...] = "", limit: float = 60) -> None:
    """Run a command and print what a terminal would show of it.

    Args:
        command: as for `output_of`.
        limit: seconds, as for `output_of`.
        only: print lines that begin with this alone, or with one of these; and where the command
            fails, which exceptions it ended with.
    """
    print("$", command)
    output, status = output_of(command, limit)
    for line in output.splitlines():
        if line.startswith(only):
            print(line)
    if status:
        for line in _ended_with(output) if only else ():
            print(line)
        print("exit status", status)


_TRACEBACK = "Traceback (most recent call last):"


def _ended_with(output: str) -> list[str]:
    """Each exception whose traceback was printed, after its last place, or how the output ends.

    Ranks that fail in the same way are told once. A launcher says no more than that its ranks have
    failed, in a traceback of its own whose exception has no text on its line.
    """
    found, place, inside = [], "", False
    for line in output.splitlines():
        if line == _TRACEBACK:
            place, inside = "", True
        elif inside and line.startswith("  File "):
            place = line.strip()
        elif inside and line and not line.startswith(" "):
            inside = False
            if not line.rstrip().endswith(":"):
                found.append(f"{place}: {line}" if place else line)
    return list(dict.fromkeys(found)) or output.splitlines()[-3:]
