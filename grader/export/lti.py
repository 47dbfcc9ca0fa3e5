"""Sends scores straight to a learning platform, by LTI 1.3: points, what is taken off, comments.

A file that `c.Grading.lti` names says which platform it is, and which key to use.
"""

from __future__ import annotations

import ipaddress
import json
import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from grader.export import matching, sheet
from grader.export.made import by_student, unmatched
from grader.export.moodle import told
from grader.export.platform import Platform, PlatformFailed, Refused, same_host
from grader.export.points import Result, hundredths
from grader.export.sent import Sent
from grader.export.sheet import Unusable, listed, plain, shown
from grader.paths import ROOT
from grader.sandbox import configured

VARIABLE = "DISTLAB_LTI"  # in the environment it comes before nbgrader_config.py
LARGEST = 100_000  # bytes of the file, and of a key
MOST_REFUSED = 5  # scores in a row, after which the rest is not tried
_NEEDED = ("client_id", "token_url", "line_items", "key")
_MORE = ("memberships", "kid", "audience")
_NOTHING = ("", "~", "null")  # as YAML says that a name has no value
#: what a platform calls a member, besides what --key names. Its own numbers of users are not among
#: them: a student whose login is a number could be somebody else there
KEYS = ("email", "lis_person_sourcedid", "ext_user_username")


@dataclass(frozen=True)
class Settings:
    """The platform and the tool's registration there.

    Args:
        line_items: the address of the course's line items.
        memberships: the address of its members; empty where names come from a file.
        key: PEM.
    """

    client_id: str
    token_url: str
    line_items: str
    key: str
    memberships: str = ""
    kid: str = ""
    audience: str = ""


@dataclass(frozen=True)
class Score:
    """What a student is given for a lab."""

    student: str
    user: str
    lab: str
    content: Mapping[str, Any]

    def shown(self) -> str:
        given, most = self.content["scoreGiven"], self.content["scoreMaximum"]
        return f"{self.student} ({self.user}), {self.lab}: {given:g} of {most:g}"


def settings() -> Settings:
    """What the configuration says.

    Raises:
        Unusable: nothing, or something that cannot be used.
    """
    named = os.environ.get(VARIABLE) or configured().lti
    if not named:
        raise Unusable(
            "no platform is configured: let c.Grading.lti in nbgrader_config.py name a file, as "
            "docs/instructors.md says"
        )
    path = Path(named).expanduser()
    try:
        with path.open("rb") as file:
            # as text: read as YAML has it, the client id 012345 would be 5349
            content = yaml.load(file.read(LARGEST), yaml.BaseLoader)
    except OSError as error:
        raise Unusable(f"{path} cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise Unusable(f"{path} is not YAML: see docs/instructors.md for an example") from error
    if not isinstance(content, dict):
        raise Unusable(f"{path} has no lines NAME: VALUE: see docs/instructors.md for an example")
    values = {str(name): str(value) for name, value in content.items() if value not in _NOTHING}
    if strange := [name for name in map(str, content) if name not in (*_NEEDED, *_MORE)]:
        raise Unusable(f"{path} has {listed(strange)}: there are {listed((*_NEEDED, *_MORE))}")
    if missing := [name for name in _NEEDED if name not in values]:
        raise Unusable(f"{path} lacks {listed(missing)}")
    for name in ("token_url", "line_items", "memberships"):
        _need_address(path, name, values.get(name, ""))
    values["key"] = _key((path.parent / Path(values["key"]).expanduser()).resolve())
    return Settings(**values)


def _need_address(path: Path, name: str, url: str) -> None:
    """Raises:
    Unusable: it is not an address, or a token would cross a network unencrypted.
    """
    if not url:
        return
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        _ = parts.port
    except ValueError:
        host, parts = "", urlsplit("")
    if not host or parts.scheme not in ("https", "http") or (
        parts.scheme == "http" and not _is_here(host)
    ):  # fmt: skip
        raise Unusable(f"{path}: {name} has to be an address that begins with https://")


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _key(path: Path) -> str:
    """The private key in a file that nobody else can read.

    Raises:
        Unusable: others can read it, or it is not such a key.
    """
    if path.is_relative_to(ROOT):
        raise Unusable(f"the key {path} lies in the course's folder: put it elsewhere")
    try:
        with path.open("rb") as file:
            if stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
                raise Unusable(f"others can read the key {path}: chmod 600 {path}")
            text = file.read(LARGEST).decode("ascii", "replace")
    except OSError as error:
        raise Unusable(f"the key {path} cannot be read: {error.strerror}") from error
    if "PRIVATE KEY-----" not in text:
        raise Unusable(f"{path} is no private key in PEM: make one as docs/instructors.md says")
    try:
        from joserfc.jwk import RSAKey

        RSAKey.import_key(text)
    except Exception as error:  # of several libraries' kinds
        raise Unusable(f"{path} is no RSA key that can be read ({type(error).__name__})") from error
    return text


def export(
    chosen: Settings, results: Sequence[Result], labs: Sequence[str], named: Mapping[str, str],
    more_keys: Sequence[str], roster: Path | None, sent: Path, dry: bool,
) -> tuple[list[str], bool]:  # fmt: skip
    """Send scores; returns sentences on what was done and what was not, and whether all of it was.

    Args:
        named: lab → label or id of its line item.
        more_keys: fields of members that say which student somebody is.
        roster: a file with `student` and `user_id`, in place of the platform's members.
        sent: the file that remembers what was sent before.
        dry: say what would be sent, and send nothing.

    Raises:
        Unusable: a file or a word cannot be used.
        PlatformFailed: the platform is not there, or refuses; what was sent before stays.
    """
    if roster is None and not chosen.memberships:
        raise Unusable(
            "who is who? Name the address of the course's members (memberships), or a file with "
            "the columns student and user_id (--roster)"
        )
    with (
        Sent.at(sent) as before,
        Platform(
            chosen.token_url, chosen.client_id, chosen.key, chosen.kid, chosen.audience,
            members=roster is None,
        ) as platform,
    ):  # fmt: skip
        asked = by_student([one for one in results if one.lab in labs])
        users, said, whole = _users(platform, chosen, asked, more_keys, roster)
        items = _line_items(platform, chosen, results, labs, named, dry, said)
        scores = [_score(result, users[student]) for student, some in sorted(asked.items())
                  if student in users for result in some.values()]  # fmt: skip
        done = _send(platform, before, scores, items, dry, said)
    return said, whole and done


def _users(
    platform: Platform, chosen: Settings, asked: Mapping[str, Any], more_keys: Sequence[str],
    roster: Path | None,
) -> tuple[dict[str, str], list[str], bool]:  # fmt: skip
    """{student: id on the platform}, sentences on those not matched, and whether all were."""
    if roster is not None:
        ids, file = _listed(roster), shown(roster.name)
        rows = [{student} for student in ids]
        names = dict(enumerate(ids))
        users = list(ids.values())
    else:
        file = "the platform's course"
        members = [one for one in platform.members(chosen.memberships) if _is_student(one)]
        rows = [{str(one[key]) for key in (*KEYS, *more_keys) if one.get(key)} for one in members]
        names = {at: str(one.get("name") or one["user_id"]) for at, one in enumerate(members)}
        users = [str(one["user_id"]) for one in members]
    matched = matching.students(asked, rows)
    said = [
        one.replace("rows of the file", "members").replace("row of the file", "member")
        for one in unmatched(matched, names, file)
    ]
    whole = not matched.missing and not matched.unclear
    return {student: users[at] for student, at in matched.rows.items()}, said, whole


def _is_student(member: Mapping[str, Any]) -> bool:
    if not isinstance(member.get("user_id"), (str, int)) or member.get("user_id") == "":
        return False
    roles = member.get("roles")
    learns = not isinstance(roles, list) or any("learner" in str(one).casefold() for one in roles)
    return learns and str(member.get("status", "Active")).casefold() == "active"


def _listed(roster: Path) -> dict[str, str]:
    """{student: user} of a file."""
    table = sheet.read(roster, ("student", "user_id"), "a list with columns student and user_id")
    if not table.places("student") or not table.places("user_id"):
        raise Unusable(f"{shown(roster.name)} lacks one of the columns student and user_id")
    (student, *_), (user, *_) = table.places("student"), table.places("user_id")
    found: dict[str, str] = {}
    for row in table.rows:
        name, id = row[student].strip(), row[user].strip()
        if not name or not id:
            continue
        if name in found or id in found.values():
            raise Unusable(f"{shown(roster.name)} has {shown(name)} or {shown(id)} twice")
        found[name] = id
    return found


def _line_items(
    platform: Platform, chosen: Settings, results: Sequence[Result], labs: Sequence[str],
    named: Mapping[str, str], dry: bool, said: list[str],
) -> dict[str, str]:  # fmt: skip
    """{lab: id of its line item}; one that is missing is created."""
    there = platform.line_items(chosen.line_items)
    items = {}
    for lab in labs:
        wanted = named.get(lab)
        found = _called(there, lab, wanted)
        if len(found) > 1:
            ids = listed(str(one["id"]) for one in found)
            raise Unusable(f'{lab} could be {ids}: name one with --column {lab}="ID"')
        if not found and wanted:
            labels = listed(str(one.get("label")) for one in there[:10]) or "none so far"
            raise Unusable(f"there is no line item {shown(wanted)!r}: there are {labels}")
        most = float(next(hundredths(one.most) for one in results if one.lab == lab))
        if not found and dry:
            said.append(f"{lab} has no line item yet: one with {most:g} points would be made.")
            items[lab] = lab
            continue
        if not found:
            made = {"label": lab, "scoreMaximum": most, "resourceId": lab, "tag": "distlab"}
            found = [platform.create(chosen.line_items, made)]
            said.append(f"{lab}: a line item with {most:g} points is made.")
        maximum = found[0].get("scoreMaximum")
        if isinstance(maximum, (int, float)) and maximum != most:
            said.append(
                f"{lab} has {maximum:g} points on the platform, and {most:g} here: the platform "
                "scales them."
            )
        items[lab] = _need_here(str(found[0]["id"]), chosen.line_items)
    if twice := [lab for lab in items if list(items.values()).count(items[lab]) > 1]:
        raise Unusable(f"{listed(twice)} are one line item: name one for each")
    return items


def _need_here(url: str, known: str) -> str:
    """Raises:
    PlatformFailed: scores, and the token, would go to another host.
    """
    if not same_host(url, known):
        raise PlatformFailed(f"the line item {shown(url)} is not on the platform that was named")
    return url


def _called(there: Sequence[dict[str, Any]], lab: str, wanted: str | None) -> list[dict[str, Any]]:
    """Candidates for a lab's line item: by the name given, or else by our own mark, or by label."""
    if wanted is not None:
        return [
            one for one in there
            if one["id"] == wanted or plain(str(one.get("label", ""))) == plain(wanted)
        ]  # fmt: skip
    ours = [one for one in there if one.get("resourceId") == lab]
    return ours or [one for one in there if plain(str(one.get("label", ""))) == plain(lab)]


def _score(result: Result, user: str) -> Score:
    progress = "PendingManual" if result.waits else "FullyGraded"
    content = {
        "userId": user, "scoreGiven": max(0.0, float(hundredths(result.final))),
        "scoreMaximum": float(hundredths(result.most)), "comment": told(result),
        "activityProgress": "Completed", "gradingProgress": progress,
    }  # fmt: skip
    return Score(result.student, user, result.lab, content)


def _send(
    platform: Platform, before: Sent, scores: Sequence[Score], items: Mapping[str, str], dry: bool,
    said: list[str],
) -> bool:  # fmt: skip
    """Send what the platform does not have yet; is all of it there?"""
    new = [one for one in scores if not before.has(items[one.lab], one.user, _text(one))]
    refused: list[str] = []
    for number, one in enumerate([] if dry else new):
        item = items[one.lab]
        content = {**one.content, "timestamp": before.time(item, one.user)}
        try:
            platform.score(item, content)
        except Refused as error:
            refused.append(f"{one.shown()}: {error}.")
            if len(refused) == number + 1 >= MOST_REFUSED:
                said += [*refused, "None was taken so far: the others were not tried."]
                return False
        else:
            before.note(item, one.user, _text(one))
    if dry:
        said += [f"{one.shown()}, {one.content['gradingProgress']}" for one in new]
    said += refused
    had = len(scores) - len(new)
    verb = "would be sent" if dry else "sent"
    said.append(f"{len(new) - len(refused)} scores {verb}, {had} were there already.")
    return not refused


def _text(one: Score) -> str:
    return json.dumps(dict(one.content), sort_keys=True)
