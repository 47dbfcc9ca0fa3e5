"""Hidden cases of lab 05."""

from typing import Any

from distlab.exercises.exercise import Case
from grader.cases import Drawn, like


def _case(**params: Any) -> Case:
    return Case(1, 0, params)


def _rates(seed: int, step: int, warmup_steps: int, base_lr: float, target_lr: float) -> Drawn:
    """These steps, and rates like these."""
    return Drawn(
        1, seed, lambda chance: {
            "step": step, "warmup_steps": warmup_steps,
            "base_lr": chance.around(base_lr), "target_lr": chance.around(target_lr),
        },
    )  # fmt: skip


def _measured(seed: int, *throughputs: tuple[int, float]) -> Drawn:
    """Throughputs like these of (size, throughput)."""
    return Drawn(
        1, seed, lambda chance: {"throughputs": [[s, chance.around(t)] for s, t in throughputs]}
    )


HIDDEN = {
    "speedup_and_efficiency": (
        _measured(101, (1, 250.5), (3, 700.25), (5, 1100.0)),
        _measured(102, (16, 9000.0), (4, 2600.0), (64, 20000.0)),
        _measured(103, (6, 81.0)),
        _case(throughputs=[[1, 123.456]]),
        _measured(104, (2, 500.0), (1, 320.0)),
        _case(throughputs=[[3, 90], [12, 400]]),  # faster than perfect, and ints
    ),
    "shard": (
        Case(2, 101, {"n": 57}),
        Case(2, 102, {"n": 57}),
        Case(5, 103, {"n": 63, "epoch": 3}),
        Case(1, 104, {"n": 30, "epoch": 1}),
        Case(4, 105, {"n": 101, "epoch": 12}),
        Case(3, 106, {"n": 0}),
        Case(5, 107, {"n": 3, "epoch": 2}),
        Drawn(3, 108, lambda chance: {"n": chance.whole(4_900, 5_100), "seed": 0}),
    ),
    "effective_batch": (
        _case(per_rank=1, size=1, accumulation=1),
        like(101, per_rank=24, size=3, accumulation=5),
        _case(per_rank=7, size=1024, accumulation=1),
        like(102, per_rank=33, size=7, accumulation=9),
        _case(per_rank=33, size=1, accumulation=9),
        _case(per_rank=8, size=5, accumulation=2),
    ),
    "linear_scaled_lr": (
        like(101, base_lr=0.1, base_batch=256, batch=8192),
        like(102, base_lr=0.0375, base_batch=96, batch=32),
        _case(base_lr=0.4, base_batch=128, batch=128),
        _case(base_lr=0.02, base_batch=100, batch=130),
        like(103, base_lr=1.6, base_batch=8192, batch=256),
    ),
    "warmup_lr": (
        _rates(101, 0, 5, base_lr=0.3, target_lr=2.4),
        _rates(102, 3, 7, base_lr=0.05, target_lr=1.6),
        _case(step=7, warmup_steps=7, base_lr=0.05, target_lr=1.6),
        _rates(103, 6, 7, base_lr=0.05, target_lr=1.6),
        _rates(104, 1000, 7, base_lr=0.05, target_lr=1.6),
        _rates(105, 9, 0, base_lr=0.2, target_lr=0.7),
        _case(step=0, warmup_steps=0, base_lr=0.2, target_lr=0.7),
        _rates(106, 2, 8, base_lr=0.8, target_lr=0.1),
        _case(step=20, warmup_steps=8, base_lr=0.8, target_lr=0.1),
        _case(step=4, warmup_steps=9, base_lr=0.0, target_lr=0.9),
        _case(step=1, warmup_steps=1, base_lr=0.1, target_lr=0.2),
    ),
    "accumulate": (
        Case(2, 101, {"batches": [3, 5, 2]}),
        Case(2, 102, {"batches": [3, 5, 2]}),
        Case(4, 103, {"batches": [2, 2, 2, 2, 2], "buckets": "many"}),
        Case(5, 104, {"batches": [1, 6], "loss": "cross_entropy"}),
        Case(1, 105, {"batches": [4, 1]}),
        Case(3, 106, {"batches": [7]}),
        Case(2, 107, {"batches": [3, 4], "dtype": "float64"}),
        Case(2, 108, {"batches": [16, 64, 32], "width": 512, "buckets": "many"}),
    ),
    "make_feeding_loader": (
        Case(2, 101, {"shards": 7}),
        Case(2, 102, {"shards": 7}),
        Case(1, 103, {"shards": 2, "form": "both", "epochs": 3}),
        Case(3, 104, {"shards": 8, "form": "jpg", "batch_size": 4}),
    ),
    "half_precision_hook": (
        Case(2, 101, {"shapes": [[7], [3, 5]]}),
        Case(2, 102, {"shapes": [[7], [3, 5]]}),
        Case(5, 103, {"scale": "large"}),
        Case(4, 104, {"groups": [[0, 2], [3, 1]], "shapes": [[9]]}),
        Case(3, 105, {"groups": [[2, 0], [1]], "scale": "large"}),
        Case(2, 106, {"dtype": "float64", "models": 3}),
        Case(1, 107),
        Case(3, 108, {"scale": "small"}),
        # 4.5 MB in float16: beyond what back ends copy aside
        Case(2, 109, {"shapes": [[544 * 4096]], "models": 1}),
    ),
    "model_flops_utilization": (
        like(101, parameters=540_350_000_000, tokens_per_second=238_300.0, peak_flops=1.6896e18),
        like(102, parameters=124_000_000, tokens_per_second=150_000, peak_flops=125e12),
        like(103, parameters=3, tokens_per_second=0.5, peak_flops=7.0),
        like(104, parameters=1e9, tokens_per_second=100.0, peak_flops=1e11),  # a wrong peak
    ),
}
