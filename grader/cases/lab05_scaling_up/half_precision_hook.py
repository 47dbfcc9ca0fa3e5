"""Hidden cases of `half_precision_hook`."""

from distlab.exercises.exercise import Case

HIDDEN = (
    Case(2, 101, {"shapes": [[7], [3, 5]]}),
    Case(2, 102, {"shapes": [[7], [3, 5]]}),
    Case(5, 103, {"scale": "large"}),
    Case(4, 104, {"groups": [[0, 2], [3, 1]], "shapes": [[9]]}),
    Case(3, 105, {"groups": [[2, 0], [1]], "scale": "large"}),
    Case(2, 106, {"dtype": "float64", "models": 3}),
    Case(1, 107),
    Case(3, 108, {"scale": "small"}),
    # several buckets are under way at once
    Case(3, 110, {"shapes": [[6], [3, 4], [5]], "models": 1, "again": True}),
    # 4.5 MB in float16: beyond what back ends copy aside
    Case(2, 109, {"shapes": [[544 * 4096]], "models": 1}),
)
