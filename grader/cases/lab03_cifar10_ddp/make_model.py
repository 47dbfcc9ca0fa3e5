"""Hidden cases of `make_model`."""

from distlab.exercises.exercise import Case
from grader.cases import Drawn

HIDDEN = (
    Drawn(1, 101, lambda chance: {"num_classes": chance.whole(80, 120)}),
    Case(1, 0, {"num_classes": 1}),
    Drawn(1, 102, lambda chance: {"num_classes": chance.whole(4, 9)}),
)
