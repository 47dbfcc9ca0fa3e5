"""Lab 08, TensorFlow strategies: its exercises in the order of the notebook."""

EXERCISES = [
    "mirrored",
    "central_storage",
    "tf_config",
    "tf_config_from_slurm",
    "train",
    "parameter_server",
]
