"""Hidden cases of `load_resharded`."""

from distlab.course.lab09_when_it_breaks.load_resharded import ONE_MORE
from distlab.exercises.exercise import Case

HIDDEN = (
    Case(3, 101, {"lengths": [5, 4, 4, 4]}),
    Case(5, 102, {"lengths": [4, 3, 4]}),
    Case(4, 103, {"lengths": [2, 0, 0, 1]}),
    Case(1, 104, {"lengths": [3, 7, 0, 2, 5]}),
    Case(2, 105, {"lengths": [0, 0]}),
    Case(3, 106, {"lengths": [1000, 1, 30_000]}),
    Case(2, 107, {"lengths": [4, 4], "there": "no step"}),
    Case(3, 108, {"lengths": [4, 4], "there": "no folder"}),
    Case(3, 109, {"lengths": [4, 4], "there": "no index"}),
    Case(4, 110, {"lengths": [2, 2, 2, 2]}),
    Case(5, 111, {"lengths": [1, 1, 1, 1, 1, 1, 1, 0, 0, 4]}),
    Case(2, 112, {"lengths": [3, 5, 2], "there": ONE_MORE}),
)
