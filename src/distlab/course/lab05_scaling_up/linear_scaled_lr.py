"""`linear_scaled_lr`: the linear scaling rule."""

from __future__ import annotations

from distlab.course.lab05_scaling_up.formulas import EXACT, ROUNDED
from distlab.exercises import hints
from distlab.exercises.exercise import Hint
from distlab.exercises.formulas import case_of, formula, gives

exercise = formula(
    points=1,
    asks="linear_scaled_lr returns the learning rate that the linear scaling rule gives for "
    "`batch`.",
    visible=(
        case_of(base_lr=0.1, base_batch=256, batch=1024),
        case_of(base_lr=0.1, base_batch=256, batch=64),
    ),
    hints=(
        hints.NOTHING,
        Hint(
            "square root",
            gives(lambda base_lr, base_batch, batch: base_lr * (batch / base_batch) ** 0.5),
            "This is the square-root rule, which exists too: the linear rule is asked for.",
        ),
        Hint(
            "upside down",
            gives(lambda base_lr, base_batch, batch: base_lr * base_batch / batch),
            "The rate went down where the batch went up: the fraction stands on its head.",
        ),
        Hint(
            "whole numbers only",
            gives(lambda base_lr, base_batch, batch: base_lr * (batch // base_batch)),
            "// rounds down, and the factor need not be a whole number: it may be 1.3, or 0.5.",
        ),
        Hint(
            "never lower",
            gives(lambda base_lr, base_batch, batch: base_lr * max(1, batch / base_batch)),
            "A batch below base_batch is scaled too: its rate is lower than base_lr.",
        ),
        Hint(
            "not divided",
            gives(lambda base_lr, base_batch, batch: base_lr * batch),
            "base_lr belongs to base_batch images: the question is how many times that batch it "
            "is now.",
        ),
        Hint(
            "unscaled",
            gives(lambda base_lr, base_batch, batch: base_lr),
            "This is the base rate itself: nothing was scaled.",
        ),
        ROUNDED,
    ),
    tolerance=EXACT,
)
