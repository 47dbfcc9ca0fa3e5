"""Hidden cases of `expected_overhead`."""

from grader.cases import like, near

HIDDEN = (
    like(101, interval=1.5, cost=0.5, mtbf=10_800.0),
    like(102, interval=7200, cost=300, mtbf=3600),
    like(103, interval=3.0, cost=7.25, mtbf=11.0),
    like(104, interval=1e5, cost=1e-3, mtbf=1e7),
)

VISIBLE = (near(), near())
