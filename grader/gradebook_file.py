"""What SQLite says of a gradebook's file that cannot be used, and what an instructor does then."""

from __future__ import annotations

import re
from pathlib import Path

from grader import coursedir
from grader.writing import NotWritten

_DAMAGED = re.compile(r"file is not a database|\bmalformed\b")
# a table that is missing nbgrader makes as it opens the file, in which nothing may be as yet
_OTHER_VERSION = re.compile(r"no such column|has no column named")
_CLOSED = re.compile(r"unable to open database file|readonly database|disk I/O error")


class GradebookUnusable(NotWritten):
    """The gradebook's file is damaged, or another version of nbgrader has made it: nobody's points
    can be entered.
    """


def unusable(why: str, path: Path | None = None) -> NotWritten | None:
    """What an error of SQLite's means for the gradebook; `None` where it says nothing against its
    file, as when somebody else is writing it.

    Args:
        why: what SQLite said, perhaps with names of errors before it.
        path: the file; the course's own where none is named.
    """
    path = path or coursedir.GRADES / "gradebook.db"
    why = re.sub(r"^(?:[\w.]+: |\([\w.]+\) )+", "", why.partition("\n")[0])
    if "is full" in why:
        return NotWritten.full(path, "the disk is full")
    if _DAMAGED.search(why):
        return GradebookUnusable(
            f"the gradebook {path} is damaged ({why}), and no verdict is lost: put a backup in its "
            "place, or move it away and run `distlab grade` again, which enters the verdicts in a "
            "new one; points and comments given by hand in nbgrader would be missing there"
        )
    if _OTHER_VERSION.search(why):
        return GradebookUnusable(
            f"the gradebook {path} was made by another version of nbgrader ({why}): run "
            "`nbgrader db upgrade` in the course's folder, which keeps a copy, then do the same "
            "again; where that fails, move it away and run `distlab grade` again, which enters the "
            "verdicts in a new one; points and comments given by hand in nbgrader are missing there"
        )
    if _CLOSED.search(why):
        return NotWritten(
            f"the gradebook {path} cannot be opened or written ({why}), and nothing in it is lost: "
            "see that it is a file, and that this account may write it and its folder, then do the "
            "same again"
        )
    return None
