"""What a check costs where ranks are spawned: without /proc, /dev/shm, `prctl` and fork.

python -m bench.laptop
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from bench import Row, header, in_turn, show
from distlab import course

sys.path.append(str(Path(__file__).parent.parent / "tests"))
import elsewhere  # noqa: E402  # what the tests hide Linux with

REPEATS = 3
LABS = list(course.LABS)[:3]
_CHECKS = """
import time
import torch.distributed as dist
from distlab import check
def exchange(rank, size, tensor):
    import torch
    received = torch.empty_like(tensor)
    requests = [dist.isend(tensor, rank ^ 1), dist.irecv(received, rank ^ 1)]
    for request in requests:
        request.wait()
    return received
begin = time.perf_counter()
check(exchange)
first = time.perf_counter() - begin
times = []
for _ in range(9):
    begin = time.perf_counter()
    check(exchange)
    times.append(time.perf_counter() - begin)
print(first, sorted(times)[4])
"""


def measure() -> Iterator[Row]:
    pairs = [_checks(hidden) for _ in range(REPEATS) for hidden in (True, False)]
    for which, what in enumerate(("the first check of a notebook", "each later one")):
        there, usual = ([pair[which] for pair in pairs[at::2]] for at in (0, 1))
        yield Row(f"{what}, without Linux", there, usual, "forked ranks")
    for lab in LABS:
        words = ["-m", "distlab", "check", str(elsewhere.ROOT / "solutions" / lab)]
        there, usual = in_turn(
            lambda words=words: _seconds(words, True), lambda words=words: _seconds(words, False),
            REPEATS,
        )  # fmt: skip
        yield Row(f"lab {lab} answered and checked, without Linux", there, usual, "forked ranks")


def _checks(hidden: bool) -> tuple[float, float]:
    """Seconds of a first check and of a later one, in a process of its own."""
    first, later = _run(["-c", _CHECKS], hidden).split()[-2:]
    return float(first), float(later)


def _seconds(words: list[str], hidden: bool) -> float:
    begin = time.perf_counter()
    said = _run(words, hidden)
    seconds = time.perf_counter() - begin
    if any("passed" not in line for line in said.splitlines()):
        raise RuntimeError(f"not all passed:\n{said}")
    return seconds


def _run(words: list[str], hidden: bool) -> str:
    command, env = [sys.executable, *words], dict(os.environ)
    if hidden:
        if not elsewhere.possible():
            raise RuntimeError("this kernel allows no namespaces of mounts: run it as root")
        command, env = elsewhere.covered(command), elsewhere.environment()
    done = subprocess.run(
        command, env=env, cwd=elsewhere.ROOT / "labs" / LABS[0], capture_output=True, text=True,
        timeout=900,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return done.stdout


if __name__ == "__main__":
    print(header())
    show(measure())
