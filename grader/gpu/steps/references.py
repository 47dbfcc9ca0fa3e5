"""Record a lab's references on this machine's device, and compare them with the committed ones.

python -m grader.gpu.steps.references LAB RESULT
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from distlab import course
from distlab.exercises.compare import compare
from distlab.exercises.exercise import Case, Exercise
from distlab.exercises.reference import write
from grader import coursedir
from grader.gpu import settings
from grader.judging import record

FEW = 2  # exercises of a lab, where this only pretends


def main(lab: str, out: str) -> None:
    """Run the lab's solutions through the engines; what was compared so far is kept all along."""
    names = list(course.exercises(lab))[: FEW if settings.pretend() else None]
    result: dict[str, Any] = {"cases": 0, "exercises": 0, "differences": [], "failed": []}
    entries: list[tuple[Exercise, Case, list[Any]]] = []
    for name in names:
        try:
            found = list(record.outputs(lab, name))
        except (record.SolutionFailed, RuntimeError) as error:
            result["failed"].append(f"{lab}/{name}: {error}")
            settings.write(out, result)
            continue
        entries += found
        result["exercises"] += 1
        result["cases"] += len(found)
        result["differences"] += [said for one in found for said in difference(*one)]
        settings.write(out, result)
    where = record.recorded()
    folder = Path(out).parent / "references"
    write(folder, f"{lab}.visible", where, [one for one in entries if not one[1].hidden])
    write(folder, f"{lab}.hidden", where, [one for one in entries if one[1].hidden])
    result["recorded"] = where
    settings.write(out, result)


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
    main(*sys.argv[1:])
