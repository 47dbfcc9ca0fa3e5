"""Kill the grader at random moments, run it again: is the gradebook what it would have been?

    python bench/kills.py [--times 50] [--seed 1]

A small class is graded once without disturbance. Then `distlab grade` is started again and again
and killed with SIGKILL after a random time; whenever a run gets through, and after the last kill,
its gradebook, ledger and feedback are compared with those of the undisturbed run. A class that is
done starts again from nothing, so that kills hit every stage.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT)]

from grader import collected  # noqa: E402
from grader.judging import demo  # noqa: E402

LAB = "01-message-passing"
QUERY = """
    select student.id, base_cell.name, grade.auto_score, grade.manual_score,
           grade.needs_manual_grade
    from grade
    join submitted_notebook on grade.notebook_id = submitted_notebook.id
    join submitted_assignment on submitted_notebook.assignment_id = submitted_assignment.id
    join student on submitted_assignment.student_id = student.id
    join base_cell on grade.cell_id = base_cell.id
"""


def hand_in(grades: Path) -> None:
    """A class of six: all right, sum for mean, deadlock, crash, untouched, no notebook."""
    answers = collected.ANSWERS / LAB
    right = demo.handed_in("ada", LAB)
    written = {
        "right": right,
        "sum": _with(right, group_mean=answers / "group_mean" / "wrong_sum.py"),
        "deadlock": _with(right, exchange=answers / "exchange" / "wrong_both_send_first.py"),
        "crash": collected.filled(right, relay="import os\nos._exit(1)"),
        "untouched": collected.coursedir.released(LAB),
        "broken": "{",
    }
    for student, content in written.items():
        collected.hand_in(grades, student, LAB, content)


def _with(right: dict, **paths: Path) -> dict:
    return collected.filled(right, **{name: path.read_text() for name, path in paths.items()})


def start(grades: Path) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "distlab", "grade", LAB, "--json", str(grades / "report.json")],
        cwd=ROOT, env={**os.environ, "DISTLAB_GRADES": str(grades)},
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def outcome(grades: Path) -> dict:
    """All that a grading run leaves, without what differs between two undisturbed ones."""
    with sqlite3.connect(grades / "gradebook.db") as database:
        rows = sorted(map(list, database.execute(QUERY)), key=str)
    report = json.loads((grades / "report.json").read_text())
    for one in report["submissions"]:
        del one["seconds"]
    feedback = sorted(str(p.relative_to(grades)) for p in grades.glob("feedback/*/*/*.html"))
    leftovers = sorted(p.name for p in grades.rglob("*.tmp"))
    return {"gradebook": rows, "report": report, "feedback": feedback, "left over": leftovers}


def _parting(expected, found, where: str) -> Iterator[str]:
    """Where two outcomes part, a line each."""
    if expected == found:
        return
    alike = type(expected) is type(found) and len(expected) == len(found) if _deep(found) else False
    if not alike:
        yield f"  {where}: {expected!r:.300} undisturbed, {found!r:.300} here"
        return
    keys = expected if isinstance(expected, dict) else range(len(expected))
    for key in keys:
        other = found.get(key) if isinstance(found, dict) else found[key]
        yield from _parting(expected[key], other, f"{where}[{key!r}]")


def _deep(value) -> bool:
    return isinstance(value, (dict, list))


def run(times: int, seed: int) -> int:
    """Kill `times` times; returns how many comparisons differed."""
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        calm, grades = Path(folder) / "calm", Path(folder) / "grades"
        hand_in(calm)
        begin = time.monotonic()
        if start(calm).wait() != 0:
            raise SystemExit("the undisturbed run failed: run `distlab grade --demo` to see why")
        whole = time.monotonic() - begin
        expected = outcome(calm)
        print(f"undisturbed: {whole:.1f} s, {len(expected['gradebook'])} grades", flush=True)
        hand_in(grades)
        kills = compared = differing = 0
        while kills < times or compared == 0:
            grader = start(grades)
            try:
                grader.wait(chance.uniform(0, whole) if kills < times else None)
            except subprocess.TimeoutExpired:
                grader.send_signal(signal.SIGKILL)
                grader.wait()
                kills += 1
                compared = 0 if kills == times else compared
                continue
            compared += 1
            found = outcome(grades)
            wrong = [name for name in expected if found[name] != expected[name]]
            differing += bool(wrong)
            print(f"{kills} kills: {'the same' if not wrong else f'{wrong} differ'}", flush=True)
            for name in wrong:
                print("\n".join(_parting(expected[name], found[name], name)), flush=True)
            shutil.rmtree(grades)
            hand_in(grades)
    print(f"{kills} kills, {differing} runs that ended otherwise")
    return differing


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    raise SystemExit(1 if run(arguments.times, arguments.seed) else 0)


if __name__ == "__main__":
    main()
