"""Answers, and what they do to nbgrader's gradebook: points and comments by hand.

An answer is written into the diary first, with what the gradebook holds at that moment, and then
into the gradebook, unless that has changed by then. So an answer that a crash has kept from the
gradebook is entered later, and what somebody has given in the formgrader meanwhile stays.
"""

from __future__ import annotations

import getpass
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from nbgrader.api import MissingEntry

from distlab import course
from distlab.checking.second_look import Mistaken
from grader.judging.ledger import Ledger, Line
from grader.looks import code
from grader.looks.diary import Adding, Answer, Diary, Look, State, about
from grader.plugins.gradebook import Gradebook
from grader.policy.exact import CENT, exact
from grader.reports.mistakes import same

LONGEST = 4_000  # characters of a comment


@dataclass(frozen=True)
class Wanted:
    """What an instructor answers.

    Args:
        points: the new points of the exercise; `None` leaves them as they are.
        taken_back: the points are to be the judge's again.
        comment: empty leaves it as it is.
    """

    points: float | None = None
    taken_back: bool = False
    comment: str = ""


class Answering:
    """Enters answers into the gradebook."""

    def __init__(self, book: Gradebook, ledger: Ledger, diary: Diary) -> None:
        self._book, self._ledger, self._diary = book, ledger, diary

    def answer(self, student: str, lab: str, exercise: str, wanted: Wanted) -> None:
        """Answer about an exercise of a student's.

        Raises:
            Mistaken: nothing of it was graded, or the points cannot be given.
        """
        with self._diary.adding() as adding:
            self._enter_all(adding)
            self._write(adding, student, lab, exercise, wanted)
            self._enter_all(adding)

    def answer_alike(
        self, student: str, lab: str, exercise: str, wanted: Wanted
    ) -> tuple[list[str], list[str]]:
        """Answer all who have made the same mistake as this student, this one included. Returns who
        was answered, and who keeps points or a comment that they already have by hand.

        Raises:
            Mistaken: as `answer`; or this student has made no mistake.
        """
        line = self._line(student, lab, exercise)
        if line is None or line.status in ("passed", "unanswered"):
            raise Mistaken(f"{student}'s {exercise} is no mistake that others could have made too")
        with self._diary.adding() as adding:
            self._enter_all(adding)
            found = [
                entry.student for entry in self._ledger.counting(lab)
                if (other := entry.line(exercise)) is not None and same(line, other)
            ]  # fmt: skip
            done, kept = [], []
            for name in [student, *(one for one in found if one != student)]:
                with self._book.database() as database:
                    try:
                        was = _held(database, name, lab, exercise)
                    except Mistaken:
                        if name == student:
                            raise
                        continue  # judged, but never entered
                if name != student and not _is_ours(adding.state.look(name, lab, exercise), was):
                    kept.append(name)
                    continue
                alike = "" if name == student else student
                self._write(adding, name, lab, exercise, wanted, alike)
                done.append(name)
            self._enter_all(adding)
        return done, kept

    def enter_all(self) -> None:
        """Enter the answers that a crash has kept from the gradebook."""
        if any(not one.entered for look in self._diary.read().looks.values()
               for one in look.answers):  # fmt: skip
            with self._diary.adding() as adding:
                self._enter_all(adding)

    def _line(self, student: str, lab: str, exercise: str) -> Line | None:
        entry = self._ledger.latest(lab, student)
        return entry.line(exercise) if entry is not None else None

    def _write(
        self, adding: Adding, student: str, lab: str, exercise: str, wanted: Wanted,
        alike: str = "",
    ) -> None:  # fmt: skip
        with self._book.database() as database:
            was = _held(database, student, lab, exercise)
        adding.add(
            about(
                adding.state.look(student, lab, exercise), "answered", points=wanted.points,
                taken_back=wanted.taken_back, comment=wanted.comment, by=_account(),
                source=code.graded(self._book.autograded(lab, student), exercise),
                was=list(was), alike=alike,
            )
        )  # fmt: skip

    def _enter_all(self, adding: Adding) -> None:
        """Enter the answers that are not in the gradebook yet, in their order."""
        waiting = sorted(
            ((one, look) for look in adding.state.looks.values() for one in look.answers
             if not one.entered),
            key=lambda both: both[0].number,
        )  # fmt: skip
        for one, look in waiting:
            with self._book.database() as database:
                _enter(database, look, one)
            adding.add(about(look, "entered", answer=one.number))


def _account() -> str:
    """Who answers; in a container a user may have a number but no name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"user {os.getuid()}"


def checked(wanted: Wanted, most: float) -> Wanted:
    """`wanted`, once it is known that it can be given.

    Raises:
        Mistaken: it cannot.
    """
    points = wanted.points
    if points is None and not wanted.taken_back and not wanted.comment:
        raise Mistaken('answer with --points, --comment "…", or both')
    if len(wanted.comment) > LONGEST:
        raise Mistaken(
            f"a comment has at most {LONGEST} characters, this has {len(wanted.comment)}"
        )
    if points is None:
        return wanted
    if not math.isfinite(points) or not 0 <= points <= most:
        raise Mistaken(f"{points:g} points cannot be given: the exercise has 0 to {most:g}")
    if exact(points) % CENT != Fraction():
        raise Mistaken(f"{points} points: at most two decimals")
    return wanted


Held = tuple[float | None, float | None, str | None]


def _held(database: Any, student: str, lab: str, exercise: str) -> Held:
    """What was given by hand: points, extra credit, comment.

    Raises:
        Mistaken: nothing of it was graded.
    """
    grade, comment = _rows(database, student, lab, exercise)
    return grade.manual_score, grade.extra_credit, comment.manual_comment


def _rows(database: Any, student: str, lab: str, exercise: str) -> tuple[Any, Any]:
    notebook = course.notebook_name(lab).removesuffix(".ipynb")
    try:
        grade = database.find_grade(f"test_{exercise}", notebook, lab, student)
        return grade, database.find_comment(exercise, notebook, lab, student)
    except MissingEntry as error:
        raise Mistaken(
            f"nothing of {student}'s {lab} is in the gradebook: grade it first (distlab grade "
            f"{lab}), or look at the name again"
        ) from error


def _is_ours(look: Look, held: Held) -> bool:
    """Has nothing been given by hand but an answer to another's same mistake?"""
    if held == (None, None, None):
        return True
    last = look.answers[-1] if look.answers else None
    return last is not None and bool(last.alike) and after(last) == held


def after(answer: Answer) -> Held:
    """What the gradebook holds once an answer is in it."""
    manual, extra, comment = answer.was  # extra credit comes on top, and no answer changes it
    if answer.points is not None:
        manual = answer.points
    elif answer.taken_back:
        manual = None
    return manual, extra, answer.comment or comment


def _enter(database: Any, look: Look, answer: Answer) -> None:
    try:
        grade, comment = _rows(database, *look.key)
    except Mistaken:
        return  # removed from the gradebook since; when it is entered again, the diary is asked
    held = grade.manual_score, grade.extra_credit, comment.manual_comment
    if held != answer.was:
        return  # it is there already, or somebody has changed it since
    grade.manual_score, grade.extra_credit, comment.manual_comment = after(answer)
    if answer.points is not None or answer.taken_back:
        grade.needs_manual_grade = False
    database.db.commit()


def standing(
    state: State, student: str, lab: str, sources: Mapping[str, str]
) -> dict[str, tuple[float | None, str]]:
    """{exercise: points and comment} that were given for exactly this code, for a submission that
    is entered again.

    Args:
        sources: exercise → digest of its code.
    """
    found = {}
    for look in state.of(student, lab):
        points, comment = look.last_points, look.last_comment
        now = sources.get(look.exercise)
        found[look.exercise] = (
            points.points if points and points.source == now else None,
            comment.comment if comment and comment.source == now else "",
        )
    return found
