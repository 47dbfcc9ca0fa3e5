"""What several exercises of lab 03 look at."""

from __future__ import annotations

from distlab.exercises.exercise import Case, Hint, Look


def same_on_all(case: Case, **more) -> list[dict]:
    return [{"seed": case.number(), **case.params, **more} for _ in range(case.size)]


def unequal_results(look: Look) -> bool:
    first, *others = look.returned
    return any(abs(other - first) > 1e-6 for other in others)


none_somewhere = Hint(
    "on one rank only",
    lambda look: 0 < sum(got is None for got in look.returned) < look.size,
    "Some ranks returned None: every rank is to have the figure.",
)
no_float = Hint(
    "no float",
    lambda look: any(not isinstance(got, (float, int)) for got in look.returned),
    "The figure is to be a plain Python number, on every rank: .item() makes one of a tensor that "
    "holds a single value.",
)
