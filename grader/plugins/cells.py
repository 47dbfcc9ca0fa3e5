"""The cells of a lab in the gradebook, also where the lab changes after it was graded."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from nbgrader import preprocessors
from nbgrader.api import Comment, Grade, GradeCell, MissingEntry, SolutionCell, SourceCell, TaskCell

from distlab.records import redaction
from grader.coursedir import GradingFailed

#: the kinds of cells, and the rows that a submission has for each
_KINDS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "grade": (GradeCell, (Grade,)),
    "solution": (SolutionCell, (Comment,)),
    "task": (TaskCell, (Grade, Comment)),
    "source": (SourceCell, ()),
}
MOST_TOLD = 5  # students who are named


class SaveCells(preprocessors.SaveCells):
    """nbgrader's own, which refuses a lab with other cells once somebody has handed in. Here these
    cells are added and removed, in all submissions; but never one for which a person has given
    points or written a comment.
    """

    notebook_id: str
    assignment_id: str
    gradebook: Any

    def _create_notebook(self, nb):
        try:
            notebook = self.gradebook.find_notebook(self.notebook_id, self.assignment_id)
        except MissingEntry:
            notebook = None
        if notebook is not None and notebook.submissions:
            for kind in _KINDS:
                self._change(notebook, kind)
            self.gradebook.db.commit()
        super()._create_notebook(nb)

    def _change(self, notebook: Any, kind: str) -> None:
        """Bring the cells of a kind up to date, without a commit."""
        made, rows = _KINDS[kind]
        wanted = getattr(self, f"new_{kind}_cells")
        there = {cell.name: cell for cell in getattr(notebook, f"{kind}_cells")}
        for name in there.keys() - wanted.keys():
            self._remove(there[name], rows)
        for name in wanted.keys() - there.keys():
            cell = made(name=name, notebook=notebook, **wanted[name])
            self.gradebook.db.add(cell)
            self.gradebook.db.flush()  # it has its id then
            for submitted in notebook.submissions:
                self.gradebook.db.add_all(row(cell_id=cell.id, notebook=submitted) for row in rows)

    def _remove(self, cell: Any, rows: Iterable[Any]) -> None:
        database = self.gradebook.db
        found = [one for row in rows for one in database.query(row).filter(row.cell_id == cell.id)]
        if by_hand := sorted({one.student.id for one in found if _is_by_hand(one)}):
            more = f" and {len(by_hand) - MOST_TOLD} more" if len(by_hand) > MOST_TOLD else ""
            raise GradingFailed(
                f"{cell.name} is no longer in {self.assignment_id}, and what was given by hand for "
                f"it would be lost ({', '.join(map(redaction.shown, by_hand[:MOST_TOLD]))}{more}): "
                "call the cell as before, or take points and comment back in the formgrader first "
                "(`distlab export --for csv` keeps a copy)"
            )
        for one in (*found, cell):
            database.delete(one)
            database.flush()


def _is_by_hand(row: Any) -> bool:
    """Has a person given these points, or written this comment?"""
    if isinstance(row, Comment):
        return bool((row.manual_comment or "").strip())
    return row.manual_score is not None or bool(row.extra_credit)
