"""`effective_batch`: how many images stand behind one update."""

from __future__ import annotations

from distlab.exercises import hints
from distlab.exercises.compare import Tolerance
from distlab.exercises.exercise import Hint
from distlab.exercises.formulas import as_given, case_of, formula, gives

exercise = formula(
    points=1,
    call=as_given,
    tolerance=Tolerance(),
    asks="effective_batch returns how many images stand behind one update of the weights, an int.",
    visible=(
        case_of(per_rank=32, size=4, accumulation=1),
        case_of(per_rank=16, size=2, accumulation=8),
    ),
    hints=(
        hints.NOTHING,
        Hint(
            "no int",
            lambda look: isinstance(look.got[0], float) and look.got[0] == look.expected[0],
            "A number of images is an int: a plain / always gives a float, also where it divides.",
        ),
        Hint(
            "accumulation left out",
            gives(lambda per_rank, size, accumulation: per_rank * size),
            "Before one update each rank goes through `accumulation` micro-batches, not one.",
        ),
        Hint(
            "ranks left out",
            gives(lambda per_rank, size, accumulation: per_rank * accumulation),
            "This is what one rank goes through: `size` ranks do so at the same time.",
        ),
        Hint(
            "divided by ranks",
            gives(lambda per_rank, size, accumulation: per_rank * accumulation / size),
            "per_rank is already one rank's share: nothing is left to be divided.",
        ),
        Hint(
            "accumulation divided",
            gives(lambda per_rank, size, accumulation: per_rank * size / accumulation),
            "More micro-batches before an update mean more images behind it, not fewer.",
        ),
        Hint(
            "added up",
            gives(lambda per_rank, size, accumulation: per_rank * (size + accumulation)),
            "Ranks and micro-batches multiply: each rank goes through all of its micro-batches.",
        ),
    ),
)
