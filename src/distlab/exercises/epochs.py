"""Hints on an epoch of training, which several labs ask for.

A harness leaves the "sampler's epoch" at the begin of each pass over the loader, -1 where it was
never told one, the "mean of BatchNorm" and the "parameters".
"""

from __future__ import annotations

from distlab.exercises.exercise import Hint

PASSED_TWICE = Hint(
    "epoch passed twice",
    lambda look: any(len(passes) != 1 for passes in look.left("sampler's epoch")),
    "One call is one pass over the loader: here it was begun another number of times.",
)
NOT_TOLD = Hint(
    "set_epoch forgotten",
    lambda look: [-1] in look.left("sampler's epoch"),
    "The sampler was not told the epoch before the loop over the loader began: every epoch "
    "would have the same order.",
)
EVAL_MODE = Hint(
    "eval mode",
    lambda look: any(not mean.any() for mean in look.left("mean of BatchNorm")),
    "BatchNorm has not moved its running mean: the model was in eval mode. Whoever "
    "evaluated before left it there.",
)
NO_STEP = Hint(
    "no step",
    lambda look: all(
        look.same(before[0], after[0])
        for before, after in zip(look.given("weights"), look.left("parameters"), strict=True)
    ),
    "The parameters are those from before: the optimizer has not made a step.",
)
