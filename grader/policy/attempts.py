"""How often grading on submit has judged a student's submissions of a lab, and when it may again.

An attempt is a verdict. A failure of the grader's own is none, nor is a file that could not be
read, nor the same code handed in once more: the ledger has its verdict already.
"""

from __future__ import annotations

import contextlib
import datetime
import json
from collections.abc import Iterable
from pathlib import Path

from grader import writing
from grader.paths import GRADES
from grader.policy.lateness import UTC
from grader.policy.rules import OnSubmit, Policy

MOST = 10_000  # attempts that are kept of a student in a lab: a higher limit is none


class Attempts:
    """The attempts below a folder, a file for each lab and student."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or GRADES / "attempts"

    def of(self, lab: str, members: Iterable[str]) -> list[tuple[datetime.datetime, str]]:
        """(when, what) of a group's attempts, in the order of their times."""
        return sorted(one for name in set(members) for one in self._read(lab, name))

    def note(
        self, lab: str, members: Iterable[str], by: str, digest: str, handed_in: str = ""
    ) -> bool:
        """Note that what a member handed in has a verdict; was that a new attempt?

        Args:
            digest: of the code and of what it was judged by; empty where nothing was judged.
            handed_in: when, as text. The same submission, judged again by another version of the
                course, is not a new attempt.
        """
        path = self._path(lab, by)
        with writing.locked(path.with_name(f"{by}.lock")):
            made = [what.split() for _, what in self.of(lab, members)]
            when = handed_in.replace(" ", "_")
            if not digest or any(digest == what[0] or when in what[1:] for what in made):
                return False
            mine = [*self._read(lab, by), (datetime.datetime.now(UTC), f"{digest} {when}")][-MOST:]
            writing.whole(path, json.dumps([[w.isoformat(), what] for w, what in mine]))
        return True

    def counts(self, lab: str, members: Iterable[str], handed_in: str) -> bool:
        """Is what was handed in at this time an attempt already?"""
        when = handed_in.replace(" ", "_")
        return any(when in what.split()[1:] for _, what in self.of(lab, members))

    def left(self, rules: OnSubmit, lab: str, members: Iterable[str]) -> int | None:
        """How many attempts are left; `None` where there is no limit."""
        if rules.attempts is None:
            return None
        return max(0, rules.attempts - len(self.of(lab, members)))

    def again(self, policy: Policy, lab: str, members: Iterable[str]) -> datetime.datetime | None:
        """When the next attempt may be made; `None` if at once. An attempt noted in what is now the
        future, by a clock that has been set back since, keeps nobody waiting.
        """
        now, wait = datetime.datetime.now(UTC), policy.lab(lab).on_submit.wait
        made = [when for when, _ in self.of(lab, members) if when <= now]
        return wait.after(made[-1], policy.zone) if wait and made else None

    def _path(self, lab: str, student: str) -> Path:
        return self._folder / lab / f"{student}.json"

    def _read(self, lab: str, student: str) -> list[tuple[datetime.datetime, str]]:
        with contextlib.suppress(OSError, ValueError, TypeError, RecursionError):
            content = json.loads(self._path(lab, student).read_text("utf-8"))
            return [(_when(when), str(what)) for when, what in content]
        return []  # a file that is lost or damaged costs the student nothing


def _when(text: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(text).astimezone(UTC)
