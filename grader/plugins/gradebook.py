"""nbgrader's gradebook and feedback, written by one process through nbgrader's own API."""

from __future__ import annotations

import contextlib
import errno
import functools
import logging
import os
import re
import shutil
import tempfile
import warnings
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

from nbgrader import api, dbutil
from nbgrader.api import Gradebook as Database
from nbgrader.api import MissingEntry
from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange.default import Exchange
from nbgrader.utils import capture_log, temp_attrs
from sqlalchemy.engine import Engine
from sqlalchemy.exc import DatabaseError, OperationalError, SAWarning
from traitlets.config.loader import Config, PyFileConfigLoader

from distlab import course
from distlab.processes import disk_room, temporary
from distlab.records import redaction
from grader import coursedir, gradebook_file, writing
from grader.coursedir import GradingFailed
from grader.looks import code
from grader.plugins import exchanges, rows
from grader.policy.exact import total
from grader.reports import rendering
from grader.writing import NotWritten

#: an error of this course's own in nbgrader's log, whatever it was raised from: its message
_OURS = re.compile(r"\s*(?:distlab|grader)\.[\w.]+: (.+)")
_OF_SYSTEM = re.compile(r"[A-Za-z]+Error: \[Errno \d+\]")  # an error of a file's
_OF_DATABASE = re.compile(r"(?:sqlite3|sqlalchemy\.exc)\.")  # an error's module there
# nbgrader's own use of its session, which autoflushes while it makes rows
warnings.filterwarnings("ignore", category=SAWarning)


def _newest_revision() -> str | None:
    """The schema revision of a new database. nbgrader asks the command `alembic` for it, which
    takes seconds to start.
    """
    from alembic.script import ScriptDirectory

    return ScriptDirectory(dbutil.ALEMBIC_DIR).get_current_head()


api.get_alembic_version = _newest_revision
# nbgrader opens the database a dozen times for a submission, each time with a new engine, which
# compiles the same statements again
_engine = functools.cache(api.create_engine)
api.create_engine = _engine


class _Tables:
    """Calls `create_all` once for each database file. nbgrader calls it whenever it opens the
    database, and each time it looks for all the tables.
    """

    def __init__(self, create_all: Callable[..., None]) -> None:
        self._create_all, self._made = create_all, set[tuple[int, int]]()

    def __call__(self, bind: Engine) -> None:
        if (file := _file_of(bind)) is None or file not in self._made:
            self._create_all(bind=bind)
            if (file := _file_of(bind)) is not None:
                self._made.add(file)


def _file_of(database: Engine) -> tuple[int, int] | None:
    """Identifies a database's file; `None` if there is none, or an empty one. Another file may have
    taken its name.
    """
    try:
        found = os.stat(database.url.database or "")
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if found.st_size else None


api.Base.metadata.create_all = _Tables(api.Base.metadata.create_all)


class GradebookBusy(GradingFailed):
    """The gradebook's database is locked, or cannot be written."""


class NotCollected(GradingFailed):
    """What some `students` have handed in could not be fetched; the others' was."""

    def __init__(self, students: Collection[str]) -> None:
        self.students = set(students)
        names = ", ".join(map(redaction.shown, sorted(self.students)))
        super().__init__(f"not collected, see nbgrader's log: {names}")


def alone() -> contextlib.AbstractContextManager[None]:
    """Held while gradebook and pages are written, by one grader of the course at a time: nbgrader's
    steps remove a submission's folder and make it anew, and would find each other's half made.
    """
    return writing.locked(coursedir.GRADES / "gradebook.lock")


class Gradebook:
    """The course's gradebook as `nbgrader_config.py` configures it.

    Args:
        submitted: where the submissions to enter lie, STUDENT/ASSIGNMENT/NOTEBOOK.ipynb.
    """

    def __init__(self, submitted: Path) -> None:
        rendering.renderer().start()  # imports while the first submissions are judged
        self._config = _configuration()
        self._submitted = submitted
        self._api = self._make_api(submitted)

    def _make_api(self, submitted: Path, **folders: Path) -> NbGraderAPI:
        config: Any = self._config.copy()
        config.CourseDirectory.submitted_directory = str(submitted)
        for name, folder in folders.items():
            config.CourseDirectory[name] = str(folder)
        api = NbGraderAPI(CourseDirectory(config=config), config=config)
        logging.getLogger("traitlets").setLevel(logging.ERROR)
        return api

    def have(self, assignment: str) -> None:
        """Enter an assignment as its solution defines it. The released lab is left as it is."""
        with alone(), temporary.folder("release-") as folder:
            api = self._make_api(self._submitted, release_directory=folder)
            self._checked(api.generate_assignment(assignment), f"enter {assignment}")

    def enter(
        self, assignment: str, student: str, need: Callable[[], object] = lambda: None
    ) -> None:
        """Autograde one submission into the gradebook and write its feedback page.

        Args:
            need: is called when nobody else can enter it any more; raises if it must not be.
        """
        what = f"{student}'s {assignment}"
        with alone():
            need()
            looked_at = self._looked_at(assignment, student)
            self._forget_time(assignment, student)
            graded = self._api.autograde(assignment, student)
            self._checked(graded, f"autograde {what}", self.autograded(assignment, student))
            self._look_at_no_more(assignment, student, looked_at)
            self._write_feedback(assignment, student)

    def _forget_time(self, assignment: str, student: str) -> None:
        """Forget when an earlier submission was handed in, if that is not known of this one:
        nbgrader would go on with it.
        """
        if (self._submitted / student / assignment / "timestamp.txt").exists():
            return
        with self.database() as database, contextlib.suppress(MissingEntry):
            database.find_submission(assignment, student).timestamp = None
            database.db.commit()

    def _looked_at(self, assignment: str, student: str) -> dict[str, str]:
        """{exercise: its code} of those with points by hand that nobody has to look at again."""
        folder = self.autograded(assignment, student)
        exercises = _by_hand(self.state(assignment, student), waits=False)
        return {name: code.graded(folder, name) for name in exercises}

    def _look_at_no_more(self, assignment: str, student: str, known: dict[str, str]) -> None:
        """Unmark points by hand that were given for the same code: whenever a submission is graded,
        nbgrader marks them to be looked at again.
        """
        folder = self.autograded(assignment, student)
        same = [name for name, was in known.items() if was and code.graded(folder, name) == was]
        if not same:
            return
        notebook = course.notebook_name(assignment).removesuffix(".ipynb")
        with self.database() as database:
            for name in same:
                grade = database.find_grade(f"test_{name}", notebook, assignment, student)
                grade.needs_manual_grade = False
            database.db.commit()

    def write_feedback(self, assignment: str, student: str) -> None:
        """Write a submission's feedback page."""
        with alone():
            self._write_feedback(assignment, student)

    def _write_feedback(self, assignment: str, student: str) -> None:
        what = f"write feedback on {student}'s {assignment}"
        written = self._api.generate_feedback(assignment, student)
        self._checked(written, what, self.feedback(assignment, student))

    def remove(self, assignment: str, student: str) -> None:
        """Take a submission out of the gradebook, its pages too."""
        folders = self.autograded(assignment, student), self.feedback(assignment, student)
        with alone():
            with self.database() as database, contextlib.suppress(MissingEntry):
                database.remove_submission(assignment, student)
            for folder in folders:
                shutil.rmtree(folder, ignore_errors=True)

    @property
    def exchange(self) -> exchanges.CourseExchange:
        """Where labs are handed out, and in."""
        root, course_id = str(self._exchange_root), self._api.coursedir.course_id
        return exchanges.of(self._config, root, course_id)

    @property
    def _exchange_root(self) -> Path:
        return Path(Exchange(config=self._config).root)

    def release(self, assignment: str) -> None:
        """Let students fetch a lab."""
        released = self._api.release_assignment(assignment)
        self._checked(released, f"release {assignment}", self._exchange_root)

    def collect(self, assignment: str) -> None:
        """Fetch what was handed in since the last time.

        Raises:
            NotCollected: some students' submissions were not fetched; the others' were.
            GradingFailed: it could not be done.
        """
        with temp_attrs(self._api.coursedir, assignment_id=assignment):
            collecting = self._api.exchange.Collect(
                coursedir=self._api.coursedir, authenticator=self._api.authenticator,
                parent=self._api,
            )  # fmt: skip
            collecting.update = True
            result = capture_log(collecting)
        if failed := getattr(collecting, "failed", ()):
            raise NotCollected(failed)
        self._checked(result, f"collect {assignment}")

    def release_feedback(self, assignment: str, student: str) -> None:
        """Let a student fetch the feedback that there is."""
        what = f"release feedback on {student}'s {assignment}"
        with alone():
            released = self._api.release_feedback(assignment, student)
            self._checked(released, what, self._exchange_root)

    def feedback(self, assignment: str, student: str) -> Path:
        """The folder of a submission's feedback pages."""
        folder = self._api.coursedir.feedback_directory
        return Path(coursedir.ROOT, folder, student, assignment)

    def autograded(self, assignment: str, student: str) -> Path:
        """The folder of a submission as it was graded."""
        folder = self._api.coursedir.autograded_directory
        return Path(coursedir.ROOT, folder, student, assignment)

    def students(self, assignment: str) -> set[str]:
        """Those who have a submission of an assignment in the gradebook."""
        with self.database() as database:
            return rows.students(database, assignment)

    def state(self, assignment: str, student: str) -> list[list[Any]]:
        """All that the gradebook has of a submission as data (`rows.state`)."""
        with self.database() as database:
            return rows.state(database, assignment, student)

    @staticmethod
    def scores(state: list[list[Any]]) -> dict[str, tuple[float | None, float]]:
        """{cell: (score, maximum)} from a `state`; the score is `None` until it is known."""
        grades = (row for row in state if len(row) == rows.GRADE)
        return {
            name: (_score(auto, manual, extra), float(maximum))
            for name, auto, manual, extra, maximum, _ in grades
        }

    @staticmethod
    def automatic(state: list[list[Any]]) -> float:
        """The points that the referee gave, from a `state`, whatever was changed by hand since."""
        return total(row[1] or 0.0 for row in state if row[0].startswith("test_"))

    @staticmethod
    def by_hand(state: list[list[Any]]) -> list[str]:
        """The exercises in a `state` for which a person has given points."""
        return _by_hand(state, waits=False) + _by_hand(state, waits=True)

    @staticmethod
    def outdated(state: list[list[Any]]) -> list[str]:
        """The exercises in a `state` whose points by hand have to be looked at again, because they
        were given for an earlier hand-in.
        """
        return _by_hand(state, waits=True)

    @contextlib.contextmanager
    def database(self) -> Iterator[Database]:
        """nbgrader's gradebook, open.

        Raises:
            GradebookBusy: somebody else is writing it.
            NotWritten: its file cannot be used: it is damaged, say, or the disk is full.
        """
        try:
            with Database(self._api.coursedir.db_url, self._api.coursedir.course_id) as database:
                yield database
        except DatabaseError as error:
            if (said := _unusable(str(error.orig))) is not None:
                raise said from error
            if not isinstance(error, OperationalError):
                raise
            raise GradebookBusy(f"the gradebook cannot be used now ({error.orig})") from error

    @staticmethod
    def _checked(result: dict[str, Any], what: str, where: Path | None = None) -> None:
        """Say what nbgrader could not do, and what to do about it.

        Args:
            where: the folder that it writes.
        """
        if not result["success"]:
            said = f"{result.get('log') or ''}\n{result.get('error') or ''}".splitlines()
            if said[-1] == KeyboardInterrupt.__name__:  # which nbgrader keeps to itself like errors
                raise KeyboardInterrupt
            reasons = [
                line.strip() for line in said if re.match(r"\s*[\w.]*(Error|Exception)\b", line)
            ]
            why = next((one[1] for one in map(_OURS.match, said) if one), None)
            why = why or (reasons[0] if reasons else "see its log")
            if "disk is full" in why or os.strerror(errno.ENOSPC) in why:
                raise _full(why)
            if _OF_DATABASE.match(why) and (unusable := _unusable(why)) is not None:
                raise unusable
            if _OF_DATABASE.match(why) and "is locked" in why:
                raise GradingFailed(
                    f"nbgrader could not {what}: somebody else is writing {coursedir.GRADES}/"
                    "gradebook.db (another grading, the formgrader, a backup?): do the same again "
                    "when they have ended; what has been judged is kept"
                )
            if _OF_SYSTEM.match(why):
                why += (
                    f": see that {where or coursedir.GRADES} is a folder, and that this account "
                    "may write it and all that is in it, then do the same again"
                )
            raise GradingFailed(f"nbgrader could not {what}: {why}")


def _full(why: str) -> NotWritten:
    """A full disk, by the file that did not go onto it: that may be a temporary one."""
    files = re.findall(r"'(/[^']+)'", why)
    folders = [] if files else [coursedir.GRADES, Path(tempfile.gettempdir())]
    full = next(filter(disk_room.full, folders), coursedir.GRADES)
    return NotWritten.full(Path(files[-1]) if files else full, "the disk is full")


def _unusable(why: str) -> NotWritten | None:
    """What an error of SQLite's says against the gradebook's file, if it does."""
    said = gradebook_file.unusable(why)
    if said is not None:
        _engine.cache_clear()  # it has the file open, and another one may take its place
    return said


def _by_hand(state: list[list[Any]], waits: bool) -> list[str]:
    """The exercises in a `state` with points by hand that a person has to look at again, or that
    nobody has to (`waits`).
    """
    grades = (row for row in state if len(row) == rows.GRADE and row[0].startswith("test_"))
    return [
        name.removeprefix("test_")
        for name, _, by_hand, _, _, waiting in grades
        if by_hand is not None and waiting == waits
    ]


def _score(auto: float | None, manual: float | None, extra: float | None) -> float | None:
    given = auto if manual is None else manual
    return None if given is None else total([given, extra or 0.0])


def _configuration() -> Config:
    loader = PyFileConfigLoader("nbgrader_config.py", path=str(coursedir.ROOT))
    return loader.load_config()
