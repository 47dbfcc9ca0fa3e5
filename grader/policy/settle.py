"""Write the policy's dates and penalties into nbgrader's gradebook.

They go into nbgrader's own fields (`duedate` of an assignment, `extension` of a submission,
`late_submission_penalty` of its notebook), so that formgrader, export and feedback show the same.
They are computed from the policy, the roster, the times of handing in and the points, never from
what the fields held before, and written only where they differ from it.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from distlab import course
from grader.policy import lateness
from grader.policy.exact import exact
from grader.policy.lateness import UTC, Lateness
from grader.policy.roster import Roster
from grader.policy.rules import Policy


@dataclass(frozen=True)
class Settled:
    """What the policy makes of a submission.

    Args:
        points: that were reached, what a person gave included.
        penalty: what of them is taken off.
        free_left: free late days that the student has left, over the course.
    """

    lateness: Lateness = Lateness()
    points: Fraction = Fraction()
    penalty: Fraction = Fraction()
    free_left: int = 0


def settle(database: Any, student: str, policy: Policy, roster: Roster) -> dict[str, Settled]:
    """Bring all submissions of a student up to date; {lab: what came out}.

    Args:
        database: nbgrader's gradebook, open.
    """
    if not policy.in_force:
        return {}
    found = _submissions(database, student)
    late = share_out(policy, {lab: _lateness(policy, roster, one) for lab, one in found.items()})
    left = policy.free_days - sum(one.free for one in late.values())
    settled, changed = {}, False
    for lab, submission in found.items():
        changed |= _set(submission.assignment, "duedate", _naive(policy.lab(lab).due))
        changed |= _set(submission, "extension", _extension(policy, lab, late[lab]))
        total = penalty = Fraction()
        for notebook in submission.notebooks:
            reached = sum((_points(grade) for grade in notebook.grades), Fraction())
            taken = late[lab].penalty(reached, policy.lab(lab).late)
            changed |= _set(notebook, "late_submission_penalty", float(taken) or None)
            total, penalty = total + reached, penalty + taken
        settled[lab] = Settled(late[lab], total, penalty, left)
    if changed:
        database.db.commit()
    return settled


def share_out(policy: Policy, late: Mapping[str, Lateness]) -> dict[str, Lateness]:
    """{lab: lateness} of a student, each with the free late days that it takes."""
    costly = {lab: one.days for lab, one in late.items() if policy.lab(lab).late.per_day}
    free = lateness.share_out(costly, policy.free_days, course.LABS)
    return {lab: dataclasses.replace(one, free=free.get(lab, 0)) for lab, one in late.items()}


def set_due_dates(database: Any, policy: Policy) -> None:
    """Enter the due dates of all labs that the gradebook has."""
    if policy.in_force:
        ours = [one for one in database.assignments if one.name in course.LABS]
        if any([_set(one, "duedate", _naive(policy.lab(one.name).due)) for one in ours]):
            database.db.commit()


def _submissions(database: Any, student: str) -> dict[str, Any]:
    from nbgrader.api import MissingEntry

    try:
        found = {one.assignment.name: one for one in database.find_student(student).submissions}
    except MissingEntry:
        return {}
    return {lab: found[lab] for lab in course.LABS if lab in found}


def _lateness(policy: Policy, roster: Roster, submission: Any) -> Lateness:
    lab, when = submission.assignment.name, submission.timestamp
    return lateness.lateness(
        roster.due(policy, lab, submission.student.id), when and when.replace(tzinfo=UTC),
        policy.lab(lab).late, policy.zone,
    )  # fmt: skip


def _extension(policy: Policy, lab: str, late: Lateness) -> datetime.timedelta | None:
    """What nbgrader adds to a due date."""
    due = policy.lab(lab).due
    return (late.due - due or None) if late.due is not None and due is not None else None


def _naive(when: datetime.datetime | None) -> datetime.datetime | None:
    """As nbgrader keeps times: in UTC, without saying so."""
    return None if when is None else when.replace(tzinfo=None)


def _points(grade: Any) -> Fraction:
    return points(grade.auto_score, grade.manual_score, grade.extra_credit)


def points(automatic: float | None, by_hand: float | None, extra: float | None) -> Fraction:
    """The points of a cell, as nbgrader adds them up."""
    given = automatic if by_hand is None else by_hand
    return Fraction() if given is None else exact(given) + exact(extra or 0.0)


def _set(row: Any, name: str, value: Any) -> bool:
    """Set a field unless it has this value already; was it changed?

    SQLAlchemy's session cannot be asked whether there is anything to commit: it forgets what it has
    already sent to the database.
    """
    if getattr(row, name) == value:
        return False
    setattr(row, name, value)
    return True
