"""Hidden cases of lab 01.

Sizes other than the visible ones, each dtype, empty and large tensors, and the same shape twice in
a row: what is returned must not be a buffer that the next call overwrites. No empty tensor where a
right answer may receive from any rank: gloo's recv without a source cannot take an empty message.
"""

from distlab.exercises.exercise import Case

#: 4.5 MB in float32: beyond what back ends copy aside, so that a send waits for its receive
_LARGE = 272 * 4096

HIDDEN = {
    "run_blocking": (Case(2, 101), Case(2, 102)),
    "run_non_blocking": (Case(2, 101), Case(2, 102)),
    "relay": (
        Case(3, 101, {"shape": [5]}),
        Case(3, 102, {"shape": [5]}),
        Case(5, 103, {"shape": [2, 3], "dtype": "float64"}),
        Case(4, 104, {"dtype": "int64"}),
        Case(1, 105, {"shape": [3]}),
        Case(2, 106, {"shape": [20_000]}),
        Case(5, 107, {"shape": []}),
        Case(2, 108, {"shape": [_LARGE]}),
    ),
    "exchange": (
        Case(2, 101, {"shape": [5]}),
        Case(2, 102, {"shape": [5]}),
        Case(4, 103, {"dtype": "int64"}),
        Case(2, 104, {"shape": [3, 4], "dtype": "float64"}),
        Case(2, 105, {"shape": [70_000]}),
        Case(2, 106, {"shape": [_LARGE]}),
    ),
    "broadcast_from": (
        Case(3, 101, {"src": 2, "shape": [5]}),
        Case(3, 102, {"src": 2, "shape": [5]}),
        Case(5, 103, {"src": 4, "shape": [2, 3], "dtype": "float64"}),
        Case(4, 104, {"src": 1, "dtype": "int64"}),
        Case(1, 105, {"src": 0}),
        Case(2, 106, {"src": 1, "shape": [0]}),
        Case(2, 107, {"src": 1, "shape": [40_000]}),
        Case(2, 108, {"src": 1, "shape": [_LARGE]}),
    ),
    "scatter_rows": (
        Case(3, 101, {"src": 1, "width": 4}),
        Case(3, 102, {"src": 1, "width": 4}),
        Case(5, 103, {"src": 2, "width": 1}),
        Case(1, 104, {"src": 0, "width": 3}),
        Case(4, 105, {"src": 0, "width": 4}),
        Case(2, 106, {"src": 1, "width": 10_000}),
        Case(2, 107, {"src": 1, "width": _LARGE}),
    ),
    "gather_rows": (
        Case(3, 101, {"dst": 2, "width": 4}),
        Case(3, 102, {"dst": 2, "width": 4}),
        Case(5, 103, {"dst": 3, "width": 1, "dtype": "float64"}),
        Case(1, 104, {"dst": 0, "width": 3}),
        Case(4, 105, {"dst": 0, "width": 4, "dtype": "int64"}),
        Case(2, 106, {"dst": 1, "width": 10_000}),
        Case(2, 107, {"dst": 1, "width": _LARGE}),
    ),
    "all_gather_rows": (
        Case(3, 101, {"width": 4}),
        Case(3, 102, {"width": 4}),
        Case(5, 103, {"width": 1, "dtype": "float64"}),
        Case(1, 104, {"width": 3}),
        Case(4, 105, {"width": 4, "dtype": "int64"}),
        Case(2, 106, {"width": 10_000}),
        Case(2, 107, {"width": _LARGE}),
    ),
    "reduce_max_to": (
        Case(3, 101, {"dst": 1, "shape": [5]}),
        Case(3, 102, {"dst": 1, "shape": [5]}),
        Case(5, 103, {"dst": 4, "shape": [2, 3], "dtype": "float64", "shift": -9}),
        Case(4, 104, {"dst": 2, "dtype": "int64", "shift": -20}),
        Case(1, 105, {"dst": 0}),
        Case(2, 106, {"dst": 1, "shape": [20_000]}),
        Case(2, 107, {"dst": 1, "shape": [_LARGE]}),
    ),
    "run_all_reduce": (
        Case(3, 101, {"shape": [5]}),
        Case(3, 102, {"shape": [5]}),
        Case(5, 103, {"shape": [2, 3], "dtype": "float64"}),
        Case(4, 104, {"dtype": "int64"}),
        Case(1, 105),
        Case(2, 106, {"shape": [0]}),
        Case(2, 107, {"shape": [20_000]}),
        Case(2, 108, {"shape": [_LARGE]}),
    ),
    "group_mean": (
        Case(3, 101, {"members": [2, 0], "shape": [5]}),
        Case(3, 102, {"members": [2, 0], "shape": [5]}),
        Case(5, 103, {"members": [4, 1, 3], "shape": [2, 3], "dtype": "float64"}),
        Case(4, 104, {"members": [0, 1, 2, 3]}),
        Case(5, 105, {"members": [3]}),
        Case(1, 106, {"members": [0]}),
        Case(4, 107, {"members": [3, 2, 1], "shape": [0]}),
        Case(2, 108, {"members": [1], "shape": [20_000]}),
        Case(3, 109, {"members": [1, 2, 0], "shape": [3]}),
        Case(2, 110, {"members": [1, 0], "shape": [_LARGE]}),
    ),
}
