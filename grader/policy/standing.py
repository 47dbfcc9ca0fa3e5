"""Where a student stands with a submission: points, penalty, and what is left."""

from __future__ import annotations

from dataclasses import dataclass

from nbgrader.api import Gradebook as Database

from grader.judging.ledger import Ledger
from grader.paths import GRADES
from grader.policy import policy as policies
from grader.policy import telling
from grader.policy.attempts import Attempts
from grader.policy.roster import Roster, RosterFile
from grader.policy.rules import Policy
from grader.policy.settle import Settled, settle


@dataclass(frozen=True)
class Standing:
    """What the policy makes of a submission, as numbers and as sentences."""

    settled: Settled
    said: list[str]


def of(db_url: str, lab: str, student: str) -> Standing | None:
    """Settle a student's submissions and say where the student stands with one of them; `None`
    where there is no policy, or no such submission.
    """
    policy = policies.current()
    if not policy.in_force:
        return None
    with Database(db_url) as database:
        return standings(database, student, policy, RosterFile().read()).get(lab)


def standings(
    database: Database, student: str, policy: Policy, roster: Roster
) -> dict[str, Standing]:
    """Settle a student's submissions; {lab: where the student stands}."""
    found = {}
    for lab, settled in settle(database, student, policy, roster).items():
        members = roster.members(lab, student)
        entry = Ledger(GRADES / "ledger").latest(lab, student)
        left = Attempts().left(policy.lab(lab).on_submit, lab, members)
        by = entry.by if entry is not None else ""
        found[lab] = Standing(settled, telling.personal(policy, lab, settled, members, by, left))
    return found
