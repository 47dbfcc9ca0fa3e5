"""Grade on submit: each submission is judged as it arrives in the exchange, and its feedback is
released for nbgrader's *Fetch Feedback*. Points by hand come later.

`policy.yaml` can limit how often that is done for a student, and how soon again. A submission that
comes too soon waits; one beyond the last attempt is collected and left for `distlab grade`.
"""

from __future__ import annotations

import datetime
import logging
import time
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from rich.console import Console

from distlab import course
from distlab.records import redaction
from grader import coursedir
from grader.judging import basis, beginning, grade, handed_in
from grader.judging.judges import Judges
from grader.judging.ledger import Entry, Ledger
from grader.judging.local import LocalJudges
from grader.plugins.exchanges import CourseExchange
from grader.plugins.gradebook import Gradebook, NotCollected
from grader.policy import policy as policies
from grader.policy.attempts import Attempts
from grader.policy.lateness import UTC
from grader.policy.pages import Pages
from grader.policy.roster import Roster, RosterFile
from grader.policy.rules import Policy, PolicyError
from grader.reports.progress import Live
from grader.variants.hand_out import HandingOut
from grader.writing import NotWritten

POLL = 2.0  # seconds between two looks at an exchange that is a service
NEAR = 0.5  # and at one that is a folder of this machine's
GLANCE = 0.05  # seconds between two glances at whether anything has changed in that folder
#: seconds until a submission that could not be booked is tried again: the first time, doubled each
#: time after that, and at most
PATIENCE, LONGEST = 30.0, 3600.0
#: seconds in which a course that has changed stays as it is: the change is over; and until one that
#: cannot be imported is tried again
STILL = 10.0


class Arrivals:
    """The submissions in an exchange that were not there at the last look.

    Args:
        exchange: where students hand in.
    """

    def __init__(self, exchange: CourseExchange) -> None:
        self._exchange = exchange
        self._seen: set[str] = set()

    def look(self) -> dict[str, list[str]]:
        """{lab: its students with something new}."""
        found: dict[str, set[str]] = defaultdict(set)
        # the whole list first: when a look fails, nothing counts as seen
        for name, student, lab in list(self._exchange.arrived()):
            if name in self._seen or lab not in course.LABS or not student:
                continue
            self._seen.add(name)
            found[lab].add(student)
        return {lab: sorted(students) for lab, students in found.items()}


@dataclass
class Queue:
    """Those who have handed in something that is still to be judged."""

    attempts: Attempts = field(default_factory=Attempts)
    # {lab: students}
    _waiting: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    # of submissions on which the grader failed: the pause until the next try, and when it ends
    _failed: dict[tuple[str, str], tuple[float, float]] = field(default_factory=dict)

    def add(self, lab: str, students: Iterable[str]) -> None:
        for student in students:
            self._waiting[lab].add(student)
            self._failed.pop((lab, student), None)

    def later(self, lab: str, student: str) -> float:
        """Queue a submission again on which the grader failed, so that its student need not hand it
        in anew; returns after how many seconds it is due.
        """
        before, _ = self._failed.get((lab, student), (0.0, 0.0))
        pause = min(2 * before or PATIENCE, LONGEST)
        self._failed[lab, student] = pause, time.monotonic() + pause
        self._waiting[lab].add(student)
        return pause

    def done(self, lab: str, student: str) -> None:
        self._failed.pop((lab, student), None)

    def due(self, policy: Policy, roster: Roster) -> dict[str, list[str]]:
        """Take out those whose turn it is: {lab: students}. Those who have no attempt left, or of
        whose group another member is taken out, are dropped from the queue. What is tried again, of
        which only the page is missing, say, is an attempt already and needs none.
        """
        found: dict[str, list[str]] = defaultdict(list)
        now = datetime.datetime.now(UTC)
        for lab, students in self._waiting.items():
            for student in sorted(students):
                if time.monotonic() < self._failed.get((lab, student), (0.0, 0.0))[1]:
                    continue
                members = roster.members(lab, student)
                counted = self.attempts.counts(lab, members, _handed_in(lab, members))
                again = self.attempts.again(policy, lab, members)
                left = self.attempts.left(policy.lab(lab).on_submit, lab, members)
                if left == 0 and not counted:
                    students.discard(student)
                    print(f"{redaction.shown(student)} {lab}: has no attempt left", flush=True)
                elif counted or again is None or again <= now:
                    students.discard(student)
                    if not set(members) & set(found[lab]):
                        found[lab].append(student)
        return {lab: students for lab, students in found.items() if students}


def _handed_in(lab: str, members: Iterable[str]) -> str:
    """When a group handed in last; empty where that is not known."""
    times = [handed_in.timestamp(grade.SUBMITTED / name / lab) for name in members]
    known = [(when, text) for text in times if (when := handed_in.parsed(text))]
    return max(known)[1] if known else ""


#: what is said of a submission without the secret that names its feedback in the exchange
UNREACHABLE = (
    "lacks submission_secret.txt, by which its student would fetch feedback: send the page yourself"
)


def watch(judges: LocalJudges) -> None:
    """Grade what arrives, until interrupted, beginning with what is there already. Between
    submissions, students are handed their own inputs, where they have such.

    Returns when something has arrived and the course has changed, for which a new process is needed
    that begins anew.
    """
    basis.begin(course.LABS)
    book = Gradebook(grade.SUBMITTED)
    arrivals, queue = Arrivals(book.exchange), Queue()
    handing = HandingOut(book.exchange, judges)
    missed: dict[str, set[str]] = defaultdict(set)  # arrived, and could not be collected
    print(f"grading what arrives in {book.exchange}", flush=True)
    said = ""
    while True:
        due: dict[str, list[str]] = {}
        now, pause = "", between(book.exchange)
        try:
            for lab, students in arrivals.look().items():
                missed[lab].update(students)
            now = _collect(book, missed, queue)
            policy = policies.current()
            due = queue.due(policy, RosterFile().read())
            _release(book, policy)
        except (PolicyError, coursedir.GradingFailed, OSError) as error:
            now = str(error)  # all wait while the policy, or a folder, cannot be read
        if due and basis.changed(due):
            print("the course has changed: beginning anew", flush=True)
            _wait_until_it_stands(due)
            return
        try:
            for lab, students in due.items():
                _take(book, judges, queue, lab, students)
        except NotWritten as error:
            now, pause = str(error), PATIENCE
            for lab, students in due.items():  # those that are booked are not judged again
                queue.add(lab, students)
        if now and now != said:
            print(now, flush=True)
        said = now
        if pause == PATIENCE:
            time.sleep(pause)
        elif handed := _handed(handing):
            print(handed, flush=True)
        else:
            _rest(book.exchange, pause)


def _rest(exchange: CourseExchange, seconds: float) -> None:
    """Wait so long, or until something seems to arrive."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        time.sleep(min(left, GLANCE))
        if exchange.stirs():
            return


def _wait_until_it_stands(labs: Collection[str]) -> None:
    """Wait until a change of the course is over and what it left can be imported."""
    was: list[str] = []
    said = why = ""
    while (now := basis.on_disk(labs)) != was or (why := beginning.fault()):
        if now == was and why != said:
            said = why
            print(f"waiting until it can be imported ({redaction.visible(why)})", flush=True)
        was = now
        time.sleep(STILL)


def between(exchange: CourseExchange) -> float:
    """Seconds between two looks at an exchange."""
    return POLL if exchange.folder is None else NEAR


def _handed(handing: HandingOut) -> str:
    """Hand out one student's own inputs, if any are missing; returns what is to be said of it."""
    try:
        return handing.one()
    except PolicyError:  # `watch` has said so
        return ""
    except OSError as error:  # it looks again later
        return f"own inputs are not handed out: {error}"


def _release(book: Gradebook, policy: Policy) -> None:
    """Release the labs whose time has come.

    Raises:
        GradingFailed: one of them could not be released; all others are.
    """
    now, failed = datetime.datetime.now(UTC), None
    for lab, rules in policy.labs.items():
        if rules.release and rules.release <= now and not book.exchange.is_released(lab):
            try:
                book.release(lab)
            except coursedir.GradingFailed as error:
                failed = error
            else:
                print(f"{lab}: released", flush=True)
    if failed is not None:
        raise failed


def _collect(book: Gradebook, missed: dict[str, set[str]], queue: Queue) -> str:
    """Fetch what these students have handed in and queue them. Those whose submissions cannot be
    fetched now stay in `missed`; returns the reason.
    """
    said = ""
    for lab, students in list(missed.items()):
        left: set[str] = set()
        try:
            book.collect(lab)
        except NotCollected as error:
            said, left = f"{lab}: {error}", students & error.students
        except coursedir.GradingFailed as error:
            said, left = f"{lab}: {error}", students
        queue.add(lab, students - left)
        if left:
            missed[lab] = left
        else:
            del missed[lab]
    return said


def _take(book: Gradebook, judges: Judges, queue: Queue, lab: str, students: list[str]) -> None:
    """Judge what these students have handed in.

    Raises:
        NotWritten: a verdict cannot be booked, and neither could those after it.
    """
    for student in students:
        begin = time.monotonic()
        name = redaction.shown(student)
        try:
            entry = _judge(book, judges, queue, lab, student)
        except NotWritten:
            raise
        except PolicyError:
            queue.add(lab, [student])  # until it can be read
            continue
        except grade.NothingSubmitted as error:
            print(f"{name} {lab}: {error}", flush=True)  # the others go on
            continue
        except Exception as error:  # the others go on, and this one is tried again
            said = redaction.visible(str(error))
            if not isinstance(error, coursedir.GradingFailed):
                logging.getLogger(__name__).exception("judging %s %s", name, lab)
                said = f"the grader failed on it ({type(error).__name__}: {said})"
            pause = queue.later(lab, student)
            print(f"{name} {lab}: {said}; tried again in {pause:g} s", flush=True)
            continue
        queue.done(lab, student)
        took = time.monotonic() - begin
        print(f"{name} {lab}: {entry.score:g} points, after {took:.1f} s", flush=True)


def _judge(book: Gradebook, judges: Judges, queue: Queue, lab: str, student: str) -> Entry:
    """Judge what a student, or a group, has handed in last, and release its pages."""
    members = RosterFile().read().members(lab, student)
    with Live(lab, 1, Console()) as live:
        (graded,) = grade.grade(lab, grade.SUBMITTED, student, judges, live)
    _need_booked(graded)
    by = graded.entry.by or student
    when = handed_in.timestamp(grade.SUBMITTED / by / lab)
    queue.attempts.note(lab, members, by, graded.entry.digest, when)
    pages = Pages(book, Ledger(coursedir.GRADES / "ledger"))
    for member in members:
        if member != student:  # what was judged just now counts for all of the group
            (one,) = grade.grade(lab, grade.SUBMITTED, member, judges)
            _need_booked(one)
        name = redaction.shown(member)
        _, problems = pages.refresh(member)  # an attempt less is left
        if (lab, member) in pages.stale:
            raise coursedir.GradingFailed(" ".join(problems))
        for said in problems:  # of pages in other labs, for which this one need not wait
            print(f"{name}: {redaction.visible(said)}", flush=True)
        if handed_in.secret(grade.SUBMITTED / member / lab):
            book.release_feedback(lab, member)
        elif member == by:  # trying again would not help
            print(f"{name} {lab}: {UNREACHABLE}", flush=True)
    return graded.entry


def _need_booked(one: grade.Graded) -> None:
    """Raises:
    GradingFailed: it is not in the gradebook. If only a page of the student's could not be written,
        perhaps in another lab, that is no reason: `_judge` looks at the pages itself.
    """
    if one.problem and one.feedback is None:
        raise coursedir.GradingFailed(one.problem)
