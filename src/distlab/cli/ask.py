"""`distlab ask`: a request for a second look is handed over in the way that submissions are."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from distlab.checking.second_look import PREFIX, Mistaken, request
from distlab.cli import labs

if TYPE_CHECKING:
    from traitlets.config import Config


class Carrier(Protocol):
    """Takes a request to those who teach a course, as the account that hands it over."""

    def hand_over(self, content: bytes) -> None: ...


class ExchangeFolder:
    """nbgrader's exchange on a disk that students and grader share. A request is a file in the
    folder that submissions go to; who asked is the file's owner.
    """

    def __init__(self, inbound: Path) -> None:
        self._inbound = inbound

    def hand_over(self, content: bytes) -> None:
        """Write the request, completely or not at all.

        Raises:
            Mistaken: there is no such folder, or it cannot be written.
        """
        path = self._inbound / f"{PREFIX}{secrets.token_hex(16)}.json"
        hidden = path.with_name(f".{path.name}")
        try:
            handle = os.open(hidden, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW, 0o644)
            try:
                with open(handle, "wb") as file:
                    os.fchmod(handle, 0o644)  # whatever the umask is: the grader has to read it
                    file.write(content)
                os.rename(hidden, path)
            except BaseException:
                hidden.unlink(missing_ok=True)
                raise
        except OSError as error:
            raise Mistaken(
                f"the request cannot be written to {self._inbound} ({error.strerror}): tell your "
                "instructor"
            ) from error


def ask(lab: str, exercise: str, words: list[str], course: str = "") -> int:
    """Ask for a second look at an exercise.

    Raises:
        Mistaken: there is no such exercise, no sentence, or no way to hand it over.
    """
    wanted = request(labs.named(lab), exercise, " ".join(words))
    found_carrier(course).hand_over(wanted.content())
    print(
        f"Your request for a second look at {wanted.exercise} ({wanted.lab}) is handed over. The "
        "answer comes with your feedback: fetch it again later. Asking once more replaces what you "
        "said, as long as nobody has answered."
    )
    return 0


def found_carrier(course: str = "") -> Carrier:
    """The carrier to those who teach a course, as nbgrader is configured here.

    An exchange that is not a folder has a carrier of its own: the class that nbgrader's
    configuration names for submitting then has a class method
    `second_looks(config, course) -> Carrier` (as `distlab.exchange.student.Submit`).
    """
    try:
        config, submit, folder = _nbgrader()
    except ImportError as error:
        raise Mistaken(
            "nbgrader is not installed here, which hands requests over: ask where you hand your "
            "notebooks in, or tell your instructor"
        ) from error
    if hasattr(submit, "second_looks"):
        own: Carrier = submit.second_looks(config, course)
        return own
    root, named = folder
    course = course or named
    if course != os.path.basename(course) or course in (".", ".."):
        raise Mistaken("--course has the name of a course and no path")
    courses = [course] if course else _courses(root)
    if not courses or not (root / courses[0] / "inbound").is_dir():
        raise Mistaken(
            f"no course takes requests below {root}: ask where you hand your notebooks in, or name "
            "the course with --course"
        )
    if len(courses) > 1:
        raise Mistaken(f"which course? Say --course with one of {', '.join(courses)}")
    return ExchangeFolder(root / courses[0] / "inbound")


def _nbgrader() -> tuple[Config, Any, tuple[Path, str]]:
    """nbgrader's configuration here, what it hands in with, and its exchange's root and course."""
    from nbgrader.apps import NbGrader
    from nbgrader.coursedir import CourseDirectory
    from nbgrader.exchange import ExchangeFactory
    from nbgrader.exchange.default import Exchange

    app = NbGrader()
    app.log_level = 50
    app.initialize([])
    course = CourseDirectory(config=app.config)
    exchange = Exchange(config=app.config)
    factory = ExchangeFactory(config=app.config)
    return app.config, factory.submit, (Path(exchange.root), course.course_id)


def _courses(root: Path) -> list[str]:
    try:
        return sorted(path.name for path in root.iterdir() if (path / "inbound").is_dir())
    except OSError:
        return []
