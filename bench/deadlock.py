"""How soon is a hang known, and what does one learn? Ours against what torch itself offers.

    python bench/deadlock.py [--timeout 5]

Runs the hanging programs of the tests three ways: under distlab's watcher, with
TORCH_DISTRIBUTED_DEBUG=DETAIL, and with a plain group; the last two with a timeout on the group
(torch's own default is 30 minutes). Needs about three minutes on two cores.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")

import torch.distributed as dist
from programs.hanging import PROGRAMS, Program
from programs.runner import observe

from distlab.engines.forked import ForkedEngines

AT_ONCE = 8  # programs that hang side by side


def rank_of(program: Program, rank: int, folder: Path, detail: bool, timeout: float) -> None:
    """The life of one rank without distlab; its error goes to a file. Never returns."""
    try:
        with open(os.devnull, "w") as null:
            os.dup2(null.fileno(), 1)
            os.dup2(null.fileno(), 2)
        os.environ["TORCH_DISTRIBUTED_DEBUG"] = "DETAIL" if detail else "OFF"
        dist.set_debug_level_from_env()
        dist.init_process_group(
            "gloo", store=dist.FileStore(str(folder / "store"), program.size), rank=rank,
            world_size=program.size, timeout=datetime.timedelta(seconds=timeout),
        )  # fmt: skip
        begin = time.monotonic()
        try:
            program.run(rank, program.size)
        except (RuntimeError, ValueError) as error:
            text = f"{time.monotonic() - begin:.1f}\n{type(error).__name__}: {error}"
            (folder / f"{rank}.error").write_text(text)
        # a rank that goes away makes its peers fail, which would not tell a hang from a crash
        time.sleep(60)
    finally:
        os._exit(0)


def batch(programs: list[Program], detail: bool, timeout: float, folder: Path) -> list[str]:
    """What a user sees of each program within twice the timeout."""
    pids: dict[int, tuple[int, int]] = {}
    crashed: set[int] = set()
    try:
        for number, program in enumerate(programs):
            (folder / str(number)).mkdir()
            for rank in range(program.size):
                pid = os.fork()
                if pid == 0:
                    rank_of(program, rank, folder / str(number), detail, timeout)
                pids[pid] = (number, rank)
        end = time.monotonic() + 2 * timeout + 4
        while time.monotonic() < end:
            with contextlib.suppress(ChildProcessError):
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid in pids:
                    number, _ = pids.pop(pid)
                    if os.WIFSIGNALED(status):
                        crashed.add(number)
            time.sleep(0.05)
        # read before the rest is killed: that makes errors of its own on their peers
        return [
            told(folder / str(number), number in crashed, program)
            for number, program in enumerate(programs)
        ]
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def told(folder: Path, crashed: bool, program: Program) -> str:
    """The most telling thing that any rank printed."""
    found = []
    for file in sorted(folder.glob("*.error")):
        seconds, text = file.read_text().split("\n", 1)
        found.append((says(text, program), float(seconds)))
    for worth in ("names the collectives", "names the missing rank", "timeout", "another error"):
        seconds = [s for what, s in found if what == worth]
        if seconds:
            after = f"{worth} after {min(seconds):.1f} s"
            return f"crash; {after}" if crashed else after
    return "crash" if crashed else "nothing"


def says(text: str, program: Program) -> str:
    lower = text.lower()
    if any(own in lower for own in ("no luck today", "out of data", "contiguous")):
        return "the program's own error"
    if "mismatch between collective" in lower or "collectivefingerprint" in lower:
        return "names the collectives"
    if "monitoredbarrier" in lower or "failed to pass" in lower:
        return "names the missing rank"
    return "timeout" if "timed out" in lower or "timeout" in lower else "another error"


def ours() -> dict[str, tuple[str, str]]:
    """For each program our class of verdict, and seconds from the last rank blocking to it."""
    seen = {}
    with tempfile.TemporaryDirectory() as folder:
        forked = ForkedEngines(max(program.size for program in PROGRAMS), Path(folder))
        try:
            for program in PROGRAMS:
                one = observe(forked, program.name, program.run, program.size)
                seconds = f"{one.lag:.2f}" if one.kind else "—"
                seen[program.name] = one.kind or "none", seconds
        finally:
            forked.close()
    return seen


def torchs(detail: bool, timeout: float) -> dict[str, str]:
    seen = {}
    for first in range(0, len(PROGRAMS), AT_ONCE):
        some = PROGRAMS[first : first + AT_ONCE]
        with tempfile.TemporaryDirectory() as folder:
            for program, what in zip(some, batch(some, detail, timeout, Path(folder)), strict=True):
                seen[program.name] = what
    return seen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--timeout", type=float, default=5.0, help="of torch's groups, in seconds")
    options = parser.parse_args()
    detail, plain = (torchs(detail, options.timeout) for detail in (True, False))
    mine = ours()
    row = "{:38} {:>5}  {:13} {:>7}  {:40} {}".format
    print(
        row("program", "ranks", "verdict", "seconds", "DETAIL", f"timeout={options.timeout:.0f} s")
    )
    for program in PROGRAMS:
        name = program.name
        print(row(name, program.size, *mine[name], detail[name], plain[name]))
    times = sorted(float(s) for _, s in mine.values() if s != "—")
    print(
        f"\n{len(times)} of {len(PROGRAMS)} proven; seconds from the last rank blocking: "
        f"median {times[len(times) // 2]:.2f}, longest {times[-1]:.2f}"
    )


if __name__ == "__main__":
    main()
