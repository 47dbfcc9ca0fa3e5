"""The course's own steps in nbgrader's conversions; `nbgrader_config.py` names them."""

from __future__ import annotations

import atexit
import functools
import textwrap

import nbformat
from nbformat.v4 import new_output
from nbgrader import preprocessors

from distlab import course
from grader.judging.ledger import Line
from grader.judging.referee import Referee


class ClearSolutions(preprocessors.ClearSolutions):
    """nbgrader's own, with a stub that says which exercise is still to do."""

    def preprocess_cell(self, cell, resources, cell_index):
        name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        self.code_stub = {"python": f'raise NotImplementedError("TODO {name}")'}
        return super().preprocess_cell(cell, resources, cell_index)


class Points(preprocessors.NbGraderPreprocessor):
    """Write into each test cell what its exercise is worth: the exercise alone says so."""

    def preprocess(self, nb, resources):
        exercises = course.exercises(resources["nbgrader"]["assignment"])
        for cell in nb.cells:
            grading = cell.metadata.get("nbgrader", {})
            exercise = exercises.get(grading.get("grade_id", "").removeprefix("test_"))
            if exercise is not None and grading.get("grade"):
                grading["points"] = exercise.points
        return nb, resources


class Rebuild(preprocessors.NbGraderPreprocessor):
    """Put a submission's answers into the course's own notebook; nothing else of it is kept."""

    def preprocess(self, nb, resources):
        lab = resources["nbgrader"]["assignment"]
        rebuilt, repaired = referee().rebuild(lab, nb)
        for what in repaired:
            self.log.warning("%s: %s", resources["nbgrader"]["student"], what)
        rebuilt = nbformat.from_dict(rebuilt)
        rebuilt.metadata["repaired"] = repaired
        return rebuilt, resources


class Verdicts(preprocessors.NbGraderPreprocessor):
    """In place of a kernel: each test cell gets the referee's verdict as its output.

    nbgrader reads a test cell's score off its outputs (an error gives none), so the score is the
    ledger's, whatever the student's code does.
    """

    def preprocess(self, nb, resources):
        about = resources["nbgrader"]
        repaired = nb.metadata.pop("repaired", [])
        entry = referee().judge(about["assignment"], about["student"], nb, repaired)
        nb.metadata["distlab"] = {"repaired": entry.repaired}
        for cell in nb.cells:
            name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
            if cell.cell_type == "code" and name.startswith("test_"):
                line = entry.line(name.removeprefix("test_"))
                cell.outputs = outputs(line) if line is not None else []
                if line is not None:
                    cell.metadata["distlab"] = told(line)
                cell.execution_count = 1
        return nb, resources


def outputs(line: Line) -> list[nbformat.NotebookNode]:
    """A verdict as the outputs of a test cell: text alone where it passed, else an error."""
    points = f"{line.score:g} of {line.max_score:g} points"
    if line.status == "passed":
        return [_text(f"{line.name}: passed, {points}")]
    head = f"{line.name}: {line.status}, {points}."
    told = textwrap.wrap(line.message, 100)
    said = f"{head} {line.message}"
    shown = [new_output("error", ename=line.status, evalue=said, traceback=[head, *told])]
    if line.picture:
        shown.append(new_output("display_data", {"image/svg+xml": line.picture}))
    return shown


def told(line: Line) -> dict[str, str]:
    """A verdict as the feedback page asks for it (`grader.reports.feedback`)."""
    return {
        "exercise": line.name, "status": line.status, "expected": line.expected,
        "happened": line.happened or line.message, "look": line.look,
    }  # fmt: skip


def _text(said: str) -> nbformat.NotebookNode:
    made: nbformat.NotebookNode = new_output("display_data", {"text/plain": said})
    return made


@functools.cache
def referee() -> Referee:
    """This process's referee; nbgrader makes its preprocessors anew for each notebook."""
    made = Referee()
    atexit.register(made.close)
    return made
