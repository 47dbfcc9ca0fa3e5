"""Run the reference solutions on the ranks and write, or compare, their outputs."""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Iterator
from typing import Any

import cloudpickle
import numpy as np

from distlab import course as labs
from distlab import frameworks, notebook, payload, pickling, ranks, results, runs, world
from distlab.compare import compare
from distlab.deadlock import Watcher
from distlab.exercises import Case, Exercise
from distlab.reference import write
from grader import course

PATIENCE = 120.0  # seconds a case may take where nobody is graded


class SolutionFailed(RuntimeError):
    """A reference solution did not do what its exercise asks."""


def outputs(lab: str, only: str | None = None) -> Iterator[tuple[Exercise, Case, list[Any]]]:
    """Every case of a lab with what its solution returned on each rank.

    Raises:
        SolutionFailed: a solution raised, hung or died.
        Missing: the lab needs a framework that is not installed.
    """
    frameworks.need(*labs.needs(lab), what=f"Lab {lab}")
    path = course.SOLUTIONS / lab / labs.notebook_name(lab)
    module = notebook.load(path, name=f"solutions_{path.stem}")
    cloudpickle.register_pickle_by_value(module)
    for exercise in labs.exercises(lab).values():
        if only is None or exercise.name == only:
            for case in course.cases(exercise):
                yield exercise, case, _run(exercise, case, getattr(module, exercise.name))


def _run(exercise: Exercise, case: Case, answer: Any) -> list[Any]:
    inputs = [payload.encode(values) for values in exercise.inputs(case)]
    run = runs.drive(
        ranks.local(case.size), pickling.dumps(answer), inputs, harness=exercise.id,
        group=exercise.group, strict=True, deadline=PATIENCE, watch=Watcher(),
    )  # fmt: skip
    if not run.ok:
        story = results.Result(exercise.name, run).story()
        raise SolutionFailed(f"the solution of {exercise.id} failed on {case.key}: {story}")
    return [payload.decode(outcome.output) for outcome in run.outcomes]


def recorded() -> dict[str, Any]:
    """Where and with what outputs are recorded."""
    import torch

    device = torch.cuda.get_device_name() if world.gpu_count() else platform.machine() + " CPU"
    return {
        "device": device, "gpus": world.gpu_count(),
        "backend": "gloo" if not world.gpu_count() else "nccl up to one rank a GPU, else gloo",
        "python": platform.python_version(), "torch": torch.__version__,
        "torchvision": importlib.metadata.version("torchvision"), "numpy": np.__version__,
        "cuda": torch.version.cuda,
    }  # fmt: skip


def record(lab: str) -> int:
    """Write a lab's references, visible ones beside the solution; returns the number of cases."""
    everything = list(outputs(lab))
    where = recorded()
    visible = [entry for entry in everything if not entry[1].hidden]
    hidden = [entry for entry in everything if entry[1].hidden]
    write(course.SOLUTIONS / lab, "reference", where, visible)
    write(course.REFERENCE, lab, where, hidden)
    return len(everything)


def verify(lab: str) -> list[str]:
    """Run the solutions again; returns a sentence for each case that comes out otherwise."""
    differences = []
    for exercise, case, values in outputs(lab):
        for rank, (was, now) in enumerate(
            zip(course.reference(exercise, case), values, strict=True)
        ):
            difference = compare(was, now, exercise.tolerance)
            if difference:
                differences.append(f"{exercise.id} {case.key}, rank {rank}: {difference.in_full()}")
                break
    return differences
