"""Lab 10, sharding and overlap: its exercises in the order of the notebook."""

EXERCISES = [
    "shard_flat",
    "unshard",
    "fsdp_step",
    "overlapped_ddp",
    "mesh_groups",
    "hybrid_step",
    "clip_sharded",
    "checkpointed",
]
