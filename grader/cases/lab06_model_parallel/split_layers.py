"""Hidden cases of `split_layers`."""

from distlab.exercises.exercise import Case
from grader.cases import Drawn, Varied


def _layers(seed, layers, stages):
    """These layers, a few times as large: where the best cuts are stays."""

    def params(chance):
        times = chance.whole(2, 3000)
        return {"layers": [times * of for of in layers], "stages": stages}

    return Drawn(1, seed, params)


def _times(chance, params):
    """The layers a few times as large: where the best cuts are stays."""
    times = chance.whole(2, 3000)

    def larger(of):
        return [larger(one) for one in of] if isinstance(of, list) else times * of

    return {**params, "layers": larger(params["layers"])}


HIDDEN = (
    Varied(Case(1, 101, {"layers": [5, 5, 5, 5, 5, 5], "stages": 3}), _times),
    Varied(Case(1, 102, {"layers": [1, 1, 1, 1, 1, 95], "stages": 2}), _times),
    Varied(Case(1, 103, {"layers": [95, 1, 1, 1, 1, 1], "stages": 4}), _times),
    Varied(Case(1, 104, {"layers": [0, 7, 0, 9, 0, 4, 0, 12, 3, 0], "stages": 4}), _times),
    Varied(Case(1, 105, {"layers": [8, 0, 2], "stages": 3}), _times),
    Varied(Case(1, 106, {"layers": [8, 0, 2], "stages": 1}), _times),
    Varied(Case(1, 107, {"layers": [0, 0, 0, 30, 0], "stages": 4}), _times),
    Case(1, 108, {"layers": [0, 0, 0], "stages": 2}),
    Case(1, 109, {"layers": [40, [9, 0, [5, 5]], "norm 15", 25, 0, 35, "norm 4"], "stages": 3}),
    _layers(110, [9, 9, 2, 2, 2, 2, 2, 2, 2, 9, 9], 5),
    _layers(111, [6, 5, 4, 3, 2, 1, 2, 7, 4, 5, 6, 7], 4),
    _layers(112, [1, 2, 3, 4, 5, 6, 7, 8, 9], 3),
)

VISIBLE = (_times, _times)
