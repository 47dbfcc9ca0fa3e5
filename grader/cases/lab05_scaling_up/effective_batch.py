"""Hidden cases of `effective_batch`."""

from grader.cases import like
from grader.cases.lab05_scaling_up.parameters import case

HIDDEN = (
    case(per_rank=1, size=1, accumulation=1),
    like(101, per_rank=24, size=3, accumulation=5),
    case(per_rank=7, size=1024, accumulation=1),
    like(102, per_rank=33, size=7, accumulation=9),
    case(per_rank=33, size=1, accumulation=9),
    case(per_rank=8, size=5, accumulation=2),
)
