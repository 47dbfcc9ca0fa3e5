"""Lab 09: what its exercises ask, one module each, in the order of the notebook."""

from distlab.course.lab09_when_it_breaks import (
    checkpoint_interval,
    expected_overhead,
    first_divergence,
    latest_whole,
    load_resharded,
    remaining,
    rendezvous,
    roll_call,
    same_everywhere,
    save_sharded,
)

EXERCISES = [
    module.exercise
    for module in (
        roll_call, first_divergence, same_everywhere, rendezvous, save_sharded, latest_whole,
        load_resharded, remaining, checkpoint_interval, expected_overhead,
    )
]  # fmt: skip
