"""Lab 06, model parallelism: its exercises in the order of the notebook."""

EXERCISES = [
    "split_layers",
    "stage_forward",
    "stage_backward",
    "pipeline_step",
    "one_f_one_b_step",
    "bubble_fraction",
    "column_parallel_linear",
    "row_parallel_linear",
    "sharded_adam_step",
    "memory_per_rank",
]
