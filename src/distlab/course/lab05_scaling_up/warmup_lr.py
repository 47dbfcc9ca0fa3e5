"""`warmup_lr`: a rate that climbs to its target."""

from __future__ import annotations

from distlab.course.lab05_scaling_up.formulas import EXACT, ROUNDED
from distlab.exercises import hints
from distlab.exercises.exercise import Hint
from distlab.exercises.formulas import case_of, formula, gives


def _line(step, warmup_steps, base_lr, target_lr):
    return base_lr + (target_lr - base_lr) * step / warmup_steps


def _climbs(line):
    """A hint's `shows`: is there a warm-up, in which the rate is what this formula gives?"""
    return lambda look: look.case.get("warmup_steps") > 0 and gives(line)(look)


exercise = formula(
    points=2,
    asks="warmup_lr returns the rate of this step: on a straight line from base_lr at step 0 to "
    "target_lr at step warmup_steps, and target_lr from there on.",
    visible=(
        case_of(step=0, warmup_steps=10, base_lr=0.1, target_lr=0.8),
        case_of(step=5, warmup_steps=10, base_lr=0.1, target_lr=0.8),
        case_of(step=12, warmup_steps=10, base_lr=0.1, target_lr=0.8),
        case_of(step=0, warmup_steps=0, base_lr=0.1, target_lr=0.8),
    ),
    hints=(
        hints.NOTHING,
        Hint(
            "never ends",
            lambda look: (
                look.case.get("step") > look.case.get("warmup_steps") > 0 and gives(_line)(look)
            ),
            "The line goes on beyond the warm-up: from step warmup_steps on, the rate is "
            "target_lr.",
        ),
        Hint(
            "starts at zero",
            _climbs(lambda step, steps, base, target: target * step / steps),
            "Your line begins at 0: at step 0 the rate is base_lr.",
        ),
        Hint(
            "one step ahead",
            _climbs(lambda step, *rest: _line(step + 1, *rest)),
            "Your line is one step ahead: at step 0 the rate is base_lr itself.",
        ),
        Hint(
            "one step short",
            lambda look: (
                look.case.get("warmup_steps") > 1
                and gives(lambda step, steps, *rates: _line(step, steps - 1, *rates))(look)
            ),
            "Your line reaches target_lr one step too early: it gets there at step warmup_steps.",
        ),
        Hint(
            "base added",
            _climbs(lambda step, steps, base, target: base + target * step / steps),
            "The line climbs by target_lr: what is left to climb from base_lr is less than that.",
        ),
        Hint(
            "geometric",
            _climbs(lambda step, steps, base, target: base * (target / base) ** (step / steps)),
            "The rate grows by the same factor each step: the gradual warm-up adds the same "
            "amount each step.",
        ),
        Hint(
            "cut off",
            lambda look: (
                look.case.get("target_lr") < look.case.get("base_lr")
                and gives(lambda step, steps, base, target: target)(look)
            ),
            "target_lr may also lie below base_lr: a min or max of rates then cuts off the wrong "
            "end. Compare steps instead.",
        ),
        Hint(
            "base all the way",
            lambda look: (
                look.case.get("step") > 0 and gives(lambda step, steps, base, target: base)(look)
            ),
            "The rate is still base_lr: during the warm-up it climbs with every step.",
        ),
        Hint(
            "no warm-up",
            lambda look: look.case.get("warmup_steps") == 0,
            "With warmup_steps 0 there is no warm-up: the rate is target_lr from step 0 on.",
        ),
        ROUNDED,
    ),
    tolerance=EXACT,
)
