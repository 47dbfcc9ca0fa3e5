"""Hidden cases of `async_parameter_server`."""

from distlab.exercises.exercise import Case
from grader.cases.lab04_ring_allreduce.sizes import LARGE

HIDDEN = (
    Case(3, 101, {"turns": [[1], [1], [1], [1], [2], [2], [2], [2]]}),
    Case(3, 102, {"turns": [[2], [1], [1], [1], [1], [2], [2], [2]]}),
    Case(4, 103, {"turns": [[3], [3], [2], [1], [1, 2]], "shapes": [[2], [2]]}),
    Case(5, 104, {"turns": [[4], [4], [1], [3], [2], [1, 2, 3]], "dtype": "float64"}),
    Case(2, 105, {"turns": [[1], [1], [1]], "lr": 0.5}),
    Case(5, 106, {"turns": [[1, 2, 3, 4]], "shapes": [[3000], [3000]]}),
    Case(3, 107, {"turns": [[1], [2], [2], [1]], "shapes": [[LARGE], [7]]}),
)
