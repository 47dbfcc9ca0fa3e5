"""A gradebook whose file cannot be used: one sentence that names the file and what to do."""

import sqlite3

import pytest
from nbgrader.api import Gradebook as Database

from grader import coursedir, gradebook_file
from grader.coursedir import GradingFailed
from grader.gradebook_file import GradebookUnusable
from grader.plugins.gradebook import Gradebook, GradebookBusy
from grader.writing import NotWritten

LAB = "01-message-passing"


@pytest.fixture
def book(tmp_path, monkeypatch):
    """A gradebook of nobody, in a folder of its own."""
    monkeypatch.setattr(coursedir, "GRADES", tmp_path)
    book = Gradebook(tmp_path / "submitted")
    book._api.coursedir.db_url = f"sqlite:///{tmp_path}/gradebook.db"
    with book.database() as database:
        database.add_assignment(LAB)
    return book


def cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def foreign(path):
    path.write_text("no database at all" * 100)


def folder(path):
    path.unlink()
    path.mkdir()


def old(path):
    with sqlite3.connect(path) as database:
        database.execute("ALTER TABLE student DROP COLUMN lms_user_id")


@pytest.mark.parametrize(
    ("spoil", "remedy"),
    [(cut, "put a backup in its place, or move it away"),
     (foreign, "put a backup in its place, or move it away"),
     (folder, "see that it is a file"), (old, "nbgrader db upgrade")],
)  # fmt: skip
def test_a_file_that_cannot_be_used_is_named_with_what_to_do(book, tmp_path, spoil, remedy):
    path = tmp_path / "gradebook.db"
    spoil(path)
    with pytest.raises(NotWritten, match=remedy) as refused, book.database() as database:
        assert database.students, "nobody is in it"
    assert str(path) in str(refused.value) and "sqlite3." not in str(refused.value)


def test_a_new_gradebook_takes_the_place_of_a_damaged_one_that_was_moved_away(book, tmp_path):
    path = tmp_path / "gradebook.db"
    foreign(path)
    with pytest.raises(GradebookUnusable), book.database():
        pass
    path.rename(tmp_path / "damaged.db")
    with book.database() as database:
        assert database.assignments == []


@pytest.mark.parametrize(
    "log",
    ["sqlite3.DatabaseError: file is not a database",
     "sqlalchemy.exc.DatabaseError: (sqlite3.DatabaseError) database disk image is malformed"],
)  # fmt: skip
def test_damage_that_nbgrader_finds_is_told_as_ours(log):
    with pytest.raises(GradebookUnusable, match=r"is damaged \((file|database) [a-z ]+\)"):
        Gradebook._checked({"success": False, "log": log, "error": None}, "enter it")


def test_who_only_has_to_wait_for_nbgrader_is_told_so():
    log = "sqlite3.OperationalError: database is locked"
    with pytest.raises(GradingFailed, match="somebody else is writing .*: do the same again when"):
        Gradebook._checked({"success": False, "log": log, "error": None}, "enter it")


def test_who_only_has_to_wait_is_not_told_of_damage(book, tmp_path):
    path = tmp_path / "gradebook.db"
    with Database(f"sqlite:///{path}?timeout=0") as database, sqlite3.connect(path) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert gradebook_file.unusable("database is locked") is None
        book._api.coursedir.db_url += "?timeout=0"
        with pytest.raises(GradebookBusy), book.database() as mine:
            mine.add_student("ada")
        other.rollback()
        database.add_student("ada")
