"""Read `policy.yaml`, naming each value that cannot be used with its line."""

from __future__ import annotations

import dataclasses
import datetime
import difflib
import re
import zoneinfo
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

import yaml

from distlab import course
from grader.policy import lateness
from grader.policy.lateness import Duration, Late
from grader.policy.rules import Policy, PolicyError, Rules

LARGEST = 200_000  # bytes
MOST_PROBLEMS = 20  # that are told
LONGEST = Duration(366)
_UNITS = {"w": (7, 0), "d": (1, 0), "h": (0, 3600), "min": (0, 60), "s": (0, 1)}
_PIECE = re.compile(r"(\d{1,6})\s*(weeks?|w|days?|d|hours?|h|minutes?|min|seconds?|s)\b\s*")
T = TypeVar("T")


class Wrong(ValueError):
    """A value that cannot be used; the message says what to write instead."""


def nearest(name: str, known: Iterable[str]) -> str:
    """ ": did you mean X?" where a known name is like this one, else nothing."""
    found = difflib.get_close_matches(name, list(known), 1)
    return f": did you mean {found[0]}?" if found else ""


def duration(text: str) -> Duration:
    """A duration as people write it: 3d, 12h, 1d 6h, 90min.

    Raises:
        Wrong: it is none, or longer than a year.
    """
    days = seconds = end = 0
    text = text.strip()
    while end < len(text) and (piece := _PIECE.match(text, end)):
        unit = piece[2] if piece[2] in _UNITS else {"m": "min"}.get(piece[2][0], piece[2][0])
        days += int(piece[1]) * _UNITS[unit][0]
        seconds += int(piece[1]) * _UNITS[unit][1]
        end = piece.end()
    if not end or end < len(text):
        raise Wrong("write a time as 3d, 12h, 1d 6h or 30min")
    if days + seconds // 86400 > LONGEST.days:
        raise Wrong(f"at most {LONGEST.days} days can be written")
    return Duration(days, seconds)


def moment(text: str, zone: zoneinfo.ZoneInfo | None, last: bool = False) -> datetime.datetime:
    """A date, or a date with a time, in UTC.

    Args:
        zone: where no offset is written; `None` where the file names no time zone.
        last: a date without a time means the end of its day, not the beginning.

    Raises:
        Wrong: it is none.
    """
    said = "write it as 2026-11-01 23:59"
    found = re.fullmatch(
        r"(\d{4}-\d\d-\d\d)(?:[ T]+(\d\d?:\d\d(?::\d\d)?) *(Z|[+-]\d\d:\d\d)?)?", text
    )
    if not found:
        raise Wrong(f"this is no date: {said}")
    day, time, offset = found.groups()
    time = time or ("23:59:59" if last else "00:00:00")
    if last and time == "23:59":  # that minute is still in time, as people mean it
        time = "23:59:59"
    try:
        when = datetime.datetime.fromisoformat(
            f"{day}T{time.rjust(8 if time.count(':') > 1 else 5, '0')}"
        )
        if not 2000 <= when.year <= 2200:
            raise ValueError("the year is not between 2000 and 2200")
        if offset:
            minutes = 0 if offset == "Z" else int(offset[1:3]) * 60 + int(offset[4:])
            if minutes > 14 * 60:
                raise ValueError("no place is so far from UTC")
            shift = datetime.timedelta(minutes=-minutes if offset[0] == "-" else minutes)
            return (when - shift).replace(tzinfo=lateness.UTC)
    except ValueError as error:
        raise Wrong(f"this is no date ({error}): {said}") from error
    if zone is None:
        raise Wrong("it is not said where: write `timezone: Europe/Berlin`, say, at the top")
    if not lateness.exists(when, zone):
        raise Wrong(f"clocks in {zone.key} skip this time, on that day: take another one")
    return lateness.at(when, zone)


def _zone(text: str) -> zoneinfo.ZoneInfo:
    try:
        return zoneinfo.ZoneInfo(text)
    except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError) as error:
        known = zoneinfo.available_timezones()
        if not known:
            raise Wrong("this machine knows no time zones: `pip install tzdata`") from error
        like = nearest(text, known)
        raise Wrong(f"there is no such time zone{like or ': write Europe/Berlin, say'}") from error


def _percent(text: str) -> Fraction:
    found = re.fullmatch(r"(\d{1,3}(?:\.\d{1,4})?) ?%", text)
    if text == "none" or not found:
        if text == "none":
            return Fraction()
        raise Wrong("write none, or a share as 50%")
    if (value := Fraction(found[1]) / 100) > 1:
        raise Wrong("it can be at most 100%")
    return value


def _penalty(text: str) -> tuple[Fraction, bool]:
    if found := re.fullmatch(r"(\d{1,4}(?:\.\d{1,2})?) points?", text):
        return Fraction(found[1]), True
    try:
        return _percent(text), False
    except Wrong as error:
        if "at most" in str(error):
            raise
        raise Wrong(
            "write none, or what each day begun takes off: 10% of the points reached, or 2 points"
        ) from error


def _count(least: int, most: int, none: str = "") -> Callable[[str], int | None]:
    def read(text: str) -> int | None:
        if none and text == none:
            return None
        if not re.fullmatch(r"\d{1,6}", text) or not least <= int(text) <= most:
            raise Wrong(f"write {none + ', or ' if none else ''}a number from {least} to {most}")
        return int(text)

    return read


def _accept(text: str) -> Duration | None:
    return None if text == "always" else duration(text)


def _switch(text: str) -> bool:
    if text not in ("on", "off"):
        raise Wrong("write on or off")
    return text == "on"


_LATE = {"penalty": _penalty, "at_most": _percent, "grace": duration, "accept": _accept}
_PARTIAL = {"cases": _percent, "deadlock": _percent}
_ON_SUBMIT = {"attempts": _count(1, 100_000, "unlimited"), "wait": duration}
_LAB = ("release", "due", "late", "partial", "on_submit", "largest_group", "variants")
_COURSE = ("timezone", "free_late_days", *_LAB[2:], "labs")


def read(path: Path) -> Policy:
    """The policy in a file.

    Raises:
        PolicyError: the file cannot be read, or has values that cannot be used, all of them named.
    """
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise PolicyError(f"{path.name} has more than {LARGEST} bytes: this is no policy")
        text = content.decode("utf-8-sig")
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except OSError as error:
        raise PolicyError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise PolicyError(
            f"{path.name}, line {line}: this is not UTF-8: save it as UTF-8"
        ) from error
    except RecursionError as error:
        raise PolicyError(f"{path.name} is nested too deeply: this is no policy") from error
    except yaml.YAMLError as error:
        raise PolicyError(f"{path.name}, {_where(error)}") from error
    reading = _Reading(path.name)
    policy = reading.policy(root)
    if problems := reading.problems:
        rest = len(problems) - MOST_PROBLEMS
        more = [f"And {rest} more."] if rest > 0 else []
        raise PolicyError("\n".join([said for _, said in sorted(problems)[:MOST_PROBLEMS]] + more))
    return policy


def _where(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    said = " ".join(str(getattr(error, "problem", None) or getattr(error, "reason", "")).split())
    line = f"line {mark.line + 1}" if mark else "somewhere"
    return f"{line}: this is not YAML ({said or 'it cannot be read'}): write `name: value`"


class _Reading:
    """Reads nodes of YAML, and collects what is wrong with them in `problems`."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.problems: list[tuple[int, str]] = []
        self._zone: zoneinfo.ZoneInfo | None = None

    def policy(self, root: yaml.Node | None) -> Policy:
        top = self._mapping(root, "the file", _COURSE)
        # dates are read even if the zone is wrong, so that their own mistakes are named as well
        self._zone = self._value(top, "timezone", _zone, zoneinfo.ZoneInfo("UTC"))
        self._zone = self._zone if "timezone" in top else None
        free = self._value(top, "free_late_days", _count(0, 366), 0)
        general = self._rules(top, Rules())
        each = self._mapping(top.get("labs"), "labs", course.LABS, "lab")
        rules = {
            name: self._lab(self._mapping(node, name, _LAB), general) for name, node in each.items()
        }
        zone = self._zone or zoneinfo.ZoneInfo("UTC")
        return Policy(True, zone, free or 0, general, rules)

    def _lab(self, of: Mapping[str, yaml.Node], general: Rules) -> Rules:
        release = self._value(of, "release", lambda text: moment(text, self._zone), None)
        due = self._value(of, "due", lambda text: moment(text, self._zone, last=True), None)
        if release and due and due <= release:
            self._wrong(
                of["due"], f"{_text(of['due'])!r} is not after the release: one of both is wrong"
            )
        return dataclasses.replace(self._rules(of, general), release=release, due=due)

    def _rules(self, of: Mapping[str, yaml.Node], basis: Rules) -> Rules:
        """The rules of a section, on top of those that hold without it."""
        late = self._section(of, "late", _LATE)
        if "penalty" in late:
            late["per_day"], late["in_points"] = late.pop("penalty")
        made = dataclasses.replace(basis.late, **late)
        if made.accept is not None and _long(made.accept) < _long(made.grace):
            self._wrong(of["late"], "accept is shorter than grace: nobody could be late")
            made = Late()
        return dataclasses.replace(
            basis, late=made,
            partial=dataclasses.replace(basis.partial, **self._section(of, "partial", _PARTIAL)),
            on_submit=dataclasses.replace(
                basis.on_submit, **self._section(of, "on_submit", _ON_SUBMIT)
            ),
            largest_group=self._value(
                of, "largest_group", _count(1, 100, "any"), basis.largest_group
            ),
            variants=self._value(of, "variants", _switch, basis.variants),
        )  # fmt: skip

    def _section(
        self, of: Mapping[str, yaml.Node], name: str, known: Mapping[str, Callable[[str], Any]]
    ) -> dict[str, Any]:
        found = self._mapping(of.get(name), name, known)
        nothing = object()
        values = {key: self._value(found, key, known[key], nothing) for key in found}
        return {key: value for key, value in values.items() if value is not nothing}

    def _value(
        self, of: Mapping[str, yaml.Node], key: str, read: Callable[[str], T], default: Any
    ) -> Any:
        node = of.get(key)
        if node is None:
            return default
        if not isinstance(node, yaml.ScalarNode):
            self._wrong(node, f"{key} is more than one value: write `{key}: value` in one line")
            return default
        text = _text(node)
        try:
            if not text:
                raise Wrong("write a value, or leave the line out")
            return read(text)
        except Wrong as error:
            self._wrong(
                node, f"{key} is {text[:60]!r}: {error}" if text else f"{key} is empty: {error}"
            )
            return default

    def _mapping(
        self, node: yaml.Node | None, name: str, known: Iterable[str], what: str = "name"
    ) -> dict[str, yaml.Node]:
        """The values of a section by their names, as far as these are known."""
        if node is None or isinstance(node, yaml.ScalarNode) and _text(node) in ("", "~", "null"):
            return {}
        if not isinstance(node, yaml.MappingNode):
            self._wrong(node, f"{name} has to be lines of the form `name: value`")
            return {}
        found: dict[str, yaml.Node] = {}
        for key, value in node.value:
            word = _text(key) if isinstance(key, yaml.ScalarNode) else ""
            if word not in known:
                like = nearest(word, known) or f": known are {', '.join(known)}"
                self._wrong(key, f"there is no {what} {word[:60]!r} here{like}")
            elif word in found:
                self._wrong(key, f"{word} stands there twice: leave one out")
            else:
                found[word] = value
        return found

    def _wrong(self, node: yaml.Node, said: str) -> None:
        line = node.start_mark.line + 1
        stop = "" if said.endswith("?") else "."
        self.problems.append((line, f"{self._name}, line {line}: {said}{stop}"))


def _text(node: Any) -> str:
    return str(node.value).strip()


def _long(duration: Duration) -> int:
    return duration.days * 86400 + duration.seconds
