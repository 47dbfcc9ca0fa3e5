"""What the two parameter servers share: inputs, a rule and hints."""

from __future__ import annotations

import numpy as np

from distlab.exercises.exercise import Case, Hint, Look


def made_tensors(case: Case, rank: int, salt: int) -> list[np.ndarray]:
    """A rank's tensors of the case's `shapes`; others for another `salt`."""
    generator = case.generator(rank, stream=salt)
    shapes = case.get("shapes", [[3], [3], [2, 2]])
    dtype = case.get("dtype", "float32")
    # sixteenths: sums of a few of them are the same in every order, to the last bit
    return [np.asarray(np.round(16 * generator.standard_normal(s)) / 16, dtype) for s in shapes]


def with_rank_0_alone(look: Look) -> str | None:
    """Every message has rank 0 at one end."""
    for event in look.events("send"):
        if 0 not in (event.rank, event.peer):
            return (
                f"rank {event.rank} sent to rank {event.peer} at {event.place}: a worker talks to "
                "the server alone, which is rank 0."
            )
    return None


COLLECTIVE = Hint(
    "collective",
    lambda look: any(e.is_collective and e.op != "barrier" for e in look.events()),
    "The parameters live on rank 0, and everything goes to it and comes from it in messages: send "
    "and recv are all you need.",
)
WORKERS_TALK = Hint(
    "between workers",
    lambda look: with_rank_0_alone(look) is not None,
    "Workers do not talk to each other: each sends its gradients to rank 0 and hears from rank 0.",
)


def stepped_from(parameters, gradients, lr) -> list[np.ndarray]:
    """What a step of plain SGD makes of the parameters."""
    return [(p - lr * g).astype(p.dtype) for p, g in zip(parameters, gradients, strict=True)]
