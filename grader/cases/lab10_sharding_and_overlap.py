"""Hidden cases of lab 10.

Every world size; pieces that are all padding, empty tensors, other dtypes, several MB; gradients
that are all zeros; layers whose gradients come in another order than the parameters stand in.
"""

from distlab.exercises.exercise import Case
from grader.cases import Chance, Drawn


def _mesh(seed: int, shape: list[int], *names: str) -> Drawn:
    """A mesh of these lengths and names, each in some order."""
    return Drawn(
        1, seed, lambda chance: {"shape": chance.order(shape), "names": chance.order(names)}
    )


def _large_mesh(chance: Chance) -> dict:
    shape, names = [16, 8, 4, 8], ["pipeline", "data", "context", "tensor"]
    ranks = [0, 1, chance.whole(2, 4094), 4095]
    return {"shape": chance.order(shape), "names": chance.order(names), "ranks": ranks}


HIDDEN = {
    "shard_flat": (
        Case(2, 101, {"shapes": [[2, 3], [3]]}),
        Case(5, 102, {"shapes": [[3]]}),
        Case(4, 103, {"shapes": [[3, 2], [0], [], [5, 1, 2]], "dtype": "float64"}),
        Case(3, 104, {"shapes": [[7], [2, 2]], "dtype": "int64"}),
        Case(1, 105, {"shapes": [[4, 2], [3]]}),
        Case(3, 106, {"shapes": [[0, 4], [0]]}),
        Case(2, 107, {"shapes": [[1000, 1500], [777], [1]]}),
        Case(4, 108, {"shapes": [[], []]}),
        Case(1, 109, {"shapes": [[6]]}),
        Case(2, 110, {"shapes": [[5, 3]], "dtype": "float16"}),
    ),
    "unshard": (
        Case(2, 101, {"shapes": [[2, 3], [3]]}),
        Case(5, 102, {"shapes": [[3]]}),
        Case(4, 103, {"shapes": [[3, 2], [0], [], [5, 1, 2]], "dtype": "float64"}),
        Case(3, 104, {"shapes": [[7], [2, 2]], "dtype": "int64"}),
        Case(1, 105, {"shapes": [[4, 2], [3]]}),
        Case(3, 106, {"shapes": [[0, 4], [0]]}),
        Case(2, 107, {"shapes": [[1000, 2500], [777], [1]]}),
        Case(3, 108, {"shapes": [[2, 2, 2], [3, 1], [1, 4]]}),
        Case(3, 109, {"shapes": [[2, 2, 2], [3, 1], [1, 4]]}),
    ),
    "fsdp_step": (
        Case(2, 101, {"widths": [3, 5, 4, 6, 2], "rows": 4}),
        Case(2, 102, {"widths": [3, 5, 4, 6, 2], "rows": 4}),
        Case(3, 103, {"widths": [4, 7, 3, 8, 5], "rows": 5, "dtype": "float64"}),
        Case(4, 104, {"widths": [5, 4], "rows": 2}),
        Case(5, 105, {"widths": [4, 5, 7], "rows": 1}),
        Case(1, 106, {"widths": [3, 6, 5, 2], "rows": 3}),
        Case(3, 107, {"widths": [5, 6, 4, 7], "rows": 3, "still": [1]}),
        Case(2, 108, {"widths": [6, 6, 6, 6, 6, 6], "rows": 7}),
        Case(2, 109, {"widths": [900, 1200, 800, 16], "rows": 4, "scale": 40}),
    ),
    "overlapped_ddp": (
        Case(2, 101, {"models": [{"widths": [3, 5, 4, 2], "bytes": 100}], "steps": 4}),
        Case(3, 102, {"models": [{"widths": [4, 6, 3, 5, 2], "bytes": 70,
                                  "order": [2, 0, 3, 1]}], "steps": 4}),
        Case(4, 103, {"models": [{"widths": [3, 4, 4, 2], "bytes": 128, "frozen": [1],
                                  "twice": [1]}], "dtype": "float64"}),
        Case(2, 104, {"models": [{"widths": [3, 4, 3], "bytes": 1},
                                 {"widths": [2, 5, 2], "bytes": 60, "order": [1, 0]}], "steps": 3}),
        Case(1, 105, {"models": [{"widths": [3, 4, 2], "bytes": 50}]}),
        Case(3, 106, {"models": [{"widths": [3, 5, 4, 2], "bytes": 90, "empty": True}],
                      "still": [2]}),
        Case(5, 107, {"models": [{"widths": [2, 3, 2], "bytes": 10_000}]}),
        Case(2, 108, {"models": [{"widths": [500, 1500, 700], "bytes": 2_000_000}], "steps": 2}),
        Case(2, 109, {"models": [{"widths": [3, 4, 5, 2], "bytes": 88}], "still": [0]}),
        Case(2, 110, {"models": [{"widths": [4, 4, 4, 4], "bytes": 64, "frozen": [0, 2]}]}),
        Case(2, 111, {"models": [{"widths": [3, 5, 4, 2], "bytes": 17}]}),  # no whole elements
    ),
    "mesh_groups": (
        _mesh(101, [4, 2], "dp", "tp"),
        Case(1, 102, {"shape": [6], "names": ["world"]}),
        _mesh(103, [2, 3, 4], "pipeline", "data", "tensor"),
        _mesh(104, [3, 1, 2], "a", "b", "c"),
        Case(1, 105, {"shape": [1], "names": ["alone"]}),
        _mesh(106, [2, 2, 2, 3], "pp", "dp", "cp", "tp"),
        Drawn(1, 107, _large_mesh),
        _mesh(108, [3, 3, 3], "x", "y", "z"),
    ),
    "hybrid_step": (
        Case(4, 101, {"replicas": 2, "length": 3}),
        Case(4, 102, {"replicas": 2, "length": 3}),
        Case(4, 103, {"replicas": 1, "length": 2, "dtype": "float64"}),
        Case(4, 104, {"replicas": 4, "length": 5}),
        Case(5, 105, {"replicas": 1, "length": 1}),
        Case(1, 106, {"replicas": 1, "length": 4}),
        Case(4, 107, {"replicas": 2, "length": 600_000}),
        Case(3, 108, {"replicas": 3, "length": 2}),
        Case(4, 109, {"replicas": 2, "length": 4, "still": [1, 3]}),
        Case(2, 110, {"replicas": 1, "length": 7, "dtype": "float64"}),
    ),
    "clip_sharded": (
        Case(2, 101, {"shapes": [[[2, 3], [3]], [[4]]], "max_norm": 1.0}),
        Case(2, 102, {"shapes": [[[2, 3], [3]], [[4]]], "max_norm": 50.0}),
        Case(4, 103, {"shapes": [[], [[3, 2]], [], [[1], [], [2, 2]]], "max_norm": 0.1,
                      "dtype": "float64"}),
        Case(1, 104, {"shapes": [[[4], [2, 2]]], "max_norm": 0.5}),
        Case(3, 105, {"shapes": [[[4]], [[2, 2]], [[3]]], "max_norm": 1e-6, "scale": 1e-6}),
        Case(5, 106, {"shapes": [[[1]], [[2]], [[3]], [[4]], [[5]]], "max_norm": 2.0}),
        Case(2, 107, {"shapes": [[], []], "max_norm": 1.0}),
        Case(3, 108, {"shapes": [[[3]], [[0]], [[2]]], "max_norm": 1.0, "scale": 0.0}),
        Case(2, 109, {"shapes": [[[1000, 1200]], [[700, 1000], [9]]], "max_norm": 3.0}),
        Case(3, 110, {"shapes": [[[0]], [], [[6]]], "max_norm": 1.0}),
    ),
    "checkpointed": (
        Case(1, 101, {"stages": ["linear"] * 6, "every": 2}),
        Case(1, 102, {"stages": ["linear", "dropout", "wide", "tanh", "linear"], "every": 3}),
        Case(1, 103, {"stages": ["wide", "norm", "linear", "dropout"], "every": 1}),
        Case(1, 104, {"stages": ["linear", "wide", "linear"], "every": 5}),
        Case(1, 105, {"stages": ["dropout", "linear", "dropout", "wide", "linear", "dropout",
                                 "linear"], "every": 2, "forwards": 3}),
        Case(1, 106, {"stages": ["linear", "linear", "linear", "linear"], "every": 2,
                      "leaf": False, "dtype": "float64"}),
        Case(1, 107, {"stages": ["linear"], "every": 1}),
        Case(1, 108, {"stages": ["wide", "wide", "wide", "wide", "wide"], "every": 4}),
        Case(1, 109, {"stages": ["linear", "dropout"] * 3, "every": 3, "leaf": False}),
    ),
}  # fmt: skip
