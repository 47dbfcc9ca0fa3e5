"""Lab 09, when it breaks: its exercises in the order of the notebook."""

EXERCISES = [
    "roll_call",
    "first_divergence",
    "same_everywhere",
    "rendezvous",
    "save_sharded",
    "latest_whole",
    "load_resharded",
    "remaining",
    "checkpoint_interval",
    "expected_overhead",
]

TRAINS = False  # see `distlab.course.trains`
