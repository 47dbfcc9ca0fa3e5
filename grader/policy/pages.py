"""Feedback pages, kept in step with the policy: a page is written anew when the policy makes
something else of its submission.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from distlab import course
from grader.coursedir import GradingFailed
from grader.judging.ledger import Ledger
from grader.looks import told
from grader.looks.diary import Diary
from grader.policy import policy as policies
from grader.policy.roster import Roster, RosterFile
from grader.policy.rules import Policy
from grader.policy.settle import Settled, settle
from grader.policy.standing import Standing, standings

if TYPE_CHECKING:
    from grader.plugins.gradebook import Gradebook


class Pages:
    """The feedback pages of a gradebook, under the policy in force.

    Attributes:
        fresh: (lab, student) of those that were written.
        stale: the same of those that `refresh` could not bring up to date.
    """

    def __init__(self, book: Gradebook, ledger: Ledger) -> None:
        self.policy, self.roster = policies.current(), RosterFile().read()
        self._book, self._ledger = book, ledger
        self.fresh: set[tuple[str, str]] = set()
        self.stale: set[tuple[str, str]] = set()

    def standings(self, student: str) -> dict[str, Standing]:
        """Settle a student's submissions; {lab: where the student stands}."""
        if not self.policy.in_force:
            return {}
        with self._book.database() as database:
            return standings(database, student, self.policy, self.roster)

    def written(self, lab: str, student: str) -> None:
        """Note that a page has just been written."""
        self.fresh.add((lab, student))
        if (one := self.standings(student).get(lab)) is not None:
            self._ledger.note_page(lab, student, self._facts(lab, student, one))

    def settled(self, lab: str, student: str) -> Settled | None:
        """What the policy makes of a submission, whose page is brought up to date; `None` without a
        policy.
        """
        found = self.standings(student)
        if lab in found:
            self._refresh(lab, student, found[lab])
        return found[lab].settled if lab in found else None

    def refresh(self, student: str) -> tuple[int, list[str]]:
        """Write a student's pages anew that are out of date; returns how many these were, and what
        could not be done.
        """
        self.stale -= {(lab, student) for lab in course.LABS}
        if not self.policy.in_force:
            return self._without(student)
        try:
            found = self.standings(student)
        except GradingFailed as error:
            self.stale |= {(lab, student) for lab in course.LABS}
            return 0, [str(error)]
        written, problems = 0, []
        for lab, one in found.items():
            try:
                written += self._refresh(lab, student, one)
            except GradingFailed as error:
                self.stale.add((lab, student))
                problems.append(str(error))
        return written, problems

    def _without(self, student: str) -> tuple[int, list[str]]:
        """Take back what a policy that is no longer there has made of a student's submissions."""
        had = [lab for lab in course.LABS if self._ledger.has_page(lab, student)]
        if not had:
            return 0, []
        try:
            with self._book.database() as database:
                settle(database, student, Policy(in_force=True), Roster())
        except GradingFailed as error:
            self.stale |= {(lab, student) for lab in had}
            return 0, [str(error)]
        problems = []
        for lab in had:
            try:
                self._book.write_feedback(lab, student)
                self.fresh.add((lab, student))
                self._ledger.forget_page(lab, student)
            except GradingFailed as error:
                self.stale.add((lab, student))
                problems.append(str(error))
        return len(had) - len(problems), problems

    def _refresh(self, lab: str, student: str, one: Standing) -> bool:
        facts = self._facts(lab, student, one)
        there = any(self._book.feedback(lab, student).glob("*.html"))
        if there and self._ledger.page_shows(lab, student, facts):
            return False
        self._book.write_feedback(lab, student)
        self.fresh.add((lab, student))
        self._ledger.note_page(lab, student, facts)
        return True

    def _facts(self, lab: str, student: str, one: Standing) -> list[Any]:
        facts = [one.said, float(one.settled.penalty), self._book.state(lab, student)]
        looks = told.on_page(Diary().read(), student, lab)
        return [*facts, looks] if looks else facts
