"""Hidden cases of lab 05."""

from typing import Any

from distlab.exercises import Case


def _case(**params: Any) -> Case:
    return Case(1, 0, params)


HIDDEN = {
    "speedup_and_efficiency": (
        _case(throughputs=[[1, 250.5], [3, 700.25], [5, 1100.0]]),
        _case(throughputs=[[16, 9000.0], [4, 2600.0], [64, 20000.0]]),
        _case(throughputs=[[6, 81.0]]),
        _case(throughputs=[[1, 123.456]]),
        _case(throughputs=[[2, 500.0], [1, 320.0]]),
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
        Case(3, 0, {"n": 5_000}),
    ),
    "effective_batch": (
        _case(per_rank=1, size=1, accumulation=1),
        _case(per_rank=24, size=3, accumulation=5),
        _case(per_rank=7, size=1024, accumulation=1),
        _case(per_rank=33, size=1, accumulation=9),
        _case(per_rank=8, size=5, accumulation=2),
    ),
    "linear_scaled_lr": (
        _case(base_lr=0.1, base_batch=256, batch=8192),
        _case(base_lr=0.0375, base_batch=96, batch=32),
        _case(base_lr=0.4, base_batch=128, batch=128),
        _case(base_lr=0.02, base_batch=100, batch=130),
        _case(base_lr=1.6, base_batch=8192, batch=256),
    ),
    "warmup_lr": (
        _case(step=0, warmup_steps=5, base_lr=0.3, target_lr=2.4),
        _case(step=3, warmup_steps=7, base_lr=0.05, target_lr=1.6),
        _case(step=7, warmup_steps=7, base_lr=0.05, target_lr=1.6),
        _case(step=6, warmup_steps=7, base_lr=0.05, target_lr=1.6),
        _case(step=1000, warmup_steps=7, base_lr=0.05, target_lr=1.6),
        _case(step=9, warmup_steps=0, base_lr=0.2, target_lr=0.7),
        _case(step=0, warmup_steps=0, base_lr=0.2, target_lr=0.7),
        _case(step=2, warmup_steps=8, base_lr=0.8, target_lr=0.1),
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
}
