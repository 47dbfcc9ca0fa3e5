"""`metric_average`: the mean of all workers' figures."""

from __future__ import annotations

import ast
from dataclasses import replace

import numpy as np

from distlab.course.lab07_horovod.looks import AS_TENSOR, NOTHING, initialised, told
from distlab.exercises import sources
from distlab.exercises.exercise import Case, Exercise, Hint, Look


def _metric_inputs(case: Case) -> list[dict]:
    """With `again` a third figure for each rank: rank 0 alone has its first one again."""
    made = []
    for r in range(case.size):
        own = (case.draw(r, [2], "float64") * case.get("scale", 1.0)).tolist()
        if case.get("again"):
            own.append(own[r > 0])
        made.append({"values": own})
    return made


def _call_metric_average(function, rank, size, inputs):
    initialised(rank, size)
    names = ("loss", "accuracy", "loss")
    return {"returned": [function(*one) for one in zip(inputs["values"], names, strict=False)]}


def _nothing_left_open(look: Look) -> str | None:
    """A rule: what was begun by a function of Horovod's was waited for."""
    for event in look.events():
        if not (event.waited or event.done):
            return f"rank {event.rank} began {event} at {event.place}, and never waited for it."
    return None


def _metrics(look: Look) -> np.ndarray:
    """What each rank was given, a row each."""
    return np.array(look.given("values"))


def _whole(look: Look) -> bool:
    """Did whole numbers come back, and nothing else?"""
    return all(v == int(v) for v in told(look))


def _begins(look: Look) -> bool:
    """Does the answer begin an operation, without waiting for what it gives?"""
    nodes = ast.walk(look.answer) if look.answer is not None else ()
    names = {sources.called(node) for node in nodes if isinstance(node, ast.Call)}
    return any("_async" in name for name in names) and "synchronize" not in names


def _came_back(look: Look, values: np.ndarray) -> bool:
    """Did every rank return this, or its row of this?"""
    return look.size > 1 and np.allclose(look.returned, values, rtol=1e-4)


exercise = Exercise(
    points=2,
    make=_metric_inputs,
    call=_call_metric_average,
    calls=True,
    rules=(_nothing_left_open,),
    group=False,
    needs=("horovod",),
    asks="metric_average returns, on every worker, the mean over all workers of the number that "
    "each passes, as a float.",
    visible=(Case(2, 1), Case(3, 2)),
    hints=(
        replace(NOTHING, says="metric_average returned None. Is there a `return` at its end?"),
        Hint(
            "None on some ranks",
            lambda look: any(v is None for v in told(look)),
            "A worker returned None: the mean is asked for on every one. Is there a `return` on "
            "every way through the function, and not only inside an `if`?",
        ),
        AS_TENSOR,
        Hint(
            "read before it was there",
            lambda look: _nothing_left_open(look) is not None and not _whole(look),
            "The tensor was read while Horovod was still at work on it: what it holds then is "
            "luck. hvd.synchronize(handle) waits, and hvd.allreduce without _async does both.",
        ),
        Hint(
            "own value",
            lambda look: _came_back(look, _metrics(look)),
            "Each worker got its own value back: nothing was averaged.",
        ),
        Hint(
            "sum for mean",
            lambda look: _came_back(look, _metrics(look).sum(0)),
            "This is the sum over the workers. Horovod averages where nothing else is said: look "
            "at op. (Whoever divides by hvd.local_size() divides by the workers of one machine, "
            "and in this check there are two.)",
        ),
        Hint(
            "divided twice",
            lambda look: _came_back(look, _metrics(look).mean(0) / look.size),
            "This is the mean, divided once more by the number of workers: hvd.allreduce averages "
            "by itself.",
        ),
        Hint(
            "rank 0's value",
            lambda look: _came_back(look, _metrics(look)[0]),
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
                _came_back(look, _metrics(look).sum(0) / n) for n in range(2, look.size + 2)
            ),
            "This is the sum, divided by another number than that of the workers. (In this check "
            "they sit on two machines: hvd.local_size() counts those of one.)",
        ),
        Hint(
            "half precision",
            lambda look: np.allclose(look.returned, look.wanted, rtol=2e-3),
            "Only about three digits are right: the numbers travelled in 16 bits.",
        ),
        Hint(
            "rounded to some digits",
            lambda look: not _whole(look) and all(round(v, 6) == v for v in told(look)),
            "The figures are rounded. Return them as they are, and round where you print them.",
        ),
        Hint(
            "rounded",
            _whole,
            "Only whole numbers came back: a tensor of integers cannot hold a mean.",
        ),
    ),
)
