"""`reduce_max_to`: the largest of all elements at each place, on one rank."""

from __future__ import annotations

import numpy as np

from distlab.course.lab01_message_passing.on_dst import dst_hints, not_none_elsewhere
from distlab.exercises.compare import KEEPS_FLOAT64
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.hints import brought, shapes, total
from distlab.exercises.inputs import tensor_and

_ELSEWHERE = (
    "On a rank other than dst, return None: after a reduce its tensor holds nothing that you could "
    "use."
)


def _on_dst(look: Look, value: np.ndarray) -> bool:
    dst = look.case.params["dst"]
    return look.same(value, look.returned[dst]) and not look.same(look.wanted[dst], value)


exercise = Exercise(
    points=2,
    make=tensor_and("dst"),
    asks="In reduce_max_to, rank dst returns the elementwise maximum of all ranks' tensors; the "
    "others return None.",
    tolerance=KEEPS_FLOAT64,
    visible=(Case(2, 1, {"dst": 0}), Case(4, 2, {"dst": 3, "shape": [2, 2], "shift": -5})),
    traffic=(),
    hints=(
        *dst_hints(_ELSEWHERE),
        Hint(
            "sum for maximum",
            lambda look: _on_dst(look, total(look)),
            "This is the sum. A reduction adds unless it is told another operation: its argument "
            "is `op`.",
        ),
        Hint(
            "minimum for maximum",
            lambda look: _on_dst(look, np.min(brought(look), axis=0)),
            "This is the minimum: look at the name of the operation.",
        ),
        Hint(
            "maximum with zero",
            lambda look: _on_dst(
                look, np.maximum(np.max(brought(look), axis=0), 0 * brought(look)[0])
            ),
            "Where all ranks are negative there is a 0: a tensor of zeros took part in the "
            "maximum. Begin with a tensor of a rank.",
        ),
        Hint(
            "places too",
            lambda look: any(
                isinstance(got, (list, tuple)) and len(got) == 2 and look.same(want, got[0])
                for want, got in look.pairs()
            ),
            "With a dimension, max gives two tensors, the largest values and where they stand: "
            "the first one is asked for.",
        ),
        Hint(
            "one number",
            lambda look: any(
                isinstance(got, (int, float)) or shape == ()
                for got, shape in zip(look.returned, shapes(look), strict=True)
            ),
            "Elementwise: the result has the shape of one rank's tensor, not one number.",
        ),
        Hint(
            "own tensor on dst",
            lambda look: _on_dst(look, brought(look)[look.case.params["dst"]]),
            "dst returned its own tensor: the reduction writes into the tensor that it is given. "
            "Return that one.",
        ),
        not_none_elsewhere(_ELSEWHERE),
    ),
)
