"""Hidden cases of `speedup_and_efficiency`."""

from distlab.exercises.formulas import case_of
from grader.cases import Drawn, Varied


def _measured(seed: int, *throughputs: tuple[int, float]) -> Drawn:
    """Throughputs like these of (size, throughput)."""
    return Drawn(
        1, seed, lambda chance: {"throughputs": [[s, chance.around(t)] for s, t in throughputs]}
    )


def _throughputs(chance, params):
    """Throughputs like these, of the same sizes."""
    return {"throughputs": [[size, chance.around(t)] for size, t in params["throughputs"]]}


HIDDEN = (
    _measured(101, (1, 250.5), (3, 700.25), (5, 1100.0)),
    _measured(102, (16, 9000.0), (4, 2600.0), (64, 20000.0)),
    _measured(103, (6, 81.0)),
    Varied(case_of(throughputs=[[1, 123.456]]), _throughputs),
    _measured(104, (4, 400.0), (2, 150.0), (1, 320.0)),  # two ranks are slower than one
    case_of(throughputs=[[3, 90], [12, 400]]),  # faster than perfect, and ints
)

VISIBLE = (_throughputs, _throughputs)
