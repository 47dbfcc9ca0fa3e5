"""Hints for exercises whose result belongs on rank dst alone."""

from __future__ import annotations

from distlab.exercises.exercise import Hint, Look


def _returned_elsewhere(look: Look) -> bool:
    """Did a rank return something where None is asked for?"""
    return any(want is None and got is not None for want, got in look.pairs())


def _another_has_it(look: Look) -> bool:
    """Does another rank hold what dst should, and dst not?"""
    want, got = look.pairs()[look.case.params["dst"]]
    return got is None and any(look.same(want, other) for other in look.returned)


def dst_hints(elsewhere: str) -> tuple[Hint, ...]:
    """Hints that come before an exercise's own.

    Args:
        elsewhere: what to say where ranks other than dst return something.
    """
    return (
        Hint(
            "on another rank than dst",
            _another_has_it,
            "The result is on another rank than dst: `dst` is an argument, and not always 0.",
        ),
        Hint(
            "another root",
            lambda look: any(
                event.peer != look.case.params["dst"] for event in look.events("reduce", "gather")
            ),
            "The call is told another rank than `dst`, and the result is on that one: `dst` is an "
            "argument, and not always 0.",
        ),
        Hint(
            "not None elsewhere",
            lambda look: (
                _returned_elsewhere(look) and look.same(*look.pairs()[look.case.params["dst"]])
            ),
            elsewhere,
        ),
    )


def not_none_elsewhere(says: str) -> Hint:
    """Ranks other than dst returned something, whatever dst itself did; the last of the hints."""
    return Hint("not None elsewhere", _returned_elsewhere, says)
