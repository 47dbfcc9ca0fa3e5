"""A lab that changes after it was graded: its cells in the gradebook, and what people gave."""

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.api import Comment, Grade, Gradebook

from grader.coursedir import GradingFailed
from grader.plugins import gradebook
from grader.plugins.cells import SaveCells

LAB, NOTEBOOK = "01-message-passing", "message_passing"


def cell(name, points=None, solution=False):
    about = {"grade_id": name, "solution": solution, "grade": points is not None, "locked": True,
             "points": points or 0, "schema_version": 3}  # fmt: skip
    make = new_code_cell if name.startswith("test_") or points is None else new_markdown_cell
    return make("", metadata={"nbgrader": about})


@pytest.fixture
def generated(tmp_path):
    """`generated(cells)` enters a lab of these cells; the database is its attribute `url`."""

    def enter(*cells):
        about = {"notebook": NOTEBOOK, "assignment": LAB, "db_url": enter.url}
        SaveCells().preprocess(new_notebook(cells=list(cells)), {"nbgrader": about})

    enter.url = f"sqlite:///{tmp_path}/gradebook.db"
    with Gradebook(enter.url) as book:
        book.add_assignment(LAB)
        for student in ("ada", "ben"):
            book.add_student(student)
    enter(cell("relay", solution=True), cell("test_relay", 3), cell("why", 2, solution=True))
    with Gradebook(enter.url) as book:
        for student in ("ada", "ben"):
            book.add_submission(LAB, student)
            book.find_grade("test_relay", NOTEBOOK, LAB, student).auto_score = 3.0
        book.find_grade("why", NOTEBOOK, LAB, "ben").manual_score = 1.5
        book.db.commit()
    return enter


def test_a_new_exercise_comes_into_what_was_graded_and_one_that_is_gone_goes(generated):
    generated(
        cell("exchange", solution=True), cell("test_exchange", 4), cell("why", 2, solution=True)
    )
    with Gradebook(generated.url) as book:
        for student, points in (("ada", None), ("ben", 1.5)):
            found = book.find_submission_notebook(NOTEBOOK, LAB, student)
            assert {grade.name: grade.max_score for grade in found.grades} == {
                "test_exchange": 4, "why": 2,
            }  # fmt: skip
            assert {comment.name for comment in found.comments} == {"exchange", "why"}
            assert book.find_grade("why", NOTEBOOK, LAB, student).manual_score == points
        assert book.db.query(Grade).count() == book.db.query(Comment).count() == 4


@pytest.mark.parametrize("given", ["points", "comment", "extra"])
def test_what_a_person_gave_is_never_removed_with_its_cell(generated, given):
    with Gradebook(generated.url) as book:
        grade = book.find_grade("why", NOTEBOOK, LAB, "ben")
        comment = book.find_comment("why", NOTEBOOK, LAB, "ben")
        grade.manual_score = 0.0 if given == "points" else None
        grade.extra_credit = 1.0 if given == "extra" else None
        comment.manual_comment = "Well put." if given == "comment" else None
        book.db.commit()
    with pytest.raises(GradingFailed, match=r"why is no longer in .* be lost \(ben\): call the"):
        generated(cell("exchange", solution=True), cell("test_exchange", 4))
    with Gradebook(generated.url) as book:  # all of it is as it was
        found = book.find_submission_notebook(NOTEBOOK, LAB, "ben")
        assert {grade.name for grade in found.grades} == {"test_relay", "why"}
        assert {one.name for one in found.notebook.source_cells} == {"relay", "test_relay", "why"}
        assert book.find_grade("test_relay", NOTEBOOK, LAB, "ben").auto_score == 3.0


def test_the_courses_configuration_enters_cells_this_way():
    steps = gradebook._configuration().GenerateAssignment.preprocessors
    assert [step for step in steps if "SaveCells" in step] == ["grader.plugins.cells.SaveCells"]
