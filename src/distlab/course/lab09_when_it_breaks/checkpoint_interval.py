"""`checkpoint_interval`: how long to train between two checkpoints."""

from __future__ import annotations

import math

from distlab.exercises.exercise import Case, Hint
from distlab.exercises.formulas import formula, gives

exercise = formula(
    points=1,
    asks="checkpoint_interval returns the seconds between checkpoints at which the least time is "
    "lost, √(2·cost·mtbf), as a plain number.",
    visible=(
        Case(1, 1, {"cost": 5.0, "mtbf": 90.0}),
        Case(1, 2, {"cost": 60, "mtbf": 86_400}),
    ),
    hints=(
        Hint(
            "a tensor", lambda look: not isinstance(look.returned[0], (int, float)),
            "Return a plain number, and do not only print it: math.sqrt gives one, torch.sqrt "
            "makes a tensor.",
        ),
        Hint(
            "without the 2",
            gives(lambda c, m: math.sqrt(c * m), lambda c, m: math.sqrt(c * m / 2)),
            "A factor is missing: a failure costs half an interval on average, and that half comes "
            "out as a 2 under the root.",
        ),
        Hint(
            "2 outside the root", gives(lambda c, m: 2 * math.sqrt(c * m)),
            "The 2 belongs under the root.",
        ),
        Hint(
            "no root", gives(lambda c, m: 2 * c * m),
            "That is the square of the interval: take its root.",
        ),
        Hint(
            "divided", gives(lambda c, m: math.sqrt(2 * m / c), lambda c, m: math.sqrt(2 * c / m)),
            "A checkpoint that costs more is made less often, and so is one where failures are "
            "rare: both are factors under the root.",
        ),
        Hint(
            "Daly's", gives(
                lambda c, m: math.sqrt(2 * c * m) - c,
                lambda c, m: math.sqrt(2 * c * (m + c)),
                lambda c, m: math.sqrt(2 * c * (m + c)) - c,
            ),
            "That is one of Daly's refinements, which count the checkpoint's own time as well. "
            "Young's formula is asked for.",
        ),
        Hint(
            "rounded",
            lambda look: abs(look.returned[0] - look.expected[0]) <= 1
            and round(look.returned[0], 3) == look.returned[0],
            "The result is rounded: return it as it is.",
        ),
    ),
)  # fmt: skip
