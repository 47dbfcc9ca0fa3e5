"""Lab 05, scaling up: its exercises in the order of the notebook."""

EXERCISES = [
    "speedup_and_efficiency",
    "shard",
    "effective_batch",
    "linear_scaled_lr",
    "warmup_lr",
    "accumulate",
    "make_feeding_loader",
    "half_precision_hook",
    "model_flops_utilization",
]
