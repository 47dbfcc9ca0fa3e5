"""Lab 06: what its exercises ask. A module for each way of cutting a model: into stages, into
slices of its matrices, and into shares of its optimizer's state.
"""

from distlab.course.lab06_model_parallel import (
    one_f_one_b,
    pipeline,
    sharding,
    splitting,
    tensor_parallel,
)

EXERCISES = [
    splitting.split_layers, pipeline.stage_forward, pipeline.stage_backward,
    pipeline.pipeline_step, one_f_one_b.one_f_one_b_step, splitting.bubble_fraction,
    tensor_parallel.column_parallel_linear, tensor_parallel.row_parallel_linear,
    sharding.sharded_adam_step, sharding.memory_per_rank,
]  # fmt: skip
