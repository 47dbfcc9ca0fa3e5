"""Lab 01: what its exercises ask."""

from __future__ import annotations

from distlab.course.lab01_message_passing.collectives import (
    all_gather_rows,
    broadcast_from,
    gather_rows,
    reduce_max_to,
    scatter_rows,
)
from distlab.course.lab01_message_passing.groups import group_mean, run_all_reduce
from distlab.course.lab01_message_passing.messages import (
    exchange,
    relay,
    run_blocking,
    run_non_blocking,
)

EXERCISES = [
    run_blocking, run_non_blocking, relay, exchange, broadcast_from, scatter_rows, gather_rows,
    all_gather_rows, reduce_max_to, run_all_reduce, group_mean,
]  # fmt: skip
