"""Grade on submit: each submission is judged as it arrives in the exchange, and its feedback
released; the student reads it by nbgrader's *Fetch Feedback*. Points by hand come later.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from distlab import course
from distlab.records import redaction
from grader import coursedir
from grader.judging import grade
from grader.judging.judges import Judges
from grader.plugins.gradebook import Gradebook

POLL = 2.0  # seconds between two looks at the exchange
SETTLED = 60.0  # seconds after which a submission is complete, whoever wrote it


class Arrivals:
    """The submissions in an exchange that were not there at the last look.

    Args:
        inbound: the folder that students hand in to.
    """

    def __init__(self, inbound: Path) -> None:
        self._inbound = inbound
        self._seen: set[str] = set()

    def look(self) -> dict[str, list[str]]:
        """{lab: its students with something new}."""
        found: dict[str, set[str]] = defaultdict(set)
        for name, student, lab in self._complete():
            self._seen.add(name)
            found[lab].add(student)
        return {lab: sorted(students) for lab, students in found.items()}

    def _complete(self) -> Iterator[tuple[str, str, str]]:
        try:
            entries = list(os.scandir(self._inbound))
        except FileNotFoundError:  # nothing was released yet
            return
        for entry in entries:
            # STUDENT+LAB+WHEN+RANDOM; a student's name may have a + in it
            student, _, rest = entry.name.rpartition("+")[0].rpartition("+")[0].rpartition("+")
            if entry.name in self._seen or rest not in course.LABS or not student:
                continue
            with contextlib.suppress(FileNotFoundError):
                found = entry.stat(follow_symlinks=False)
                # nbgrader opens the folder to all when everything is in it
                if found.st_mode & 0o777 == 0o777 or time.time() - found.st_ctime > SETTLED:
                    yield entry.name, student, rest


def watch(judges: Judges) -> None:
    """Grade what arrives, until interrupted; what lies there already is looked through first."""
    book = Gradebook(grade.SUBMITTED)
    arrivals = Arrivals(book.inbound)
    print(f"grading what arrives in {book.inbound}", flush=True)
    while True:
        for lab, students in arrivals.look().items():
            _take(book, judges, lab, students)
        time.sleep(POLL)


def _take(book: Gradebook, judges: Judges, lab: str, students: list[str]) -> None:
    begin = time.monotonic()
    try:
        book.collect(lab)
    except coursedir.GradingFailed as error:
        print(f"{lab}: {error}", flush=True)
        return
    for student in students:
        name = redaction.shown(student)
        try:
            (graded,) = grade.grade(lab, grade.SUBMITTED, student, judges)
            if graded.problem:
                raise coursedir.GradingFailed(graded.problem)
            book.release_feedback(lab, student)
        except (coursedir.GradingFailed, grade.NothingSubmitted) as error:  # the others go on
            print(f"{name} {lab}: {error}", flush=True)
            continue
        took = time.monotonic() - begin
        print(f"{name} {lab}: {graded.entry.score:g} points, after {took:.1f} s", flush=True)
