"""The referee: has submissions judged and writes the ledger. It never runs student code.

Student code runs in sessions (`distlab.checking.session`); what comes out of them is data. The
referee and its judges alone hold hidden cases and reference outputs.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import time
from pathlib import Path
from typing import Any

from distlab import course
from distlab.checking import submission
from distlab.checking.submission import Unreadable
from grader import coursedir, secret
from grader.judging import internals
from grader.judging.judges import Judges, LocalJudges
from grader.judging.ledger import Entry, Ledger, Line
from grader.sandbox import configured


class Referee:
    """Has submissions judged, from as many threads as one likes. A context manager.

    Args:
        ledger: where verdicts are kept, and found again when nothing has changed.
        judges: who judges; sandboxes of this machine by default.
    """

    def __init__(self, ledger: Ledger | None = None, judges: Judges | None = None) -> None:
        self.ledger = ledger or Ledger(coursedir.GRADES / "ledger")
        self.judges = judges or LocalJudges(configured())

    def rebuild(self, lab: str, content: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
        """The released notebook with a submission's answers in it, and what was repaired."""
        return submission.rebuild(coursedir.released(lab), content)

    def judge(self, lab: str, student: str, rebuilt: dict[str, Any], repaired: list[str]) -> Entry:
        """The ledger's entry on a rebuilt notebook; judged now, unless that was done before."""
        plan = coursedir.lab(lab).plan(rebuilt)
        course_digest = _course_digest(lab, secret.current())
        digest = hashlib.sha256((course_digest + plan.digest).encode()).hexdigest()
        known = self.ledger.get(lab, student, digest)
        if known is not None:
            return known
        begin = time.monotonic()
        lines = self.judges.lines(lab, plan)
        seconds = round(time.monotonic() - begin, 3)
        entry = Entry(
            student, lab, digest, lines, repaired, seconds, flagged=internals.reached(plan.cells)
        )
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

    def __exit__(self, *exc: object) -> None:
        self.close()


def not_graded(lab: str, student: str, reason: str) -> Entry:
    """What a report has of a submission that could not be judged; the ledger never has it."""
    lines = [
        Line(e.name, "not graded", 0.0, float(e.points)) for e in course.exercises(lab).values()
    ]
    return Entry(student, lab, "", lines, not_graded=reason)


def unreadable_lines(lab: str) -> list[Line]:
    """No points for any exercise."""
    return [
        Line(e.name, "unanswered", 0.0, float(e.points)) for e in course.exercises(lab).values()
    ]


@functools.cache
def _course_digest(lab: str, used: secret.Secret) -> str:
    """Changes when the released notebook, the secret, the cases, the references or the judging
    change.
    """
    digest = hashlib.sha256(used.fingerprint.encode())
    module = course.LABS[lab].rsplit(".", 1)[1]
    for path in (
        coursedir.LABS / lab / course.notebook_name(lab),
        coursedir.SOLUTIONS / lab / "reference.json",
        used.references / f"{lab}.json",
        coursedir.ROOT / "grader" / "cases" / f"{module}.py",
        *sorted(Path(course.__file__).parents[1].rglob("*.py")),
    ):
        with contextlib.suppress(OSError):
            digest.update(path.read_bytes())
    return digest.hexdigest()
