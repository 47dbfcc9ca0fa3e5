"""The same class by stock `nbgrader autograde`: do the same scores come out?

Stock nbgrader opens whatever lies there, a named pipe and an endless device included, follows
links, and takes a notebook under its own name alone. What `distlab grade` calls unreadable, or
takes under another name, is therefore not handed in to it.
"""

from __future__ import annotations

import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from distlab import course
from distlab.records import redaction
from grader import coursedir, secret
from hostile import entries, trial
from hostile.entries import Entry

#: what stock nbgrader gives up on before any code of ours sees it: cells and ids that nbformat does
#: not take, times of hand-in that cannot be read. It goes on with the others, and these have no
#: score there.
GIVEN_UP = {
    "cells_of_anything", "ids_of_lists", "timestamp_of_1_GB", "timestamp_of_nothing",
    "timestamp_of_year_9999",
}  # fmt: skip


@dataclass
class Comparison:
    """Who was graded by stock nbgrader, who could not be, and whose score is another one."""

    graded: list[Entry]
    left_out: list[Entry]
    differences: list[str]
    seconds: float


def compare(names: Iterable[str] | None = None, timeout: float = 7200) -> Comparison:
    """Grade the class, or those of these names, and compare with the scores that are stated.

    `trial.run` holds `distlab grade` to the same ones.
    """
    with tempfile.TemporaryDirectory(prefix="hostile-stock-") as folder:
        grades = Path(folder)
        fresh = secret.draw(grades / "secret" / "secret")
        everybody = trial.everybody(_nowhere(grades) | entries.about(fresh))
        chosen = [entry for entry in everybody if names is None or entry.student in names]
        graded = [entry for entry in chosen if _hand_in(grades, entry)]
        trial.install(fresh, {entry.lab for entry in graded})
        begin = time.monotonic()
        found: list[str] = []
        for lab in sorted({entry.lab for entry in graded}):
            _run(grades, timeout, "generate_assignment", lab, "--force",
                 f"--CourseDirectory.release_directory={grades / 'release'}")  # fmt: skip
            done = _run(grades, timeout, "autograde", lab)
            failed = set(re.findall(r"There was an error .* for student '(.*)'", done.stderr))
            handed_in = {entry.student for entry in graded if entry.lab == lab}
            if failed != GIVEN_UP & handed_in:
                found.append(f"autograde {lab} gave up on {failed}: {done.stderr[-800:]}")
            scores = _scores(grades, lab)
            found += [
                f"{redaction.shown(entry.student)}: {entry.score:g} points stated, "
                f"got {scores.get(entry.student)}"
                for entry in graded
                if entry.lab == lab
                and entry.student not in GIVEN_UP
                and scores.get(entry.student) != entry.score
            ]
        left = [entry for entry in chosen if entry not in graded]
        return Comparison(graded, left, found, time.monotonic() - begin)


def _hand_in(grades: Path, entry: Entry) -> bool:
    """Write a submission where stock nbgrader looks for it, unless it cannot be graded there."""
    if entry.status:
        return False
    where = grades / "submitted" / entry.student / entry.lab
    where.mkdir(parents=True)
    entry.write(where)
    if not (where / course.notebook_name(entry.lab)).exists():
        shutil.rmtree(where.parent)
        return False
    return True


def _nowhere(grades: Path) -> dict[str, str]:
    return {"places": entries.places(grades, grades), "port": "9", "abstract": "nobody"}


def _run(grades: Path, timeout: float, *words: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "nbgrader", *words], cwd=coursedir.ROOT, timeout=timeout,
        env={**os.environ, "DISTLAB_GRADES": str(grades),
             secret.VARIABLE: str(grades / "secret" / "secret")}, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, errors="replace",
    )  # fmt: skip


def _scores(grades: Path, lab: str) -> dict[str, float]:
    """Students' automatic points as nbgrader's own export gives them."""
    out = grades / f"{lab}.csv"
    _run(grades, 300, "export", f"--to={out}")
    with out.open() as file:
        return {
            row["student_id"]: float(row["raw_score"])
            for row in csv.DictReader(file)
            if row["assignment"] == lab and row["raw_score"]
        }
