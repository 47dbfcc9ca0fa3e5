"""Dates, extensions, groups, answers to second looks and regrades, in any order: what a student has
in the end follows from what holds in the end.
"""

import contextlib
import datetime
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from nbgrader.api import Gradebook as Database

from distlab.course import notebook_name
from grader.judging.ledger import Ledger
from grader.looks.answering import Answering, Wanted
from grader.looks.diary import Diary
from grader.plugins import gradebook  # noqa: F401  # nbgrader's database is made faster by it
from grader.policy.lateness import UTC, Duration, Late
from grader.policy.roster import Extension, Roster
from grader.policy.rules import Policy, Rules
from grader.policy.settle import set_due_dates, settle

pytestmark = [
    pytest.mark.slow,  # some hundred changes of a gradebook
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),  # nbgrader's own
]
ONE, TWO = LABS = ("01-message-passing", "02-toy-model")
EXERCISE = {ONE: "relay", TWO: "average_gradients"}
STUDENTS = ("ada", "ben")
DUE = datetime.datetime(2026, 11, 1, 22, 59, 59, tzinfo=UTC)
#: what each has handed in: hours after the due date, and the points of the verdict
HANDED_IN = {
    ("ada", ONE): (30, 24.0), ("ben", ONE): (70, 6.0),
    ("ada", TWO): (-5, 9.0), ("ben", TWO): (50, 24.0),
}  # fmt: skip


def policy(days, penalty, free):
    rules = {
        lab: Rules(due=DUE + datetime.timedelta(days=days), late=Late(penalty)) for lab in LABS
    }
    return Policy(True, UTC, free, labs=rules)


def nb(lab):
    return notebook_name(lab).removesuffix(".ipynb")


def filled(database):
    for lab in LABS:
        database.add_assignment(lab)
        database.add_notebook(nb(lab), lab)
        name = EXERCISE[lab]
        database.add_grade_cell(f"test_{name}", nb(lab), lab, max_score=24, cell_type="code")
        database.add_solution_cell(name, nb(lab), lab)
    for student in STUDENTS:
        database.add_student(student)
        for lab in LABS:
            database.add_submission(lab, student)
    return database


class Course:
    """A gradebook and a diary, and what is granted."""

    def __init__(self, database, diary):
        self._database, self.diary = database, diary
        self.policy, self.roster = policy(0, Fraction(1, 10), 0), Roster()
        self._answering = Answering(self, Ledger(diary.path.parent / "ledger"), diary)

    @contextlib.contextmanager
    def database(self):
        yield self._database

    def autograded(self, lab, student):
        return self.diary.path.parent / "autograded" / student / lab

    def begin(self):
        """Everything handed in, and nothing judged."""
        self.diary.path.unlink(missing_ok=True)
        for student in STUDENTS:
            for lab in LABS:
                found = self._database.find_submission(lab, student)
                found.extension = found.assignment.duedate = None
                (notebook,) = found.notebooks
                notebook.late_submission_penalty = None
                for grade in notebook.grades:
                    grade.auto_score = grade.manual_score = grade.extra_credit = None
                for comment in notebook.comments:
                    comment.manual_comment = None
        for lab in LABS:
            self.regrade(lab)

    def regrade(self, lab):
        """What a grading enters: of a group what a member has handed in last. nbgrader leaves
        points by hand as they are.
        """
        for student in STUDENTS:
            last = max(self.roster.members(lab, student), key=lambda name: HANDED_IN[name, lab][0])
            hours, points = HANDED_IN[last, lab]
            found = self._database.find_submission(lab, student)
            found.timestamp = (DUE + datetime.timedelta(hours=hours)).replace(tzinfo=None)
            found.notebooks[0].grades[0].auto_score = points
        self._database.db.commit()

    def do(self, what, *change):
        if what == "policy":
            (self.policy,) = change
        elif what == "extend":
            self.roster = self.roster.extend(*change)
        elif what == "group":
            self.roster = self.roster.group(*change)
            self.regrade(change[0])  # `distlab group` enters what they have together
        elif what == "answer":
            student, lab, points = change
            wanted = Wanted(points=points, taken_back=points is None)
            self._answering.answer(student, lab, EXERCISE[lab], wanted)
        else:
            self.regrade(*change)

    def settled(self):
        """{(student, lab): points, what is taken off, and all that the gradebook has of both}."""
        rows = {}
        for student in STUDENTS:
            for lab, one in settle(self._database, student, self.policy, self.roster).items():
                found = self._database.find_submission(lab, student)
                (grade,) = found.notebooks[0].grades
                rows[student, lab] = (
                    one.points, one.penalty, found.assignment.duedate, found.extension,
                    found.notebooks[0].late_submission_penalty, grade.auto_score,
                    grade.manual_score, grade.extra_credit,
                )  # fmt: skip
        return rows


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    with Database("sqlite://") as database:
        yield Course(filled(database), Diary(tmp_path_factory.mktemp("diary") / "looks.jsonl"))


LAB, STUDENT = st.sampled_from(LABS), st.sampled_from(STUDENTS)
EXTENSIONS = st.none() | st.builds(Extension, st.builds(Duration, st.integers(0, 4)))
GROUPS = st.sampled_from([STUDENTS, ("ada",), ("ben",)])
POINTS = st.none() | st.sampled_from([0.0, 7.5, 24.0])
POLICIES = st.builds(
    policy, st.integers(-3, 3), st.sampled_from([Fraction(), Fraction(1, 10), Fraction(1, 3)]),
    st.integers(0, 3),
)  # fmt: skip
STEPS = st.one_of(
    st.tuples(st.just("policy"), POLICIES),
    st.tuples(st.just("extend"), LAB, STUDENT, EXTENSIONS),
    st.tuples(st.just("group"), LAB, GROUPS),
    st.tuples(st.just("answer"), STUDENT, LAB, POINTS),
    st.tuples(st.just("regrade"), LAB),
)
FIXTURE = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def straight(course, steps):
    """What holds after these steps, brought about without what they did on the way."""
    policies = [step[1] for step in steps if step[0] == "policy"]
    answers = {step[1:3]: step for step in steps if step[0] == "answer"}
    course.begin()  # with the roster that there is in the end
    course.policy = policies[-1] if policies else policy(0, Fraction(1, 10), 0)
    for step in answers.values():
        course.do(*step)
    return course.settled()


def along(course, steps, recomputed):
    course.policy, course.roster = policy(0, Fraction(1, 10), 0), Roster()
    course.begin()
    for step in steps:
        course.do(*step)
        if recomputed:
            course.settled()
    return course.settled()


@FIXTURE
@given(st.lists(STEPS, max_size=8), st.booleans())
@example([("answer", "ada", ONE, 24.0), ("group", ONE, STUDENTS), ("group", ONE, ("ada",))], True)
@example([("group", ONE, STUDENTS), ("extend", ONE, "ben", Extension(Duration(4))),
          ("group", ONE, ("ada",)), ("regrade", ONE)], True)  # fmt: skip
def test_nobody_gains_by_the_order_in_which_things_come_to_hold(course, steps, recomputed):
    found = along(course, steps, recomputed)
    assert found == straight(course, steps)


@FIXTURE
@given(st.lists(STEPS, max_size=6), st.randoms(use_true_random=False))
def test_what_does_not_concern_each_other_may_come_in_any_order(course, steps, chance):
    """Those of one kind, about the same, keep their order: the last one holds."""
    kinds = {}
    for number, step in enumerate(steps):
        about = (step[0], *step[1:3]) if step[0] in ("extend", "answer") else step[:1]
        kinds.setdefault(about, []).append(number)
    places = list(range(len(steps)))
    chance.shuffle(places)
    shuffled = [None] * len(steps)
    for numbers in kinds.values():
        for number, place in zip(numbers, sorted(places[n] for n in numbers), strict=True):
            shuffled[place] = steps[number]
    assert along(course, steps, True) == along(course, shuffled, True)


@settings(max_examples=8, deadline=None)
@given(st.lists(STEPS, max_size=6))
def test_recomputing_twice_changes_no_byte_after_any_of_it(tmp_path_factory, steps):
    folder = tmp_path_factory.mktemp("course")
    path, diary = folder / "gradebook.db", Diary(folder / "looks.jsonl")
    with Database(f"sqlite:///{path}") as database:
        made = Course(filled(database), diary)
        along(made, steps, False)
    kept = {one: one.read_bytes() for one in (path, diary.path) if one.exists()}
    with Database(f"sqlite:///{path}") as database:
        again = Course(database, diary)
        again.policy, again.roster = made.policy, made.roster
        again._answering.enter_all()
        again.settled()
        set_due_dates(database, made.policy)
    assert {one: one.read_bytes() for one in kept} == kept
