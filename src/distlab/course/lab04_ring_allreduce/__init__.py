"""Lab 04, ring all-reduce: its exercises in the order of the notebook."""

EXERCISES = [
    "ring_reduce_scatter",
    "ring_all_gather",
    "ring_all_reduce",
    "ring_time",
    "parameter_server_time",
    "sync_parameter_server",
    "async_parameter_server",
]

TRAINS = False  # see `distlab.course.trains`
