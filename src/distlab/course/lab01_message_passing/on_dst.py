"""A result on rank dst alone: the well-known ways to have it elsewhere."""

from __future__ import annotations

from distlab.exercises.exercise import Hint, Look
from distlab.exercises.hints import returned, wanted


def returned_everywhere(look: Look) -> bool:
    """Did a rank return something where None is asked for?"""
    return any(
        want is None and got is not None
        for want, got in zip(wanted(look), returned(look), strict=True)
    )


def _another_has_it(look: Look) -> bool:
    """Does another rank hold what dst should, and dst not?"""
    dst = look.case.params["dst"]
    want, got = wanted(look), returned(look)
    return got[dst] is None and any(
        look.same(want[dst], got[rank]) for rank in look.ranks if rank != dst
    )


def _another_root(look: Look) -> bool:
    """Does a call name another root than dst?"""
    return any(event.peer != look.case.params["dst"] for event in look.events("reduce", "gather"))


def dst_hints(elsewhere: str) -> tuple[Hint, ...]:
    return (
        Hint(
            "on another rank than dst",
            _another_has_it,
            "The result is on another rank than dst: `dst` is an argument, and not always 0.",
        ),
        Hint(
            "another root",
            _another_root,
            "The call is told another rank than `dst`, and the result is on that one: `dst` is an "
            "argument, and not always 0.",
        ),
        Hint(
            "not None elsewhere",
            lambda look: (
                returned_everywhere(look)
                and look.same(
                    wanted(look)[look.case.params["dst"]], returned(look)[look.case.params["dst"]]
                )
            ),
            elsewhere,
        ),
    )
