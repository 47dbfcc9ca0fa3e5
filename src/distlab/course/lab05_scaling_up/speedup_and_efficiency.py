"""`speedup_and_efficiency`: what more ranks have brought."""

from __future__ import annotations

import math

from distlab.course.lab05_scaling_up.formulas import EXACT
from distlab.exercises import hints
from distlab.exercises.exercise import Case, Hint, Look
from distlab.exercises.formulas import case_of, formula
from distlab.exercises.raised import Advice


def _throughputs(case: Case) -> list[dict]:
    return [{"throughputs": {int(s): t for s, t in case.params["throughputs"]}}]


def _both(*ways):
    """A hint's `shows`: does one of these formulas give the (speed-up, efficiency) of every size,
    and is that wrong for some?
    """

    def shows(look: Look) -> bool:
        throughputs = look.inputs[0]["throughputs"]
        made = [{size: way(throughputs, size) for size in throughputs} for way in ways]
        return any(look.same(m, look.got[0]) and not look.same(m, look.expected[0]) for m in made)

    return shows


def _speedup(throughputs: dict, size: int, base: int | None = None) -> float:
    base = min(throughputs) if base is None else base
    return throughputs[size] * base / throughputs[base]


def _without_base(throughputs: dict, size: int) -> float:
    return throughputs[size] / throughputs[min(throughputs)]


def _pair(speedup: float, size: int) -> tuple[float, float]:
    return speedup, speedup / size


def _cut(throughputs: dict, size: int, most: float) -> tuple[float, float]:
    """A speed-up of at most `most`, and an efficiency of at most 1."""
    speedup = _speedup(throughputs, size)
    return min(speedup, most), min(speedup / size, 1.0)


def _rounded(look: Look) -> bool:
    """Is every figure the right one, less some of its digits?"""
    got, wanted = look.got[0], look.expected[0]
    return got.keys() == wanted.keys() and all(
        _lacks_digits(found, right)
        for size, pair in got.items()
        for found, right in zip(pair, wanted[size], strict=True)
    )


def _lacks_digits(found: float, right: float) -> bool:
    """Rounded or cut off after some decimal, or to float32?"""
    ways = [round(right, digits) for digits in range(10)]
    ways += [math.floor(right * 10**digits) / 10**digits for digits in range(10)]
    return math.isclose(found, right, rel_tol=1e-6) or any(
        math.isclose(found, way, rel_tol=1e-9) for way in ways
    )


exercise = formula(
    points=2,
    make=_throughputs,
    tuples=0,
    asks="speedup_and_efficiency returns {size: (speed-up, efficiency)} for every size measured, "
    "against perfect scaling from the smallest one.",
    visible=(
        case_of(throughputs=[[1, 100.0], [2, 190.0], [4, 320.0]]),
        case_of(throughputs=[[8, 1500.0], [2, 400.0]]),
    ),
    hints=(
        hints.NOTHING,
        Hint(
            "smallest taken for one",
            _both(lambda t, s: _pair(_without_base(t, s), s)),
            "Your smallest size has speed-up 1. It counts as what it is: a measurement that begins "
            "at 2 ranks begins with speed-up 2.",
        ),
        Hint(
            "speed-up without base",
            _both(lambda t, s: (_without_base(t, s), _speedup(t, s) / s)),
            "The efficiencies are right, but a speed-up against b ranks is b times one against a "
            "single rank.",
        ),
        Hint(
            "first taken for smallest",
            _both(lambda t, s: _pair(_speedup(t, s, next(iter(t))), s)),
            "The first size in the dict was taken for the base: keys come in any order.",
        ),
        Hint(
            "slowest taken for smallest",
            _both(
                lambda t, s: _pair(_speedup(t, s, min(t, key=t.__getitem__)), s),
                lambda t, s: _pair(t[s] * min(t) / min(t.values()), s),
            ),
            "The lowest throughput was taken for the base, which is the throughput of the smallest "
            "size: it need not be the lowest.",
        ),
        Hint(
            "percent",
            _both(lambda t, s: (_speedup(t, s), 100 * _speedup(t, s) / s)),
            "Efficiency is a fraction here: 1.0 is perfect.",
        ),
        Hint(
            "upside down",
            _both(lambda t, s: _pair(t[min(t)] / t[s] * min(t), s)),
            "Throughput is work per second, not seconds: more of it is faster.",
        ),
        Hint(
            "cut off at perfect",
            _both(lambda t, s: _cut(t, s, s), lambda t, s: _cut(t, s, math.inf)),
            "More than perfect is told as it is: a speed-up may be larger than the size, and an "
            "efficiency than 1.",
        ),
        Hint(
            "rounded",
            _rounded,
            "Nearly right: return the figures unrounded, as floats, and round when you print.",
        ),
        Hint(
            "sizes missing",
            lambda look: look.got[0].keys() < look.expected[0].keys(),
            "A size is missing from the result: the smallest one has a speed-up too.",
        ),
        Hint(
            "keys changed",
            lambda look: look.got[0].keys() != look.expected[0].keys(),
            "The keys of the result are those of the argument, the sizes, as ints.",
        ),
        Hint(
            "swapped",
            _both(lambda t, s: _pair(_speedup(t, s), s)[::-1]),
            "Speed-up first, then efficiency.",
        ),
        Hint(
            "no pairs",
            lambda look: (
                not isinstance(look.got[0], dict)
                or not all(
                    isinstance(v, (tuple, list)) and len(v) == 2 for v in look.got[0].values()
                )
            ),
            "A dict is asked for that has a pair, (speed-up, efficiency), for each size.",
        ),
    ),
    advice=(
        Advice(
            "KeyError",
            "KeyError",
            "The sizes are those that were measured, and 1 need not be among them.",
        ),
    ),
    tolerance=EXACT,
)
