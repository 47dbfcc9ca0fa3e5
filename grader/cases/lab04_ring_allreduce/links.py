"""Cases of the two formulas for seconds."""

from distlab.exercises.exercise import Case
from grader.cases import Drawn, Varied, near


def link(n_bytes, size, latency, bandwidth):
    return {"n_bytes": n_bytes, "size": size, "latency": latency, "bandwidth": bandwidth}


def like(seed, n_bytes, size, latency, bandwidth):
    """A link and a message like these."""

    def params(chance):
        return link(chance.around(n_bytes), size, chance.around(latency), chance.around(bandwidth))

    return Drawn(1, seed, params)


TIMES = (
    like(101, 102_000_000, 8, 1e-5, 1.25e10),
    like(102, 4_000, 100_000, 1e-6, 1e9),
    like(103, 12_345_678, 37, 4.5e-5, 3.3e8),
    Varied(Case(1, 104, link(7, 5, 0.0, 2.0)), near("size")),
    Varied(Case(1, 105, link(0, 3, 1e-4, 1e9)), near("size")),
)

VISIBLE_TIMES = (near("size"), near("size"))
