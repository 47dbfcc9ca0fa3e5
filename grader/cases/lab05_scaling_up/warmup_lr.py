"""Hidden cases of `warmup_lr`."""

from distlab.exercises.formulas import case_of
from grader.cases import Drawn, Varied, near


def _rates(seed: int, step: int, warmup_steps: int, base_lr: float, target_lr: float) -> Drawn:
    """These steps, and rates like these."""
    return Drawn(
        1, seed, lambda chance: {
            "step": step, "warmup_steps": warmup_steps,
            "base_lr": chance.around(base_lr), "target_lr": chance.around(target_lr),
        },
    )  # fmt: skip


_RATES = near("step", "warmup_steps")

HIDDEN = (
    _rates(101, 0, 5, base_lr=0.3, target_lr=2.4),
    _rates(102, 3, 7, base_lr=0.05, target_lr=1.6),
    Varied(case_of(step=7, warmup_steps=7, base_lr=0.05, target_lr=1.6), _RATES),
    _rates(103, 6, 7, base_lr=0.05, target_lr=1.6),
    _rates(104, 1000, 7, base_lr=0.05, target_lr=1.6),
    _rates(105, 9, 0, base_lr=0.2, target_lr=0.7),
    Varied(case_of(step=0, warmup_steps=0, base_lr=0.2, target_lr=0.7), _RATES),
    _rates(106, 2, 8, base_lr=0.8, target_lr=0.1),
    Varied(case_of(step=20, warmup_steps=8, base_lr=0.8, target_lr=0.1), _RATES),
    Varied(case_of(step=4, warmup_steps=9, base_lr=0.0, target_lr=0.9), _RATES),
    Varied(case_of(step=0, warmup_steps=1, base_lr=0.1, target_lr=0.2), _RATES),
)

VISIBLE = (_RATES,) * 4
