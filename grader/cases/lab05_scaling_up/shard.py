"""Hidden cases of `shard`."""

from distlab.exercises.exercise import Case
from grader.cases import Drawn

# epochs stay below the depth that Python allows a function that calls itself once for each
HIDDEN = (
    Case(2, 101, {"n": 57}),
    Case(2, 102, {"n": 57, "later": 60}),  # a multiple of most numbers up to 12
    Case(5, 103, {"n": 63, "epoch": 3, "later": 768}),
    Case(1, 104, {"n": 30, "epoch": 1, "later": 800}),
    Case(4, 105, {"n": 101, "epoch": 500}),
    Case(3, 106, {"n": 0}),
    Case(5, 107, {"n": 3, "epoch": 2}),
    Drawn(3, 108, lambda chance: {"n": chance.whole(4_900, 5_100), "seed": 0}),
)
