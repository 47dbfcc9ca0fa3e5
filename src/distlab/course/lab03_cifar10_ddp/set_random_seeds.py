"""`set_random_seeds`: the same random numbers whenever the seed is the same."""

from __future__ import annotations

import contextlib
import random
from typing import Any

import numpy as np

from distlab.course.lab03_cifar10_ddp.looks import same_on_all
from distlab.exercises.exercise import Case, Exercise, Hint


def _seed_twice(function, rank, size, inputs):
    import torch

    def draw() -> dict[str, Any]:
        drawn = {
            "Python": random.random(),
            "NumPy": float(np.random.random()),
            "torch": torch.rand(3).tolist(),
        }
        if torch.cuda.is_available():
            drawn["CUDA"] = torch.rand(3, device="cuda").tolist()
        return drawn

    told: list[int] = []
    real = torch.cuda.manual_seed_all, torch.cuda.manual_seed

    def noting(seed_cuda):
        def seed(value):
            told.append(int(value))
            return seed_cuda(value)

        return seed

    torch.cuda.manual_seed_all, torch.cuda.manual_seed = map(noting, real)

    def seeded(seed: int) -> dict[str, Any]:
        told.clear()
        function(seed)
        if not told and not torch.cuda.is_available():
            _ask_with_gpu(function, seed)
        return {**draw(), "seed of CUDA": told[-1] if told else None}  # the last one counts

    try:
        first, between, again = (seeded(inputs[name]) for name in ("seed", "other", "seed"))
    finally:
        torch.cuda.manual_seed_all, torch.cuda.manual_seed = real
    repeats = {name: first[name] == again[name] for name in ("Python", "NumPy", "torch")}
    # GPUs may be seeded with a number that was drawn, such as random.getrandbits(63)
    same = first["seed of CUDA"] == again["seed of CUDA"]
    repeats["CUDA"] = bool(told) and same and first.get("CUDA") == again.get("CUDA")
    depends = repeats["CUDA"] and first["seed of CUDA"] != between["seed of CUDA"]
    return {
        "repeats": repeats,
        "other seed": {name: first[name] != between[name] for name in ("Python", "NumPy", "torch")},
        "seed of CUDA": inputs["seed"] if depends else None,
    }


def _ask_with_gpu(function, seed: int) -> None:
    """Once more where a GPU seems to be: an answer may look whether there is one to be seeded."""
    from unittest import mock

    import torch

    there: list[tuple[Any, str, Any]] = [
        (torch.cuda, "is_available", True),
        (torch.cuda, "device_count", 1),
        (torch.accelerator, "is_available", True),
        (torch.accelerator, "device_count", 1),
        (torch.accelerator, "current_accelerator", torch.device("cuda")),
    ]
    with contextlib.ExitStack() as stack:
        for owner, name, value in there:
            stack.enter_context(mock.patch.object(owner, name, lambda *_, told=value: told))
        stack.enter_context(contextlib.suppress(Exception))  # what else it does with a GPU
        function(seed)


def _does_not_repeat(name: str):
    return lambda look: not look.got[0]["repeats"][name]


exercise = Exercise(
    points=2,
    make=lambda case: same_on_all(case, other=case.get("seed", case.number()) + 1),
    call=_seed_twice,
    asks="After set_random_seeds(seed), Python's random, NumPy and torch (CPU and CUDA) draw the "
    "same "
    "numbers whenever the seed is the same, and others when it is another.",
    visible=(Case(1, 0), Case(1, 31)),
    hints=(
        Hint(
            "Python not seeded",
            _does_not_repeat("Python"),
            "Python's own random module does not repeat: augmentation code often draws from it.",
        ),
        Hint(
            "NumPy not seeded",
            _does_not_repeat("NumPy"),
            "NumPy's global generator does not repeat. A generator object that you make and drop "
            "leaves the global one as it was.",
        ),
        Hint(
            "torch not seeded",
            _does_not_repeat("torch"),
            "torch's generator does not repeat: initial weights and dropout come from it. "
            "(torch.seed() draws a random seed, it does not set one.)",
        ),
        Hint(
            "CUDA not seeded",
            _does_not_repeat("CUDA"),
            "The generators of the GPUs do not repeat: they are others than the CPU's, and need a "
            "seed as well.",
        ),
        Hint(
            "seed ignored",
            lambda look: (
                not all(look.got[0]["other seed"].values()) or look.got[0]["seed of CUDA"] is None
            ),
            "Another seed gave the same numbers: is the argument used everywhere?",
        ),
    ),
    group=False,
)
