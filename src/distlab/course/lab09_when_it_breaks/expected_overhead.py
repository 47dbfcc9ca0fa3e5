"""Lab 09, `expected_overhead`: the share of time that checkpoints and failures cost."""

from __future__ import annotations

from distlab.exercises.compare import Tolerance
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.hints import returned

EXACT = Tolerance(rtol=1e-9, atol=0.0)
_NAMES = ("interval", "cost", "mtbf")


def _is(of):
    """A hint's `shows`: was this worked out of interval, cost and mean time between failures?"""

    def shows(look: Look) -> bool:
        values = (look.case.params[name] for name in _NAMES)
        return look.same(float(of(*values)), returned(look)[0])

    return shows


exercise = Exercise(
    points=1,
    make=lambda case: [{name: case.params[name] for name in _NAMES}],
    call=lambda function, rank, size, inputs: function(*(inputs[name] for name in _NAMES)),
    group=False,
    tolerance=EXACT,
    asks="expected_overhead returns the share of time lost to checkpoints and to work that "
    "failures undo, cost/interval + interval/(2·mtbf), as a plain number.",
    visible=(
        Case(1, 1, {"interval": 10.0, "cost": 2.0, "mtbf": 100.0}),
        Case(1, 2, {"interval": 600, "cost": 60, "mtbf": 86_400}),
    ),
    hints=(
        Hint(
            "a tensor", lambda look: not isinstance(returned(look)[0], (int, float)),
            "Return a plain number, not a tensor.",
        ),
        Hint(
            "whole interval lost", _is(lambda t, c, m: c / t + t / m),
            "A failure comes at any moment of an interval: on average half of one is lost, not a "
            "whole one.",
        ),
        Hint(
            "checkpoints alone", _is(lambda t, c, m: c / t),
            "That is what the checkpoints cost. What failures undo has to be added: half an "
            "interval, every `mtbf` seconds.",
        ),
        Hint(
            "failures alone", _is(lambda t, c, m: t / (2 * m)),
            "That is what failures undo. What the checkpoints cost has to be added.",
        ),
        Hint(
            "percent", _is(lambda t, c, m: 100 * (c / t + t / (2 * m))),
            "A share is asked for, a number like 0.05, not a percentage.",
        ),
        Hint(
            "upside down", lambda look: _is(lambda t, c, m: t / c + t / (2 * m))(look)
            or _is(lambda t, c, m: c / t + 2 * m / t)(look)
            or _is(lambda t, c, m: c / t + m / (2 * t))(look),
            "One of the two fractions is upside down: longer intervals make the first part "
            "smaller and the second one larger.",
        ),
        Hint(
            "share of another whole", lambda look: _is(
                lambda t, c, m: (c / t + t / (2 * m)) / (1 + c / t + t / (2 * m)))(look)
            or _is(lambda t, c, m: c / (t + c) + t / (2 * m))(look)
            or _is(lambda t, c, m: c / t + (t + c) / (2 * m))(look),
            "That is a refinement which counts the checkpoint's own time as well. To first order, "
            "as asked here, it is cost/interval + interval/(2·mtbf).",
        ),
        Hint(
            "rounded", lambda look: abs(returned(look)[0] - look.expected[0]) < 0.01,
            "The result is rounded, or off by little: return it as it is, and do not divide with "
            "//.",
        ),
    ),
)  # fmt: skip
