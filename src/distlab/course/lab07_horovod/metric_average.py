"""`metric_average`: the mean of all workers' figures."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from distlab.course.lab07_horovod.looks import (
    AS_TENSOR,
    initialised,
    nothing_left_open,
)
from distlab.exercises import sources
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.hints import holds_a_number


def _metric_inputs(case: Case) -> list[dict]:
    """With `again` a third figure for each rank: rank 0 alone has its first one again."""
    made = []
    for r in range(case.size):
        own = [float(x) for x in case.draw(r, [2], "float64") * case.get("scale", 1.0)]
        if case.get("again"):
            own.append(own[r > 0])
        made.append({"values": own})
    return made


def _call_metric_average(function, rank, size, inputs):
    initialised(rank, size)
    names = ("loss", "accuracy", "loss")
    return {"returned": [function(*one) for one in zip(inputs["values"], names, strict=False)]}


def _metrics(look: Look) -> np.ndarray:
    """What each rank was given, a row each."""
    return np.array(look.given("values"))


def _whole(look: Look) -> bool:
    """Did whole numbers come back, and nothing else?"""
    return all(v == int(v) for v in _told(look))


def _told(look: Look) -> list[float]:
    """What all ranks returned."""
    return [v for g in look.got for v in g["returned"]]


def _begins(look: Look) -> bool:
    """Does the answer begin an operation, without waiting for what it gives?"""
    nodes = ast.walk(look.answer) if look.answer is not None else ()
    names = {sources.called(node) for node in nodes if isinstance(node, ast.Call)}
    return any("_async" in name for name in names) and "synchronize" not in names


def _came_back(values) -> Any:
    """Did every rank return this?"""

    def shows(look: Look) -> bool:
        return look.size > 1 and all(
            np.allclose(look.got[r]["returned"], values(look, r), rtol=1e-4) for r in look.ranks
        )

    return shows


exercise = Exercise(
    points=2,
    make=_metric_inputs,
    call=_call_metric_average,
    calls=True,
    rules=(nothing_left_open,),
    group=False,
    needs=("horovod",),
    asks="metric_average returns, on every worker, the mean over all workers of the number that "
    "each passes, as a float.",
    visible=(Case(2, 1), Case(3, 2)),
    hints=(
        Hint(
            "nothing returned",
            lambda look: all(v is None for g in look.got for v in g["returned"]),
            "metric_average returned None. Is there a `return` at its end?",
        ),
        Hint(
            "None on some ranks",
            lambda look: any(v is None for g in look.got for v in g["returned"]),
            "A worker returned None: the mean is asked for on every one. Is there a `return` on "
            "every way through the function, and not only inside an `if`?",
        ),
        Hint(
            "tensor for number",
            lambda look: any(holds_a_number(v) for g in look.got for v in g["returned"]),
            AS_TENSOR.says,
        ),
        Hint(
            "read before it was there",
            lambda look: nothing_left_open(look) is not None and not _whole(look),
            "The tensor was read while Horovod was still at work on it: what it holds then is "
            "luck. hvd.synchronize(handle) waits, and hvd.allreduce without _async does both.",
        ),
        Hint(
            "own value",
            _came_back(lambda look, r: look.inputs[r]["values"]),
            "Each worker got its own value back: nothing was averaged.",
        ),
        Hint(
            "sum for mean",
            _came_back(lambda look, r: _metrics(look).sum(0)),
            "This is the sum over the workers. Horovod averages where nothing else is said: look "
            "at op. (Whoever divides by hvd.local_size() divides by the workers of one machine, "
            "and in this check there are two.)",
        ),
        Hint(
            "divided twice",
            _came_back(lambda look, r: _metrics(look).mean(0) / look.size),
            "This is the mean, divided once more by the number of workers: hvd.allreduce averages "
            "by itself.",
        ),
        Hint(
            "rank 0's value",
            _came_back(lambda look, r: _metrics(look)[0]),
            "Every worker returned rank 0's value: that is a broadcast, not a mean.",
        ),
        Hint(
            "handle",
            lambda look: _begins(look) and _whole(look),
            "Whole numbers came back, the handles of operations that were only begun: "
            "hvd.synchronize(handle) waits for the result, and hvd.allreduce without _async does "
            "both.",
        ),
        Hint(
            "another number of workers",
            lambda look: any(
                _came_back(lambda look, r, n=n: _metrics(look).sum(0) / n)(look)
                for n in range(2, look.size + 2)
            ),
            "This is the sum, divided by another number than that of the workers. (In this check "
            "they sit on two machines: hvd.local_size() counts those of one.)",
        ),
        Hint(
            "half precision",
            lambda look: all(
                np.allclose(look.got[r]["returned"], look.expected[r]["returned"], rtol=2e-3)
                for r in look.ranks
            ),
            "Only about three digits are right: the numbers travelled in 16 bits.",
        ),
        Hint(
            "rounded to some digits",
            lambda look: not _whole(look) and all(round(v, 6) == v for v in _told(look)),
            "The figures are rounded. Return them as they are, and round where you print them.",
        ),
        Hint(
            "rounded",
            _whole,
            "Only whole numbers came back: a tensor of integers cannot hold a mean.",
        ),
    ),
)
