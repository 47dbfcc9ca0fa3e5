"""`tf_config`: who the others are, and which one this process is."""

from __future__ import annotations

from distlab.course.lab08_tensorflow_strategies.addresses import (
    HINTS,
    addresses,
    call,
    got,
    workers,
)
from distlab.course.lab08_tensorflow_strategies.asked import with_tensorflow
from distlab.exercises.exercise import Case, Hint


def _workers_given(case: Case) -> list[dict]:
    return [{"workers": list(case.params["workers"]), "index": case.params["index"]}]


exercise = with_tensorflow(
    points=1,
    make=_workers_given,
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
            lambda look: len(workers(look)) < len(addresses(look)),
            "Some workers are missing: every worker has to know all addresses, its own included.",
        ),
        Hint(
            "other addresses",
            lambda look: workers(look) != addresses(look),
            "The addresses have to stand there as they were given and in the same order on every "
            "worker: a worker's index is its place in that list.",
        ),
        Hint(
            "another index",
            lambda look: got(look, "index") != look.expected[0]["index"],
            'The index in "task" is this worker\'s own, counted from 0.',
        ),
    ),
)
