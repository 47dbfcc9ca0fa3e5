"""A student's notebook against the course's: which cell answers which exercise, and what was repaired.

Only solution cells and cells that the student has added are the student's; everything else is taken from
the course, whatever the submission says.
"""

from __future__ import annotations

import json
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from distlab import notebook
from distlab.notebook import Cell

SIZE_LIMIT = 50 << 20  # bytes of a notebook
CELL_LIMIT = 1 << 20  # characters of a cell


class Unreadable(ValueError):
    """A submission from which nothing can be graded. The message says why, in one line."""


@dataclass
class Plan:
    """What to run: `cells` in order, the names that are `answered`, and what was `repaired`."""

    cells: list[Cell] = field(default_factory=list)
    answered: set[str] = field(default_factory=set)
    repaired: list[str] = field(default_factory=list)


def read(path: str | Path) -> dict[str, Any]:
    """A notebook file as nbformat 4, older formats brought up to it. Links are not followed.

    Raises:
        Unreadable: it cannot be read; nothing is changed.
    """
    path = Path(path)
    try:
        status = path.lstat()
    except OSError as error:
        raise Unreadable(f"{path.name} is not there: hand in the notebook again") from error
    if not stat.S_ISREG(status.st_mode):
        raise Unreadable(f"{path.name} is no plain file: hand in the notebook itself, not a link")
    if status.st_size > SIZE_LIMIT:
        raise Unreadable(
            f"{path.name} has {status.st_size >> 20} MB, the limit is {SIZE_LIMIT >> 20} MB: "
            "clear its outputs and hand it in again"
        )
    if status.st_size == 0:
        raise Unreadable(f"{path.name} is empty: save the notebook and hand it in again")
    try:
        content = json.loads(path.read_bytes().decode("utf-8"))
    except (ValueError, RecursionError, MemoryError) as error:
        reason = " ".join(str(error).split())[:120]
        raise Unreadable(f"{path.name} is no notebook ({reason}): save it again in Jupyter") from error
    if isinstance(content, dict) and content.get("nbformat") in (1, 2, 3):
        content = _upgraded(content, path.name)
    try:
        notebook.cells(content)
    except ValueError as error:
        raise Unreadable(f"{path.name}: {error}") from error
    return content


def _upgraded(content: dict[str, Any], name: str) -> dict[str, Any]:
    try:
        import nbformat

        return nbformat.convert(nbformat.from_dict(content), 4)
    except Exception as error:
        raise Unreadable(
            f"{name} is in notebook format {content['nbformat']}, which cannot be brought up to "
            "date: open and save it in Jupyter"
        ) from error


def plan(course: Sequence[Cell], student: Sequence[Cell], names: Iterable[str]) -> Plan:
    """Put a submission's answers into the course's own notebook.

    Args:
        course: the code cells of the released lab.
        student: the code cells of the submission.
        names: the exercises.
    """
    names = list(names)
    result = Plan()
    solutions = _solutions(student, names, result)
    added = _added(course, student)
    result.cells += added.pop("", [])
    for cell in course:
        if cell.kind == "given":
            result.cells.append(cell)
        elif cell.kind == "solution" and cell.name in solutions:
            answer = solutions[cell.name]
            if answer.source.strip() != cell.source.strip():
                result.cells.append(answer)
        result.cells += added.pop(_anchor(cell), [])
    _missing_tests(course, student, result)
    result.answered = {
        name for name in names if any(name in c.defines() for c in result.cells if _own(c))
    }
    unparsed = {c.name for c in result.cells if c.kind == "solution" and not c.defines()}
    result.answered |= unparsed & set(names)
    return result


def _own(cell: Cell) -> bool:
    return cell.kind in ("solution", "added")


def _anchor(cell: Cell) -> str:
    """What a course cell is known by in a submission."""
    return cell.name if cell.kind in ("solution", "test") else cell.id


def _solutions(student: Sequence[Cell], names: list[str], result: Plan) -> dict[str, Cell]:
    solutions: dict[str, Cell] = {}
    for cell in student:
        if cell.kind != "solution":
            continue
        source = cell.source
        if len(source) > CELL_LIMIT:
            result.repaired.append(f"the cell {cell.name} is over {CELL_LIMIT} characters")
            source = ""
        if cell.name in solutions:
            result.repaired.append(f"the cell {cell.name} stands there twice: the first one counts")
            continue
        solutions[cell.name] = Cell(cell.name, source, "solution", cell.id)
    for name in names:
        if name not in solutions:
            result.repaired.append(f"the cell {name} is missing or no longer a solution cell")
    return solutions


def _added(course: Sequence[Cell], student: Sequence[Cell]) -> dict[str, list[Cell]]:
    """The student's own cells, by the course cell that they follow ("" for none).

    A cell of the course that only shows something and was changed counts as the student's own.
    """
    known = {cell.id: cell for cell in course if cell.id}
    sources = {cell.source.strip() for cell in course}
    anchors = {_anchor(cell) for cell in course}
    added: dict[str, list[Cell]] = {}
    anchor = ""
    for number, cell in enumerate(student, 1):
        if _anchor(cell) in anchors:
            anchor = _anchor(cell)
        original = known.get(cell.id)
        changed = original is None or (original.kind == "shown" and cell.kind != "solution")
        mine = cell.kind in ("added", "shown", "given") and changed
        if mine and cell.source.strip() not in sources and len(cell.source) <= CELL_LIMIT:
            added.setdefault(anchor, []).append(
                Cell(f"your cell {number}", cell.source, "added", cell.id)
            )
    return added


def _missing_tests(course: Sequence[Cell], student: Sequence[Cell], result: Plan) -> None:
    theirs = {cell.name: cell.source for cell in student if cell.kind == "test"}
    for cell in course:
        if cell.kind == "test" and theirs.get(cell.name, "").strip() != cell.source.strip():
            what = "changed" if cell.name in theirs else "missing"
            result.repaired.append(f"the test cell {cell.name} was {what}")
