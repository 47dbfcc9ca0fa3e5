"""The referee: has submissions judged and writes the ledger. It never runs student code.

Student code runs in sessions (`distlab.session`); what comes out of them is data. The referee and
its judges alone hold hidden cases and reference outputs.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import time
from pathlib import Path
from typing import Any

from distlab import course as labs
from distlab import submission
from distlab.submission import Unreadable
from grader import course
from grader.judges import Here, Judges
from grader.ledger import Entry, Ledger, Line
from grader.sandbox import configured


class Referee:
    """Has submissions judged, from as many threads as one likes. A context manager.

    Args:
        ledger: where verdicts are kept, and found again when nothing has changed.
        judges: who judges; sandboxes of this machine by default.
    """

    def __init__(self, ledger: Ledger | None = None, judges: Judges | None = None) -> None:
        self.ledger = ledger or Ledger(course.GRADES / "ledger")
        self.judges = judges or Here(configured())

    def rebuild(self, lab: str, content: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
        """The released notebook with a submission's answers in it, and what was repaired."""
        return submission.rebuild(course.released(lab), content)

    def judge(self, lab: str, student: str, rebuilt: dict[str, Any], repaired: list[str]) -> Entry:
        """The ledger's entry on a rebuilt notebook; judged now, unless that was done before."""
        plan = submission.plan(course.released(lab), rebuilt, labs.exercises(lab))
        digest = hashlib.sha256((_course_digest(lab) + plan.digest).encode()).hexdigest()
        known = self.ledger.get(lab, student, digest)
        if known is not None:
            return known
        begin = time.monotonic()
        lines = self.judges.lines(lab, plan)
        seconds = round(time.monotonic() - begin, 3)
        entry = Entry(student, lab, digest, lines, repaired, seconds)
        self.ledger.put(entry)
        return entry

    def unreadable(self, lab: str, student: str, reason: Unreadable) -> Entry:
        """The entry on a submission that cannot be read: all points zero."""
        entry = Entry(student, lab, "", unreadable_lines(lab), unreadable=str(reason))
        self.ledger.put(entry)
        return entry

    def close(self) -> None:
        self.judges.close()

    def __enter__(self) -> Referee:
        return self

    def __exit__(self, *exc) -> None:
        self.close()


def unreadable_lines(lab: str) -> list[Line]:
    """No points for any exercise."""
    return [Line(e.name, "unanswered", 0.0, float(e.points)) for e in labs.exercises(lab).values()]


@functools.cache
def _course_digest(lab: str) -> str:
    """Changes when the released notebook, the cases, the references or the judging change."""
    digest = hashlib.sha256()
    module = labs.LABS[lab].rsplit(".", 1)[1]
    for path in (
        course.LABS / lab / labs.notebook_name(lab),
        course.SOLUTIONS / lab / "reference.json",
        course.REFERENCE / f"{lab}.json",
        course.ROOT / "grader" / "cases" / f"{module}.py",
        *sorted(Path(labs.__file__).parents[1].rglob("*.py")),
    ):
        with contextlib.suppress(OSError):
            digest.update(path.read_bytes())
    return digest.hexdigest()
