"""Lab 02, a toy model: its exercises in the order of the notebook."""

EXERCISES = [
    "setup",
    "average_gradients",
    "demo_basic",
    "train",
    "demo_checkpoint",
    "run_demo",
    "world_from_env",
    "what_is_wrong",
]
