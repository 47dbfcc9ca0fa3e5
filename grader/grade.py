"""Grade a class: judge many submissions at once, then enter them one by one."""

from __future__ import annotations

import concurrent.futures
import itertools
import json
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from distlab import course as labs
from distlab import quoting, records, submission
from distlab.submission import Unreadable
from grader import course
from grader.course import GradingFailed
from grader.judges import Judges
from grader.ledger import Entry, Ledger
from grader.progress import Live
from grader.referee import Referee, unreadable_lines
from grader.sandbox import NoSandbox

MOST_NOTEBOOKS = 20  # of a submission without one of the right name, in which to look for it
AHEAD = 4  # submissions that are judged before the gradebook takes them, for each in work
SUBMITTED = course.GRADES / "submitted"


class NothingSubmitted(RuntimeError):
    """There is no submission of an assignment."""


@dataclass(frozen=True)
class Submission:
    """What a student handed in: the folder of one assignment."""

    student: str
    assignment: str
    folder: Path


@dataclass
class Graded:
    """A submission's entry in the ledger and what the gradebook says of its free-text answers."""

    entry: Entry
    manual_score: float | None
    manual_max_score: float
    feedback: Path | None = None
    problem: str = ""  # why the gradebook does not have it


def submissions(assignment: str, submitted: Path, student: str | None = None) -> list[Submission]:
    """The submissions of an assignment below `submitted`, by student.

    Raises:
        NothingSubmitted: there are none.
    """
    found = [
        Submission(folder.parent.name, assignment, folder)
        for folder in sorted(submitted.glob(f"*/{assignment}"))
        if student in (None, folder.parent.name)
    ]
    if not found:
        whose = f" of {student}" if student else ""
        raise NothingSubmitted(
            f"there is no submission{whose} below {submitted}: put notebooks there as "
            f"STUDENT/{assignment}/{labs.notebook_name(assignment)}, or name their folder by "
            "--submitted"
        )
    return found


def grade(
    assignment: str,
    submitted: Path,
    student: str | None,
    judges: Judges,
    live: Live | None = None,
) -> list[Graded]:
    """Judge the submissions of an assignment and enter them in the gradebook.

    Args:
        judges: who judges; they stay as they are, for the next assignment.
        live: hears which are in work.

    Raises:
        NothingSubmitted: there are none.
        GradingFailed: nbgrader could not take them.
    """
    found = submissions(assignment, submitted, student)
    from grader.gradebook import Gradebook  # nbgrader takes seconds to import

    referee = Referee(judges=judges)
    with tempfile.TemporaryDirectory(prefix="distlab-submitted-") as folder:
        staged = Path(folder)
        book = Gradebook(staged)
        graded = {}
        with concurrent.futures.ThreadPoolExecutor(judges.slots) as pool:
            judged = _Ahead(
                pool, lambda one: _judge(referee, one, staged, live), found, AHEAD * judges.slots
            )
            book.have(assignment)
            for one, entry in judged:
                try:
                    graded[one] = _enter(book, referee.ledger, one, entry, staged)
                except GradingFailed as error:  # the class goes on
                    graded[one] = Graded(entry, None, 0.0, problem=str(error))
                if live:
                    live.done(one.student)
    return [graded[one] for one in found]


class _Ahead:
    """Calls in a pool, at most so many ahead of whoever takes the results, as they are ready."""

    def __init__(
        self, pool: concurrent.futures.Executor, call: Callable[[Submission], Entry],
        items: Iterable[Submission], most: int,
    ) -> None:  # fmt: skip
        self._pool, self._call, self._items, self._most = pool, call, iter(items), most
        self._waiting: dict[concurrent.futures.Future[Entry], Submission] = {}
        self._fill()

    def _fill(self) -> None:
        for item in itertools.islice(self._items, self._most - len(self._waiting)):
            self._waiting[self._pool.submit(self._call, item)] = item

    def __iter__(self) -> Iterator[tuple[Submission, Entry]]:
        while self._waiting:
            first = concurrent.futures.FIRST_COMPLETED
            for future in concurrent.futures.wait(self._waiting, return_when=first).done:
                item = self._waiting.pop(future)
                self._fill()
                yield item, future.result()


def _judge(referee: Referee, one: Submission, staged: Path, live: Live | None) -> Entry:
    """Judge a submission and stage its rebuilt notebook for nbgrader, whatever it is."""
    if live:
        live.began(one.student)
    try:
        if not named_well(one.student):
            raise Unreadable(
                "the name of the folder cannot be a student's: rename it to letters, digits, "
                "spaces and ._-+@, at most 100 of them"
            )
        return _judged(referee, one, staged)
    except Unreadable as reason:
        return Entry(
            quoting.shown(one.student), one.assignment, "", unreadable_lines(one.assignment),
            unreadable=str(reason),
        )  # fmt: skip
    except (NoSandbox, GradingFailed):
        raise
    except Exception as error:  # a mistake of the grader's own costs one submission, not the class
        reason = Unreadable(
            f"the grader failed on it ({type(error).__name__}: {error}): grade it again with "
            "--student and --debug, and report that"
        )
        return _judged(referee, one, staged, reason)


def named_well(student: str) -> bool:
    """Can a folder's name be a student's in files, patterns, pages and the gradebook?"""
    return (
        0 < len(student.encode("utf-8", "surrogateescape")) <= 100
        and all(c.isalnum() or c in " ._-+@" for c in student)
        and student.strip(" .") == student
    )


def _judged(
    referee: Referee, one: Submission, staged: Path, failed: Unreadable | None = None
) -> Entry:
    lab = one.assignment
    try:
        if failed:
            raise failed
        content = submission.read(notebook_of(one))
    except Unreadable as reason:
        content = course.released(lab)
        entry = referee.unreadable(lab, one.student, reason)
        rebuilt, _ = referee.rebuild(lab, content)
        rebuilt["cells"].insert(0, _note(reason))
    else:
        rebuilt, repaired = referee.rebuild(lab, content)
        entry = referee.judge(lab, one.student, rebuilt, repaired)
    folder = staged / one.student / lab
    folder.mkdir(parents=True)
    path = folder / labs.notebook_name(lab)
    path.write_text(json.dumps(rebuilt), "utf-8")
    if when := _timestamp(one.folder / "timestamp.txt"):
        (folder / "timestamp.txt").write_text(when, "utf-8")
    if secret := _secret(one.folder / "submission_secret.txt"):
        (folder / "submission_secret.txt").write_text(secret, "utf-8")
    return entry


def _note(reason: Unreadable) -> submission.Content:
    """A cell that says on the feedback page why there is nothing else."""
    said = f"**This submission could not be read.** {reason}"
    return {"cell_type": "markdown", "id": "unreadable", "metadata": {}, "source": said}


def _timestamp(path: Path) -> str:
    """When a submission was handed in; empty where the file does not say so."""
    from nbgrader.utils import parse_utc

    try:
        with records.plain_file(path) as file:
            text = file.read(100).decode("ascii").strip()
        return text if 1970 <= parse_utc(text).year < 3000 else ""
    except (OSError, ValueError, OverflowError, TypeError):
        return ""


def _secret(path: Path) -> str:
    """What nbgrader names a submission's released feedback by; empty where there is none."""
    try:
        with records.plain_file(path) as file:
            found = file.read(200).decode("ascii").strip()
    except (OSError, ValueError):
        return ""
    return found if re.fullmatch("[0-9a-f]{16,}", found) else ""


def notebook_of(one: Submission) -> Path:
    """The notebook of a submission: by its name, else the only one with this lab's exercises.

    Raises:
        Unreadable: there is no such notebook, or more than one.
    """
    if one.folder.is_symlink() or one.folder.parent.is_symlink() or not one.folder.is_dir():
        raise Unreadable(f"{one.assignment} is no folder: hand in a folder with the notebook in it")
    named = one.folder / labs.notebook_name(one.assignment)
    if named.exists() or named.is_symlink():
        return named
    others = sorted(one.folder.glob("*.ipynb"))[:MOST_NOTEBOOKS]
    fitting = [path for path in others if _fits(path, one.assignment)]
    if len(fitting) != 1:
        raise Unreadable(
            f"{named.name} is not there"
            + (f", and {len(fitting)} other notebooks hold this lab's exercises" if fitting else "")
            + f": hand in the notebook under the name {named.name}"
        )
    return fitting[0]


def _fits(path: Path, assignment: str) -> bool:
    try:
        cells = submission.notebook.cells(submission.read(path))
    except Unreadable:
        return False
    return bool({cell.name for cell in cells} & set(labs.exercises(assignment)))


def _enter(book, ledger: Ledger, one: Submission, entry: Entry, staged: Path) -> Graded:
    """Put an entry into the gradebook, unless that was done before and nothing has changed."""
    if not (staged / one.student).is_dir():
        return Graded(entry, None, 0.0)  # of a name that no gradebook takes
    feedback = book.feedback(one.assignment, one.student)
    files = [path.read_text("utf-8") for path in sorted((staged / one.student).rglob("*.*"))]
    there = any(feedback.glob("*.html"))
    if not (there and ledger.entered(entry, files, book.state(one.assignment, one.student))):
        book.enter(one.assignment, one.student)
        ledger.note_entered(entry, files, book.state(one.assignment, one.student))
    scores = book.scores(one.assignment, one.student)
    manual = {name: both for name, both in scores.items() if not name.startswith("test_")}
    known = [score for score, _ in manual.values() if score is not None]
    automatic = book.automatic(one.assignment, one.student)
    if automatic != entry.score:
        raise GradingFailed(
            f"the gradebook has {automatic:g} points for {one.student}'s {one.assignment} where "
            f"the ledger has {entry.score:g}: run `nbgrader generate_assignment {one.assignment}` "
            "again"
        )
    return Graded(
        entry,
        sum(known) if len(known) == len(manual) else None,
        sum(maximum for _, maximum in manual.values()),
        feedback,
    )


def report(assignment: str, graded: Sequence[Graded]) -> dict:
    """The JSON report of an assignment."""
    return {"assignment": assignment, "submissions": [_reported(one) for one in graded]}


def _reported(one: Graded) -> dict:
    entry = one.entry
    about = {
        "student": entry.student, "score": entry.score, "max_score": entry.max_score,
        "manual_score": one.manual_score, "manual_max_score": one.manual_max_score,
        "seconds": entry.seconds, "repaired": entry.repaired,
    }  # fmt: skip
    if entry.unreadable:
        return {**about, "status": "unreadable", "message": entry.unreadable}
    lines = [
        {"name": line.name, "score": line.score, "max_score": line.max_score,
         "status": line.status, "message": line.message}
        for line in entry.lines
    ]  # fmt: skip
    return {**about, "exercises": lines}
