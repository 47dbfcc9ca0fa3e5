"""A lab's solutions and collected right answers, judged on CUDA tensors.

Their inputs lie on the GPU, and so do tensors that they make without naming a device. What is not
right that way is judged again with only its inputs on the GPU, and then as it is graded: many
functions take a generator or a loader, which torch has on the CPU alone. Answers that call what
this PyTorch lacks are left out, and named.

python -m grader.gpu.steps.answers LAB … RESULT
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import cloudpickle
import torch

from distlab import course, notebook
from distlab.engines import by_value, ranks, runs
from distlab.engines.outcomes import Run
from distlab.exercises.exercise import Case, Exercise
from distlab.exercises.judge import judge
from distlab.exercises.verdict import Verdict
from distlab.records.choices import Schedule
from distlab.records.deadlock import Watcher
from grader import collected, coursedir
from grader.gpu import settings
from grader.gpu.steps import places

DEADLINE = 60.0  # seconds of all cases of an exercise
FEW = 1  # answers of a lab, where this only pretends


def main(labs: Sequence[str], out: str) -> None:
    """Judge the labs' answers; the verdicts so far are kept all along."""
    found: dict[str, Any] = {}
    for lab in labs:
        found[lab] = {"answers": 0, **dict.fromkeys(settings.WAYS, 0)}
        found[lab] |= {"only as graded": [], "left out": left_out(lab), "failed": []}
        _judged_all(lab, found[lab], lambda: settings.write(out, {"labs": found}))
    settings.write(out, {"labs": found})


def _judged_all(lab: str, result: dict[str, Any], keep: Callable[[], None]) -> None:
    some = every(lab)
    if settings.pretend():
        some = itertools.islice((one for one in some if places.has_tensors(one[1])), FEW)
    for name, exercise, module in some:
        how, verdict = judged(exercise, getattr(module, exercise.name))
        result["answers"] += 1
        if how:
            result[how] += 1
        if how == settings.GRADED and len(places.of(exercise)) > 1:
            result["only as graded"].append(name)
        if not how:
            result["failed"].append(f"{name}: {verdict.status}: {verdict.message}"[:600])
        keep()


def every(lab: str) -> Iterator[tuple[str, Exercise, ModuleType]]:
    """(name, exercise, module that defines the answer) of a lab: solutions, then right answers.
    Those that can only be judged as graded come last: if time runs out, they say least of a GPU.
    """
    exercises, solution = course.exercises(lab), coursedir.solution(lab)
    module = loaded(solution, "solution")
    for exercise in exercises.values():
        yield f"{exercise.id}, the solution", exercise, module
    those = sorted(
        collected.answers(lab), key=lambda one: len(places.of(exercises[one.exercise])) == 1
    )
    for number, answer in enumerate(those):
        if answer.right and answer.runs_with(torch.__version__):
            content = collected.filled(solution, **{answer.exercise: answer.source})
            name = f"{lab}/{answer.exercise}/{answer.path.name}"
            yield name, exercises[answer.exercise], loaded(content, f"answer{number}")


def left_out(lab: str) -> list[str]:
    """The right answers of a lab that need a newer PyTorch than this, with its version."""
    return [
        f"{lab}/{one.exercise}/{one.path.name}: PyTorch {one.torch}"
        for one in collected.answers(lab)
        if one.right and not one.runs_with(torch.__version__)
    ]


def loaded(content: dict[str, Any], name: str) -> ModuleType:
    """A parsed notebook as a module whose functions travel by value."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "notebook.ipynb"
        path.write_text(json.dumps(content), "utf-8")
        module = notebook.load(path, name=f"gpu_{name}")
    cloudpickle.register_pickle_by_value(module)
    return module


def judged(exercise: Exercise, answer: Any) -> tuple[str, Verdict]:
    """In which way an answer is right ("" if in none), and the last verdict on it."""
    for how, device in places.of(exercise).items():
        verdict = _verdict(exercise, answer, device)
        if verdict.status == "passed":
            return how, verdict
    return "", verdict


def _verdict(exercise: Exercise, answer: Any, device: tuple[str, bool] | None) -> Verdict:
    begin = time.monotonic()
    pickled = by_value.dumps(answer)
    # one schedule each: the other ones do not depend on the device
    exercise = dataclasses.replace(exercise, schedules=False)

    def run(
        asked: Exercise, case: Case, inputs: list[bytes], left: float,
        schedule: Schedule | None = None,
    ) -> Run:  # fmt: skip
        left = max(DEADLINE - (time.monotonic() - begin), 5.0)
        return runs.drive(
            ranks.local(case.size), pickled, inputs, harness=exercise.id, group=exercise.group,
            strict=True, deadline=left, watch=Watcher(), schedule=schedule, device=device,
        )  # fmt: skip

    return judge(exercise, coursedir.cases(exercise), coursedir.reference, run)


if __name__ == "__main__":
    main(sys.argv[1:-1], sys.argv[-1])
