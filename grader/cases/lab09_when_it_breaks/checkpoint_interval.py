"""Hidden cases of `checkpoint_interval`."""

from grader.cases import like, near

HIDDEN = (
    like(101, cost=0.5, mtbf=10_800.0),
    like(102, cost=300, mtbf=3600),
    like(103, cost=7.25, mtbf=1.0),
    like(104, cost=1e-3, mtbf=1e7),
)

VISIBLE = (near(), near())
