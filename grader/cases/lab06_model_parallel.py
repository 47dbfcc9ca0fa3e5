"""Hidden cases of lab 06.

Models whose best cut is no equal division; every world size, other dtypes and shapes; the same
shapes twice in a row; stages without parameters; tensors that no whole-tensor share divides.
"""

from distlab.exercises.exercise import Case
from grader.cases import Drawn


def _layers(seed, layers, stages):
    """These layers, a few times as large: where the best cuts are stays."""

    def params(chance):
        times = chance.whole(2, 3000)
        return {"layers": [times * of for of in layers], "stages": stages}

    return Drawn(1, seed, params)


def _schedule(seed, stages, microbatches):
    return Drawn(1, seed, lambda chance: {
        "stages": chance.around(stages), "microbatches": chance.around(microbatches)
    })  # fmt: skip


def _memory(seed, parameters, ranks, stage):
    return Drawn(1, seed, lambda chance: {
        "parameters": chance.around(parameters), "ranks": ranks, "stage": stage
    })  # fmt: skip


#: rows of 8 features, 4.5 MB in float32: beyond what back ends copy aside, so that a send waits for
#: its receive
_LARGE = 34 * 4096

HIDDEN = {
    "split_layers": (
        Case(1, 101, {"layers": [5, 5, 5, 5, 5, 5], "stages": 3}),
        Case(1, 102, {"layers": [1, 1, 1, 1, 1, 95], "stages": 2}),
        Case(1, 103, {"layers": [95, 1, 1, 1, 1, 1], "stages": 4}),
        Case(1, 104, {"layers": [0, 7, 0, 9, 0, 4, 0, 12, 3, 0], "stages": 4}),
        Case(1, 105, {"layers": [8, 0, 2], "stages": 3}),
        Case(1, 106, {"layers": [8, 0, 2], "stages": 1}),
        Case(1, 107, {"layers": [0, 0, 0, 30, 0], "stages": 4}),
        Case(1, 108, {"layers": [0, 0, 0], "stages": 2}),
        Case(1, 109, {"layers": [40, [9, 0, [5, 5]], "norm 15", 25, 0, 35, "norm 4"], "stages": 3}),
        _layers(110, [9, 9, 2, 2, 2, 2, 2, 2, 2, 9, 9], 5),
        _layers(111, [6, 5, 4, 3, 2, 1, 2, 3, 4, 5, 6, 7], 4),
        _layers(112, [1, 2, 3, 4, 5, 6, 7, 8, 9], 3),
    ),
    "stage_forward": (
        Case(3, 101, {"widths": [4, 4, 4, 4], "rows": [5]}),
        Case(3, 102, {"widths": [4, 4, 4, 4], "rows": [5]}),
        Case(5, 103, {"widths": [2, 3, 4, 5, 6, 1], "rows": [2, 3], "dtype": "float64"}),
        Case(1, 104, {"widths": [3, 2]}),
        Case(2, 105, {"widths": [30, 40, 20], "rows": [100]}),
        Case(4, 106, {"widths": [3, 3, 3, 2, 2], "bare": [1, 3], "rows": [1]}),
        Case(2, 107, {"widths": [1, 8, 1], "rows": [_LARGE]}),
    ),
    "stage_backward": (
        Case(3, 101, {"widths": [4, 4, 4, 4], "rows": [5]}),
        Case(3, 102, {"widths": [4, 4, 4, 4], "rows": [5]}),
        Case(5, 103, {"widths": [2, 3, 4, 5, 6, 1], "rows": [2, 3], "dtype": "float64"}),
        Case(1, 104, {"widths": [3, 2]}),
        Case(2, 105, {"widths": [30, 40, 20], "rows": [100]}),
        Case(4, 106, {"widths": [3, 3, 3, 2, 2], "bare": [1, 3], "rows": [1]}),
        Case(2, 107, {"widths": [1, 8, 1], "rows": [_LARGE]}),
    ),
    "pipeline_step": (
        Case(3, 101, {"widths": [4, 4, 4, 4], "rows": [6], "microbatches": 3}),
        Case(3, 102, {"widths": [4, 4, 4, 4], "rows": [6], "microbatches": 3}),
        Case(5, 103, {"widths": [2, 3, 4, 5, 6, 1], "rows": [12, 2], "microbatches": 6,
                      "dtype": "float64"}),
        Case(1, 104, {"widths": [3, 2], "rows": [6], "microbatches": 3}),
        Case(4, 105, {"widths": [3, 4, 2, 5, 1], "rows": [4], "microbatches": 1}),
        Case(4, 106, {"widths": [3, 3, 3, 2, 2], "bare": [0, 1], "rows": [10], "microbatches": 5}),
        Case(3, 107, {"widths": [3, 4, 2, 2], "bare": [2], "rows": [4], "microbatches": 2}),
        Case(2, 108, {"widths": [30, 60, 20], "rows": [128], "microbatches": 8}),
        Case(2, 109, {"widths": [1, 8, 1], "rows": [_LARGE], "microbatches": 1}),
    ),
    "one_f_one_b_step": (
        Case(3, 101, {"widths": [4, 4, 4, 4], "rows": [12], "microbatches": 6}),
        Case(3, 102, {"widths": [4, 4, 4, 4], "rows": [12], "microbatches": 6}),
        Case(5, 103, {"widths": [2, 3, 4, 5, 6, 1], "rows": [14, 2], "microbatches": 7,
                      "dtype": "float64"}),
        Case(1, 104, {"widths": [3, 2], "rows": [6], "microbatches": 3}),
        Case(4, 105, {"widths": [3, 4, 2, 5, 1], "rows": [4], "microbatches": 1}),
        Case(5, 106, {"widths": [3, 3, 3, 2, 2, 2], "bare": [0, 1], "rows": [6],
                      "microbatches": 3}),
        Case(3, 107, {"widths": [3, 4, 2, 2], "bare": [2], "rows": [32], "microbatches": 16}),
        Case(4, 108, {"widths": [5, 4, 3, 2, 1], "rows": [8], "microbatches": 4}),
        Case(2, 109, {"widths": [1, 8, 1], "rows": [2 * _LARGE], "microbatches": 2}),
    ),
    "bubble_fraction": (
        Case(1, 101, {"stages": 1, "microbatches": 5}),
        _schedule(102, 8, 32),
        _schedule(103, 64, 13),
        Case(1, 104, {"stages": 3, "microbatches": 7}),
        Case(1, 105, {"stages": 2, "microbatches": 100_000}),
    ),
    "column_parallel_linear": (
        Case(4, 101, {"in": 3, "out": 8, "rows": [5]}),
        Case(4, 102, {"in": 3, "out": 8, "rows": [5]}),
        Case(5, 103, {"in": 7, "out": 5, "rows": [2, 3, 2], "dtype": "float64"}),
        Case(1, 104, {"in": 4, "out": 3, "rows": [2, 2]}),
        Case(3, 105, {"in": 5, "out": 9, "rows": [1]}),
        Case(2, 106, {"in": 30, "out": 40, "rows": [8, 16]}),
        Case(2, 107, {"in": 8, "out": 2, "rows": [_LARGE]}),
    ),
    "row_parallel_linear": (
        Case(4, 101, {"in": 8, "out": 3, "rows": [5]}),
        Case(4, 102, {"in": 8, "out": 3, "rows": [5]}),
        Case(5, 103, {"in": 5, "out": 7, "rows": [2, 3, 2], "dtype": "float64"}),
        Case(1, 104, {"in": 4, "out": 3, "rows": [2, 2]}),
        Case(3, 105, {"in": 9, "out": 5, "rows": [1]}),
        Case(2, 106, {"in": 40, "out": 30, "rows": [8, 16]}),
        Case(2, 107, {"in": 2, "out": 8, "rows": [_LARGE]}),
    ),
    "sharded_adam_step": (
        Case(2, 101, {"shapes": [[4, 3], [3]], "steps": 3}),
        Case(4, 102, {"shapes": [[30, 20], [5], [3, 2], [1]], "steps": 8}),
        Case(5, 103, {"shapes": [[7, 7], [7], [13]], "steps": 5, "dtype": "float64"}),
        Case(1, 104, {"shapes": [[5, 2], [2]], "steps": 4}),
        Case(5, 105, {"shapes": [[2], []], "steps": 3}),
        Case(3, 106, {"shapes": [[3], [40, 10], [4]], "steps": 25}),
        Case(4, 107, {"shapes": [[6], [0, 3], [2, 5]], "steps": 2}),
        Case(2, 108, {"shapes": [[60, 50], [50]], "steps": 3}),
        Case(2, 109, {"shapes": [[8 * _LARGE], [7]], "steps": 1}),
    ),
    "memory_per_rank": (
        Case(1, 101, {"parameters": 1000, "ranks": 4, "stage": 2}),
        Case(1, 102, {"parameters": 1000, "ranks": 4, "stage": 3}),
        _memory(103, 7_500_000_000, 64, 1),
        _memory(104, 7_500_000_000, 64, 2),
        Case(1, 105, {"parameters": 1_000_003, "ranks": 7, "stage": 1}),
        _memory(106, 1_000_003, 7, 2),
        _memory(107, 1_000_003, 7, 3),
        Case(1, 108, {"parameters": 10, "ranks": 1, "stage": 3}),
        Case(1, 109, {"parameters": 175_000_000_000, "ranks": 1024, "stage": 0}),
    ),
}  # fmt: skip
