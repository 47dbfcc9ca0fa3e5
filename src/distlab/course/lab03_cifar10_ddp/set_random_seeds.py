"""`set_random_seeds`: the same random numbers whenever the seed is the same."""

from __future__ import annotations

import contextlib
import random
from typing import Any

import numpy as np

from distlab.course.lab03_cifar10_ddp.looks import same_on_all
from distlab.exercises.exercise import Case, Exercise, Hint
from distlab.rank.pretended_gpus import PretendedGpus, noted_seeds

_LARGEST = 2**32 - 1
_GPUS = "the GPUs"


def _two_seeds(case: Case) -> list[dict]:
    seed = case.get("seed", case.number())
    return same_on_all(case, other=seed + case.get("apart", 1))


def _seed_twice(function, rank, size, inputs):
    def seeded(seed: int) -> dict[str, Any]:
        of_gpus = _seeds_of_gpus(function, seed)
        return {**_draw(), _GPUS: of_gpus[-1] if of_gpus else None}  # the last one counts

    # of a large seed the other one is the largest, which has to be taken as well
    other = _LARGEST if 2**31 <= inputs["seed"] < _LARGEST else inputs["other"]
    first, between, again = map(seeded, (inputs["seed"], other, inputs["seed"]))
    # GPUs may be seeded with a number that was drawn, such as random.getrandbits(63)
    names = [name for name in first if name != "CUDA"]
    same = {name: first[name] == again[name] for name in names}
    same[_GPUS] &= first[_GPUS] is not None and first.get("CUDA") == again.get("CUDA")
    return {
        **{_repeats(name): same[name] for name in names},
        **{_changes(name): first[name] != between[name] for name in names},
        "seed": inputs["seed"],  # the rest is the same in each case: a table of that would pass
    }


def _draw() -> dict[str, Any]:
    """Numbers from each of the global generators."""
    import torch

    drawn = {
        "Python": random.random(),
        "NumPy": float(np.random.random()),
        "torch": torch.rand(3).tolist(),
    }
    if torch.cuda.is_available():
        drawn["CUDA"] = torch.rand(3, device="cuda").tolist()
    return drawn


def _seeds_of_gpus(function, seed: int) -> list[int]:
    """Call the function; returns the seeds that it gave to GPUs, in order.

    On a machine without a GPU it is called a second time, with a pretended one: an answer may ask
    whether there is a GPU before it seeds any.
    """
    import torch

    if torch.cuda.is_available():
        seeds: list[int] = []
        with noted_seeds(seeds):
            function(seed)
        return seeds
    function(seed)
    gpus = PretendedGpus(1)
    with gpus.there(), contextlib.suppress(Exception):  # whatever else it does with a GPU
        function(seed)
    return gpus.seeds


def _repeats(name: str) -> str:
    return f"{name} drawing the same numbers after the same seed"


def _changes(name: str) -> str:
    return f"{name} drawing other numbers after another seed"


def _does_not_repeat(name: str):
    return lambda look: not look.got[0][_repeats(name)]


exercise = Exercise(
    points=2,
    make=_two_seeds,
    call=_seed_twice,
    asks="After set_random_seeds(seed), Python's random, NumPy and torch (CPU and CUDA) draw the "
    "same numbers whenever the seed is the same, and others when it is another.",
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
            _does_not_repeat(_GPUS),
            "The generators of the GPUs do not repeat: they are others than the CPU's, and need a "
            "seed as well.",
        ),
        Hint(
            "seed ignored",
            lambda look: any(value is False for value in look.got[0].values()),
            "Another seed gave the same numbers: is the argument used everywhere, and all of it?",
        ),
    ),
    group=False,
)
