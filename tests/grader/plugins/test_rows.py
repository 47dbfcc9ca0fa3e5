"""Whoever asks for a cell's row gets the one that nbgrader's own queries find."""

import datetime
from types import SimpleNamespace

import nbformat
import pytest
from nbgrader import preprocessors
from nbgrader.api import Grade, MissingEntry

from grader.plugins import rows
from grader.plugins.gradebook import Database
from grader.plugins.rows import CourseRows, SubmittedRows

LAB, NOTEBOOK = "lab", "work"
NAMES = "answer", "essay", "task"


@pytest.fixture
def book(tmp_path):
    """Two students and two notebooks whose cells have the same names."""
    with Database(f"sqlite:///{tmp_path}/gradebook.db") as database:
        database.add_assignment(LAB)
        for notebook in (NOTEBOOK, "other"):
            database.add_notebook(notebook, LAB)
            about = {"max_score": 2, "cell_type": "code"}
            database.add_grade_cell("test_answer", notebook, LAB, **about)
            database.add_solution_cell("answer", notebook, LAB)
            database.add_grade_cell("essay", notebook, LAB, max_score=5, cell_type="markdown")
            database.add_solution_cell("essay", notebook, LAB)
            database.add_task_cell("task", notebook, LAB, max_score=3, cell_type="markdown")
            for name in ("test_answer", *NAMES):
                database.add_source_cell(name, notebook, LAB, cell_type="code", source=notebook)
        for number, student in enumerate(("ada", "bob")):
            database.add_student(student)
            when = datetime.datetime(2026, 11, 1)
            database.add_submission(LAB, student, timestamp=when)
            for notebook in (NOTEBOOK, "other"):
                grade = database.find_grade("essay", notebook, LAB, student)
                grade.manual_score, grade.extra_credit = 1.5 + number, 0.25
                comment = database.find_comment("answer", notebook, LAB, student)
                comment.manual_comment = f"{student} {notebook}"
        database.db.commit()
        yield database


class Step(preprocessors.NbGraderPreprocessor):
    """What is nbgrader's own in a step: it opens a gradebook and closes it."""

    def __init__(self, url, student, each):
        super().__init__()
        self._url, self.student_id, self._each = url, student, each
        self.notebook_id, self.assignment_id = NOTEBOOK, LAB

    def preprocess(self, nb, resources):
        self.gradebook = Database(self._url)
        with self.gradebook:
            return super().preprocess(nb, resources)

    def preprocess_cell(self, cell, resources, cell_index):
        self._each(self.gradebook)
        return cell, resources


class OfSubmission(Step, SubmittedRows):
    pass


class OfCourse(Step, CourseRows):
    pass


def taken(kind, book, student, *each):
    """Take a step over a notebook of as many cells as there are things to do."""
    cells = [nbformat.v4.new_code_cell() for _ in each]
    do = iter(each)
    step = kind(str(book.engine.url), student, lambda gradebook: next(do)(gradebook))
    step.preprocess(nbformat.v4.new_notebook(cells=cells), SimpleNamespace())


@pytest.mark.parametrize("student", ["ada", "bob"])
def test_grades_and_comments_are_those_that_nbgrader_finds(book, student):
    where = NOTEBOOK, LAB, student

    def same(gradebook):
        for name in ("test_answer", "essay", "task"):
            one, other = gradebook.find_grade(name, *where), book.find_grade(name, *where)
            assert (one.id, one.score, one.max_score) == (other.id, other.score, other.max_score)
        for name in NAMES:
            one, other = gradebook.find_comment(name, *where), book.find_comment(name, *where)
            assert (one.id, one.comment) == (other.id, other.comment)

    taken(OfSubmission, book, student, same)


def test_cells_of_the_course_are_those_that_nbgrader_finds(book):
    def same(gradebook):
        for name in ("test_answer", *NAMES):
            found = gradebook.find_source_cell(name, NOTEBOOK, LAB)
            assert found.id == book.find_source_cell(name, NOTEBOOK, LAB).id
        for name in ("test_answer", "essay", "task"):
            found = gradebook.find_graded_cell(name, NOTEBOOK, LAB)
            assert found.id == book.find_graded_cell(name, NOTEBOOK, LAB).id

    taken(OfCourse, book, "ada", same)


def test_a_cell_that_is_not_there_is_missing_as_nbgrader_says_it(book):
    for kind, ask in (
        (OfSubmission, lambda g: g.find_grade("answer", NOTEBOOK, LAB, "ada")),
        (OfSubmission, lambda g: g.find_comment("test_answer", NOTEBOOK, LAB, "ada")),
        (OfCourse, lambda g: g.find_source_cell("more", NOTEBOOK, LAB)),
        (OfCourse, lambda g: g.find_graded_cell("answer", NOTEBOOK, LAB)),
    ):
        with pytest.raises(MissingEntry):
            taken(kind, book, "ada", ask)


def given(name, points):
    def do(gradebook):
        gradebook.find_grade(name, NOTEBOOK, LAB, "ada").auto_score = points
        gradebook.db.commit()

    return do


def test_what_a_step_sets_is_written_when_it_is_done(book):
    taken(OfSubmission, book, "ada", given("test_answer", 2.0), given("essay", 1.0))
    book.db.expire_all()
    points = {grade.name: grade.auto_score for grade in book.find_submission_notebook(
        NOTEBOOK, LAB, "ada").grades}  # fmt: skip
    assert points == {"test_answer": 2.0, "essay": 1.0, "task": None}
    others = book.db.query(Grade).filter(Grade.auto_score.is_not(None))
    assert others.count() == 2


def test_nothing_of_a_step_that_fails_is_written(book):
    with pytest.raises(MissingEntry):
        taken(OfSubmission, book, "ada", given("test_answer", 2.0), given("more", 1.0))
    book.db.expire_all()
    assert book.db.query(Grade).filter(Grade.auto_score.is_not(None)).count() == 0


def test_the_state_of_a_submission_is_what_its_rows_say(book):
    submission = book.find_submission(LAB, "ada")
    grades = [
        [grade.name, grade.auto_score, grade.manual_score, grade.extra_credit, grade.max_score,
         grade.needs_manual_grade]
        for notebook in submission.notebooks for grade in notebook.grades
    ]  # fmt: skip
    comments = [
        [comment.name, comment.manual_comment]
        for notebook in submission.notebooks for comment in notebook.comments
    ]  # fmt: skip
    assert rows.state(book, LAB, "ada") == [*sorted(grades, key=str), *sorted(comments, key=str)]
    assert rows.state(book, LAB, "nobody") == []
