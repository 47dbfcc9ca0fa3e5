"""Grade a class: judge many submissions at once, and enter them into the gradebook one by one."""

from __future__ import annotations

import concurrent.futures
import contextlib
import datetime
import functools
import itertools
import json
import os
import signal
import threading
import types
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from distlab import course
from distlab.checking.submission import NotNow, Unreadable
from distlab.exercises import exercise
from distlab.processes import repetition, temporary
from distlab.processes.disk_room import FULL, NoRoom
from distlab.processes.loopback import Down
from distlab.records import redaction
from grader import coursedir
from grader.coursedir import GradingFailed, NotGraded
from grader.judging import handed_in
from grader.judging.judges import Judges
from grader.judging.ledger import Entry, Ledger
from grader.judging.referee import Referee, not_graded, note
from grader.policy import policy as policies
from grader.policy.exact import total
from grader.policy.roster import RosterFile
from grader.policy.rules import PolicyError
from grader.policy.settle import Settled
from grader.reports.progress import Live
from grader.sandbox import NoSandbox
from grader.variants import variant as variants
from grader.writing import NotWritten

if TYPE_CHECKING:
    from grader.plugins.gradebook import Gradebook
    from grader.policy.pages import Pages

_GOES_ON = "what has been judged is kept, and the same command goes on from there"
# bytes that are kept of what is the same for a whole class: inputs as they were drawn, and the
# large arrays in them and in what answers return
DRAWN, ARRAYS = 32 << 20, 96 << 20
AHEAD = 4  # submissions judged before the gradebook has taken them, for each slot of the judges
SUBMITTED = coursedir.GRADES / "submitted"
NAME_SIGNS = " ._-+@'"  # besides letters and digits
NAME_HAS = "letters, digits, spaces and ._-+@', at most 100 of them"


_State = list[tuple[str, int, int]]  # of what a group has handed in
_Judged = tuple[_State, Entry]


class NothingSubmitted(RuntimeError):
    """There is no submission of an assignment."""


@dataclass(frozen=True)
class Submission:
    """What a student handed in: the folder of one assignment.

    Args:
        by: the member of the student's group whose folder it is; empty where it is the student's.
    """

    student: str
    assignment: str
    folder: Path
    by: str = ""


@dataclass
class Graded:
    """A submission's entry in the ledger and what the gradebook says of its free-text answers.

    Args:
        entry: with the points that the policy gives for its verdicts.
        settled: what the policy makes of it; `None` where there is none.
        outdated: exercises with points by hand that were given for an earlier hand-in.
        by_hand: exercises with points by hand, these included.
        before: the points before it was judged again because the course has changed; else `None`.
    """

    entry: Entry
    manual_score: float | None
    manual_max_score: float
    feedback: Path | None = None
    problem: str = ""  # why gradebook or feedback page do not have it
    settled: Settled | None = None
    outdated: list[str] = field(default_factory=list)
    by_hand: list[str] = field(default_factory=list)
    before: float | None = None


def submissions(
    assignment: str, submitted: Path, student: str | Collection[str] | None = None
) -> list[Submission]:
    """The submissions of an assignment below `submitted`, by student. Each member of a group has
    what one of them handed in last.

    Args:
        student: the one or the ones whose submissions are asked for; all where it is `None`.

    Raises:
        NothingSubmitted: there are none.
    """
    own = {folder.parent.name: folder for folder in sorted(submitted.glob(f"*/{assignment}"))}
    all_ = {name: Submission(name, assignment, folder) for name, folder in own.items()}
    for members in RosterFile().read().groups.get(assignment, ()):
        handing = [name for name in members if name in own]
        if handing:
            last = _last(own, handing)
            for name in members:
                by = "" if name == last else last
                all_[name] = Submission(name, assignment, own[last], by)
    asked = [student] if isinstance(student, str) else student
    found = [all_[name] for name in sorted(all_) if asked is None or name in asked]
    if not found:
        whose = f" of {', '.join(asked)}" if asked else ""
        raise NothingSubmitted(
            f"there is no submission{whose} below {submitted}: put notebooks there as "
            f"STUDENT/{assignment}/{course.notebook_name(assignment)}, or name their folder by "
            "--submitted" + handed_in.others(submitted)
        )
    return found


def _last(own: Mapping[str, Path], handing: Iterable[str]) -> str:
    """Whose folder was handed in last; of those of the same moment, or of none, the first's."""
    return max(handing, key=lambda name: _when(own[name]))


def grade(
    assignment: str,
    submitted: Path,
    student: str | Collection[str] | None,
    judges: Judges,
    live: Live | None = None,
    fresh: set[tuple[str, str]] | None = None,
) -> list[Graded]:
    """Judge the submissions of an assignment and enter them in the gradebook.

    Args:
        judges: who judges. They stay open for the next assignment, unless this is interrupted.
        live: is told which submissions are in work.
        fresh: gets (lab, student) of each feedback page that is written.

    Raises:
        NothingSubmitted: there are none.
        GradingFailed: nbgrader could not take them.
        NotWritten: the disk is full, or this account may not write there; what was entered before
            stays.
        PolicyError: the policy cannot be read.
    """
    policies.current()
    exercise.drawn.limit, repetition.kept.limit = DRAWN, ARRAYS
    found = submissions(assignment, submitted, student)
    referee = Referee(judges=judges, lanes=max(1, judges.slots // len(found)))
    before = {one: _before(referee.ledger, one) for one in found}
    if None in before.values():
        judges.expect(assignment)  # first of all, because it takes longest
    if not variants.in_force(assignment):
        coursedir.need_references(assignment)
    from grader.plugins.gradebook import Gradebook  # nbgrader takes seconds to import
    from grader.policy.pages import Pages

    with temporary.folder("submitted-") as staged:
        book = Gradebook(staged)
        pages = Pages(book, referee.ledger)
        graded = {}
        with _threads(judges) as pool, _interruptions() as told:
            judged = _Ahead(
                pool, lambda one: (_state(one), _judge(referee, one, staged, live)), found,
                AHEAD * judges.slots,
            )  # fmt: skip
            book.have(assignment)
            for one, (state, entry) in judged:
                if live and not entry.not_graded:
                    live.judged(pages.policy.lab(assignment).partial.entry(entry))
                try:
                    with judges.beside():
                        graded[one] = _enter(
                            book, pages, referee.ledger, one, entry, staged,
                            functools.partial(_need_same, referee, one, staged, state),
                        )  # fmt: skip
                except NotWritten:
                    raise  # nobody else's can be either
                except GradingFailed as error:  # the class goes on
                    graded[one] = Graded(entry, None, 0.0, problem=str(error))
                # an entry without a basis is from before these were noted
                if (was := before[one]) is not None and entry.basis not in ("", was[0]):
                    graded[one].before = was[1]
                told()
                if live:
                    live.done(one.student)
            for one in found:  # a free late day taken in this lab is missing in another
                _, problems = pages.refresh(one.student)
                graded[one].problem = graded[one].problem or " ".join(problems)
        if fresh is not None:
            fresh |= pages.fresh
    return [graded[one] for one in found]


def _before(ledger: Ledger, one: Submission) -> tuple[str, float] | None:
    """What a submission was judged by last, and the points that it had; `None` if it never was."""
    entry = ledger.latest(one.assignment, one.student)
    if entry is None or entry.unreadable:
        return None
    entry = policies.current().lab(one.assignment).partial.entry(entry)
    return entry.basis, entry.score


def _when(folder: Path) -> datetime.datetime:
    """When a submission was handed in; long ago where that is not known."""
    return handed_in.parsed(handed_in.timestamp(folder)) or datetime.datetime.min


@contextlib.contextmanager
def _threads(judges: Judges) -> Iterator[concurrent.futures.Executor]:
    """A thread for each slot. When the block fails, what has not begun never does; when it is
    interrupted, what is in work is ended too.
    """
    pool = concurrent.futures.ThreadPoolExecutor(judges.slots)
    try:
        yield pool
    except BaseException as error:
        pool.shutdown(wait=False, cancel_futures=True)
        if isinstance(error, KeyboardInterrupt):
            judges.close()
            raise KeyboardInterrupt(_GOES_ON) from None
        raise
    finally:
        pool.shutdown()


@contextlib.contextmanager
def _interruptions() -> Iterator[Callable[[], None]]:
    """A function that raises `KeyboardInterrupt` if Ctrl-C was pressed since this began. The first
    one may have been swallowed: by a finalizer, or by a library that caught it.
    """
    before, came = signal.getsignal(signal.SIGINT), []
    here = threading.current_thread() is threading.main_thread() and callable(before)

    def note(number: int, frame: types.FrameType | None) -> None:
        came.append(number)
        if callable(before):
            before(number, frame)

    def told() -> None:
        if came:
            raise KeyboardInterrupt

    if here:  # no other thread may
        signal.signal(signal.SIGINT, note)
    try:
        yield told
    finally:
        if here:
            signal.signal(signal.SIGINT, before)


class _Ahead:
    """Calls in a pool, one for each item; yields results as they are ready. At most `most` calls
    are ahead of whoever takes the results.
    """

    def __init__(
        self, pool: concurrent.futures.Executor, call: Callable[[Submission], _Judged],
        items: Iterable[Submission], most: int,
    ) -> None:  # fmt: skip
        self._pool, self._call, self._items, self._most = pool, call, iter(items), most
        self._waiting: dict[concurrent.futures.Future[_Judged], Submission] = {}
        self._fill()

    def _fill(self) -> None:
        for item in itertools.islice(self._items, self._most - len(self._waiting)):
            self._waiting[self._pool.submit(self._call, item)] = item

    def __iter__(self) -> Iterator[tuple[Submission, _Judged]]:
        while self._waiting:
            first = concurrent.futures.FIRST_COMPLETED
            for future in concurrent.futures.wait(self._waiting, return_when=first).done:
                item = self._waiting.pop(future)
                self._fill()
                yield item, future.result()


def _state(one: Submission) -> _State:
    """The files that a submission is read from. While this stays the same, so do they."""
    found = []
    for folder in (one.folder, _own_folder(one)):
        with contextlib.suppress(OSError), os.scandir(folder) as files:
            stats = [(file.path, file.stat(follow_symlinks=False)) for file in files]
            found += sorted((path, stat.st_ino, stat.st_mtime_ns) for path, stat in stats)
    return found


def _need_same(referee: Referee, one: Submission, staged: Path, was: _State) -> None:
    """Another submission, which somebody has collected meanwhile, may be in the gradebook already,
    and has to stay there.

    Args:
        was: of the files that were judged.

    Raises:
        GradingFailed: another one is there than the one that was judged and `staged`.
    """
    same = _state(one) == was
    if not same:  # a file was touched, say
        judged = _own_folder(one, staged).iterdir()
        with contextlib.suppress(Exception):  # what cannot be read is told when it is judged
            same = _read(referee, one).files == {f.name: f.read_text("utf-8") for f in judged}
    if not (same and _is_last(one)):
        raise GradingFailed(
            f"{one.student}'s {one.assignment} was replaced by another submission while it was "
            "judged: run the same command again"
        )


def _is_last(one: Submission) -> bool:
    """Has nobody of the group handed in since its folder was chosen?"""
    own = {name: folder for name, folder in _folders(one).items() if folder.is_dir()}
    return len(own) < 2 or own[_last(own, own)] == one.folder


def _folders(one: Submission) -> dict[str, Path]:
    """Where each member of a student's group hands in, the student included."""
    members = RosterFile().read().members(one.assignment, one.student)
    return {name: one.folder.parent.parent / name / one.assignment for name in members}


def _own_folder(one: Submission, above: Path | None = None) -> Path:
    """The student's own, among what was handed in or in another place."""
    return (above or one.folder.parent.parent) / one.student / one.assignment


def _judge(referee: Referee, one: Submission, staged: Path, live: Live | None) -> Entry:
    """Judge a submission and stage its rebuilt notebook for nbgrader, whatever it is."""
    if live:
        live.began(one.student)
    try:
        if not named_well(one.student):
            raise NotGraded(_misnamed(one.student))
        return _judged(referee, one, staged)
    except (NoSandbox, GradingFailed, PolicyError):
        raise
    except (NotGraded, NoRoom, Down) as reason:
        return not_graded(one.assignment, redaction.shown(one.student), str(reason))
    except Exception as error:  # a mistake of the grader's own costs the class nothing
        if isinstance(error, OSError) and error.errno in FULL:
            raise NotWritten.of(staged, error) from error
        said = (
            f"the grader failed on it ({type(error).__name__}: {error}): grade it again with "
            "--student and --debug, and report that"
        )
        return not_graded(one.assignment, one.student, said)


def _misnamed(student: str) -> str:
    """Why a folder is not graded that has no student's name, and what to do."""
    whole = unicodedata.normalize("NFC", student)
    if whole != student and named_well(whole):
        # it looks right: whoever reads of letters and digits alone sees nothing else in it
        return (
            "the name of the folder has its accents as signs of their own, as macOS writes them: "
            f"rename it to {whole!r}, typed anew"
        )
    return f"the name of the folder cannot be a student's: rename it to {NAME_HAS}"


def named_well(student: str) -> bool:
    """Can a folder's name be a student's in files, patterns, pages and the gradebook?"""
    return (
        0 < len(student.encode("utf-8", "surrogateescape")) <= 100
        and all(c.isalnum() or c in NAME_SIGNS for c in student)
        and student.strip(" .") == student
    )


@dataclass
class _Read:
    """A submission as it is on the disk: its notebook, rebuilt and as text beside the other `files`
    that nbgrader is given, and what was repaired in it or why it is `unreadable`.
    """

    rebuilt: dict[str, Any]
    files: dict[str, str]
    repaired: list[str]
    unreadable: Unreadable | None


def _read(referee: Referee, one: Submission) -> _Read:
    """Raises:
    NotGraded: it cannot be read now.
    """
    lab, unreadable = one.assignment, None
    try:
        content = handed_in.notebook(one.folder)
    except NotNow as reason:
        raise NotGraded(str(reason)) from reason
    except Unreadable as reason:
        content, unreadable = coursedir.released(lab), reason
    rebuilt, repaired = referee.rebuild(lab, content)
    if unreadable:
        rebuilt["cells"].insert(0, note(str(unreadable)))
    elif not coursedir.lab(lab).plan(rebuilt).answered:
        repaired[:0] = handed_in.of_another_lab(content, lab) + handed_in.beside(one.folder)
    files = {
        course.notebook_name(lab): json.dumps(rebuilt),
        "timestamp.txt": handed_in.timestamp(one.folder),
        # a page is released under the name that goes with the student's own secret
        "submission_secret.txt": handed_in.secret(_own_folder(one)),
    }
    there = {name: text for name, text in files.items() if text}
    return _Read(rebuilt, there, repaired, unreadable)


def _judged(referee: Referee, one: Submission, staged: Path) -> Entry:
    read = _read(referee, one)
    if read.unreadable:
        entry = referee.unreadable(one.assignment, one.student, read.unreadable, one.by)
    else:
        entry = referee.judge(one.assignment, one.student, read.rebuilt, read.repaired, one.by)
    folder = _own_folder(one, staged)
    folder.mkdir(parents=True)
    for name, text in read.files.items():
        (folder / name).write_text(text, "utf-8")
    return entry


def _enter(
    book: Gradebook, pages: Pages, ledger: Ledger, one: Submission, entry: Entry, staged: Path,
    need_same: Callable[[], None],
) -> Graded:  # fmt: skip
    """Put an entry into the gradebook, unless it is there and nothing has changed since.

    Args:
        need_same: raises `GradingFailed` where another submission is there by now.
    """
    if entry.not_graded:
        return Graded(entry, None, 0.0, problem=entry.not_graded)
    feedback = book.feedback(one.assignment, one.student)
    files = [path.read_text("utf-8") for path in sorted((staged / one.student).rglob("*.*"))]
    there = any(feedback.glob("*.html"))
    entry = pages.policy.lab(one.assignment).partial.entry(entry)
    state = book.state(one.assignment, one.student)
    if not (there and ledger.entered(entry, files, state)):
        book.enter(one.assignment, one.student, need_same)
        state = book.state(one.assignment, one.student)
        ledger.note_entered(entry, files, state)
        pages.written(one.assignment, one.student)
    scores = book.scores(state)
    manual = {name: both for name, both in scores.items() if not name.startswith("test_")}
    known = [score for score, _ in manual.values() if score is not None]
    if (points := book.automatic(state)) != entry.score:
        need_same()
        raise GradingFailed(
            f"the gradebook has {points:g} points for {one.student}'s {one.assignment} where "
            f"the ledger has {entry.score:g}: run `nbgrader generate_assignment {one.assignment}` "
            "again"
        )
    return Graded(
        entry,
        total(known) if len(known) == len(manual) else None,
        sum(maximum for _, maximum in manual.values()),
        feedback,
        settled=pages.settled(one.assignment, one.student),
        outdated=book.outdated(state),
        by_hand=book.by_hand(state),
    )


def final(one: Graded) -> float | None:
    """All points so far, free text included, less the late penalty; `None` where no policy is in
    force.
    """
    return None if one.settled is None else float(one.settled.points - one.settled.penalty)


def report(assignment: str, graded: Sequence[Graded]) -> dict[str, Any]:
    """The JSON report of an assignment."""
    return {"assignment": assignment, "submissions": [_reported(one) for one in graded]}


def _reported(one: Graded) -> dict[str, Any]:
    entry = one.entry
    if entry.not_graded:
        return {
            "student": entry.student, "score": None, "max_score": entry.max_score,
            "status": "not graded", "message": entry.not_graded,
        }  # fmt: skip
    about = {
        "student": entry.student, "score": entry.score, "max_score": entry.max_score,
        "manual_score": one.manual_score, "manual_max_score": one.manual_max_score,
        "seconds": entry.seconds, "repaired": entry.repaired, "flagged": entry.flagged,
    }  # fmt: skip
    if one.settled is not None:
        about |= {"late_penalty": float(one.settled.penalty), "final_score": final(one)}
    if entry.by:
        about["handed_in_by"] = entry.by
    if one.before is not None:
        about["score_before"] = one.before
    if one.problem:
        about["problem"] = one.problem
    if entry.unreadable:
        return {**about, "status": "unreadable", "message": entry.unreadable}
    lines = [
        {"name": line.name, "score": line.score, "max_score": line.max_score,
         "status": line.status, "message": line.message}
        for line in entry.lines
    ]  # fmt: skip
    return {**about, "exercises": lines}
