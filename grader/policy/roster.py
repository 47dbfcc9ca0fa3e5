"""What was granted to single students: extensions, and groups that hand in together.

It is kept in one small file beside the gradebook, because the gradebook can hold an extension only
for somebody who has handed in already. Changes are made one after the other, and written whole or
not at all.
"""

from __future__ import annotations

import contextlib
import datetime
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from grader import writing
from grader.paths import GRADES
from grader.policy.lateness import UTC, Duration
from grader.policy.rules import Policy, PolicyError

LARGEST = 10_000_000  # bytes
MOST_MEMBERS = 100  # of a group
MOST_DAYS = 366  # of an extension


@dataclass(frozen=True)
class Extension:
    """More time for one student: so much longer, or until a moment."""

    longer: Duration = Duration()
    until: datetime.datetime | None = None

    def extended(self, due: datetime.datetime, zone: ZoneInfo) -> datetime.datetime:
        """The due date with this extension; never an earlier one."""
        return max(due, self.until or self.longer.after(due, zone))


@dataclass(frozen=True)
class Roster:
    """Args:
    extensions: lab → student → extension.
    groups: lab → groups of two and more, members in order.
    """

    extensions: Mapping[str, Mapping[str, Extension]] = field(default_factory=dict)
    groups: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)

    def members(self, lab: str, student: str) -> tuple[str, ...]:
        """The student's group, the student included."""
        groups = self.groups.get(lab, ())
        return next((group for group in groups if student in group), (student,))

    def due(self, policy: Policy, lab: str, student: str) -> datetime.datetime | None:
        """A student's due date, in UTC. The longest extension of a group's members is the
        group's.
        """
        due = policy.lab(lab).due
        if due is None:
            return None
        granted = self.extensions.get(lab, {})
        members = [granted[name] for name in self.members(lab, student) if name in granted]
        return max([due, *(one.extended(due, policy.zone) for one in members)])

    def extend(self, lab: str, student: str, extension: Extension | None) -> Roster:
        """The roster with this extension in place of the student's, or without one."""
        mine = {name: one for name, one in self.extensions.get(lab, {}).items() if name != student}
        if extension is not None:
            mine[student] = extension
        return Roster({**self.extensions, lab: mine}, self.groups)

    def group(self, lab: str, members: tuple[str, ...]) -> Roster:
        """The roster with these in one group, and in no other; a single one works alone."""
        rest = [
            tuple(name for name in group if name not in members)
            for group in self.groups.get(lab, ())
        ]
        groups = [group for group in (*rest, tuple(sorted(members))) if len(group) > 1]
        return Roster(self.extensions, {**self.groups, lab: tuple(sorted(groups))})


class RosterFile:
    """The roster on disk."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or GRADES / "roster.json"

    def read(self) -> Roster:
        """What is granted now.

        Raises:
            PolicyError: the file is damaged.
        """
        try:
            with self.path.open("rb") as file:
                content = file.read(LARGEST + 1)
        except FileNotFoundError:
            return Roster()
        except OSError as error:
            raise PolicyError(f"{self.path} cannot be read: {error.strerror}") from error
        try:
            if len(content) > LARGEST:
                raise ValueError(f"it has more than {LARGEST} bytes")
            return _roster(json.loads(content))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise PolicyError(
                f"{self.path} is damaged ({type(error).__name__}: {error}): restore it from a "
                "copy, or remove it and grant extensions and groups again"
            ) from error

    @contextlib.contextmanager
    def changing(self) -> Iterator[list[Roster]]:
        """Change the roster: what is granted now is yielded as the only item of a list, and what is
        put in its place is written at the end. Others who change the roster wait meanwhile.
        """
        with writing.locked(self.path.with_suffix(".lock")):
            was = self.read()
            held = [was]
            yield held
            if held[0] != was:
                self._write(held[0])

    def _write(self, roster: Roster) -> None:
        text = json.dumps(_content(roster), indent=1, ensure_ascii=False, sort_keys=True) + "\n"
        content = text.encode()
        if len(content) > LARGEST:
            raise PolicyError(f"{self.path} would have more than {LARGEST} bytes")
        writing.whole(self.path, content)


def _roster(content: Any) -> Roster:
    return Roster(
        {
            lab: {name: _extension(one) for name, one in some.items()}
            for lab, some in content["extensions"].items()
        },
        {
            lab: tuple(tuple(map(_name, group)) for group in groups)
            for lab, groups in content["groups"].items()
        },
    )


def _name(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("a name is no text")
    return value


def _extension(content: dict[str, Any]) -> Extension:
    if "until" in content:
        until = datetime.datetime.fromisoformat(content["until"])
        return Extension(until=until.astimezone(UTC))
    longer = Duration(content["days"], content["seconds"])
    if not 0 <= longer.days <= MOST_DAYS or not 0 <= longer.seconds <= 86400 * MOST_DAYS:
        raise ValueError("an extension is shorter than nothing, or longer than a year")
    return Extension(longer)


def _content(roster: Roster) -> dict[str, Any]:
    return {
        "extensions": {
            lab: {name: _described(one) for name, one in some.items()}
            for lab, some in roster.extensions.items() if some
        },
        "groups": {lab: groups for lab, groups in roster.groups.items() if groups},
    }  # fmt: skip


def _described(one: Extension) -> dict[str, Any]:
    if one.until is not None:
        return {"until": one.until.isoformat()}
    return {"days": one.longer.days, "seconds": one.longer.seconds}
