"""A large class in one run: does grading it stay as fast and as small as it began?

    python bench/class_size.py [--submissions 1000] [--jobs N]

Each submission answers one exercise of lab 01, some of them wrongly, with a deadlock or a crash.
While `distlab grade` works, its memory, open files, ports and temporary files are counted;
a line is printed for every tenth of the class. Nothing may grow, and nothing may be left.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "bench")]

import collected  # noqa: E402
import grading  # noqa: E402

LAB = grading.LAB
TEMPORARY = Path(tempfile.gettempdir())


def hand_in(folder: Path, count: int) -> None:
    """Submissions that each answer one exercise in one of the collected ways."""
    blank = collected.course.released(LAB)
    ways = [a for a in collected.answers(LAB) if a.expected.get("status") != "timeout"]
    for number in range(count):
        answer = ways[number * 7 % len(ways)]
        text = f"{answer.source}\n# {number}\n"
        content = collected.filled(blank, **{answer.exercise: text})
        collected.hand_in(folder, f"s{number:04}", LAB, content)


def tree(pid: int) -> list[int]:
    """A process and all that came of it."""
    children: dict[int, list[int]] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        children.setdefault(int(words[1]), []).append(int(status.parent.name))
    found, ahead = [], [pid]
    while ahead:
        found.append(ahead.pop())
        ahead += children.get(found[-1], [])
    return found


def memory(pids: list[int]) -> float:
    """MiB that these processes use together, shared pages divided among who shares them."""
    total = 0
    for pid in pids:
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024


def state(pid: int) -> tuple[float, float, int]:
    """(MiB of the grader, MiB of all its processes, open files of the grader)."""
    return memory([pid]), memory(tree(pid)), len(os.listdir(f"/proc/{pid}/fd"))


def surroundings() -> tuple[int, int]:
    """(temporary files of ours, listening ports of the machine)."""
    files = sum(1 for entry in TEMPORARY.iterdir() if entry.name.startswith("distlab-"))
    ports = sum(" 0A " in line for line in Path("/proc/net/tcp").read_text().splitlines())
    return files, ports


def run(count: int, jobs: int) -> None:
    with tempfile.TemporaryDirectory(prefix="bench-class-") as name:
        grades = Path(name)
        hand_in(grades, count)
        before = surroundings()
        grader = subprocess.Popen(
            [sys.executable, "-m", "distlab", "grade", LAB, f"--jobs={jobs}"], cwd=ROOT,
            env={**os.environ, "DISTLAB_GRADES": name}, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )  # fmt: skip
        print(f"{'entered':>8} {'a minute':>9} {'grader MiB':>11} {'all MiB':>8} {'files':>6}")
        last, since, step = 0, time.monotonic(), max(count // 10, 1)
        entered = grades / "ledger" / LAB
        while grader.poll() is None:
            done = sum(1 for _ in entered.glob("*.entered")) if entered.exists() else 0
            if done >= last + step:
                now = time.monotonic()
                own, everyone, files = state(grader.pid)
                print(f"{done:8} {60 * (done - last) / (now - since):9.1f} {own:11.0f} "
                      f"{everyone:8.0f} {files:6}", flush=True)  # fmt: skip
                last, since = done, now
            time.sleep(0.5)
        after = surroundings()
    print(f"exit status {grader.returncode}; temporary files {before[0]} before, {after[0]} after; "
          f"ports {before[1]} before, {after[1]} after")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--submissions", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=2 * os.cpu_count())
    arguments = parser.parse_args()
    run(arguments.submissions, arguments.jobs)


if __name__ == "__main__":
    main()
