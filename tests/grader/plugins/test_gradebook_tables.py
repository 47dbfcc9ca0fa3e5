"""nbgrader's tables are looked for once in each file, and made in each that lacks them."""

import pytest
from nbgrader.api import Gradebook as Database
from sqlalchemy import event

from grader.plugins import gradebook  # noqa: F401  # which sees to it


@pytest.fixture
def database(tmp_path):
    return tmp_path / "gradebook.db"


def opened(path):
    """The statements by which opening a database looks for tables."""
    asked = []

    def note(connection, cursor, statement, *_):
        if statement.startswith("PRAGMA"):
            asked.append(statement)

    # engines are kept, so that this is the one which is used the next time
    with Database(f"sqlite:///{path}", "course") as found:
        event.listen(found.engine, "before_cursor_execute", note)
    with Database(f"sqlite:///{path}", "course") as found:
        assert found.students == []
    event.remove(found.engine, "before_cursor_execute", note)
    return asked


def test_tables_that_are_there_are_not_looked_for_again(database):
    assert opened(database) == []


def test_a_database_that_was_taken_away_is_made_anew(database):
    opened(database)
    database.unlink()
    opened(database)
    database.write_bytes(b"")
    opened(database)
