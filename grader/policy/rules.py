"""What `policy.yaml` can say, as values, and the defaults that hold without one."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from zoneinfo import ZoneInfo

from grader.policy.lateness import Duration, Late
from grader.policy.partial import Partial


class PolicyError(ValueError):
    """The policy cannot be used. The message says where it stands, and what to write instead."""


@dataclass(frozen=True)
class OnSubmit:
    """How often grading on submit judges a submission.

    Args:
        attempts: how many judgements a student, or group, has of a lab; `None` is no limit.
        wait: how long after one judgement the next can be.
    """

    attempts: int | None = None
    wait: Duration = Duration()


@dataclass(frozen=True)
class Rules:
    """What holds for one lab. Dates are in UTC.

    Args:
        variants: each student has inputs of their own (`grader.variants`).
    """

    release: datetime.datetime | None = None
    due: datetime.datetime | None = None
    late: Late = Late()
    partial: Partial = Partial()
    on_submit: OnSubmit = OnSubmit()
    largest_group: int | None = None
    variants: bool = False


@dataclass(frozen=True)
class Policy:
    """The course's policy.

    Args:
        in_force: is there a file? Otherwise the due dates of the gradebook are left alone.
        free_days: late days of each student that cost nothing, over the whole course.
        course: what holds for labs that the file does not name.
    """

    in_force: bool = False
    zone: ZoneInfo = field(default_factory=lambda: ZoneInfo("UTC"))
    free_days: int = 0
    course: Rules = Rules()
    labs: Mapping[str, Rules] = field(default_factory=dict)

    def lab(self, name: str) -> Rules:
        return self.labs.get(name, self.course)

    def shown(self, when: datetime.datetime) -> str:
        """A moment as the course's clocks show it: Sun 1 November 2026, 23:59 CET."""
        local = when.astimezone(self.zone)
        seconds = f":{local.second:02}" if local.second not in (0, 59) else ""
        return f"{local:%a} {local.day} {local:%B %Y}, {local:%H:%M}{seconds} {local:%Z}"


def share(of: Fraction) -> str:
    """A share in percent."""
    return f"{float(100 * of):g} %"
