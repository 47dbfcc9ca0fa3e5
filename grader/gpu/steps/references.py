"""Record a lab's references on this machine's GPU, and compare them with the committed ones.

Inputs lie on the GPU, and new tensors are made there, where that comes out right: see `places`.

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
from distlab.processes import payload
from grader import coursedir
from grader.gpu import settings
from grader.gpu.steps import places
from grader.judging import record

FEW = 1  # exercises of a lab, where this only pretends
TOLD = 300  # characters of why something is not right in one place
Entry = tuple[Exercise, Case, list[Any]]


def main(labs: Sequence[str], out: str) -> None:
    """Run the labs' solutions through the engines; what was compared so far is kept all along."""
    found: dict[str, Any] = {}
    for lab in labs:
        found[lab] = {"cases": 0, "same": 0, "exercises": 0, **dict.fromkeys(settings.WAYS, 0)}
        found[lab] |= {"elsewhere": [], "differences": [], "failed": []}
        _recorded(lab, found[lab], Path(out).parent / "references", lambda: _keep(out, found))
    settings.write(out, {"labs": found, "recorded": record.recorded()})


def _keep(out: str, found: dict[str, Any]) -> None:
    settings.write(out, {"labs": found})


def _recorded(lab: str, result: dict[str, Any], folder: Path, keep: Callable[[], None]) -> None:
    entries: list[Entry] = []
    exercises = list(course.exercises(lab).values())
    for exercise in exercises[: FEW if settings.pretend() else None]:
        found = _outputs(exercise, result)
        entries += [one for one in found if not same(one)]  # others are committed as they are
        result["exercises"] += bool(found)
        result["cases"] += len(found)
        result["same"] = result["cases"] - len(entries)
        keep()
    for kind in ("visible", "hidden"):
        some = [one for one in entries if one[1].hidden == (kind == "hidden")]
        if some:
            write(folder, f"{lab}.{kind}", record.recorded(), some)


def _outputs(exercise: Exercise, result: dict[str, Any]) -> list[Entry]:
    """What the solution returns in the first way that comes out as recorded, or else in the last
    one; none where it fails in that.
    """
    ways = places.of(exercise)
    for how, device in ways.items():
        found, said = [], []
        try:
            found = list(record.outputs(exercise.lab, exercise.name, device=device))
            said = wrong = [line for one in found for line in difference(*one)]
        except (record.SolutionFailed, RuntimeError) as error:
            wrong = [f"{exercise.id}: {error}"]
        if not wrong or how == list(ways)[-1]:
            break
        result["elsewhere"].append(f"not {how}: {wrong[0]}"[:TOLD])
    result[how] += not wrong
    result["differences"] += said
    result["failed"] += [] if found else wrong
    return found


def same(entry: Entry) -> bool:
    """Is it bit for bit what was recorded?"""
    exercise, case, values = entry
    return list(map(payload.encode, coursedir.reference(exercise, case))) == list(
        map(payload.encode, values)
    )


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
