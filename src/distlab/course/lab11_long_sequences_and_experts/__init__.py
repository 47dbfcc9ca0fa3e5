"""Lab 11, long sequences and experts: its exercises in the order of the notebook."""

EXERCISES = [
    "merge_attention",
    "ring_attention",
    "swap_shards",
    "ulysses_attention",
    "sequence_parallel_mlp",
    "route",
    "dispatch_combine",
    "balance_loss",
]
