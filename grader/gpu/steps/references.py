"""Record a lab's references on this machine's device, and compare them with the committed ones.

python -m grader.gpu.steps.references LAB … RESULT
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from distlab import course
from distlab.exercises.compare import compare
from distlab.exercises.exercise import Case, Exercise
from distlab.exercises.reference import write
from grader import coursedir
from grader.gpu import settings
from grader.judging import record

FEW = 1  # exercises of a lab, where this only pretends


def main(labs: Sequence[str], out: str) -> None:
    """Run the labs' solutions through the engines; what was compared so far is kept all along."""
    found: dict[str, Any] = {}
    for lab in labs:
        found[lab] = {"cases": 0, "exercises": 0, "differences": [], "failed": []}
        _recorded(lab, found[lab], Path(out).parent / "references", lambda: _keep(out, found))
    settings.write(out, {"labs": found, "recorded": record.recorded()})


def _keep(out: str, found: dict[str, Any]) -> None:
    settings.write(out, {"labs": found})


def _recorded(lab: str, result: dict[str, Any], folder: Path, keep: Callable[[], None]) -> None:
    names = list(course.exercises(lab))[: FEW if settings.pretend() else None]
    entries: list[tuple[Exercise, Case, list[Any]]] = []
    for name in names:
        try:
            found = list(record.outputs(lab, name))
        except (record.SolutionFailed, RuntimeError) as error:
            result["failed"].append(f"{lab}/{name}: {error}")
            keep()
            continue
        entries += found
        result["exercises"] += 1
        result["cases"] += len(found)
        result["differences"] += [said for one in found for said in difference(*one)]
        keep()
    where = record.recorded()
    write(folder, f"{lab}.visible", where, [one for one in entries if not one[1].hidden])
    write(folder, f"{lab}.hidden", where, [one for one in entries if one[1].hidden])


def difference(exercise: Exercise, case: Case, values: list[Any]) -> list[str]:
    """A sentence where a case comes out otherwise than it was recorded, by its own tolerance."""
    for rank, (was, now) in enumerate(
        zip(coursedir.reference(exercise, case), values, strict=True)
    ):
        found = compare(was, now, exercise.tolerance)
        if found:
            return [f"{exercise.id} {case.key}, rank {rank}: {found.in_full()}"]
    return []


if __name__ == "__main__":
    main(sys.argv[1:-1], sys.argv[-1])
