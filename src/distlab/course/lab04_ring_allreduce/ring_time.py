"""`ring_time`: what a ring all-reduce costs."""

from __future__ import annotations

from distlab.course.lab04_ring_allreduce.seconds import BITS, HINTS, link
from distlab.exercises.exercise import Case, Hint
from distlab.exercises.formulas import formula, gives

exercise = formula(
    points=1,
    asks="ring_time gives the seconds of a ring all-reduce: all its steps, each of which takes the "
    "latency and the time of one chunk.",
    visible=(
        Case(1, 1, link(6_000_000, 4, 0.001, 1e9)),
        Case(1, 2, link(1_000_000, 5, 2e-5, 2.5e8)),
    ),
    hints=(
        *HINTS,
        Hint(
            "one half of the ring",
            gives(lambda n, size, a, b: (size - 1) * (a + n / (size * b))),
            "This is half of it: a ring all-reduce has two halves of size − 1 steps.",
        ),
        Hint(
            "size steps",
            gives(lambda n, size, a, b: 2 * size * (a + n / (size * b))),
            "Count the steps of a half once more: a chunk visits `size` ranks in one hop less.",
        ),
        Hint(
            "whole tensor in every step",
            gives(lambda n, size, a, b: 2 * (size - 1) * (a + n / b)),
            "Each step sends one chunk, not the whole tensor.",
        ),
        Hint(
            "whole tensor once",
            gives(lambda n, size, a, b: 2 * (size - 1) * a + n / b),
            "The latencies are right. How many bytes does a rank send in all its steps together? "
            "More than one tensor, and less than two.",
        ),
        BITS,
        Hint(
            "latency once",
            gives(
                *(
                    lambda n, size, a, b, k=k: k * a + 2 * (size - 1) * n / (size * b)
                    for k in (0, 1, 2)
                )
            ),
            "Every message pays the latency, and the steps come one after the other.",
        ),
        Hint(
            "all ranks' bytes",
            gives(lambda n, size, a, b: 2 * (size - 1) * (size * a + n / b)),
            "All ranks send at the same time, each on a link of its own: what counts is the time "
            "of one rank.",
        ),
    ),
)
