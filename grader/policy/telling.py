"""The policy in words: for the notebook's first cell, the feedback page and the terminal."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from fractions import Fraction

from grader.policy.exact import exact
from grader.policy.lateness import Late, Lateness
from grader.policy.rules import OnSubmit, Policy, share
from grader.policy.settle import Settled


def counted(number: int, one: str, many: str = "") -> str:
    """1 day, 2 days."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def rules(policy: Policy, lab: str) -> Iterator[str]:
    """What holds for a lab, a sentence each; nothing that is the same without a policy."""
    of = policy.lab(lab)
    if of.due:
        yield f"Due: {policy.shown(of.due)}."
        yield from _late(of.late)
        if of.late.per_day and policy.free_days:
            yield (
                f"{counted(policy.free_days, 'late day')} in the whole course "
                f"{'is' if policy.free_days == 1 else 'are'} free; labs take them in the course's "
                "order."
            )
    if of.partial.cases:
        yield (
            f"An answer that is not right has {share(of.partial.cases)} of the points, times the "
            "share of the cases that are right before the first that is not."
        )
    if of.partial.deadlock:
        yield (
            f"An answer that deadlocks and was right with fewer ranks has "
            f"{share(of.partial.deadlock)} of the points."
        )
    yield from _on_submit(of.on_submit)
    if of.variants:
        yield "The inputs by which your answers are judged are your own."
    if of.largest_group:
        most = of.largest_group
        yield f"Groups have at most {most} members." if most > 1 else "Everybody works alone."


def _late(late: Late) -> Iterator[str]:
    if late.per_day:
        what = f"{share(late.per_day)} of the points reached is"
        if late.in_points:
            what = f"{_points(late.per_day)} {_is(late.per_day)}"
        most = f", at most {share(late.at_most)}" if late.at_most < 1 else ""
        yield f"Late: {what} taken off for each day begun{most}."
    if late.grace and (late.per_day or late.accept):
        yield f"Up to {late.grace} later is still in time."
    if late.accept is not None:
        yield f"More than {late.accept} late: no points."


def _on_submit(of: OnSubmit) -> Iterator[str]:
    if of.attempts is not None:
        yield f"Judged on submit at most {counted(of.attempts, 'time')}."
    if of.wait:
        yield f"Judged on submit again after {of.wait} at the earliest."


def personal(
    policy: Policy, lab: str, settled: Settled, members: Sequence[str], by: str, left: int | None
) -> list[str]:
    """What a student is told about a submission, a sentence each.

    Args:
        members: the student's group.
        by: whose submission it is; the student's own where it is empty.
        left: attempts; `None` where there is no limit.
    """
    said = []
    if len(members) > 1:
        whose = f"handed in by {by}" if by else "handed in by you"
        said.append(f"This is the submission of {_and(members)}, {whose}.")
    if late := lateness(policy, lab, settled):
        said.append(late)
    if policy.free_days and policy.lab(lab).late.per_day:
        said.append(f"Free late days left: {settled.free_left} of {policy.free_days}.")
    if left is not None:
        most = policy.lab(lab).on_submit.attempts
        said.append(f"Attempts at being judged on submit left: {left} of {most}.")
    return said


def lateness(policy: Policy, lab: str, settled: Settled) -> str:
    """One sentence on when a submission was due and handed in, and what that costs."""
    late, rule = settled.lateness, policy.lab(lab)
    if late.due is None:
        return ""
    extended = rule.due is not None and late.due > rule.due
    due = f"due {policy.shown(late.due)}{', with your extension' if extended else ''}"
    if late.handed_in is None:
        return f"It is not known when this was handed in ({due}): it counts as in time."
    when = f"Handed in {policy.shown(late.handed_in)} ({due})"
    if not late.days:
        return f"{when}: in time."
    how = f"{when}, {span(late.handed_in - late.due)} late"
    if late.refused:
        return f"{how}: later than {rule.late.accept}, so there are no points."
    if not rule.late.per_day:
        return f"{how}: nothing is taken off."
    free = f", of which {late.free} {_is(late.free)} free" if late.free else ""
    days = f"{counted(late.days, 'day')} begun{free}"
    if late.days == late.free:
        return f"{how}: {days}, so nothing is taken off."
    return f"{how}: {days}, so {_taken(rule.late, late, settled)}."


def _taken(rule: Late, late: Lateness, settled: Settled) -> str:
    """What lateness costs: "10 % of 24 points is taken off: 2.4"."""
    wanted = rule.per_day * (late.days - late.free)
    taken, points = settled.penalty, settled.points
    capped = wanted > (rule.at_most * points if rule.in_points else rule.at_most)
    if capped and rule.at_most < 1:
        how = f"at most {share(rule.at_most)}"
    elif not rule.in_points:
        how = share(min(wanted, exact(1)))
    elif not points:
        return "nothing is taken off"
    elif capped:
        return f"{'all ' if points != 1 else ''}{_points(points)} {_is(points)} taken off"
    else:
        return f"{_points(wanted)} of {float(points):g} {_is(wanted)} taken off: {float(taken):g}"
    return f"{how} of {_points(points)} is taken off: {float(taken):g}"


def span(late: datetime.timedelta) -> str:
    """A time as people say it, in its two largest units: 1 day 10 hours."""
    seconds = max(int(late.total_seconds()), 1)
    parts = []
    for size, unit in ((86400, "day"), (3600, "hour"), (60, "minute"), (1, "second")):
        number, seconds = divmod(seconds, size)
        parts.append(counted(number, unit) if number else "")
    first = next(place for place, part in enumerate(parts) if part)
    return " ".join(part for part in parts[first : first + 2] if part)


def _points(number: Fraction) -> str:
    """1 point, 2.5 points."""
    return f"{float(number):g} point{'' if number == 1 else 's'}"


def _is(number: int | Fraction) -> str:
    return "is" if number == 1 else "are"


def _and(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)
