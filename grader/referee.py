"""The referee: judges submissions and writes the ledger. It never runs student code.

Student code runs in sessions (`distlab.session`); what comes out of them is data. The referee
alone holds hidden cases and reference outputs.
"""

from __future__ import annotations

import contextlib
import hashlib
import threading
import time
from collections.abc import Iterator
from typing import Any

from distlab import course as labs
from distlab import submission
from distlab.grading import Grader
from distlab.submission import Unreadable
from distlab.zygote import Zygote
from grader import course
from grader.ledger import Entry, Ledger, Line, line
from grader.sandbox import Grading, Sandbox, choose, configured


class Referee:
    """Judges submissions, from as many threads as one likes. A context manager.

    Args:
        ledger: where verdicts are kept, and found again when nothing has changed.
        settings: the sandbox and its limits; those of nbgrader_config.py by default.
    """

    def __init__(self, ledger: Ledger | None = None, settings: Grading | None = None) -> None:
        self.ledger = ledger or Ledger(course.GRADES / "ledger")
        self._settings = settings or configured()
        self._sandbox: Sandbox | None = None
        self._zygote: Zygote | None = None
        self._graders: dict[str, Grader] = {}
        self._lock = threading.Lock()

    def ready(self) -> None:
        """Try the sandbox out.

        Raises:
            NoSandbox: none works.
        """
        with self._lock:
            if self._sandbox is None:
                self._sandbox = choose(self._settings)

    def rebuild(self, lab: str, content: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
        """The released notebook with a submission's answers in it, and what was repaired."""
        return submission.rebuild(course.released(lab), content)

    def judge(self, lab: str, student: str, rebuilt: dict[str, Any], repaired: list[str]) -> Entry:
        """The ledger's entry on a rebuilt notebook; judged now, unless that was done before."""
        grader = self._grader(lab)
        plan = grader.plan(rebuilt)
        digest = hashlib.sha256((_course_digest(lab) + plan.digest).encode()).hexdigest()
        known = self.ledger.get(lab, student, digest)
        if known is not None:
            return known
        begin = time.monotonic()
        with self._source() as source:
            lines = [line(verdict) for verdict in grader.grade(plan, source)]
        seconds = round(time.monotonic() - begin, 3)
        entry = Entry(student, lab, digest, lines, repaired, seconds)
        self.ledger.put(entry)
        return entry

    def unreadable(self, lab: str, student: str, reason: Unreadable) -> Entry:
        """The entry on a submission that cannot be read: all points zero."""
        entry = Entry(student, lab, "", unreadable_lines(lab), unreadable=str(reason))
        self.ledger.put(entry)
        return entry

    def _grader(self, lab: str) -> Grader:
        self.ready()
        with self._lock:
            if lab not in self._graders:
                self._graders[lab] = Grader(
                    course.released(lab), labs.exercises(lab), course.cases, course.reference,
                    self._sandbox.limits, self._sandbox.walls,
                )  # fmt: skip
            return self._graders[lab]

    @contextlib.contextmanager
    def _source(self) -> Iterator[Zygote]:
        """A zygote in the sandbox: one for all, or where it has no walls inside, one for each."""
        if not self._sandbox.shared:
            with self._sandbox.zygote() as own:
                yield own
            return
        with self._lock:
            if self._zygote is None or not self._zygote.alive:
                self._zygote = self._sandbox.zygote()
        yield self._zygote

    def close(self) -> None:
        if self._zygote is not None:
            self._zygote.close()

    def __enter__(self) -> Referee:
        return self

    def __exit__(self, *exc) -> None:
        self.close()


def unreadable_lines(lab: str) -> list[Line]:
    """No points for any exercise."""
    return [Line(e.name, "unanswered", 0.0, float(e.points)) for e in labs.exercises(lab).values()]


def _course_digest(lab: str) -> str:
    """Changes when the released notebook, the cases or the references change."""
    digest = hashlib.sha256()
    module = labs.LABS[lab].rsplit(".", 1)[1]
    for path in (
        course.LABS / lab / labs.notebook_name(lab),
        course.SOLUTIONS / lab / "reference.json",
        course.REFERENCE / f"{lab}.json",
        course.ROOT / "grader" / "cases" / f"{module}.py",
    ):
        with contextlib.suppress(OSError):
            digest.update(path.read_bytes())
    return digest.hexdigest()
