"""Hidden cases of `mesh_groups`."""

from distlab.exercises.exercise import Case
from grader.cases import Chance, Drawn


def _mesh(seed: int, shape: list[int], *names: str) -> Drawn:
    """A mesh of these lengths and names, each in some order."""
    return Drawn(
        1, seed, lambda chance: {"shape": chance.order(shape), "names": chance.order(names)}
    )


def _large_mesh(chance: Chance) -> dict:
    shape, names = [16, 8, 4, 8], ["pipeline", "data", "context", "tensor"]
    ranks = [0, 1, chance.whole(2, 4094), 4095]
    return {"shape": chance.order(shape), "names": chance.order(names), "ranks": ranks}


def _ordered(chance, params):
    """The same lengths and names, each in some order."""
    return {"shape": chance.order(params["shape"]), "names": chance.order(params["names"])}


HIDDEN = (
    _mesh(101, [4, 2], "dp", "tp"),
    Case(1, 102, {"shape": [6], "names": ["world"]}),
    _mesh(103, [2, 3, 4], "pipeline", "data", "tensor"),
    _mesh(104, [3, 1, 2], "a", "b", "c"),
    Case(1, 105, {"shape": [1], "names": ["alone"]}),
    _mesh(106, [2, 2, 2, 3], "pp", "dp", "cp", "tp"),
    Drawn(1, 107, _large_mesh),
    _mesh(108, [3, 3, 3], "x", "y", "z"),
)

VISIBLE = (_ordered, _ordered)
