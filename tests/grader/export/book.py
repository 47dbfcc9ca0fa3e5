"""A gradebook of two labs, as nbgrader makes it."""

import datetime
from fractions import Fraction
from zoneinfo import ZoneInfo

from nbgrader.api import Grade, SubmittedAssignment, SubmittedNotebook
from nbgrader.api import Gradebook as Database

from grader.plugins import gradebook  # noqa: F401  # nbgrader's database is made faster by it
from grader.policy.lateness import UTC, Late
from grader.policy.rules import Policy, Rules

LAB, OTHER = "01-message-passing", "02-toy-model"
DUE = datetime.datetime(2026, 11, 1, 22, 59, 59, tzinfo=UTC)


def policy(free=0):
    late = Late(Fraction(1, 10))
    return Policy(True, ZoneInfo("Europe/Berlin"), free, labs={LAB: Rules(due=DUE, late=late)})


def filled(path, names=("ada", "ben"), more=0):
    """The first student has 20 + 4.1 points, a comment, and is hours late; the others have 10 and
    wait for a person. The first one has 7 points of the other lab.
    """
    with Database(f"sqlite:///{path}") as book:
        for lab in (LAB, OTHER):
            book.add_assignment(lab)
            book.add_notebook("nb", lab)
            book.add_grade_cell("test_relay", "nb", lab, max_score=24, cell_type="code")
            book.add_grade_cell("words", "nb", lab, max_score=4, cell_type="markdown")
            book.add_solution_cell("relay", "nb", lab)
        for place, name in enumerate(names):
            book.add_student(name)
            _hand_in(book, name, LAB, 20 if place == 0 else 10, place == 0)
        _hand_in(book, names[0], OTHER, 7, True)
        comment = book.find_comment("relay", "nb", LAB, names[0])
        comment.manual_comment = "Well argued,\r\nbut short. "
        book.db.commit()
        _many(book, more)
    return path


def _hand_in(book, name, lab, points, whole):
    found = book.add_submission(lab, name)
    found.timestamp = (DUE + datetime.timedelta(hours=2 if whole else -2)).replace(tzinfo=None)
    for grade in found.notebooks[0].grades:
        by_hand = grade.name == "words"
        grade.auto_score = None if by_hand else points
        grade.needs_manual_grade = by_hand and not whole
        if by_hand and whole and lab == LAB:
            grade.manual_score, grade.extra_credit = 4.0, 0.1
        elif by_hand and whole:
            grade.manual_score = 0.0
    book.db.commit()


def _many(book, count):
    """As many students more, written at once."""
    lab = book.find_assignment(LAB)
    notebook = lab.notebooks[0]
    cells = [(cell.name, cell.id) for cell in notebook.grade_cells]
    for number in range(count):
        name = f"s{number:04}"
        book.db.add(_student(name))
        one = SubmittedAssignment(
            assignment_id=lab.id, student_id=name, timestamp=DUE.replace(tzinfo=None)
        )
        pages = SubmittedNotebook(notebook_id=notebook.id, assignment=one)
        for cell, key in cells:
            score = 24.0 if cell == "test_relay" else 3.5
            book.db.add(Grade(cell_id=key, notebook=pages, auto_score=score))
    book.db.commit()


def _student(name):
    from nbgrader.api import Student

    return Student(id=name)
