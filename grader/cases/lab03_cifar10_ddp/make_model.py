"""Hidden cases of `make_model`."""

from distlab.exercises.exercise import Case
from grader.cases import Drawn, Varied


def _classes(least, most):
    return lambda chance, params: {"num_classes": chance.whole(least, most)}


HIDDEN = (
    Varied(
        Drawn(1, 101, lambda chance: {"num_classes": chance.whole(80, 120)}), _classes(1000, 9999)
    ),
    Case(1, 0, {"num_classes": 1}),
    Varied(Drawn(1, 102, lambda chance: {"num_classes": chance.whole(4, 9)}), _classes(20, 999)),
)

VISIBLE = (_classes(11, 99), _classes(2, 9))
