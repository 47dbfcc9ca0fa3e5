"""What grading takes now, and what it took at another commit, in turns.

    python -m bench.against COMMIT [--submissions 20] [--repeats 3]

Both grade the same class of lab 01, without deadlocks, as `bench.grading` does: seconds of a
processor of all processes, as `bench.parts` sees them, and seconds by the clock. And both grade one
submission by itself, from the command until it is in the gradebook. The other commit is checked out
beside this one and runs with the packages of this environment.
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
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT)]

from bench import Row, header, show  # noqa: E402
from bench.alone import Command  # noqa: E402
from bench.grading import LAB, answers  # noqa: E402
from bench.parts import Parts  # noqa: E402
from grader import collected  # noqa: E402

REPEATS = 3
#: run in a checkout: grades the class whose answers standard input has in the folder that is named
_CLASS = """
import json, sys
from pathlib import Path
from bench.grading import ours
ours(Path(sys.argv[1]), json.load(sys.stdin), int(sys.argv[2]))
"""


@contextlib.contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    """A checkout of a commit, as long as the block lasts."""
    with tempfile.TemporaryDirectory(prefix="bench-against-") as name:
        tree = Path(name) / "tree"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(tree), commit], check=True)
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def grade_class(tree: Path, sources: list[dict[str, str]], jobs: int) -> tuple[float, float]:
    """Seconds of a processor, and by the clock, that a checkout takes for each of a class."""
    with tempfile.TemporaryDirectory(prefix="bench-against-") as name:
        grades = Path(name) / "grades"  # where some commits have their ledger in any case
        grades.mkdir()
        env = {**_environment(tree), "DISTLAB_GRADES": str(grades)}
        words = [sys.executable, "-c", _CLASS, str(Path(name) / "class"), str(jobs)]
        begin = time.perf_counter()
        with Parts() as parts:
            subprocess.run(
                words, cwd=tree, env=env, input=json.dumps(sources), text=True, check=True
            )
        seconds = time.perf_counter() - begin
    return parts.seconds / len(sources), seconds / len(sources)


def grade_one(tree: Path, folder: Path, student: str, source: dict[str, str]) -> float:
    """Seconds from the command until the submission is in the gradebook."""
    collected.hand_in(folder, student, LAB, collected.handed_in(LAB, **source))
    with Command(folder, "grade", LAB, "--student", student, root=tree) as command:
        return command.seconds("gradebook ")


def _environment(tree: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(tree / "src"), str(tree)])}


def measure(commit: str, submissions: int = 20, repeats: int = REPEATS) -> Iterator[Row]:
    ordinary = [one for n, one in enumerate(answers(2 * submissions)) if n % 10][:submissions]
    jobs = 2 * (os.cpu_count() or 1)
    with checked_out(commit) as before, tempfile.TemporaryDirectory(prefix="bench-") as name:
        folders = {tree: Path(name) / tree.name for tree in (ROOT, before)}
        taken: dict[Path, list[tuple[float, float]]] = {tree: [] for tree in folders}
        alone: dict[Path, list[float]] = {tree: [] for tree in folders}
        for number in range(repeats + 1):
            for tree, folder in folders.items():
                folder.mkdir(exist_ok=True)
                one = grade_one(tree, folder, f"s{number}", ordinary[number])
                if number:  # the first makes the gradebook
                    alone[tree].append(one)
                    taken[tree].append(grade_class(tree, ordinary, jobs))
    what = f"a submission of lab 01, in a class of {submissions}"
    for index, kind in enumerate(("seconds of a processor", f"by the clock with --jobs {jobs}")):
        now, then = ([pair[index] for pair in taken[tree]] for tree in folders)
        yield Row(f"{what}, {kind}", now, then, commit)
    now, then = alone.values()
    yield Row("one submission of lab 01 alone, until it is in the gradebook", now, then, commit)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("commit")
    parser.add_argument("--submissions", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=REPEATS)
    arguments = parser.parse_args()
    print(header())
    show(measure(arguments.commit, arguments.submissions, arguments.repeats))


if __name__ == "__main__":
    main()
