"""Hidden cases of lab 04.

Rings of every size, one rank among them, and tensors whose length size does not divide, that are
shorter than size, or empty.
"""

from distlab.exercises.exercise import Case
from grader.cases import Drawn

#: 4.5 MB in float32: beyond what back ends copy aside, so that a send waits for its receive
_LARGE = 272 * 4096


def _link(n_bytes, size, latency, bandwidth):
    return {"n_bytes": n_bytes, "size": size, "latency": latency, "bandwidth": bandwidth}


def _like(seed, n_bytes, size, latency, bandwidth):
    """A link and a message like these."""

    def params(chance):
        return _link(chance.around(n_bytes), size, chance.around(latency), chance.around(bandwidth))

    return Drawn(1, seed, params)


_CHUNKS = (
    Case(3, 101, {"shape": [5]}),
    Case(3, 102, {"shape": [5]}),
    Case(5, 103, {"shape": [2, 3], "dtype": "float64"}),
    Case(4, 104, {"dtype": "int64"}),
    Case(1, 105),
    Case(2, 106, {"shape": [4000]}),
    Case(5, 107, {"shape": [1]}),
    Case(2, 108, {"shape": [_LARGE]}),
)

_TIMES = (
    _like(101, 102_000_000, 8, 1e-5, 1.25e10),
    _like(102, 4_000, 100_000, 1e-6, 1e9),
    _like(103, 12_345_678, 37, 4.5e-5, 3.3e8),
    Case(1, 104, _link(7, 5, 0.0, 2.0)),
    Case(1, 105, _link(0, 3, 1e-4, 1e9)),
)

HIDDEN = {
    "ring_reduce_scatter": _CHUNKS,
    "ring_all_gather": _CHUNKS,
    "ring_all_reduce": (
        Case(3, 101, {"shape": [9]}),
        Case(3, 102, {"shape": [9]}),
        Case(5, 103, {"shape": [3, 5], "dtype": "float64"}),
        Case(4, 104, {"shape": [7], "dtype": "int64"}),
        Case(5, 105, {"shape": [3]}),
        Case(1, 106, {"shape": [4]}),
        Case(4, 107, {"shape": [0]}),
        Case(5, 108, {"shape": [1]}),
        Case(3, 109, {"shape": [20_001]}),
        Case(2, 110, {"shape": [5, 3, 1]}),
        Case(2, 111, {"shape": [2 * _LARGE]}),
    ),
    "ring_time": (*_TIMES, Case(1, 106, _link(4_000, 1, 1e-6, 1e9))),
    "parameter_server_time": (*_TIMES, Case(1, 106, _link(4_000, 2, 1e-6, 1e9))),
    "sync_parameter_server": (
        Case(3, 101, {"shapes": [[4], [2, 3]]}),
        Case(3, 102, {"shapes": [[4], [2, 3]]}),
        Case(5, 103, {"lr": 0.01}),
        Case(4, 104, {"dtype": "float64", "shapes": [[1]]}),
        Case(2, 105, {"lr": 1.0, "shapes": [[2, 2, 2], [5], [1, 1]]}),
        Case(3, 106, {"shapes": [[6000], [7]]}),
        Case(3, 107, {"shapes": [[_LARGE], [7]]}),
    ),
    "async_parameter_server": (
        Case(3, 101, {"turns": [[1], [1], [1], [1], [2], [2], [2], [2]]}),
        Case(3, 102, {"turns": [[2], [1], [1], [1], [1], [2], [2], [2]]}),
        Case(4, 103, {"turns": [[3], [3], [2], [1], [1, 2]], "shapes": [[2], [2]]}),
        Case(5, 104, {"turns": [[4], [4], [1], [3], [2], [1, 2, 3]], "dtype": "float64"}),
        Case(2, 105, {"turns": [[1], [1], [1]], "lr": 0.5}),
        Case(5, 106, {"turns": [[1, 2, 3, 4]], "shapes": [[3000], [3000]]}),
        Case(3, 107, {"turns": [[1], [2], [2], [1]], "shapes": [[_LARGE], [7]]}),
    ),
}
