"""A class graded by `distlab grade` and by stock nbgrader with `mp.spawn` in each check.

    python -m bench.grading [--submissions 40] [--stock 2] [--jobs N]

The class hands in lab 01: mostly right answers written in many ways, every fifth with a mistake,
every tenth with a deadlock. distlab grades all of it, in its sandbox, into gradebook and feedback,
and a class without mistakes as well. Stock nbgrader grades `--stock` ordinary submissions and one
with a deadlock, with the same cases and references; its rate for the class is computed from their
mix. Also printed is how long the students' own functions ran of the time that grading them took.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT)]

from bench import Row, header, show  # noqa: E402
from bench.parts import Parts  # noqa: E402
from distlab import course  # noqa: E402
from distlab.checking import session  # noqa: E402
from grader import collected, coursedir, paths  # noqa: E402

LAB = "01-message-passing"
NAME = course.notebook_name(LAB)
DEADLOCKS = 0.1
STOCK_TIMEOUT = 60  # seconds of a cell, as nbgrader's ExecutePreprocessor.timeout

_CONFIG = """
c = get_config()
c.CourseDirectory.root = {root!r}
c.CourseDirectory.course_id = "stock"
c.ExecutePreprocessor.timeout = {timeout}
c.ClearSolutions.code_stub = {{"python": "raise NotImplementedError()"}}
"""
_TEST = "from stock_check import check\n\ncheck({exercise!r}, {name})"


def answers(count: int, seed: int = 1, ordinary: bool = False) -> list[dict[str, str]]:
    """{exercise: source} of each submission, the same each time.

    Args:
        ordinary: all of them right.
    """
    chance = random.Random(seed)
    names = list(course.exercises(LAB))
    right = {n: [a for a in collected.answers(LAB, n) if a.right] for n in names}
    wrong = {n: [a for a in collected.answers(LAB, n) if not a.right] for n in names}
    hanging = [a for n in names for a in wrong[n] if a.expected.get("status") == "deadlock"]
    quick = {n: [a for a in wrong[n] if "status" not in a.expected] for n in names}
    made = []
    for number in range(count):
        chosen = {n: chance.choice(right[n]).source for n in names}
        made.append(chosen)
        if ordinary:
            continue
        if number % round(1 / DEADLOCKS) == 0:
            answer = chance.choice(hanging)
            chosen[answer.exercise] = answer.source
        elif number % 5 == 1:
            name = chance.choice([n for n in names if quick[n]])
            chosen[name] = chance.choice(quick[name]).source
    return made


class OwnTime:
    """Seconds in which the students' functions ran, the longest rank of each run counted."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._run = session.Session.run

    def __enter__(self) -> OwnTime:
        def run(*arguments):
            done = self._run(*arguments)
            self.seconds += max(outcome.seconds for outcome in done.outcomes)
            return done

        session.Session.run = run
        return self

    def __exit__(self, *exc) -> None:
        session.Session.run = self._run


def ours(folder: Path, sources: list[dict[str, str]], jobs: int) -> tuple[float, float]:
    """Seconds that grading the class took, and those that the students' functions ran."""
    from grader.judging import grade
    from grader.judging.judges import make_judges
    from grader.plugins import preprocessors

    folder.mkdir()
    preprocessors.referee.cache_clear()  # the one of an earlier class reads that one's ledger
    # where the ledger and, by nbgrader_config.py, everything else lies: nothing was entered before
    coursedir.GRADES = paths.GRADES = folder
    for number, one in enumerate(sources):
        collected.hand_in(folder, f"s{number:03}", LAB, collected.handed_in(LAB, **one))
    with OwnTime() as own:
        begin = time.perf_counter()
        with contextlib.closing(make_judges(jobs)) as judges:
            graded = grade.grade(LAB, folder / "submitted", None, judges)
        seconds = time.perf_counter() - begin
    assert len(graded) == len(sources)
    return seconds, own.seconds


def busy() -> float:
    """Seconds that the processors of this machine have computed since it was started, whatever
    for (proc_stat(5)).
    """
    words = Path("/proc/stat").read_text("ascii").split("\n", 1)[0].split()
    user, nice, system, _, _, *interrupts = map(int, words[1:8])
    return (user + nice + system + sum(interrupts)) / os.sysconf("SC_CLK_TCK")


def stock(folder: Path, sources: dict[str, str]) -> tuple[float, float]:
    """Seconds that stock `nbgrader autograde` and `generate_feedback` take for one submission, and
    seconds of a processor.
    """
    folder.mkdir()
    (folder / "nbgrader_config.py").write_text(
        _CONFIG.format(root=str(folder), timeout=STOCK_TIMEOUT)
    )
    tests = {
        f"test_{n}": _TEST.format(exercise=f"{LAB}/{n}", name=n) for n in course.exercises(LAB)
    }
    source = folder / "source" / LAB / NAME
    source.parent.mkdir(parents=True)
    content = collected.filled(coursedir.solution(LAB), **tests)
    content["cells"] = [c for c in content["cells"] if "shown" not in c["metadata"].get("tags", [])]
    for cell in content["cells"]:
        about = cell["metadata"].get("nbgrader", {})
        if about.get("grade_id") in tests:
            exercise = course.exercises(LAB)[about["grade_id"].removeprefix("test_")]
            about["points"] = exercise.points
    source.write_text(json.dumps(content), "utf-8")
    _nbgrader(folder, "generate_assignment", LAB)
    released = json.loads((folder / "release" / LAB / NAME).read_text("utf-8"))
    collected.hand_in(folder, "student", LAB, collected.filled(released, **sources))
    begin, before = time.perf_counter(), os.times()
    _nbgrader(folder, "autograde", LAB, status=(0, 1))
    _nbgrader(folder, "generate_feedback", LAB, status=(0, 1))
    after = os.times()
    spent = after.children_user + after.children_system
    spent -= before.children_user + before.children_system
    return time.perf_counter() - begin, spent


def _nbgrader(folder: Path, *words: str, status=(0,)) -> None:
    path = os.pathsep.join([str(ROOT / "bench"), str(ROOT / "src"), str(ROOT)])
    binaries = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    env = {**os.environ, "PYTHONPATH": path, "GLOO_SOCKET_IFNAME": "lo", "PATH": binaries}
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", *words], cwd=folder, env=env, capture_output=True,
        text=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    if done.returncode not in status:
        raise RuntimeError(f"nbgrader {words[0]} failed:\n{done.stderr[-2000:]}")


def measure(
    submissions: int = 40, ordinary: int = 2, jobs: int = 2 * (os.cpu_count() or 1)
) -> Iterator[Row]:
    sources = answers(max(submissions, ordinary + 2))
    with tempfile.TemporaryDirectory(prefix="bench-grading-") as name:
        folder = Path(name)
        right, before = answers(submissions, ordinary=True), busy()
        usual_seconds, _ = ours(folder / "ordinary", right, jobs)
        computed = busy() - before
        seconds, own = ours(folder / "ours", sources[:submissions], jobs)
        with Parts() as parts:  # once more: whoever looks at all processes needs a processor, too
            ours(folder / "looked-at", sources[:submissions], jobs)
        usual = [stock(folder / f"stock{n}", sources[n + 2]) for n in range(ordinary)]
        hanging = stock(folder / "stock-deadlock", sources[0])
    (ordinary_one, spent), (with_deadlock, spent_hanging) = map(_mean, (usual, [hanging]))
    each = (1 - DEADLOCKS) * ordinary_one + DEADLOCKS * with_deadlock
    yield Row(
        f"a submission of lab 01 graded, in a class of {submissions}",
        [seconds / submissions], [each],
        "stock nbgrader autograde, mp.spawn in each check",
        f"{60 * submissions / seconds:.1f} a minute with --jobs {jobs} against {60 / each:.2f}, of "
        f"which one with a deadlock takes {with_deadlock:.0f} s (cells end after {STOCK_TIMEOUT} "
        f"s) and others {ordinary_one:.0f} s; the students' functions ran for "
        f"{own / submissions:.2f} s of the {jobs * seconds / submissions:.2f} s of a job that each "
        "submission took",
    )  # fmt: skip
    yield Row(
        f"a submission with ordinary answers, all right, in a class of {submissions}",
        [usual_seconds / submissions], [ordinary_one], "the same",
        f"{60 * submissions / usual_seconds:.1f} a minute, and {computed / submissions:.2f} s of a "
        "processor for each at most: all that this machine computed meanwhile",
    )  # fmt: skip
    yield Row(
        f"of a processor for each, of {submissions}", [parts.seconds / submissions],
        [(1 - DEADLOCKS) * spent + DEADLOCKS * spent_hanging], "the same",
        f"by kind of process, at least: {parts.told(submissions)}",
    )  # fmt: skip


def _mean(pairs: list[tuple[float, float]]) -> tuple[float, float]:
    return statistics.fmean(a for a, _ in pairs), statistics.fmean(b for _, b in pairs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--submissions", type=int, default=40)
    parser.add_argument("--stock", type=int, default=2, help="ordinary submissions for nbgrader")
    parser.add_argument("--jobs", type=int, default=2 * (os.cpu_count() or 1))
    arguments = parser.parse_args()
    print(header())
    show(measure(arguments.submissions, arguments.stock, arguments.jobs))


if __name__ == "__main__":
    main()
