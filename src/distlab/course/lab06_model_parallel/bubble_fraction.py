"""`bubble_fraction`: what a pipeline wastes."""

from __future__ import annotations

from distlab.course.lab06_model_parallel.formulas import EXACT
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.hints import returned


def _schedule(case: Case) -> list[dict]:
    return [{"stages": case.params["stages"], "microbatches": case.params["microbatches"]}]


def _call_formula(function, rank, size, inputs):
    return function(*inputs.values())


def _is_fraction(of):
    """A hint's `shows`: was this made of p stages, m micro-batches and the expected share e?"""

    def shows(look: Look) -> bool:
        p, m = look.case.params["stages"], look.case.params["microbatches"]
        return look.same(float(of(p, m, look.expected[0])), returned(look)[0])

    return shows


exercise = Exercise(
    points=1,
    make=_schedule,
    call=_call_formula,
    group=False,
    tolerance=EXACT,
    asks="bubble_fraction returns the share of a step's time in which a rank of the pipeline is "
    "idle, a plain number between 0 and 1.",
    visible=(
        Case(1, 1, {"stages": 4, "microbatches": 2}),
        Case(1, 2, {"stages": 4, "microbatches": 8}),
    ),
    hints=(
        Hint(
            "bubble against work",
            _is_fraction(lambda p, m, e: e / (1 - e)),
            "This is the bubble divided by the useful time. Asked for is its share of the whole "
            "step, which is bubble and useful time together.",
        ),
        Hint(
            "work, not bubble",
            _is_fraction(lambda p, m, e: 1 - e),
            "This is the share of the time in which a rank works: the bubble is the rest.",
        ),
        Hint(
            "one slot too many",
            _is_fraction(lambda p, m, e: (p - 1) / (m + p)),
            "Count the columns of the picture for one rank: a step is `microbatches` slots of "
            "work and the slots in which it waits.",
        ),
        Hint(
            "a stage too many",
            _is_fraction(lambda p, m, e: p / (m + p)),
            "A single stage has no bubble at all: what does your formula say for size 1?",
        ),
        Hint(
            "percent",
            _is_fraction(lambda p, m, e: 100 * e),
            "This is the share in percent: a fraction between 0 and 1 is asked for.",
        ),
        Hint(
            "whole division",
            lambda look: returned(look)[0] == 0 and look.case.params["stages"] > 1,
            "// divides whole numbers and throws the rest away: / keeps it.",
        ),
        Hint(
            "arguments swapped",
            _is_fraction(lambda p, m, e: 1 - (1 - e) * p / m),
            "The first argument is the number of ranks, the second that of micro-batches.",
        ),
        Hint(
            "rounded",
            lambda look: abs(returned(look)[0] - look.expected[0]) < 0.006,
            "The result is rounded: return it as it is.",
        ),
    ),
)  # fmt: skip
