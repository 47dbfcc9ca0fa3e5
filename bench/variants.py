"""Students with inputs of their own: how alike they are, whether solutions pass, what it costs.

    python -m bench.variants [--students 1000] [--solutions 4] [--labs 01-message-passing …]

Three things in one run, with a secret drawn for it. The hidden inputs of 1,000 students are made
for every exercise, and those compared that are small (8 kB a case, which is most cases and enough
to tell students apart). The reference solution of each lab is handed in by `--solutions` of these
students and judged in the sandbox, one after the other: as for everybody, with own inputs whose
references are still to be made, and with own inputs whose references are kept, in turn. And those
who reached all points are counted.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import secrets
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from bench import Row, header, show
from distlab import course
from distlab.exercises.exercise import Case, Exercise
from distlab.processes import payload
from grader import secret
from grader.judging.judges import local_judges
from grader.judging.ledger import Line
from grader.judging.local import LocalJudges
from grader.variants import references
from grader.variants import variant as variants
from grader.variants.variant import variant

SMALL = 1 << 13  # bytes of a case's inputs
#: what they ask is the same for everybody: a question on what was read
WITHOUT_INPUTS = {"02-toy-model/what_is_wrong"}


def student(number: int) -> str:
    return f"student{number:04}"


def _bytes(exercise: Exercise, case: Case) -> bytes:
    return b"".join(map(payload.encode, exercise.inputs(case)))


def alike(exercise: Exercise, students: int) -> int:
    """How many students have the same small hidden inputs as one before them."""
    first = variants.hidden(variant(exercise.lab, student(0)), exercise)
    sizes = [len(_bytes(exercise, case)) for case in first]
    places = [n for n, size in enumerate(sizes) if size <= max(SMALL, min(sizes))]
    seen = set()
    for number in range(students):
        cases = variants.hidden(variant(exercise.lab, student(number)), exercise)
        seen.add(hash(b"".join(_bytes(exercise, cases[place]) for place in places)))
    return students - len(seen)


def compared(labs: Sequence[str], students: int) -> None:
    """Print how alike the students are in each lab."""
    for lab in labs:
        begin = time.perf_counter()
        asked = [e for e in course.exercises(lab).values() if e.id not in WITHOUT_INPUTS]
        found = {e.name: alike(e, students) for e in asked}
        told = ", ".join(f"{name}: {count}" for name, count in found.items() if count)
        seconds = time.perf_counter() - begin
        print(
            f"{lab}: {students} students, {len(found)} exercises, alike with another: "
            f"{told or 'nobody in any'} ({seconds:.0f} s)", flush=True,
        )  # fmt: skip


def _timed(judged: Callable[[], list[Line]]) -> tuple[float, bool]:
    """Seconds, and whether all points were reached."""
    begin = time.perf_counter()
    lines = judged()
    return time.perf_counter() - begin, all(line.score == line.max_score for line in lines)


def solutions(judges: LocalJudges, lab: str, count: int) -> Iterator[Row]:
    """The reference solution of a lab, handed in by so many students."""
    plan = references._solution(lab)

    def everybodys() -> list[Line]:
        with secret.using(secret.PUBLIC_SECRET):  # whose references lie in the repository
            return judges.lines(lab, plan)

    everybodys()  # from now on the sandbox is up, and the references are read
    usual, first, kept, full = [], [], [], 0
    for number in range(count):
        whose = student(number)
        usual.append(_timed(everybodys)[0])
        seconds, right = _timed(lambda w=whose: judges.lines(lab, plan, w))
        first.append(seconds)
        references._read.cache_clear()
        seconds, again = _timed(lambda w=whose: judges.lines(lab, plan, w))
        kept.append(seconds)
        full += right and again
    note = f"full points for {full} of {count} students"
    yield Row(f"{lab}: everybody's, or own to be made", usual, first, "own inputs", note)
    yield Row(f"{lab}: everybody's, or own kept", usual, kept, "own inputs, made before")
    print(
        f"  medians: {statistics.median(usual):.2f} s a submission for everybody's inputs",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--students", type=int, default=1000)
    parser.add_argument("--solutions", type=int, default=4, help="students who hand in, a lab")
    here = [lab for lab in course.LABS if not course.missing(lab)]
    parser.add_argument("--labs", nargs="*", default=here)
    arguments = parser.parse_args()
    os.environ["DISTLAB_SECRET"] = secret.PUBLIC
    print(header())
    with (
        tempfile.TemporaryDirectory(prefix="bench-variants-") as folder,
        secret.using(secret.Secret(secrets.token_bytes(secret.BYTES))),
        contextlib.closing(local_judges(1)) as judges,
    ):
        references.FOLDER = Path(folder)
        compared(list(course.LABS), arguments.students)
        for lab in arguments.labs:
            show(solutions(judges, lab, arguments.solutions))


if __name__ == "__main__":
    main()
