"""The referee: has submissions judged and writes the ledger. It never runs student code.

Student code runs in sessions (`distlab.checking.session`); what comes out of them is data. The
referee and its judges alone hold hidden cases and reference outputs.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import threading
import time
from collections.abc import Iterator
from typing import Any

from distlab import course
from distlab.checking import submission
from distlab.checking.submission import Plan, Unreadable
from grader import coursedir, secret
from grader.judging import internals
from grader.judging.basis import course_digest, variants_digest
from grader.judging.judges import Judges
from grader.judging.ledger import Entry, Ledger, Line
from grader.judging.local import LocalJudges
from grader.policy import notice
from grader.sandbox import configured
from grader.variants import variant as variants


class Referee:
    """Has submissions judged; may be called from any number of threads. A context manager.

    Args:
        ledger: where verdicts are kept, and found again when nothing has changed.
        judges: who judges, closed by the caller; by default sandboxes of this machine, closed with
            the referee.
        lanes: how many of the judges' slots each submission may take up.
    """

    def __init__(
        self, ledger: Ledger | None = None, judges: Judges | None = None, lanes: int = 1
    ) -> None:
        self.ledger = ledger or Ledger(coursedir.GRADES / "ledger")
        self._opened = contextlib.ExitStack()
        self.judges = judges or self._opened.enter_context(
            contextlib.closing(LocalJudges(configured()))
        )
        self._lanes = lanes
        self._lock = threading.Lock()
        self._held: dict[tuple[str, str], threading.Lock] = {}

    def rebuild(self, lab: str, content: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
        """The released notebook with a submission's answers in it, and what was repaired."""
        cells = [cell for cell in content["cells"] if not notice.is_notice(cell)]
        return submission.rebuild(coursedir.released(lab), {**content, "cells": cells})

    def judge(
        self,
        lab: str,
        student: str,
        rebuilt: dict[str, Any],
        repaired: list[str],
        by: str | None = None,
    ) -> Entry:
        """The ledger's entry on a rebuilt notebook, which is judged now unless it was before.

        Args:
            by: the group member whose notebook it is, judged once for the whole group; empty where
                it is the student's own; `None` where that is not known.
        """
        plan = coursedir.lab(lab).plan(rebuilt)
        if by is None and (shared := self._shared(lab, student, plan)) is not None:
            return shared
        with self._alone(lab, by or student):
            entry = self._judged(lab, by or student, plan, repaired)
        if by is None:
            return entry
        own = dataclasses.replace(entry, student=student, by=by)
        if own != self.ledger.latest(lab, student):
            self.ledger.put(own)
        return own

    def _shared(self, lab: str, student: str, plan: Plan) -> Entry | None:
        """The student's entry on another group member's submission, if that is this notebook. It
        was judged by the inputs of the member who handed it in.
        """
        entry = self.ledger.latest(lab, student)
        if entry is None or not entry.by:
            return None
        return entry if entry.digest == _digest(lab, plan, variants.of(lab, entry.by)) else None

    def _judged(self, lab: str, student: str, plan: Plan, repaired: list[str]) -> Entry:
        own = variants.of(lab, student)
        digest, basis = _digest(lab, plan, own), _basis(lab, own)[:16]
        known = self.ledger.get(lab, student, digest)
        if known is not None:
            return known
        begin = time.monotonic()
        lines = self.judges.lines(lab, plan, student if own else None, self._lanes)
        seconds = round(time.monotonic() - begin, 3)
        entry = Entry(
            student, lab, digest, lines, repaired, seconds, flagged=internals.reached(plan.cells),
            variant=own.fingerprint if own else "", basis=basis,
        )  # fmt: skip
        self.ledger.put(entry)
        return entry

    @contextlib.contextmanager
    def _alone(self, lab: str, student: str) -> Iterator[None]:
        """Held while a student's submission is judged: all members of a group ask for the same."""
        with self._lock:
            held = self._held.setdefault((lab, student), threading.Lock())
        with held:
            yield

    def unreadable(self, lab: str, student: str, reason: Unreadable, by: str = "") -> Entry:
        """The entry on a submission that cannot be read: all points zero."""
        entry = Entry(student, lab, "", unreadable_lines(lab), unreadable=str(reason), by=by)
        self.ledger.put(entry)
        return entry

    def found_unreadable(self, lab: str, student: str, rebuilt: dict[str, Any]) -> Entry | None:
        """The entry on a submission that could not be read, if this notebook stands in its place:
        its first cell says so, and so does the ledger, which no submission can write to.
        """
        entry = self.ledger.latest(lab, student)
        if entry is None or not entry.unreadable or not rebuilt["cells"]:
            return None
        told = note(entry.unreadable)["source"]
        return entry if rebuilt["cells"][0]["source"] == told else None

    def close(self) -> None:
        self._opened.close()

    def __enter__(self) -> Referee:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def _digest(lab: str, plan: Plan, own: variants.Variant | None) -> str:
    """A digest of what a verdict holds for: the code, the course, and whose inputs were used."""
    return hashlib.sha256((_basis(lab, own) + plan.digest).encode()).hexdigest()


def _basis(lab: str, own: variants.Variant | None) -> str:
    """The same without the code."""
    if own is None:
        return course_digest(lab, secret.current())
    return variants_digest(lab, secret.current()) + own.fingerprint


def note(reason: str) -> dict[str, Any]:
    """The first cell of the notebook that stands for a submission that could not be read."""
    said = f"**This submission could not be read.** {reason}"
    return {"cell_type": "markdown", "id": "unreadable", "metadata": {}, "source": said}


def not_graded(lab: str, student: str, reason: str) -> Entry:
    """The entry in reports on a submission that could not be judged; never in the ledger."""
    lines = [
        Line(e.name, "not graded", 0.0, float(e.points)) for e in course.exercises(lab).values()
    ]
    return Entry(student, lab, "", lines, not_graded=reason)


def unreadable_lines(lab: str) -> list[Line]:
    """No points for any exercise."""
    return [
        Line(e.name, "unanswered", 0.0, float(e.points)) for e in course.exercises(lab).values()
    ]
