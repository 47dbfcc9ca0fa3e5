"""`expected_overhead`: the share of time that checkpoints and failures cost."""

from __future__ import annotations

import math

from distlab.exercises.exercise import Case, Hint
from distlab.exercises.formulas import formula, gives

exercise = formula(
    points=1,
    asks="expected_overhead returns the share of time lost to checkpoints and to work that "
    "failures undo, cost/interval + interval/(2·mtbf), as a plain number.",
    visible=(
        Case(1, 1, {"interval": 10.0, "cost": 2.0, "mtbf": 50.0}),
        Case(1, 2, {"interval": 600, "cost": 60, "mtbf": 86_400}),
    ),
    hints=(
        Hint(
            "a tensor", lambda look: not isinstance(look.returned[0], (int, float)),
            "Return a plain number: no tensor, no string, and not only a print.",
        ),
        Hint(
            "whole interval lost", gives(lambda t, c, m: c / t + t / m),
            "A failure comes at any moment of an interval: on average half of one is lost, not a "
            "whole one.",
        ),
        Hint(
            "checkpoints alone", gives(lambda t, c, m: c / t),
            "That is what the checkpoints cost. What failures undo has to be added: half an "
            "interval, every `mtbf` seconds. (Divided with //, a small share becomes 0.)",
        ),
        Hint(
            "failures alone", gives(lambda t, c, m: t / (2 * m)),
            "That is what failures undo. What the checkpoints cost has to be added.",
        ),
        Hint(
            "best interval", gives(lambda t, c, m: math.sqrt(2 * c / m)),
            "That is the share at the best interval. It is asked for at any: what does `interval` "
            "change?",
        ),
        Hint(
            "percent", gives(lambda t, c, m: 100 * (c / t + t / (2 * m))),
            "A share is asked for, a number like 0.05, not a percentage.",
        ),
        Hint(
            "upside down", gives(
                lambda t, c, m: t / c + t / (2 * m),
                lambda t, c, m: c / t + 2 * m / t,
                lambda t, c, m: c / t + m / (2 * t),
            ),
            "One of the two fractions is upside down: longer intervals make the first part "
            "smaller and the second one larger.",
        ),
        Hint(
            "two times outside", gives(lambda t, c, m: c / t + t / 2 * m),
            "interval / 2 * mtbf is (interval / 2) * mtbf: what is divided by goes into brackets.",
        ),
        Hint(
            "share of another whole", gives(
                lambda t, c, m: (c / t + t / (2 * m)) / (1 + c / t + t / (2 * m)),
                lambda t, c, m: c / (t + c) + t / (2 * m),
                lambda t, c, m: c / t + (t + c) / (2 * m),
            ),
            "That is a refinement which counts the checkpoint's own time as well. To first order, "
            "as asked here, it is cost/interval + interval/(2·mtbf).",
        ),
        Hint(
            "cut off at 1", gives(lambda t, c, m: min(1.0, c / t + t / (2 * m))),
            "The sum is asked for as it is, also where it is above 1: more is lost there than its "
            "first order can say.",
        ),
        Hint(
            "rounded",
            lambda look: abs(look.returned[0] - look.expected[0]) < 0.01
            or gives(lambda t, c, m: c // t + t // (2 * m))(look),
            "The result is rounded, or off by little: return it as it is, and do not divide with "
            "//.",
        ),
    ),
)  # fmt: skip
