"""How late a submission is, and what that costs. Pure functions; all times are aware and in UTC.

Days are calendar days: a lab due at 23:59 and extended by three days is due at 23:59 three days
later, even when the clocks change in between. A local time that comes twice on such a day, or
never, means the later of the two possible moments, so that nobody loses an hour.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from zoneinfo import ZoneInfo

from grader.policy.exact import CENT

UTC = datetime.timezone.utc
_DAY = datetime.timedelta(days=1)


@dataclass(frozen=True)
class Duration:
    """Days of the calendar, and seconds of the clock."""

    days: int = 0
    seconds: int = 0

    def __bool__(self) -> bool:
        return bool(self.days or self.seconds)

    def __str__(self) -> str:
        hours, rest = divmod(self.seconds, 3600)
        parts = [(self.days, "day"), (hours, "hour"), (rest // 60, "minute"), (rest % 60, "second")]
        said = [f"{n} {unit}{'' if n == 1 else 's'}" for n, unit in parts if n]
        return " ".join(said) or "0 days"

    def after(self, when: datetime.datetime, zone: ZoneInfo) -> datetime.datetime:
        """The moment that is this much later, in UTC."""
        local = when.astimezone(zone).replace(tzinfo=None) + datetime.timedelta(days=self.days)
        # without days the calendar is not asked: the first of two equal local times stays the first
        moment = at(local, zone) if self.days else when.astimezone(UTC)
        return moment + datetime.timedelta(seconds=self.seconds)


def at(local: datetime.datetime, zone: ZoneInfo) -> datetime.datetime:
    """The moment, in UTC, at which clocks of a zone show a time; the later one if there are two."""
    return max(local.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))


def exists(local: datetime.datetime, zone: ZoneInfo) -> bool:
    """Do clocks of a zone ever show this time?"""
    return at(local, zone).astimezone(zone).replace(tzinfo=None) == local


@dataclass(frozen=True)
class Late:
    """What lateness costs.

    Args:
        per_day: taken off for each day begun, a share of the points reached, or points.
        in_points: `per_day` is points.
        at_most: the share of the points reached that is never exceeded.
        grace: how much later is still in time.
        accept: how much later still gets points; `None` for any.
    """

    per_day: Fraction = Fraction()
    in_points: bool = False
    at_most: Fraction = Fraction(1)
    grace: Duration = Duration()
    accept: Duration | None = None


@dataclass(frozen=True)
class Lateness:
    """How late a submission is.

    Args:
        due: with the extension; `None` where there is no due date.
        handed_in: `None` where it is not known, which counts as in time.
        days: how many days of lateness have begun.
        free: how many of these are free late days.
        refused: it came after the last moment at which submissions are accepted.
    """

    due: datetime.datetime | None = None
    handed_in: datetime.datetime | None = None
    days: int = 0
    free: int = 0
    refused: bool = False

    def penalty(self, points: Fraction, late: Late) -> Fraction:
        """What is taken off the points reached, in hundredths, rounded in the student's favour."""
        if points <= 0:
            return Fraction()
        if self.refused:
            return points
        counted = late.per_day * (self.days - self.free)
        taken = min(counted if late.in_points else counted * points, late.at_most * points, points)
        return taken if taken == points else taken // CENT * CENT


def lateness(
    due: datetime.datetime | None, handed_in: datetime.datetime | None, late: Late, zone: ZoneInfo
) -> Lateness:
    """How late a submission is, before any of it is free.

    Args:
        due: in UTC, with the extension.
        handed_in: fractions of a second do not count.
    """
    handed_in = handed_in and handed_in.replace(microsecond=0)
    if due is None or handed_in is None or handed_in <= late.grace.after(due, zone):
        return Lateness(due, handed_in)
    refused = late.accept is not None and handed_in > late.accept.after(due, zone)
    return Lateness(due, handed_in, _days(due, handed_in, zone), 0, refused)


def _days(due: datetime.datetime, handed_in: datetime.datetime, zone: ZoneInfo) -> int:
    """How many days of the calendar have begun since the due date."""
    days = max((handed_in - due) // _DAY - 1, 1)
    while handed_in > Duration(days).after(due, zone):
        days += 1
    return days


def share_out(days: Mapping[str, int], budget: int, order: Iterable[str]) -> dict[str, int]:
    """{lab: how many of a student's free late days it takes}, first come, first served.

    Args:
        days: lab → days of lateness that cost points.
        order: of the labs: the course's own, not that of their due dates, so that no moved date and
            no extension takes a free day from another lab.
    """
    free, left = {}, budget
    for lab in order:
        free[lab] = min(days.get(lab, 0), left)
        left -= free[lab]
    return free
