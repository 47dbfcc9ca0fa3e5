"""`memory_per_rank`: what each stage of ZeRO saves."""

from __future__ import annotations

from distlab.exercises.exercise import Case, Hint, Look
from distlab.exercises.formulas import formula, gives, off_by, right_but

_UNITS = (1e3, 1e6, 1e9, 2**10, 2**20, 2**30)


def _without_master(look: Look) -> bool:
    """Four bytes a parameter too few, divided like the optimizer's state?"""
    p = look.case.params
    share = p["size"] if p["stage"] else 1
    return look.same(look.expected[0] - 4.0 * p["parameters"] / share, look.returned[0])


exercise = formula(
    points=2,
    asks="memory_per_rank returns the bytes that a rank needs for parameters, gradients and "
    "optimizer state in mixed-precision training with Adam, when ZeRO divides what its stage says.",
    visible=(
        Case(1, 1, {"parameters": 1000, "size": 4, "stage": 0}),
        Case(1, 2, {"parameters": 1000, "size": 4, "stage": 1}),
    ),
    hints=(
        Hint(
            "nothing divided",
            lambda look: (
                look.case.params["stage"] > 0 and gives(lambda psi, size, stage: 16 * psi)(look)
            ),
            "This is what a rank needs when nothing is divided: from stage 1 on something is.",
        ),
        Hint(
            "everything divided",
            lambda look: (
                look.case.params["stage"] < 3
                and gives(lambda psi, size, stage: 16 * psi / size)(look)
            ),
            "This is everything divided by the number of ranks: each stage divides one part more, "
            "optimizer state, then gradients, then parameters.",
        ),
        Hint(
            "no master copy",
            _without_master,
            "Four bytes a parameter are missing: besides the two moments, mixed-precision Adam "
            "keeps a float32 copy of the parameters.",
        ),
        Hint(
            "all ranks together",
            lambda look: (
                look.case.params["size"] > 1
                and right_but(lambda e: e * look.case.params["size"])(look)
            ),
            "This is the memory of all ranks together: what does one need?",
        ),
        Hint(
            "another unit",
            right_but(*(lambda e, unit=unit: e / unit for unit in _UNITS)),
            "The bytes of all parameters are asked for: not kB, MB or GB, and not the bytes a "
            "parameter.",
        ),
        Hint(
            "elements for bytes",
            right_but(lambda e: e / 2, lambda e: e / 4),
            "Count bytes: float16 takes 2 a number, float32 takes 4.",
        ),
        Hint(
            "rounded",
            off_by(16),
            "The result is rounded: return it as it is, also where it is no whole number.",
        ),
    ),
)
