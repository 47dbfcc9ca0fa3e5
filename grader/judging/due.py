"""A guess at what has to be judged, from the times of files, before anything is read."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

from grader.paths import GRADES


def modules(
    assignments: Collection[str], submitted: Path, students: Collection[str] | None
) -> tuple[str, ...] | None:
    """The modules besides torch that a zygote needs for what was handed in since it was last
    judged; `None` where nothing was.

    Args:
        assignments: labs; all where none is named.
        students: whose submissions are asked for; all where it is `None`.
    """
    from distlab import course
    from distlab.processes import frameworks

    for lab in assignments or course.LABS:
        folders = submitted.glob(f"*/{lab}")
        if students is not None:
            folders = (submitted / student / lab for student in students)
        if lab in course.LABS and any(map(_newer, folders)):
            return frameworks.preload(course.needs(lab))
    return None


def _newer(folder: Path) -> bool:
    """Was something put into the folder of a submission since it was judged?"""
    from grader.judging.ledger import Ledger

    try:
        judged = Ledger(GRADES / "ledger").path(folder.name, folder.parent.name).stat().st_mtime
    except OSError:
        return folder.is_dir()
    return any(os.lstat(file).st_mtime > judged for file in folder.glob("*.ipynb"))
