"""Many students at once on the Hub, each running lab 01's checks: memory, time, losses.

    /opt/distlab/bin/python bench/hub.py --students 10

As root, like the Hub's trial: twice, with kernels that import for themselves and with kernels that
share what they import. Each student has a server, a kernel and ranks of their own, runs the
lab with everything right, cell by cell over the proxy as a browser would, and hands it in.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import json
import math
import os
import platform
import re
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

COURSE = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(COURSE), str(COURSE / "deploy" / "hub")]

import trial  # noqa: E402
from visitor import Visitor  # noqa: E402

from grader.judging import demo  # noqa: E402

LAB = "01-message-passing"
LOOK = 3.0  # seconds between two looks at the memory: a look costs time that the students miss
MIB = 2**20


@dataclass
class Work:
    """What became of one student's lab.

    Args:
        checks: (exercise, seconds, what was wrong) of each.
        handed_in: submissions that the student is told of.
        interrupted: connections to the kernel that were lost and made again.
    """

    checks: list[tuple[str, float, str]] = field(default_factory=list)
    handed_in: int = 0
    interrupted: int = 0


def work(student: Visitor) -> Work:
    """Run the lab from the top in a new kernel and hand it in, all right."""
    student.assignment("fetch", "distlab", LAB)
    content = demo.handed_in("ada", LAB)
    student.save(f"{LAB}/message_passing.ipynb", content)
    done = Work()
    kernel = student.kernel(LAB)
    for cell in content["cells"]:
        if cell["cell_type"] == "code":
            begin = time.monotonic()
            wrong = kernel.run("".join(cell["source"]))
            name = cell["metadata"].get("nbgrader", {}).get("grade_id", "")
            if name.startswith("test_"):
                done.checks.append(
                    (name.removeprefix("test_"), time.monotonic() - begin, wrong)
                )  # fmt: skip
    kernel.leave()
    done.interrupted = kernel.lost
    student.assignment("submit", "distlab", LAB)
    listed = student.assignments("distlab")
    done.handed_in = sum(len(one.get("submissions", ())) for one in listed)
    return done


def memory(hub: trial.Trial) -> dict[str, int]:
    """Bytes of all processes of each of the trial's users, and of root for the Hub itself; what
    several processes share is counted in shares (PSS).
    """
    used = dict.fromkeys([*hub.users(), "root"], 0)
    own = {pid: "root" for pid in hub.own_processes()}
    for pid, name in {**hub.processes(), **own}.items():
        with contextlib.suppress(OSError):  # it has just ended
            rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
            used[name] += sum(1024 * int(kib) for kib in re.findall(r"^Pss:\s+(\d+)", rollup, re.M))
    return used


def processor(hub: trial.Trial) -> dict[str, float]:
    """Seconds of a core that each user's processes, and those they waited for, have had."""
    used = dict.fromkeys(hub.users(), 0.0)
    for pid, name in hub.processes().items():
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
            used[name] += sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return used


def measure(hub: trial.Trial, names: list[str]) -> dict[str, object]:
    """All students at once: log in, start, work; returns the figures, memory in MiB."""
    with concurrent.futures.ThreadPoolExecutor(len(names)) as pool:
        students = list(pool.map(lambda name: Visitor(hub, name), names))
        starts = list(pool.map(Visitor.start, students))
        before, started = memory(hub), processor(hub)
        begin = time.monotonic()
        running = [pool.submit(work, one) for one in students]
        most = before
        while concurrent.futures.wait(running, LOOK).not_done:
            most = {name: max(most[name], size) for name, size in memory(hub).items()}
        took, ended = time.monotonic() - begin, processor(hub)
    works = [one.result() for one in running if not one.exception()]
    checks = [check for one in works for check in one.checks]
    slowest = max(checks, key=lambda check: check[1], default=("", math.nan, ""))
    cores = [ended[name] - started[name] for name in names]
    idle, working = ([size[name] / MIB for name in names] for size in (before, most))
    return {
        "machine": f"{os.cpu_count()} cores ({platform.machine()}), {versions()}",
        "students at once": len(names),
        "slowest start of a server": f"{max(starts):.1f} s",
        "a student's server, nothing open": f"{statistics.median(idle):.0f} MiB",
        "the same with a kernel and ranks": f"{statistics.median(working):.0f} MiB, "
        f"at most {max(working):.0f} MiB",
        "all processes of the students": f"{sum(most[name] for name in names) / MIB:.0f} MiB",
        "the course's server": f"{most[trial.GRADER] / MIB:.0f} MiB",
        "the Hub, its proxy and its culler": f"{most['root'] / MIB:.0f} MiB",
        "all students through the lab": f"{took:.0f} s",
        "a core, for the start of a server": f"{statistics.median(map(started.get, names)):.1f} s",
        "a core, for a student's lab": f"{statistics.median(cores):.1f} s",
        "checks": len(checks),
        "median check": f"{statistics.median(check[1] for check in checks):.2f} s",
        "slowest check": f"{slowest[1]:.2f} s ({slowest[0]})",
        "connections lost and made again": sum(one.interrupted for one in works),
        "checks that were not passed": [check for check in checks if check[2]],
        "students who were lost": [
            f"{name}: {one.exception()!r}" for name, one in zip(names, running, strict=True)
            if one.exception()
        ],
        "submissions": sum(one.handed_in for one in works),
    }  # fmt: skip


def versions() -> str:
    """What is measured, in words."""
    told = [f"{name} {metadata.version(name)}" for name in ("jupyterhub", "jupyterlab", "torch")]
    return ", ".join([f"Python {platform.python_version()}", *told])


def on_trial(names: list[str], shared: bool) -> dict[str, object]:
    """The figures of a Hub of its own, whose kernels share what they import or do not."""
    folder = Path(tempfile.mkdtemp(prefix="distlab-hub-"))
    folder.chmod(0o755)
    hub = trial.Trial(folder / "hub")
    try:
        hub.up(names, shared_memory=shared)
        return measure(hub, names)
    finally:
        if hub.users():
            hub.down()
        folder.rmdir()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--students", type=int, default=10)
    parser.add_argument("--json", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    names = [f"student{number:02}" for number in range(1, arguments.students + 1)]
    both = {"shared_memory: false": on_trial(names, False), "true": on_trial(names, True)}
    print(f"{'':34} {'shared_memory: false':38} true")
    for name in both["true"]:
        alone, shared = (str(one[name] if one[name] != [] else "none") for one in both.values())
        print(f"{name:34} {alone:38} {shared}" if alone != shared else f"{name:34} {shared}")
    if arguments.json:
        arguments.json.write_text(json.dumps(both, indent=1) + "\n")
    failed = [
        one for one in both.values()
        if one["students who were lost"] or one["checks that were not passed"]
        or one["submissions"] != len(names)
    ]  # fmt: skip
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
