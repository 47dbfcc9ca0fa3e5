"""`speedup_and_efficiency`: what more ranks have brought."""

from __future__ import annotations

from distlab.course.lab05_scaling_up.formulas import EXACT
from distlab.exercises import hints
from distlab.exercises.exercise import Case, Hint, Look
from distlab.exercises.formulas import case_of, formula


def _throughputs(case: Case) -> list[dict]:
    return [{"throughputs": {int(s): t for s, t in case.params["throughputs"]}}]


def _both(pick):
    """A hint's `shows`: is this the (speed-up, efficiency) of every size, and wrong for some?"""

    def shows(look: Look) -> bool:
        throughputs = look.inputs[0]["throughputs"]
        wanted = {s: pick(throughputs, s) for s in throughputs}
        return look.same(wanted, look.got[0]) and not look.same(wanted, look.expected[0])

    return shows


def _speedup(throughputs: dict, size: int, base: int | None = None) -> float:
    base = min(throughputs) if base is None else base
    return throughputs[size] * base / throughputs[base]


def _without_base(throughputs: dict, size: int) -> float:
    return throughputs[size] / throughputs[min(throughputs)]


def _pair(speedup: float, size: int) -> tuple[float, float]:
    return speedup, speedup / size


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
            "rounded",
            lambda look: isinstance(look.got[0], dict) and all(
                abs(g - w) < 0.51
                for s, want in look.expected[0].items()
                for g, w in zip(look.got[0][s], want, strict=True)
            ),
            "Nearly right: return the figures unrounded, as floats, and round when you print.",
        ),
        Hint(
            "sizes missing",
            lambda look: isinstance(look.got[0], dict)
            and set(look.got[0]) < set(look.expected[0]),
            "A size is missing from the result: the smallest one has a speed-up too.",
        ),
        Hint(
            "keys changed",
            lambda look: isinstance(look.got[0], dict)
            and set(look.got[0]) != set(look.expected[0]),
            "The keys of the result are those of the argument, the sizes, as ints.",
        ),
        Hint(
            "swapped",
            _both(lambda t, s: _pair(_speedup(t, s), s)[::-1]),
            "Speed-up first, then efficiency.",
        ),
        Hint(
            "no pairs",
            lambda look: not isinstance(look.got[0], dict)
            or not all(isinstance(v, (tuple, list)) and len(v) == 2 for v in look.got[0].values()),
            "A dict is asked for that has a pair, (speed-up, efficiency), for each size.",
        ),
    ),
    tolerance=EXACT,
)  # fmt: skip
