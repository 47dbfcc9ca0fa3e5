"""Hidden cases of `set_random_seeds`."""

from distlab.exercises.exercise import Case
from grader.cases import UNCHANGED, Drawn, same

HIDDEN = (
    Case(1, 101),
    Drawn(1, 102, lambda chance: {"seed": chance.whole(4_294_900_000, 4_294_967_000)}),
    Case(2, 103, {"apart": 2**16 * 5**6}),  # two seeds with the same last digits and bits
)

VISIBLE = (UNCHANGED, same)  # the first seed is 0
