"""`tf_config`: who the others are, and which one this process is."""

from __future__ import annotations

from distlab.course.lab08_tensorflow_strategies.addresses import HINTS, call, compared
from distlab.course.lab08_tensorflow_strategies.asked import with_tensorflow
from distlab.exercises.exercise import Case, Hint
from distlab.exercises.formulas import arguments

exercise = with_tensorflow(
    points=1,
    make=arguments,
    call=call,
    asks="tf_config returns the JSON text that tells worker `index` who all workers are and which "
    "of them it is.",
    visible=(
        Case(1, 1, {"workers": ["n1:2222", "n2:2222"], "index": 1}),
        Case(1, 2, {"workers": ["10.0.0.7:5000", "10.0.0.7:5001", "10.0.0.9:5000"], "index": 0}),
    ),
    hints=(
        *HINTS,
        Hint(
            "one address",
            compared(lambda found, asked: len(found) < len(asked)),
            "Some workers are missing: every worker has to know all addresses, its own included.",
        ),
        Hint(
            "other addresses",
            compared(lambda found, asked: found != asked),
            "The addresses have to stand there as they were given and in the same order on every "
            "worker: a worker's index is its place in that list.",
        ),
        Hint(
            "another index",
            lambda look: look.differs("index"),
            'The index in "task" is this worker\'s own, counted from 0.',
        ),
    ),
)
