"""`half_precision_hook`: gradients that travel as float16.

DDP itself calls the hook, on a model whose gradients are the numbers of the case. In the first
backward pass DDP has one bucket, so one model means one call. From the second on it has buckets of
the size that it is given, and several of them are under way at once.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from distlab.exercises import hints
from distlab.exercises.compare import Tolerance, counted
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.raised import Advice
from distlab.rank import world
from distlab.rank.models import in_ddp

_GRADIENTS = "gradients"
_VALUE = "value of the future"
_A_BYTE = 1e-6  # as MB; each parameter is larger
_SCALES = {"usual": (-2.0, 2.0), "large": (4e4, 6e4), "small": (1e-7, 1e-6)}


# inputs


def _gradients(case: Case) -> list[dict]:
    """The gradients of each rank, for one model after the other.

    `scale`: "large" ones fit float16, and their sum does not. `groups`: the ranks of each process
    group that is handed to the hook; without it None stands for all ranks. `again`: is there
    a second backward pass, in which each parameter has a bucket of its own?
    """
    dtype = case.get("dtype", "float32")
    shapes = case.get("shapes", [[4], [2, 3]])
    low, high = _SCALES[case.get("scale", "usual")]
    inputs = []
    for rank in range(case.size):
        generator = case.generator(rank)
        models = [
            [np.asarray(generator.uniform(low, high, shape), dtype) for shape in shapes]
            for _ in range(case.get("models", 2))
        ]
        more = {"again": True} if case.get("again") else {}
        inputs.append({"models": models, "groups": case.get("groups"), **more})
    return inputs


# on a rank


def _model(gradients):
    """A module whose gradients, after its output's backward pass, are these."""
    import torch
    from torch import nn

    class Given(nn.Module):
        def __init__(self):
            super().__init__()
            self.parts = nn.ParameterList(torch.zeros_like(g) for g in gradients)

        def forward(self, given):
            return sum((part * g).sum() for part, g in zip(self.parts, given, strict=True))

    return Given()


def _call_hook(function, rank, size, inputs):
    from distlab.rank import recording

    device, group = world.here().device, _group(inputs["groups"], rank)
    found: dict[str, list] = {_GRADIENTS: [], _VALUE: []}
    for gradients in inputs["models"]:
        given = [g.to(device) for g in gradients]
        model = in_ddp(_model(given), process_group=group, bucket_cap_mb=_A_BYTE)
        model.register_comm_hook(group, _watched(function, found[_VALUE]))
        for _ in range(1 + inputs.get("again", False)):
            model.zero_grad()
            with recording.paused():
                loss = model(given)
            loss.backward()
        found[_GRADIENTS].append([part.grad.clone() for part in model.module.parts])
    return found


def _group(groups, rank: int):
    import torch.distributed as dist

    if groups is None:
        return None
    made = [dist.new_group(ranks) for ranks in groups]
    return next(g for g, ranks in zip(made, groups, strict=True) if rank in ranks)


def _watched(function, told: list[str]):
    """The hook, noting in `told` what it gives: DDP takes other dtypes without a word."""
    import torch

    def hook(state, bucket):
        buffer = bucket.buffer()
        like = buffer.dtype, buffer.shape
        future = function(state, bucket)
        if not isinstance(future, torch._C.Future):
            told.append(f"none: a {type(future).__name__} was returned")
            future = torch.futures.Future()
            future.set_result(buffer)
            return future

        def noted(ended):
            value = ended.value()
            value = value[0] if isinstance(value, (list, tuple)) and len(value) == 1 else value
            told.append(_described(value, *like))
            return value

        return future.then(noted)

    return hook


def _described(value, dtype, shape) -> str:
    import torch

    if not isinstance(value, torch.Tensor):
        return f"a {type(value).__name__}"
    if value.dtype is not dtype:
        return f"a tensor of {str(value.dtype).removeprefix('torch.')}"
    return "like the bucket" if value.shape == shape else "a tensor of another shape"


# rules and hints


def _members(look: Look, rank: int) -> list[int]:
    groups = look.case.get("groups") or [list(look.ranks)]
    return next(ranks for ranks in groups if rank in ranks)


def _found(look: Look) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """For each parameter of each model: (rank, the gradients of its group's members, those that it
    has after the hook).
    """
    for rank, models in enumerate(look.left(_GRADIENTS)):
        of_members = zip(*(look.given("models")[r] for r in _members(look, rank)), strict=True)
        for given, got in zip(of_members, models, strict=True):
            for gradients, reduced in zip(zip(*given, strict=True), got, strict=True):
                yield rank, np.stack(gradients).astype("float64"), reduced.astype("float64")


def _bound(gradients: np.ndarray) -> np.ndarray:
    """What rounding to 11 significant bits may cost, each time an element is rounded."""
    return (len(gradients) + 1) * (2.0**-11 * np.abs(gradients).max(0) + 2.0**-25)


def _accurate(look: Look) -> str | None:
    """The mean over the group, as exactly as float16 allows."""
    for rank, gradients, got in _found(look):
        mean, bound = gradients.mean(0), _bound(gradients)
        off = np.abs(got - mean) > bound
        if off.any():
            at = tuple(np.argwhere(off)[0])
            return (
                f"rank {rank} has {got[at]:.6g} where the mean is {mean[at]:.6g}, "
                f"and rounding to float16 can be off by {bound[at]:.2g} at most."
            )
    return None


def _mean_times(look: Look, factor) -> bool:
    """Has every rank the mean times `factor(number of its group's members)`, and is that wrong?"""
    return _accurate(look) is not None and all(
        (np.abs(got - times * gradients.mean(0)) <= 2 * max(times, 1) * _bound(gradients)).all()
        for _, gradients, got in _found(look)
        for times in [factor(len(gradients))]
    )


def _one_all_reduce(look: Look) -> str | None:
    """An all-reduce of float16 for each bucket, of all its elements, in the group."""
    buckets = _buckets(look)
    for rank in look.ranks:
        calls = [e for e in look.records[rank].events if e.is_collective or e.is_message]
        members = sorted(_members(look, rank))
        if len(members) == 1 and not calls:
            continue
        other = next((e for e in calls if e.op != "all_reduce"), None)
        if other is not None:
            return f"rank {rank} called {other} at {other.place}: an all-reduce is asked for."
        if len(calls) != len(buckets):
            return (
                f"rank {rank} called {counted(len(calls), 'all-reduce')} for "
                f"{counted(len(buckets), 'bucket')}: each bucket has one."
            )
        for event, elements in zip(calls, buckets, strict=True):
            if event.dtype != "float16":
                return f"rank {rank} sent {event.dtype} at {event.place}, not float16."
            if event.elements != elements:
                return f"rank {rank} did not reduce the whole bucket at {event.place}."
            if sorted(event.group) != members:
                return f"rank {rank} reduced in another group than the given one at {event.place}."
    return None


def _buckets(look: Look) -> list[int]:
    """The elements of each bucket, in the order in which DDP hands them to the hook."""
    found = []
    for gradients in look.inputs[0]["models"]:
        sizes = [g.size for g in gradients]
        found.append(sum(sizes))
        if look.case.get("again"):
            found += reversed(sizes)
    return found


def _values(look: Look) -> list[str]:
    return [said for got in look.got for said in got[_VALUE]]


def _sent(look: Look) -> set[str]:
    return {e.dtype for e in look.events("all_reduce") if e.elements > 1}


exercise = Exercise(
    points=4,
    make=_gradients,
    call=_call_hook,
    unrecorded=True,
    asks="half_precision_hook returns a future whose value is the mean of the bucket over the "
    "ranks, in the bucket's dtype and shape, while one all-reduce of float16 carries it.",
    visible=(Case(2, 1), Case(3, 2, {"scale": "large"})),
    rules=(_one_all_reduce, _accurate),
    # float16 can be off by a share of the largest gradient, not of the mean: a rule says how far
    tolerance=Tolerance(rtol=0.0, atol=1e30),
    hints=(
        Hint(
            "no future", lambda look: any(said.startswith("none") for said in _values(look)),
            "A hook returns at once, with a future: what a request's get_future() gives, or what "
            "its .then(…) makes of it. DDP goes on with its backward pass meanwhile.",
        ),
        Hint(
            "read before wait", lambda look: hints.poisoned(look.left(_GRADIENTS)),
            "The buffer was read before the all-reduce had ended. What is to be done with the "
            "result belongs into a function that .then(…) calls.",
        ),
        Hint(
            "overflow",
            lambda look: not all(np.isfinite(got).all() for _, _, got in _found(look)),
            "Infinity: each gradient fits float16, whose largest number is 65504, and their sum "
            "does not. When is the division by the number of ranks early enough?",
        ),
        Hint(
            "still float16",
            lambda look: any("tensor of float16" in said for said in _values(look)),
            "The future's value is float16. DDP wants it back in the dtype of the bucket.",
        ),
        Hint(
            "other value", lambda look: any(said != "like the bucket" for said in _values(look)),
            "The future's value is to be a tensor of the bucket's shape and dtype.",
        ),
        Hint(
            "size of the world",
            lambda look: look.case.get("groups") is not None
            and _mean_times(look, lambda members: members / look.size),
            "Divided by the number of all ranks: the mean is taken over the ranks of the given "
            "group, which may have fewer.",
        ),
        Hint(
            "group ignored",
            lambda look: look.case.get("groups") is not None
            and any(len(e.group) == look.size for e in look.events("all_reduce")),
            "The all-reduce ran in the default group: hand it the group that the hook is given.",
        ),
        Hint(
            "not divided", lambda look: _mean_times(look, lambda members: members),
            "Every gradient is the sum over the ranks: a hook does all of it, the division too.",
        ),
        Hint(
            "divided twice", lambda look: _mean_times(look, lambda members: 1 / members),
            "Every gradient is the mean divided once more by the number of ranks.",
        ),
        Hint(
            "own gradients",
            lambda look: (
                look.size > 1 and not any(e.is_collective or e.is_message for e in look.events())
            ),
            "Nothing was reduced: every rank has its own gradients.",
        ),
        Hint(
            "not compressed", lambda look: bool(_sent(look) & {"float32", "float64"}),
            "The gradients travelled in the dtype of the bucket: what is reduced has to be a "
            "float16 copy of it.",
        ),
        Hint(
            "bfloat16", lambda look: "bfloat16" in _sent(look),
            "bfloat16 has 16 bits too, but 8 significant ones where float16 has 11.",
        ),
        Hint(
            "one buffer",
            lambda look: look.case.get("again", False) and _one_all_reduce(look) is None,
            "This model has several buckets, and DDP hands out the next one while the last is on "
            "its way. Is each treated alike, and has what travels memory of its own for each?",
        ),
        Hint(
            "a number besides",  # such as the largest gradient
            lambda look: any(e.elements == 1 for e in look.events("all_reduce")),
            "A single number was reduced as well: one all-reduce for each bucket is all that may "
            "travel. A division by the number of ranks needs to know nothing of the others.",
        ),
        Hint(
            "in pieces", lambda look: _one_all_reduce(look) is not None,
            "The bucket is one flat tensor, made so that one all-reduce carries many gradients.",
        ),
    ),
    advice=(
        Advice(
            "arguments", "positional argument",
            "DDP calls its hook with two arguments: what was registered as its state, here the "
            "group, and the bucket.",
        ),
        Advice(
            "a list", "'list' object",
            "The value of an all-reduce's future is a list of tensors, here of a single one. "
            "bucket.gradients() is a list as well, and bucket.buffer() is one tensor.",
        ),
        Advice(
            "no value for DDP", "Unable to cast <",
            "DDP cannot use the future's value: it has to be a tensor like the bucket's buffer.",
        ),
        Advice(
            "no tensor", "GradBucket",
            "The bucket itself is no tensor: bucket.buffer() is.",
        ),
    ),
)  # fmt: skip
