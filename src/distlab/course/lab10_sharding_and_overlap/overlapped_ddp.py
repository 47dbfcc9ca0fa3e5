"""`overlapped_ddp`: buckets of gradients that leave while the backward pass goes on."""

from __future__ import annotations

import numpy as np

from distlab.course.lab10_sharding_and_overlap.flat import by_one_factor, drawn_layers, shortened
from distlab.course.lab10_sharding_and_overlap.rules import others, stray, traffic_of
from distlab.course.lab10_sharding_and_overlap.watched_buckets import (
    COUNTS,
    EARLY,
    IN_FINISH,
    LATE,
    WAITED,
    Watched,
    buckets_of,
    bytes_of,
    told_by_record,
)
from distlab.exercises import hints
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.raised import Advice
from distlab.exercises.traffic import called
from distlab.rank.models import gradients

# inputs


def _models(case: Case) -> list[dict]:
    """One or two models (`models`), each a dict of

    widths: features before, between and after the layers. bytes: the size of a bucket. order: the
    layers' numbers in the order in which they are registered. frozen: layers whose weight requires
    no gradient. twice: layers that are applied twice in a row. empty: has, before its layers, a
    parameter without elements.

    `still`: ranks whose gradients are all zero.
    """
    shared, dtype = case.generator(), case.get("dtype", "float32")
    models = case.params["models"]
    weights = [drawn_layers(shared, model["widths"], dtype) for model in models]
    made = []
    for rank in range(case.size):
        own = case.generator(rank)
        batches = [
            [own.standard_normal((3, model["widths"][0])).astype(dtype) for model in models]
            for _ in range(case.get("steps", 3))
        ]
        made.append(
            {
                "models": models,
                "weights": weights,
                "batches": batches,
                "scale": 0.0 if rank in case.get("still", []) else 1.0,
            }
        )
    return made


# on a rank


def _call(function, rank, size, inputs):
    models = list(map(Watched, inputs["models"], inputs["weights"]))
    finishes = [function(model.module, model.limit) for model in models]
    if not all(map(callable, finishes)):
        kind = "None" if finishes[0] is None else f"a {type(finishes[0]).__name__}"
        return {"returned": kind, "gradients": None, **dict.fromkeys(COUNTS, 0)}
    found = []
    for step, batches in enumerate(inputs["batches"]):
        for model in models:
            model.begin(set_to_none=step % 2 == 0)
        losses = [
            model.forward(batch, inputs["scale"])
            for model, batch in zip(models, batches, strict=True)
        ]
        for model, loss in zip(models, losses, strict=True):
            model.backward(loss)
        for model, finish in zip(models, finishes, strict=True):
            model.finish(finish)
        found.append([gradients(model.module.parameters()) for model in models])
    told = told_by_record(models, rank, size)
    return {"returned": "a function", "gradients": shortened(found), **told}


# traffic


def _models_given(look: Look) -> list[tuple[dict, list[int]]]:
    """Each model as it is described, and the bytes of its parameters."""
    given = look.inputs[0]
    return [
        (described, bytes_of(described, weights))
        for described, weights in zip(given["models"], given["weights"], strict=True)
    ]


def _of_a_step(look: Look) -> list[int]:
    """The bytes of each all-reduce of a rank in one step, in order."""
    return [
        sum(nbytes[number] for number in bucket)
        for described, nbytes in _models_given(look)
        for bucket in buckets_of(nbytes, described["bytes"])
    ]


def _steps(look: Look) -> int:
    return len(look.inputs[0]["batches"])


def _expected(look: Look) -> list[int]:
    return _of_a_step(look) * _steps(look)


def _one_all_reduce_a_bucket(look: Look) -> str | None:
    if look.size == 1:
        return None
    needed = ", and all-reduces of buckets are all that is needed."
    if said := stray(look, "all_reduce", instead=needed, barriers=True):
        return said
    expected = _expected(look)
    for rank in look.ranks:
        events = traffic_of(look, rank)
        for number, (event, nbytes) in enumerate(zip(events, expected, strict=False)):
            if event.nbytes != nbytes:
                return (
                    f"{called(event)} of {event.nbytes} bytes as its operation {number + 1}, where "
                    f"a bucket of {nbytes} bytes is due."
                )
        if len(events) != len(expected):
            return (
                f"rank {rank} called {len(events)} all-reduces in {_steps(look)} steps, where "
                f"{len(expected)} buckets were due."
            )
    return None


# hints


def _arrays(tree) -> list:
    if isinstance(tree, (list, tuple)):
        return [array for item in tree for array in _arrays(item)]
    return [tree]


def _pairs(look: Look) -> list[tuple[np.ndarray, np.ndarray]]:
    """(wanted, found) gradients of all ranks, steps and models."""
    found = [
        pair
        for want, got in look.pairs("gradients")
        for pair in zip(_arrays(want), _arrays(got), strict=True)
    ]
    return [(w, g) for w, g in found if isinstance(w, np.ndarray) and isinstance(g, np.ndarray)]


def _scaled(look: Look, factor: float) -> bool:
    pairs = _pairs(look)
    return look.size > 1 and bool(pairs) and all(look.same(w * factor, g) for w, g in pairs)


def _by_rank(look: Look) -> list[tuple]:
    """(wanted on rank 0, found on each rank) for each gradient."""
    found = zip(*map(_arrays, look.left("gradients")), strict=True)
    return list(zip(_arrays(look.asked("gradients")[0]), found, strict=True))


def _zero_on_all_ranks(look: Look) -> bool:
    """Is a gradient zero everywhere that ought not to be? One rank's own may be zero by right."""
    return any(
        isinstance(want, np.ndarray)
        and want.any()
        and all(isinstance(one, np.ndarray) and not one.any() for one in each)
        for want, each in _by_rank(look)
    )


def _own(look: Look) -> bool:
    """Are gradients different on each rank?"""
    return any(
        isinstance(first, np.ndarray) and not all(look.same(first, other) for other in each)
        for _, (first, *each) in _by_rank(look)
    )


def _count(name: str):
    """A hint's `shows`: did some rank count any of these?"""
    return lambda look: any(look.left(name))


def _right_in_first_step(look: Look) -> bool:
    return look.differs("gradients") and all(
        look.same(want[0], got[0]) for want, got in look.pairs("gradients")
    )


def _models_mixed_up(look: Look) -> bool:
    """Are there two models, and on every rank the gradients of at least one of them wrong?"""
    return len(look.inputs[0]["models"]) > 1 and not any(
        look.same(want, got) for want, got in look.pairs("gradients")
    )


def _bytes(look: Look) -> list[int]:
    return [event.nbytes for event in look.records[0].events if event.op == "all_reduce"]


def _last_is_missing(look: Look) -> bool:
    """Did all buckets of the first step leave but the last? Of two models nobody can tell."""
    if len(look.inputs[0]["models"]) > 1:
        return False
    got, step = _bytes(look), _of_a_step(look)
    last = len(step) - 1
    return (
        sum(got) < sum(_expected(look))
        and got[:last] == step[:last]
        and got[last : last + 1] != step[last:]
    )


_HINTS = (
    Hint(
        "no function",
        lambda look: any(got != "a function" for got in look.returned),
        "Define `finish` inside of overlapped_ddp and return it, without calling it.",
    ),
    Hint(
        "read before wait",
        lambda look: hints.poisoned(look.left("gradients")),
        "There are NaNs in the gradients: a bucket was read before its request had been waited "
        "for. Keep every request, and wait for all of them in `finish`.",
    ),
    Hint(
        "another collective",
        lambda look: others(look, "all_reduce"),
        "One all-reduce a bucket is all that is needed: the parameters are equal to begin with, "
        "and nobody has to meet. (DistributedDataParallel calls others, and what it averages is "
        "what goes through its own forward.)",
    ),
    Hint(
        "waited in the hook",
        _count(WAITED),
        "An all-reduce was waited for while the backward pass went on, so that nothing overlaps: "
        "begin it with async_op=True, keep the request, and wait in `finish`.",
    ),
    Hint(
        "after the backward pass",
        lambda look: (
            _count(IN_FINISH)(look)
            and all(count == len(_expected(look)) for count in look.left(LATE))
        ),
        "All buckets left after the backward pass was over. They are to begin while it goes on: a "
        "hook is called for each parameter as soon as its gradient is there.",
    ),
    Hint(
        "last bucket in finish",
        _count(IN_FINISH),
        "`finish` began an all-reduce itself. Either of two things leaves one over: the last "
        "bucket may be smaller than bucket_bytes, so find out beforehand which bucket each "
        "parameter is in; and one gradient may set several buckets free, if the first of them was "
        "what the others waited for.",
    ),
    Hint(
        "last bucket never leaves",
        _last_is_missing,
        "The last bucket never left. It may hold fewer bytes than bucket_bytes: it ends with the "
        "model's first parameter all the same.",
    ),
    Hint(
        "one for each parameter",
        lambda look: (
            len(_bytes(look)) > len(_expected(look))
            and sum(_bytes(look)) == sum(_expected(look))
            and set(_bytes(look)) <= {n for _, nbytes in _models_given(look) for n in nbytes}
        ),
        "There are more all-reduces than buckets. Join the gradients of a bucket (torch.cat) and "
        "reduce them at once.",
    ),
    Hint(
        "order of parameters",
        lambda look: (
            sorted(set(_bytes(look))) != sorted(set(_expected(look)))
            and sum(_bytes(look)) == sum(_expected(look))
        ),
        "The buckets are cut differently. They are filled from the *last* parameter to the first, "
        "because gradients come in about that order. A bucket ends with the parameter by which it "
        "reaches bucket_bytes, which counts bytes and not elements. Parameters that need no "
        "gradient are in none. (What is counted takes the k-th all-reduce for that of bucket k.)",
    ),
    Hint(
        "in another order",
        lambda look: (
            _bytes(look) != _expected(look) and sorted(_bytes(look)) == sorted(_expected(look))
        ),
        "The buckets left in another order than theirs. All ranks have to call their all-reduces "
        "in one order, and gradients need not come in the order of the parameters: a bucket that "
        "is complete waits for those before it. (What is counted takes the k-th all-reduce for "
        "that of bucket k.)",
    ),
    Hint(
        "sum for mean",
        lambda look: _scaled(look, look.size),
        "The gradients are `size` times too large: an all-reduce adds up, and the mean is asked "
        "for.",
    ),
    Hint(
        "divided twice",
        lambda look: _scaled(look, 1 / look.size),
        "The gradients are `size` times too small: they were divided twice.",
    ),
    Hint(
        "another divisor",
        lambda look: look.size > 1 and by_one_factor(_pairs(look)),
        "All gradients are off by one factor: the sum over the ranks is to be divided by their "
        "number, dist.get_world_size(), once.",
    ),
    Hint(
        "models mixed up",
        _models_mixed_up,
        "Two models are in use at once, and they are mixed up: whatever belongs to one call of "
        "overlapped_ddp is kept in variables of that call, not in global ones.",
    ),
    Hint(
        "began too early",
        _count(EARLY),
        "A bucket left before all its gradients were there. What counts is which gradients have "
        "come in this step: a gradient that is None or zero says nothing, and neither does a count "
        "of another step.",
    ),
    Hint(
        "later steps",
        _right_in_first_step,
        "The first step is right and a later one is not: what counts the gradients of a bucket has "
        "to begin again each step. (Gradients are None or zero when a step begins, and .grad may "
        "be another tensor than in the step before.)",
    ),
    Hint(
        "began too late",
        _count(LATE),
        "A bucket began later than it could: as soon as its last gradient is there, and those "
        "before it have begun. Several buckets may become ready with one gradient, when the first "
        "of them was what the others waited for. (A hook that is made in a loop and uses the "
        "loop's variable finds the last value in it.)",
    ),
    Hint(
        "zeros reduced",
        _zero_on_all_ranks,
        "A gradient is all zeros after `finish`. Did its bucket leave before it was in .grad? A "
        "hook of register_hook is called before that, one of register_post_accumulate_grad_hook "
        "after it.",
    ),
    Hint(
        "not written back",
        _own,
        "The ranks end with gradients of their own: what was reduced is the joined buffer, and its "
        "parts have to be copied back into each .grad.",
    ),
)


exercise = Exercise(
    points=6,
    make=_models,
    call=_call,
    asks="overlapped_ddp(model, bucket_bytes) returns finish(). In each backward pass one "
    "all-reduce begins for each bucket as soon as its gradients are there; after finish() every "
    "gradient is its mean over the ranks.",
    visible=(
        Case(2, 1, {"models": [{"widths": [3, 5, 4, 2], "bytes": 100}]}),
        Case(3, 2, {"models": [{"widths": [2, 6, 3, 3], "bytes": 60, "order": [1, 2, 0]}]}),
        Case(2, 3, {"models": [{"widths": [3, 4, 3], "bytes": 1},
                               {"widths": [2, 5, 2], "bytes": 10_000}], "steps": 2}),
    ),
    traffic=(_one_all_reduce_a_bucket,),
    hints=_HINTS,
    advice=(
        Advice(
            "hook returned something",
            "but hook returned",
            "What a hook returns is taken for a gradient: let it return nothing. (A lambda returns "
            "the value of its expression.)",
        ),
        Advice(
            "gradient not there yet",
            "NoneType' object has no attribute '(?!wait|get_future)|but got NoneType",
            "A gradient is None where this takes it for there. A hook of register_hook is called "
            "before the gradient is in .grad, one of register_post_accumulate_grad_hook after it. "
            "And who counts gradients counts each once a step: hooks stay registered.",
        ),
    ),
)  # fmt: skip
