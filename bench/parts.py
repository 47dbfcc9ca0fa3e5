"""Where the processor time of a program and all that it starts goes, by the kind of process.

Processes that a program forks end within a second, many of them by a signal, and what they took is
then nowhere to be found: nobody waits for those in a namespace of their own. So a process beside
it looks at all of them every few milliseconds, as long as they live, and keeps what it saw last.
A process loses what it did since the last look, which makes these figures lower bounds.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import json
import os
import select
import subprocess
import sys
import time
from pathlib import Path

PAUSE = 0.005  # seconds between two looks
#: what a process is that another of a kind has started
_BELOW = {"zygote": "session", "session": "room", "room": "rank", "rank": "rank"}
#: words in the command line of what a grader starts, and what that is
_STARTED = {"distlab.processes.forkserver": "zygote", "grader.reports.rendering": "pages"}


@dataclasses.dataclass
class Part:
    """The processes of one kind: how many there were, and seconds of a processor."""

    count: int = 0
    seconds: float = 0.0


class Watched:
    """The processes that came of one, as far as they were seen; without the one that looks."""

    def __init__(self, root: int) -> None:
        self._kinds = {root: "main"}
        self._others = {os.getpid()}  # that did not come of it
        self._seen: dict[int, dict[str, int]] = collections.defaultdict(dict)

    def look(self) -> None:
        """Note what each process has had."""
        for name in os.listdir("/proc"):
            if name.isdecimal() and (pid := int(name)) not in self._others:
                with contextlib.suppress(OSError, ValueError, IndexError):  # it has just ended
                    self._look_at(pid)

    def _look_at(self, pid: int) -> None:
        if pid not in self._kinds:
            stat = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
            parent = int(stat.rpartition(")")[2].split()[1])
            if parent not in self._kinds:
                self._others.add(pid)
                return
            self._kinds[pid] = kind_of(self._kinds[parent], _command(pid))
        for task in os.listdir(f"/proc/{pid}/task"):
            told = Path(f"/proc/{pid}/task/{task}/schedstat").read_text("ascii")
            self._seen[pid][task] = int(told.split()[0])  # nanoseconds (proc(5))

    def parts(self) -> dict[str, Part]:
        """What was seen, by kind."""
        found: dict[str, Part] = collections.defaultdict(Part)
        for pid, kind in self._kinds.items():
            found[kind].count += 1
            found[kind].seconds += sum(self._seen[pid].values()) / 1e9
        return found


def _command(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")


def kind_of(parent: str, command: str) -> str:
    """What a process is, by what started it and its command line.

    A zygote starts sessions, these start rooms, and rooms start ranks and the process of the cells.
    """
    if parent in _BELOW:
        return _BELOW[parent]
    if "bwrap" in command.split(" ", 1)[0]:
        return "sandbox"
    return next((kind for word, kind in _STARTED.items() if word in command), "other")


class Parts:
    """A context manager: looks at this process and all that it starts until the block ends."""

    def __enter__(self) -> Parts:
        self.found: dict[str, Part] = {}
        self._beside = subprocess.Popen(
            [sys.executable, "-m", "bench.parts", str(os.getpid())], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=Path(__file__).parents[1],
        )  # fmt: skip
        assert self._beside.stdout is not None
        self._beside.stdout.readline()  # what ends before it looks is not seen
        return self

    def __exit__(self, *exc: object) -> None:
        told, _ = self._beside.communicate()
        self.found = {kind: Part(**part) for kind, part in json.loads(told).items()}

    @property
    def seconds(self) -> float:
        return sum(part.seconds for part in self.found.values())

    def told(self, of: int) -> str:
        """A sentence on the parts of each of so many submissions, the largest first."""
        largest = sorted(self.found.items(), key=lambda one: -one[1].seconds)
        return ", ".join(
            f"{kind} {part.seconds / of:.2f} s ({part.count / of:.1f} processes)"
            for kind, part in largest
        )


def main() -> None:
    """Look at the process whose number is given until standard input ends; print what was seen,
    after a line that says that it looks.
    """
    watched = Watched(int(sys.argv[1]))
    watched.look()
    print("looks", flush=True)
    while not select.select([sys.stdin], [], [], 0)[0]:
        watched.look()
        time.sleep(PAUSE)
    print(json.dumps({kind: vars(part) for kind, part in watched.parts().items()}))


if __name__ == "__main__":
    main()
