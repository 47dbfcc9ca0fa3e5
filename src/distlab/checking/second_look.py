"""A student's request for a second look at one exercise, as it travels: small, plain, JSON.

Who asks is not in it: that is the owner of the file, or the account that a service has
authenticated, and never what a file says.
"""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass

from distlab import course
from distlab.records import redaction

LONGEST = 500  # characters of the sentence
LARGEST = 8_000  # bytes of a request: a character may take twelve
PREFIX = "second-look."  # of its file's name; nbgrader looks for names with a + in them
_KEYS = {"lab", "exercise", "said"}


class Mistaken(ValueError):
    """Something cannot be asked or answered like this; the message says what to do instead."""

    exit_status = 2


@dataclass(frozen=True)
class Request:
    """What is asked.

    Args:
        said: the student's sentence, one line of plain text.
    """

    lab: str
    exercise: str
    said: str

    def content(self) -> bytes:
        """The bytes that travel."""
        return json.dumps({"lab": self.lab, "exercise": self.exercise, "said": self.said}).encode()


def request(lab: str, exercise: str, said: str) -> Request:
    """A request that makes sense.

    Raises:
        Mistaken: there is no such lab or exercise, or the sentence is empty or too long.
    """
    need_exercise(lab, exercise)
    said = sentence(said)
    if not said.strip("….\"'“” "):  # what the feedback page has in a sentence's place
        raise Mistaken(
            f"say in a sentence what should be looked at: distlab ask {lab} {exercise} "
            '"rank 2 is right, because …"'
        )
    return Request(lab, exercise, said)


def need_exercise(lab: str, exercise: str) -> None:
    """Raises:
    Mistaken: there is no such lab or exercise.
    """
    if lab not in course.LABS:
        raise Mistaken(f"there is no lab {_shown(lab)!r}{_nearest(lab, list(course.LABS))}")
    names = list(course.exercises(lab))
    if exercise not in names:
        raise Mistaken(
            f"{lab} has no exercise {_shown(exercise)!r} that is judged{_nearest(exercise, names)}"
        )


def sentence(said: str, longest: int = LONGEST) -> str:
    """Text on one line, without what does something to a terminal or a page.

    Raises:
        Mistaken: it is too long.
    """
    text = redaction.visible(" ".join(said.split()))
    if len(text) > longest:
        raise Mistaken(f"{len(text)} characters are too many: say it in at most {longest}")
    return text


def parsed(content: bytes) -> Request:
    """The request that travelled, which anybody may have written.

    Raises:
        Mistaken: it is not one that `distlab ask` writes.
    """
    try:
        found = json.loads(content.decode()) if len(content) <= LARGEST else None
    except (ValueError, RecursionError) as error:
        raise Mistaken("it is not what `distlab ask` writes") from error
    if not isinstance(found, dict) or set(found) != _KEYS:
        raise Mistaken("it is not what `distlab ask` writes")
    if not all(isinstance(value, str) for value in found.values()):
        raise Mistaken("it is not what `distlab ask` writes")
    return request(found["lab"], found["exercise"], found["said"])


def _nearest(name: str, known: list[str]) -> str:
    like = difflib.get_close_matches(name, known, 1)
    return f": did you mean {like[0]}?" if like else f": there are {', '.join(known)}"


def _shown(name: str) -> str:
    return redaction.shown(name[:60])
