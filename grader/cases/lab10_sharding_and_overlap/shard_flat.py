"""Hidden cases of `shard_flat`."""

from distlab.exercises.exercise import Case

HIDDEN = (
    Case(2, 101, {"shapes": [[2, 3], [4]]}),
    Case(5, 102, {"shapes": [[3]]}),
    Case(4, 103, {"shapes": [[3, 2], [0], [], [5, 1, 2]], "dtype": "float64"}),
    Case(3, 104, {"shapes": [[7], [2, 2]], "dtype": "int64"}),
    Case(1, 105, {"shapes": [[4, 2], [3]]}),
    Case(3, 106, {"shapes": [[0, 4], [0]]}),
    Case(2, 107, {"shapes": [[400, 300], [777], [1]]}),  # a loop over each element is right
    Case(4, 108, {"shapes": [[], []]}),
    Case(2, 109, {"shapes": [[2, 3], [3]]}),  # as long as 101 with its padding
    # as fsdp_step asks: each rank cuts the pieces of all
    Case(2, 110, {"shapes": [[5, 3]], "dtype": "float16", "ahead": 1}),
)
