"""Where an exercise's tensors lie when it is run on a GPU: the ways to try, in order.

A way is the `device` of `runs.drive`. Many functions take a generator or a loader, which torch has
on the CPU alone: what does not come out right on the GPU is run with only its inputs there, and
then as it is graded.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from distlab import course
from distlab.exercises.exercise import Exercise
from distlab.processes import payload
from grader.gpu import settings
from grader.gpu.settings import GRADED, INPUTS, ON_GPU

#: these train where `distlab.world` says, which is the GPU: given CUDA tensors, loaders would fail
OWN_DEVICE = {"03-cifar10-ddp"}


def of(exercise: Exercise) -> dict[str, tuple[str, bool] | None]:
    """The ways to run an exercise; without tensors among its inputs there is one."""
    if exercise.lab in OWN_DEVICE or not has_tensors(exercise):
        return {GRADED: None}
    kind = settings.device()
    return {ON_GPU: (kind, True), INPUTS: (kind, False), GRADED: None}


def has_tensors(exercise: Exercise) -> bool:
    """Does its first case hand tensors in?"""
    return _has_tensors(exercise.lab, exercise.name)


@functools.cache
def _has_tensors(lab: str, name: str) -> bool:
    exercise = course.exercises(lab)[name]
    sent = exercise.payloads(exercise.inputs(exercise.visible[0]))
    return any(_tensor_in(payload.decode(one)) for one in sent)


def _tensor_in(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_tensor_in, value.values()))
    if isinstance(value, (list, tuple)):
        return any(map(_tensor_in, value))
    return isinstance(value, np.ndarray)
