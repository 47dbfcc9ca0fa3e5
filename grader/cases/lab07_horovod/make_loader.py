"""Hidden cases of `make_loader`."""

from distlab.exercises.exercise import Case
from grader.cases import Drawn, Varied, near

HIDDEN = (
    Varied(Case(2, 101, {"n": 20, "batch_size": 4}), near()),
    Varied(Case(5, 102, {"n": 13, "batch_size": 3}), near()),
    Varied(Case(1, 103, {"n": 10, "batch_size": 4}), near()),
    Varied(
        Drawn(3, 104, lambda chance: {"n": chance.whole(150, 250), "batch_size": 64}),
        lambda chance, params: {"n": chance.whole(150, 250), "batch_size": chance.whole(40, 74)},
    ),
    Case(4, 105, {"n": 3, "batch_size": 2}),  # fewer samples than workers
)

VISIBLE = (near(), near())
