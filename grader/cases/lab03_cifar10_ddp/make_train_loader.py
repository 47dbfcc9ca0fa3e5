"""Hidden cases of `make_train_loader`."""

from distlab.exercises.exercise import Case

HIDDEN = (
    Case(2, 101, {"n": 21, "batch_size": 4}),
    Case(2, 102, {"n": 21, "batch_size": 4}),  # another seed, nothing else
    Case(5, 103, {"n": 13, "batch_size": 3}),
    Case(4, 104, {"n": 3, "batch_size": 2}),  # fewer samples than ranks
    Case(1, 105, {"n": 10, "batch_size": 4}),
    Case(3, 106, {"n": 200, "batch_size": 64}),
)
