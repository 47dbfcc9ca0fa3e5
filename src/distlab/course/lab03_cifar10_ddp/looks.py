"""What several exercises of lab 03 look at."""

from __future__ import annotations

from distlab.exercises.exercise import Case, Hint, Look


def same_on_all(case: Case, **more) -> list[dict]:
    return [{"seed": case.number(), **case.params, **more} for _ in range(case.size)]


def returned_number(look: Look, values: list[float], rtol: float = 1e-4) -> bool:
    """Did rank r return values[r], for every r?"""
    got = [look.got[r]["returned"] for r in look.ranks]
    return all(
        isinstance(g, float) and abs(g - v) <= rtol * max(abs(v), 1e-3)
        for g, v in zip(got, values, strict=True)
    )


def unequal_results(look: Look) -> bool:
    got = [look.got[r]["returned"] for r in look.ranks]
    return any(abs(g - got[0]) > 1e-6 for g in got)


none_somewhere = Hint(
    "on one rank only",
    lambda look: (
        any(look.got[r]["returned"] is None for r in look.ranks)
        and any(look.got[r]["returned"] is not None for r in look.ranks)
    ),
    "Some ranks returned None: every rank is to have the figure.",
)
no_float = Hint(
    "no float",
    lambda look: any(not isinstance(look.got[r]["returned"], (float, int)) for r in look.ranks),
    "The figure is to be a plain Python number, on every rank: .item() makes one of a tensor that "
    "holds a single value.",
)
