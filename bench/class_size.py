"""A large class in one run: does grading it stay as fast and as small as it began?

    python bench/class_size.py [--submissions 1000] [--jobs N]

Each submission answers one exercise of lab 01, some of them wrongly, with a deadlock or a crash.
While `distlab grade` works, its memory, open files, ports and temporary files are counted;
a line is printed for every tenth of the class. Nothing may grow, nothing may be left, and everybody
is graded.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "bench")]

import grading  # noqa: E402
from hostile.trial import processes_of  # noqa: E402

from grader import collected  # noqa: E402

LAB = grading.LAB


def hand_in(folder: Path, count: int) -> None:
    """Submissions that each answer one exercise in one of the collected ways."""
    blank = collected.coursedir.released(LAB)
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


def state(pid: int) -> tuple[float, float, int, int]:
    """(MiB of the grader, MiB of all its processes, its open files, all ports they listen at)."""
    own = tree(pid)
    files = len(os.listdir(f"/proc/{pid}/fd"))
    return memory([pid]), memory(own), files, ports(own)


def ports(pids: list[int]) -> int:
    """At how many TCP ports these processes listen, in network namespaces of their own too."""
    found = set()
    for pid in pids:
        with contextlib.suppress(OSError):
            listening = Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]
            inodes = {line.split()[9] for line in listening if line.split()[3] == "0A"}
            held = {os.readlink(entry) for entry in Path(f"/proc/{pid}/fd").iterdir()}
            found |= {inode for inode in inodes if f"socket:[{inode}]" in held}
    return len(found)


def run(count: int, jobs: int) -> None:
    with tempfile.TemporaryDirectory(prefix="bench-class-") as name:
        grades, temporary, report = Path(name), Path(name, "tmp"), Path(name, "report.json")
        temporary.mkdir()
        hand_in(grades, count)
        grader = subprocess.Popen(
            [sys.executable, "-m", "distlab", "grade", LAB, f"--jobs={jobs}", f"--json={report}"],
            cwd=ROOT,
            env={**os.environ, "DISTLAB_GRADES": name, "TMPDIR": str(temporary)},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        print(f"{'entered':>8} {'a minute':>9} {'grader MiB':>11} {'all MiB':>8} {'files':>6} "
              f"{'ports':>6}")  # fmt: skip
        last, since, step = 0, time.monotonic(), max(count // 10, 1)
        entered = grades / "ledger" / LAB
        while grader.poll() is None:
            done = sum(1 for _ in entered.glob("*.entered")) if entered.exists() else 0
            if done >= last + step:
                now = time.monotonic()
                own, everyone, files, listening = state(grader.pid)
                print(f"{done:8} {60 * (done - last) / (now - since):9.1f} {own:11.0f} "
                      f"{everyone:8.0f} {files:6} {listening:6}", flush=True)  # fmt: skip
                last, since = done, now
            time.sleep(0.5)
        left = [path.name for path in temporary.iterdir()]
        living = processes_of(name)
        graded = json.loads(report.read_text("utf-8"))["submissions"]
    print(f"exit status {grader.returncode}; left behind: {len(left)} temporary files, "
          f"{len(living)} processes")  # fmt: skip
    for one in graded:
        if one["score"] is None:
            print(f"not graded: {one}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--submissions", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=2 * os.cpu_count())
    arguments = parser.parse_args()
    run(arguments.submissions, arguments.jobs)


if __name__ == "__main__":
    main()
