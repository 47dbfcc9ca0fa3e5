"""Hidden cases of `linear_scaled_lr`."""

from distlab.exercises.formulas import case_of
from grader.cases import Varied, like, near


def _same_batch(chance, params):
    batch = chance.around(params["batch"])
    return {"base_lr": chance.around(params["base_lr"]), "base_batch": batch, "batch": batch}


HIDDEN = (
    like(101, base_lr=0.1, base_batch=64, batch=32_768),
    like(102, base_lr=0.0375, base_batch=96, batch=32),
    Varied(case_of(base_lr=0.4, base_batch=128, batch=128), _same_batch),
    Varied(case_of(base_lr=0.02, base_batch=100, batch=130), near()),
    like(103, base_lr=1.6, base_batch=8192, batch=256),
)

VISIBLE = (near(), near())
