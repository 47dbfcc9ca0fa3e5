"""Names that cross between machines: of files, labs, courses and people.

A name becomes part of a path on a disk that the sender does not own. Names that lead out of the
folder, mean something else on another machine, or look like another name are refused.
"""

from __future__ import annotations

import re
import unicodedata

LONGEST = 255  # bytes of one name, as on any file system of today
LONGEST_PATH = 1000  # bytes
DEEPEST = 10  # folders in each other
#: files that nbgrader adds to a submission; the exchange writes them itself
RESERVED = ("timestamp.txt", "submission_secret.txt")
_CONTROLS = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}  # of Unicode: control, format, surrogate, …
_DEVICES = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.IGNORECASE)
_DIGEST = re.compile("[0-9a-f]{64}")
_KEY = re.compile("[0-9a-f]{32}")
_WHEN = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6} UTC", re.ASCII)
_PAGE = re.compile(r"[0-9a-f]{16,128}\.html")


class Refused(ValueError):
    """A name, or what was sent with it, is not accepted; the message says why."""


def path(text: object) -> str:
    """A relative path of a file, with slashes, as it was given.

    Raises:
        Refused: it must not be written.
    """
    if not isinstance(text, str) or not text:
        raise Refused("a file has no name")
    if len(text.encode("utf-8", "surrogatepass")) > LONGEST_PATH:
        raise Refused(f"the name of a file is longer than {LONGEST_PATH} bytes: {shown(text)}")
    parts = text.split("/")
    if len(parts) > DEEPEST + 1:
        raise Refused(f"{shown(text)} lies deeper than {DEEPEST} folders")
    for part in parts:
        _component(part, text)
    return text


def is_reserved(path: str) -> bool:
    """Is this the path of a file that the exchange writes itself, or a path below one?"""
    return path.partition("/")[0] in RESERVED


def one(text: object, what: str) -> str:
    """The name of a lab, a course or a person, as a folder's.

    Raises:
        Refused: it cannot be one.
    """
    if not isinstance(text, str):
        raise Refused(f"the {what} has no name")
    _component(text, text)
    if "/" in text or text.startswith("."):
        raise Refused(f"{shown(text)} cannot be the name of a {what}")
    return text


def lab(text: object) -> str:
    """The name of a lab, short enough to stand in the name of a submission, where a plus would end
    it.
    """
    name = one(text, "lab")
    if "+" in name or len(name.encode()) > 100:
        raise Refused(f"{shown(name)} cannot be the name of a lab")
    return name


def person(text: object) -> str:
    """The name of a user, short enough to stand in the name of a submission."""
    name = one(text, "user")
    if len(name.encode()) > 80:
        raise Refused(f"the name of the user {shown(name)} is longer than 80 bytes")
    return name


def digest(text: object) -> str:
    """A SHA-256 in hexadecimal."""
    return _matching(_DIGEST, text, "a file's digest")


def key(text: object) -> str:
    """What tells one hand-in of a person from another."""
    return _matching(_KEY, text, "the key of a submission")


def page(text: object) -> str:
    """The name of a feedback page, which nbgrader makes from a submission's secret."""
    return _matching(_PAGE, text, "the name of a feedback page")


def submission(student: str, lab: str, when: str, key: str) -> str:
    """The folder of a submission, as nbgrader names it."""
    return f"{student}+{lab}+{when}+{key}"


def parts(name: str) -> tuple[str, str, str, str] | None:
    """(student, lab, when, key) of a submission's folder; a student's name may have a + in it."""
    found = name.rsplit("+", 3)
    return (found[0], found[1], found[2], found[3]) if len(found) == 4 and all(found) else None


def is_submission(parts: tuple[str, str, str, str]) -> bool:
    """Are these the parts of a name that the exchange itself has given?"""
    try:
        return bool(
            person(parts[0]) and lab(parts[1]) and _WHEN.fullmatch(parts[2]) and key(parts[3])
        )
    except Refused:
        return False


def request(student: str, when: str, key: str) -> str:
    """The file of a student's request for a second look."""
    return f"{student}+{when}+{key}"


def request_parts(name: str) -> tuple[str, str, str] | None:
    """(student, when, key) of a request's file, where the exchange itself has given this name."""
    found = name.rsplit("+", 2)
    try:
        if len(found) == 3 and person(found[0]) and _WHEN.fullmatch(found[1]) and key(found[2]):
            return found[0], found[1], found[2]
    except Refused:
        pass
    return None


def shown(text: str, most: int = 60) -> str:
    """A name as it stands in a sentence: characters that cannot be seen are escaped, and a long
    name is cut.
    """
    safe = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return repr(safe if len(safe) <= most else f"{safe[:most]}…")


def _component(part: str, whole: str) -> None:
    if part in ("", ".", ".."):
        raise Refused(f"{shown(whole)} leads out of its folder, or nowhere")
    if len(part.encode("utf-8", "surrogatepass")) > LONGEST:
        raise Refused(f"{shown(whole)} has a name longer than {LONGEST} bytes")
    for c in part:
        if unicodedata.category(c) in _CONTROLS:
            raise Refused(f"{shown(whole)} has a character that cannot be seen (U+{ord(c):04X})")
        if c in "\\:":
            raise Refused(f"{shown(whole)} has a {c} in it, which separates folders elsewhere")
    if part != part.strip() or part.endswith("."):
        raise Refused(f"{shown(whole)} begins or ends with a space, or ends with a dot")
    if _DEVICES.fullmatch(part):
        raise Refused(f"{shown(whole)} is the name of a device on some machines")
    plain = unicodedata.normalize("NFKC", part)
    if plain in (".", "..") or set(plain) & set("/\\"):
        raise Refused(f"{shown(whole)} has a character that looks like a slash or a dot")


def _matching(pattern: re.Pattern[str], text: object, what: str) -> str:
    if not isinstance(text, str) or not pattern.fullmatch(text):
        raise Refused(f"{what} is not as it should be")
    return text
