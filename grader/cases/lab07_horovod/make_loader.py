"""Hidden cases of `make_loader`."""

from distlab.exercises.exercise import Case
from grader.cases import Drawn

HIDDEN = (
    Case(2, 101, {"n": 20, "batch_size": 4}),
    Case(5, 102, {"n": 13, "batch_size": 3}),
    Case(1, 103, {"n": 10, "batch_size": 4}),
    Drawn(3, 104, lambda chance: {"n": chance.whole(150, 250), "batch_size": 64}),
    Case(4, 105, {"n": 3, "batch_size": 2}),  # fewer samples than workers
)
