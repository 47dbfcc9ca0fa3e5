"""Lab 10: what its exercises ask, one module each, in the order of the notebook."""

from distlab.course.lab10_sharding_and_overlap import (
    checkpointed,
    clip_sharded,
    fsdp_step,
    hybrid_step,
    mesh_groups,
    overlapped_ddp,
    shard_flat,
    unshard,
)

EXERCISES = [
    shard_flat.exercise, unshard.exercise, fsdp_step.exercise, overlapped_ddp.exercise,
    mesh_groups.exercise, hybrid_step.exercise, clip_sharded.exercise, checkpointed.exercise,
]  # fmt: skip
