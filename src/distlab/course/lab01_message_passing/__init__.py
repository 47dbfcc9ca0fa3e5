"""Lab 01, message passing: its exercises in the order of the notebook."""

EXERCISES = [
    "run_blocking",
    "run_non_blocking",
    "relay",
    "exchange",
    "broadcast_from",
    "scatter_rows",
    "gather_rows",
    "all_gather_rows",
    "reduce_max_to",
    "run_all_reduce",
    "group_mean",
]

TRAINS = False  # see `distlab.course.trains`
