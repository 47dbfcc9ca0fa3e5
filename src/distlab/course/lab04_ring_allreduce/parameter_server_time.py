"""`parameter_server_time`: what a step with a parameter server costs."""

from __future__ import annotations

from distlab.course.lab04_ring_allreduce.seconds import BITS, HINTS, link
from distlab.exercises.exercise import Case, Hint
from distlab.exercises.formulas import formula, gives

exercise = formula(
    points=1,
    asks="parameter_server_time gives the seconds of one synchronous step with one server and "
    "size − 1 workers: all gradients and all parameters pass its link, and the latency counts once "
    "each way.",
    visible=(
        Case(1, 1, link(6_000_000, 4, 0.001, 1e9)),
        Case(1, 2, link(1_000_000, 5, 2e-5, 2.5e8)),
    ),
    hints=(
        *HINTS,
        Hint(
            "one way",
            gives(*(lambda n, size, a, b, k=k: (size - 1) * n / b + k * a for k in (1, 2))),
            "This is one way. Gradients come in and parameters go out, and both pass the server's "
            "link.",
        ),
        Hint(
            "size workers",
            gives(lambda n, size, a, b: 2 * size * n / b + 2 * a),
            "One of the `size` ranks is the server: how many workers are there?",
        ),
        Hint(
            "latency for every worker",
            gives(lambda n, size, a, b: 2 * (size - 1) * (n / b + a)),
            "Requests overlap: while one worker's bytes pass the link, the others' are already on "
            "their way. The latency counts once in each direction.",
        ),
        Hint(
            "latency once",
            gives(*(lambda n, size, a, b, k=k: 2 * (size - 1) * n / b + k * a for k in (0, 1))),
            "There are two messages one after the other: the push, then the answer. Each has its "
            "latency.",
        ),
        Hint(
            "one worker's bytes",
            gives(lambda n, size, a, b: 2 * n / b + 2 * a),
            "That is one worker alone. The server's link has to carry everybody's bytes.",
        ),
        BITS,
        Hint(
            "the ring's formula",
            gives(lambda n, size, a, b: 2 * (size - 1) * (a + n / (size * b))),
            "That is the ring. The server cuts nothing into chunks: whole tensors pass its link.",
        ),
    ),
)
