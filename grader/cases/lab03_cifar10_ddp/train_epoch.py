"""Hidden cases of `train_epoch`."""

from distlab.exercises.exercise import Case

HIDDEN = (
    Case(2, 101, {"epoch": 3}),
    Case(2, 102, {"epoch": 3}),
    Case(4, 103, {"epoch": 7, "batches": 3, "batch_size": 5}),
    Case(5, 104, {"epoch": 2, "batch_size": 6, "batches": 1}),
    Case(1, 105, {"epoch": 1}),
    Case(3, 106, {"epoch": 11, "momentum": 0.9, "batches": 4}),
)
