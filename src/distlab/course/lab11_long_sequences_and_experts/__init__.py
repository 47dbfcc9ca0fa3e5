"""Lab 11: the order of its exercises. A module for each; `attention`, `carried` and `returning` are
shared.
"""

from distlab.course.lab11_long_sequences_and_experts import (
    balance_loss,
    dispatch_combine,
    merge_attention,
    ring_attention,
    route,
    sequence_parallel_mlp,
    swap_shards,
    ulysses_attention,
)

EXERCISES = [
    merge_attention.exercise, ring_attention.exercise, swap_shards.exercise,
    ulysses_attention.exercise, sequence_parallel_mlp.exercise, route.exercise,
    dispatch_combine.exercise, balance_loss.exercise,
]  # fmt: skip
