"""`bubble_fraction`: what a pipeline wastes."""

from __future__ import annotations

from distlab.exercises.exercise import Case, Hint, Look
from distlab.exercises.formulas import formula, gives, off_by, right_but


def _swapped(look: Look) -> bool:
    size, microbatches = look.inputs[0].values()
    return right_but(lambda e: 1 - (1 - e) * size / microbatches)(look)


exercise = formula(
    points=1,
    asks="bubble_fraction returns the share of a step's time in which a rank of the pipeline is "
    "idle, a plain number between 0 and 1.",
    visible=(
        Case(1, 1, {"size": 4, "microbatches": 2}),
        Case(1, 2, {"size": 4, "microbatches": 8}),
    ),
    hints=(
        Hint(
            "bubble against work",
            right_but(lambda e: e / (1 - e)),
            "This is the bubble divided by the useful time. Asked for is its share of the whole "
            "step, which is bubble and useful time together.",
        ),
        Hint(
            "work, not bubble",
            right_but(lambda e: 1 - e),
            "This is the share of the time in which a rank works: the bubble is the rest.",
        ),
        Hint(
            "one slot too many",
            gives(lambda p, m: (p - 1) / (m + p)),
            "Count the columns of the picture for one rank: a step is `microbatches` slots of "
            "work and the slots in which it waits.",
        ),
        Hint(
            "a stage too many",
            gives(lambda p, m: p / (m + p)),
            "A single stage has no bubble at all: what does your formula say for size 1?",
        ),
        Hint(
            "percent",
            right_but(lambda e: 100 * e),
            "This is the share in percent: a fraction between 0 and 1 is asked for.",
        ),
        Hint(
            "whole division",
            lambda look: look.returned[0] == 0 and look.case.params["size"] > 1,
            "// divides whole numbers and throws the rest away: / keeps it.",
        ),
        Hint(
            "arguments swapped",
            _swapped,
            "The first argument is the number of ranks, the second that of micro-batches.",
        ),
        Hint(
            "rounded",
            off_by(0.006),
            "The result is rounded: return it as it is.",
        ),
    ),
)
