"""Run the reference solutions on the ranks and write, or compare, their outputs."""

from __future__ import annotations

import contextlib
import importlib.metadata
import platform
from collections.abc import Iterator
from typing import Any

import cloudpickle
import numpy as np

from distlab import course, notebook
from distlab.engines import by_value, ranks, results, runs
from distlab.engines.outcomes import Run
from distlab.exercises.compare import compare
from distlab.exercises.exercise import Case, Exercise
from distlab.exercises.judge import judge
from distlab.exercises.reference import NoReference, write
from distlab.processes import frameworks, payload
from distlab.rank import world
from distlab.records.choices import Schedule
from distlab.records.deadlock import Watcher
from grader import coursedir, secret

PATIENCE = 120.0  # seconds a case may take where nobody is graded


class SolutionFailed(RuntimeError):
    """A reference solution did not do what its exercise asks."""


def outputs(
    lab: str,
    only: str | None = None,
    hidden_alone: bool = False,
    device: tuple[str, bool] | None = None,
) -> Iterator[tuple[Exercise, Case, list[Any]]]:
    """Every case of a lab with what its solution returned on each rank.

    Args:
        only: the name of the one exercise that is asked for.
        device: where inputs lie, as `runs.drive` takes it.

    Raises:
        SolutionFailed: a solution raised, hung or died.
        Missing: the lab needs a framework that is not installed.
    """
    frameworks.need(*course.needs(lab), what=f"Lab {lab}")
    path = coursedir.SOLUTIONS / lab / course.notebook_name(lab)
    module = notebook.load(path, name=f"solutions_{path.stem}")
    cloudpickle.register_pickle_by_value(module)
    try:
        for exercise in course.exercises(lab).values():
            if only is not None and exercise.name != only:
                continue
            for case in coursedir.cases(exercise):
                if case.hidden or not hidden_alone:
                    answer = getattr(module, exercise.name)
                    yield exercise, case, _run(exercise, case, answer, device)
    finally:
        if course.needs(lab):  # TensorFlow, for one, can be set up only once in a process
            ranks.end_local()


def _run(
    exercise: Exercise, case: Case, answer: Any, device: tuple[str, bool] | None = None
) -> list[Any]:
    inputs = exercise.payloads(exercise.inputs(case))
    pickled = by_value.dumps(answer)

    def drive(schedule: Schedule | None = None) -> Run:
        return runs.drive(
            ranks.clustered(case.size), pickled, inputs, harness=exercise.id, group=exercise.group,
            strict=True, deadline=PATIENCE, watch=Watcher(), schedule=schedule, device=device,
        )  # fmt: skip

    run = drive()
    if not run.ok:
        story = results.Result(exercise.name, run).story()
        raise SolutionFailed(f"the solution of {exercise.id} failed on {case.key}: {story}")
    values = [payload.decode(outcome.output) for outcome in run.outcomes]
    verdict = judge(
        exercise, [case], lambda *_: values,
        lambda *_, schedule=None: run if schedule is None else drive(schedule),
    )  # fmt: skip
    if verdict.status != "passed":
        raise SolutionFailed(
            f"the solution of {exercise.id} breaks its own exercise's rules on {case.key}: "
            f"{verdict.message}"
        )
    return values


def recorded() -> dict[str, Any]:
    """Where outputs are recorded, and with which versions."""
    import torch

    device = torch.cuda.get_device_name() if world.gpu_count() else platform.machine() + " CPU"
    return {
        "device": device, "gpus": world.gpu_count(),
        "backend": "gloo" if not world.gpu_count() else "nccl up to one rank a GPU, else gloo",
        "python": platform.python_version(), "torch": torch.__version__,
        "torchvision": importlib.metadata.version("torchvision"), "numpy": np.__version__,
        "cuda": torch.version.cuda,
    }  # fmt: skip


def record(lab: str, only: str | None = None) -> int:
    """Write a lab's references; returns the number of cases that were run.

    Args:
        only: the name of the one exercise that is run; the others' references stay.

    With the public secret those are all of the repository's: of visible cases beside the solution,
    of hidden ones in `grader/reference`. With a course's own they are those of hidden cases alone,
    beside the secret.
    """
    used = secret.current()
    ran = list(outputs(lab, only, hidden_alone=not used.is_public))
    everything = [*ran, *(_kept(lab, only) if only else ())]
    where = recorded()
    visible = [entry for entry in everything if not entry[1].hidden]
    hidden = [entry for entry in everything if entry[1].hidden]
    if used.is_public:
        write(coursedir.SOLUTIONS / lab, "reference", where, visible)
    else:
        used.references.mkdir(mode=0o700, parents=True, exist_ok=True)
    write(used.references, lab, where, hidden)
    return len(ran)


def _kept(lab: str, only: str) -> Iterator[tuple[Exercise, Case, list[Any]]]:
    """What is recorded of a lab's exercises but `only`."""
    for exercise in course.exercises(lab).values():
        for case in coursedir.cases(exercise) if exercise.name != only else ():
            with contextlib.suppress(NoReference):  # that exercise is still to be recorded
                yield exercise, case, coursedir.reference(exercise, case)


def verify(lab: str, only: str | None = None) -> list[str]:
    """Run the solutions again, or that of the `only` exercise; returns a sentence for each case
    that gives other outputs.
    """
    differences = []
    for exercise, case, values in outputs(lab, only):
        for rank, (was, now) in enumerate(
            zip(coursedir.reference(exercise, case), values, strict=True)
        ):
            difference = compare(was, now, exercise.tolerance)
            if difference:
                differences.append(f"{exercise.id} {case.key}, rank {rank}: {difference.in_full()}")
                break
    return differences
