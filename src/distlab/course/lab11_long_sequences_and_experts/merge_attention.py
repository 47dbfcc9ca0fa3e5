"""`merge_attention`: what it asks, and how precisely.

The larger an lse is, the fewer digits after its point a float holds, so what is allowed grows with
it. Hence the values are compared by a rule, row by row, and the judge's own tolerance is wide.
"""

from __future__ import annotations

import numpy as np

from distlab.course.lab11_long_sequences_and_experts import returning
from distlab.course.lab11_long_sequences_and_experts.returning import pair
from distlab.exercises import hints
from distlab.exercises.compare import Tolerance
from distlab.exercises.exercise import Case, Exercise, Hint, Look

_LARGEST = 1e4  # of |lse|
_ATOL = {"float32": 1e-5, "float64": 1e-11}
_ALL = [0, 1, 2, 3]
#: by a case's `empty`: which of each four rows have no keys on the first side, and on the second
_EMPTY = {None: ([], []), True: ([1, 3], [2, 3]), "first": (_ALL, []), "second": ([], _ALL)}


def _make(case: Case) -> list[dict]:
    """Two attentions over the same queries; `empty`: some rows have no keys on one side or both, or
    a whole side has none ("first", "second"). `apart`: how far apart the lse of a row are at most,
    in equal steps from row to row. `shift`: what is added to both.

    `o` stays within −1 … 1: the precision that is asked for is absolute.
    """
    shape, d, scale = case.get("shape", [2, 3]), case.get("d", 4), case.get("scale", 3.0)
    dtype, drawn = case.get("dtype", "float32"), case.generator()
    o1, o2 = drawn.uniform(-1, 1, (2, *shape, d)).astype(dtype)
    lse1 = drawn.uniform(-scale, scale, shape)
    rows = np.arange(lse1.size).reshape(shape)
    near = np.clip(lse1 + drawn.normal(0, 1, shape), -scale, scale)
    lse2 = np.where(rows % 3 == 0, -0.9 * lse1, np.where(rows % 3 == 1, near, lse1))
    if apart := case.get("apart"):
        lse2 = lse1 + np.linspace(-apart, apart, rows.size).reshape(shape)
    shift = case.get("shift", 0.0)
    lse1, lse2 = (lse1 + shift).astype(dtype), (lse2 + shift).astype(dtype)
    for o, lse, missing in zip((o1, o2), (lse1, lse2), _EMPTY[case.get("empty")], strict=True):
        without = np.isin(rows % 4, missing)
        lse[without], o[without] = -np.inf, 0
    return [{"o1": o1, "lse1": lse1, "o2": o2, "lse2": lse2} for _ in range(case.size)]


def _given(look: Look) -> tuple[np.ndarray, ...]:
    return tuple(look.inputs[0].values())


def _got(look: Look) -> tuple[np.ndarray, np.ndarray] | None:
    return pair(look.returned[0])


def _weights(lse1, lse2) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The larger lse, 0 where it is −inf, and the exponentials of both, divided by its own."""
    most = np.maximum(lse1, lse2)
    most = np.where(np.isfinite(most), most, 0)
    return most, np.exp(lse1 - most), np.exp(lse2 - most)


def _exact(o1, lse1, o2, lse2) -> tuple[np.ndarray, np.ndarray]:
    """Both attentions merged, in the widest floats there are."""
    most, w1, w2 = _weights(lse1.astype(np.longdouble), lse2.astype(np.longdouble))
    total = w1 + w2
    with np.errstate(divide="ignore"):
        lse = most + np.log(total)
    share = np.where(total > 0, total, 1)[..., None]
    return (w1[..., None] * o1 + w2[..., None] * o2) / share, lse


def _allowed(o1, lse1, o2, lse2) -> np.ndarray:
    """How far a row may be off, |lse| being the largest that takes part in it."""
    sizes = [np.where(np.isfinite(lse), np.abs(lse), 0) for lse in (lse1, lse2)]
    return _ATOL[str(o1.dtype)] + 2 * np.finfo(o1.dtype).eps * np.maximum(*sizes)


def _off(look: Look) -> dict[str, float]:
    """How far o and lse are off at most, where that is more than asked: 1e-5 (1e-11 in float64)
    plus 2·eps·|lse| in each row. Infinities and NaN are left to the judge's own comparison.
    """
    got = _got(look)
    exact, allowed = _exact(*_given(look)), _allowed(*_given(look))
    if got is None or any(g.shape != e.shape for g, e in zip(got, exact, strict=True)):
        return {}
    found = {}
    for i, (name, most) in enumerate((("o", allowed[..., None]), ("lse", allowed))):
        known = np.isfinite(exact[i])
        off = np.abs(np.where(known, got[i], 0) - np.where(known, exact[i], 0))
        if (off > most).any():
            found[name] = float(off.max())
    return found


def _too_far(look: Look) -> str | None:
    for name, off in _off(look).items():
        return f"rank 0 returned {name} off by {off:.2g}, which is more than asked."
    return None


def _right(look: Look) -> list[str]:
    """Those of o and lse that are right."""
    off, parts = _off(look), zip(("o", "lse"), look.wanted[0], look.returned[0], strict=True)
    return [name for name, want, got in parts if name not in off and look.same(want, got)]


def _alike(of):
    """A hint's `shows`: did it return what `of` makes of the same arguments, one of o and lse?"""

    def shows(look: Look) -> bool:
        with np.errstate(all="ignore"):
            made = of(*(a.astype("float64") for a in _given(look)))
        parts = zip(made, _got(look), look.wanted[0], strict=True)
        return any(
            alike is not None
            and look.same(alike.astype(got.dtype), got)
            and not look.same(right, got)
            for alike, got, right in parts
        )

    return shows


def _swapped(o1, lse1, o2, lse2):
    return _exact(o2, lse1, o1, lse2)[0], None


def _unnormalised(o1, lse1, o2, lse2):
    _, w1, w2 = _weights(lse1, lse2)
    return w1[..., None] * o1 + w2[..., None] * o2, None


def _by_lse(o1, lse1, o2, lse2):
    s1, s2 = lse1[..., None], lse2[..., None]
    return (s1 * o1 + s2 * o2) / (s1 + s2), None


def _wrong_axis(o1, lse1, o2, lse2):
    """What broadcasting makes of it where n = d."""
    _, w1, w2 = (w[..., None, :] for w in _weights(lse1, lse2))
    if lse1.shape[-1] != o1.shape[-1]:
        return None, None
    return (w1 * o1 + w2 * o2) / (w1 + w2), None


def _bad_rows(look: Look, empty: bool) -> bool:
    """Is a NaN or an infinity where a number should be, in rows with an empty side or in others?

    Where it is asked of rows with an empty side: are these alone wrong in another way?
    """
    (o, lse), right = _got(look), look.wanted[0]
    _, lse1, _, lse2 = map(np.isneginf, _given(look))
    bad = ~np.isfinite(o).all(-1) | np.isnan(lse) | (~np.isfinite(lse) & ~(lse1 & lse2))
    without = lse1 | lse2
    if not empty:
        return bool((bad & ~without).any())
    wrong = ~np.isclose(lse, right[1], rtol=0, atol=1e-2)
    wrong |= ~np.isclose(o, right[0], rtol=0, atol=1e-2).all(-1)
    return bool((bad & without).any()) or bool(wrong.any() and not (wrong & ~without).any())


exercise = Exercise(
    points=2,
    make=_make,
    tuples=0,
    call=returning.call_pure,
    group=False,
    # twice what a row of the largest lse may be off: `_too_far` looks closer
    tolerance=Tolerance(rtol=0.0, atol=4 * float(np.finfo("float32").eps) * _LARGEST),
    asks="merge_attention returns (o, lse) of attention over both sets of keys, its arguments "
    "left as they were.",
    visible=(
        Case(1, 1, {"shape": [2, 3], "d": 4}),
        Case(1, 2, {"shape": [8], "d": 2, "empty": True}),
        Case(1, 3, {"shape": [2, 3], "d": 2, "scale": 10_000.0}),
    ),
    rules=(_too_far,),
    hints=(
        hints.NOTHING,
        returning.CHANGED,
        Hint(
            "no pair",
            lambda look: _got(look) is None,
            "Two tensors are asked for, `return o, lse`: whoever merges a third set of keys into "
            "this needs the lse too.",
        ),
        Hint(
            "other dtype",
            lambda look: any(
                got.dtype != want.dtype
                for want, got in zip(look.wanted[0], _got(look), strict=True)
            ),
            "The result has the dtype of the arguments: make new tensors with torch.zeros_like and "
            "the like, and convert back what you computed in another type.",
        ),
        Hint(
            "lse of another shape",
            lambda look: _got(look)[1].shape != look.wanted[0][1].shape,
            "lse has one number for each query, shape (…, n): the dimension that you added for the "
            "product with o has to go again.",
        ),
        Hint(
            "weights along the wrong dimension",
            lambda look: (
                _got(look)[0].shape != look.wanted[0][0].shape or _alike(_wrong_axis)(look)
            ),
            "o has one dimension more than lse, and it is the last one: lse.unsqueeze(-1) "
            "stretches over it. Without it, torch lines up the last dimensions of both, which are "
            "queries on one side and numbers of a query on the other.",
        ),
        Hint(
            "row without keys",
            lambda look: look.case.get("empty") and _bad_rows(look, empty=True),
            "A row that has no keys on one side, or on both, is wrong. (−inf) − (−inf) is NaN, and "
            "0 / 0 as well: think of what o and lse are to be there before anything is subtracted. "
            "Without any key o is 0 and lse stays −inf.",
        ),
        Hint(
            "overflow",
            lambda look: _bad_rows(look, empty=False),
            "There is a NaN or an infinity. exp(89) is already infinite in float32: subtract the "
            "larger lse of the two before the exp, and add it again after the log.",
        ),
        Hint(
            "mean of both",
            _alike(lambda o1, lse1, o2, lse2: ((o1 + o2) / 2, None)),
            "o is the plain mean of o1 and o2. Each side counts by the sum of the exponentials of "
            "its own scores, and that is exp(lse).",
        ),
        Hint(
            "added up",
            _alike(lambda o1, lse1, o2, lse2: (o1 + o2, None)),
            "o is o1 + o2. Both were divided by the sum of their own exponentials, and have to be "
            "divided by the sum of all now.",
        ),
        Hint(
            "weights swapped",
            _alike(_swapped),
            "Each side got the weight of the other: o1 belongs to lse1.",
        ),
        Hint(
            "not divided",
            _alike(_unnormalised),
            "The weights do not add up to 1: divide by their sum.",
        ),
        Hint(
            "lse for its exponential",
            _alike(_by_lse),
            "The weights are lse1 and lse2 themselves. They are logarithms: what counts is their "
            "exponential.",
        ),
        Hint(
            "logarithms added",
            _alike(lambda o1, lse1, o2, lse2: (None, lse1 + lse2)),
            "lse is lse1 + lse2: that is the logarithm of a product. The sums of exponentials are "
            "what is added, and the logarithm comes after it.",
        ),
        Hint(
            "the larger lse",
            _alike(lambda o1, lse1, o2, lse2: (None, np.maximum(lse1, lse2))),
            "lse is the larger of both: the other side's keys are missing in it. log(e^a + e^b) = "
            "m + log(e^(a−m) + e^(b−m)), with m the larger one.",
        ),
        Hint(
            "nearly right",
            lambda look: all(map(look.same, look.wanted[0], _got(look))),
            "This is nearly right, and farther off than rounding would leave it. Was something "
            "small added, a small weight left out, or something computed in a narrower type?",
        ),
        Hint(
            "o alone",
            lambda look: _right(look) == ["lse"],
            "lse is right, and o is not. o1 counts by the exponential of lse1, o2 by that of lse2: "
            "are both weights between 0 and 1, and do they add up to 1?",
        ),
        Hint(
            "lse alone",
            lambda look: _right(look) == ["o"],
            "o is right, and lse is not. It is no smaller than the larger of lse1 and lse2, and "
            "larger by log 2 at most: what was subtracted before the exp comes back after the log.",
        ),
        Hint(
            "neither",
            lambda look: not _right(look),
            "Neither o nor lse is right. Try numbers that you can add up by hand: from lse1 = "
            "log 4 and lse2 = log 12 comes lse = log 16, and o2 counts three times as much as o1.",
        ),
    ),
)
