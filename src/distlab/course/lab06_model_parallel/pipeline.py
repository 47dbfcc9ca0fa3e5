"""Lab 06, running a model's stages: one batch from rank to rank, and GPipe's many small ones."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from distlab.course.lab06_model_parallel.splitting import LAB
from distlab.exercises import hints, traffic
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.hints import returned, wanted
from distlab.records.events import Event

_GRADIENTS = "gradients of its stage's parameters"
_OF_INPUTS = "gradient of its inputs"
_ARRIVED = "buffer for the activations"


# what the harnesses share: a model, cut into one stage a rank


def _model(case: Case) -> list[dict]:
    """The whole model, of which each rank is given its own part (`_own_part`).

    `widths`: features in front of and behind each stage; `bare`: ranks whose stage is a Tanh alone.
    """
    shared, dtype = case.generator(), case.get("dtype", "float32")
    widths = case.get("widths", [3] * (case.size + 1))
    rows = case.get("rows", [4])
    weights = []
    for rank, (inside, outside) in enumerate(zip(widths[:-1], widths[1:], strict=True)):
        bare = rank in case.get("bare", [])
        drawn = shared.uniform(-1, 1, (outside, inside + 1)).astype(dtype)
        weights.append(None if bare else [drawn[:, 1:].copy(), drawn[:, 0].copy()])
    given = {
        "weights": weights,
        "batch": shared.standard_normal((*rows, widths[0])).astype(dtype),
        "targets": shared.standard_normal((*rows, widths[-1])).astype(dtype),
        "microbatches": case.get("microbatches", 1),
        "back": [shared.standard_normal((*rows, w)).astype(dtype) for w in widths[1:]],
    }
    return [dict(given) for _ in range(case.size)]


def _own_part(inputs: dict, rank: int, size: int) -> dict:
    """Of what is several ranks' this one's alone; in place of activations a buffer like them."""
    return _behind(inputs, rank, size, np.zeros_like(_activations(inputs, rank)))


def _own_part_and_activations(inputs: dict, rank: int, size: int) -> dict:
    return _behind(inputs, rank, size, _activations(inputs, rank))


def _behind(inputs: dict, rank: int, size: int, activations: np.ndarray) -> dict:
    def mine(values: list) -> list:
        return [value if place == rank else None for place, value in enumerate(values)]

    return inputs | {
        "weights": mine(inputs["weights"]), "back": mine(inputs["back"]),
        "batch": inputs["batch"] if rank == 0 else activations,
        "targets": inputs["targets"] if rank == size - 1 else None,
    }  # fmt: skip


def _stage(weights):
    import torch
    from torch import nn

    if weights is None:
        return nn.Sequential(nn.Tanh())
    weight, bias = weights
    linear = nn.Linear(weight.shape[1], weight.shape[0], dtype=weight.dtype)
    with torch.no_grad():
        linear.weight.copy_(weight)
        linear.bias.copy_(bias)
    return nn.Sequential(linear, nn.Tanh())


def _activations(inputs: dict, rank: int) -> np.ndarray:
    """What the stages before this rank's make of the batch."""
    values = inputs["batch"]
    for weights in inputs["weights"][:rank]:
        if weights is not None:
            values = values @ weights[0].T + weights[1]
        values = np.tanh(values)
    return values


def _gradients(stage) -> list:
    return [parameter.grad for parameter in stage.parameters()]


# stage_forward


def _call_forward(function, rank, size, inputs):
    import torch

    stage, batch = _stage(inputs["weights"][rank]), inputs["batch"]
    if rank > 0:  # NaN: what was not received is seen
        batch = torch.full_like(batch, float("nan")).requires_grad_()
    output = function(rank, size, stage, batch)
    arrived = batch.detach().clone()
    if isinstance(output, torch.Tensor) and output.requires_grad:
        output.backward(inputs["back"][rank])
    left = {"returned": output, _GRADIENTS: _gradients(stage)}
    return left | ({_ARRIVED: arrived, _OF_INPUTS: batch.grad} if rank > 0 else {})


def _chain(step: int, times: str = ""):
    """Messages between neighbours in one direction, `times` of each (a case's parameter)."""

    def pairs(case: Case) -> list[tuple[int, int]]:
        ends = [(r, r + 1) if step > 0 else (r + 1, r) for r in range(case.size - 1)]
        return ends * (case.get(times, 1) if times else 1)

    return pairs


_MESSAGES = (traffic.no_collective_but_barrier,)
_REQUESTS = (traffic.nothing_left_open, traffic.sends_unchanged)


def _all_nan(value) -> bool:
    return isinstance(value, np.ndarray) and value.size > 0 and bool(np.isnan(value).all())


def _lost(name: str):
    """Is something of this name None where it should be a tensor?"""

    def shows(look: Look) -> bool:
        pairs = [
            (want[name], got[name])
            for want, got in zip(look.expected, look.got, strict=True)
            if name in want
        ]
        pairs = [
            p
            for w, g in pairs
            for p in (zip(w, g, strict=True) if name == _GRADIENTS else [(w, g)])
        ]
        return any(want is not None and got is None for want, got in pairs)

    return shows


stage_forward = Exercise(
    "stage_forward", LAB, 2,
    make=_model,
    share=_own_part,
    call=_call_forward,
    asks="In stage_forward, rank 0 runs its stage on the batch, every other rank on the "
    "activations that it receives from the rank before; each sends its output on and returns it "
    "with its graph.",
    visible=(Case(2, 1, {"widths": [3, 5, 2]}), Case(4, 2, {"widths": [2, 6, 3, 4, 1]})),
    rules=(*_MESSAGES, traffic.messages(_chain(1)), *_REQUESTS),
    hints=(
        Hint(
            "received elsewhere",
            lambda look: any(event.op == "recv" for event in look.events())
            and any(_all_nan(got.get(_ARRIVED)) for got in look.got),
            "The activations arrived in another tensor, or were read before they had arrived: "
            "receive into `inputs`, and wait for it. Its .grad is what goes back "
            "in the backward pass.",
        ),
        Hint(
            "nothing received",
            lambda look: any(_all_nan(got.get(_ARRIVED)) for got in look.got),
            "On ranks above 0, `inputs` is an empty buffer until you receive into it.",
        ),
        Hint(
            "inputs passed on",
            lambda look: look.size > 1 and len(look.events("send")) == look.size - 1
            and all(look.same(look.got[1][_ARRIVED], got.get(_ARRIVED)) for got in look.got[1:])
            and look.same(look.inputs[0]["batch"], look.got[1][_ARRIVED]),
            "Rank 1 received the batch itself: send what your stage made of its inputs.",
        ),
        Hint(
            "last output alone",
            lambda look: look.size > 1 and any(got is None for got in returned(look)),
            "Every rank returns the output of its own stage, not the last one alone: the backward "
            "pass begins from it.",
        ),
        Hint(
            "output without graph",
            lambda look: _lost(_GRADIENTS)(look),
            "A backward pass through the returned output did not reach the stage's parameters. "
            "Return the output as the stage gave it: detach only what you send, and "
            "compute outside of torch.no_grad().",
        ),
        Hint(
            "inputs without graph",
            lambda look: _lost(_OF_INPUTS)(look),
            "A backward pass through the returned output left no gradient in `inputs`: run the "
            "stage on `inputs` itself, not on a detached one or a copy.",
        ),
        Hint(
            "closed to a ring",
            lambda look: look.size > 1
            and any((e.rank, e.peer) == (look.size - 1, 0) for e in look.events("send")),
            "The last rank has nobody to send to: its output is the model's.",
        ),
        *hints.MESSAGES,
    ),
)  # fmt: skip


# stage_backward


def _call_backward(function, rank, size, inputs):
    from torch.nn.functional import mse_loss

    stage, given = _stage(inputs["weights"][rank]), inputs["batch"]
    if rank > 0:
        given.requires_grad_()
    output = stage(given)
    loss = mse_loss(output, inputs["targets"]) if rank == size - 1 else None
    function(rank, size, output, given, loss)
    left = {_GRADIENTS: _gradients(stage)}
    return left | ({_OF_INPUTS: given.grad} if rank > 0 else {})


def _pairs_of_gradients(look: Look) -> Iterator[tuple[int, np.ndarray, object]]:
    """(rank, the right gradient, the one found) of every parameter."""
    for rank, (want, got) in enumerate(zip(look.expected, look.got, strict=True)):
        for right, found in zip(want[_GRADIENTS], got[_GRADIENTS], strict=True):
            yield rank, right, found


_EARLY = Hint(
    hints.EARLY.name,
    lambda look: any(hints.poisoned(found) for _, _, found in _pairs_of_gradients(look)),
    hints.EARLY.says,
)


def _factor(of):
    """Are all gradients right but for a factor, on some rank?"""

    def shows(look: Look) -> bool:
        factor = of(look)
        pairs = [(w, g) for _, w, g in _pairs_of_gradients(look) if w is not None]
        found = [g for w, g in pairs if g is not None and look.same(w * w.dtype.type(factor), g)]
        return factor != 1 and len(found) == len(pairs) > 0

    return shows


def _right_at_the_end_alone(look: Look) -> bool:
    """Are the gradients of the last stage right and those before it wrong?"""
    right = {rank: True for rank in look.ranks}
    for rank, want, got in _pairs_of_gradients(look):
        right[rank] = right[rank] and got is not None and look.same(want, got)
    return look.size > 1 and right[look.size - 1] and not all(right.values())


stage_backward = Exercise(
    "stage_backward", LAB, 3,
    make=_model,
    share=_own_part_and_activations,
    call=_call_backward,
    asks="In stage_backward, the last rank begins from the loss, every other rank from the "
    "gradient of its output that it receives from the rank behind; each sends the gradient of its "
    "inputs back. After it every gradient is the undivided model's.",
    visible=(Case(2, 1, {"widths": [3, 5, 2]}), Case(4, 2, {"widths": [2, 6, 3, 4, 1]})),
    rules=(*_MESSAGES, traffic.messages(_chain(-1)), *_REQUESTS),
    hints=(
        _EARLY,
        Hint(
            "nothing went back",
            lambda look: not look.events("send") and look.size > 1,
            "No rank sent anything: the ranks in front need the gradient of what they passed on. "
            "After the backward pass of your own stage it lies in inputs.grad.",
        ),
        Hint(
            "no backward in front",
            lambda look: len(look.events("send")) == look.size - 1 and _lost(_GRADIENTS)(look),
            "The stage's parameters have no gradient on some rank: what arrives is the gradient of "
            "the rank's output, from which its backward pass begins "
            "(look at the arguments of Tensor.backward).",
        ),
        Hint(
            "ones in place of the gradient",
            _right_at_the_end_alone,
            "The last rank's gradients are right, those in front of it are not. A backward pass "
            "that begins at `output` has to be told the gradient of the loss with respect to it, "
            "and that is what the rank behind sends: the gradient of its inputs, not the inputs.",
        ),
        Hint(
            "twice",
            _factor(lambda look: 2),
            "All gradients are twice what they should be: backward() adds to .grad, so call it "
            "once.",
        ),
        *hints.MESSAGES,
    ),
)  # fmt: skip


# pipeline_step


def _call_step(function, rank, size, inputs):
    stage = _stage(inputs["weights"][rank])
    batch = inputs["batch"] if rank == 0 else None
    targets = inputs["targets"] if rank == size - 1 else None
    loss = function(rank, size, stage, batch, targets, inputs["microbatches"])
    return {"returned": loss, _GRADIENTS: _gradients(stage)}


def _moments(look: Look, rank: int) -> tuple[list[float], list[float], list[float], list[float]]:
    """When forward messages arrived and left on a rank, and backward ones arrived and left.

    A message leaves when its send is called. It arrives when its receive is over: a receive may be
    begun as early as one likes.
    """

    def when(events: list[Event], peer: int) -> list[float]:
        of_peer = [event for event in events if event.peer == peer]
        return [e.begin if e.op == "send" else e.wait_end or e.end for e in of_peer]

    record = look.records[rank]
    return (
        when(record.receives(), rank - 1), when(record.sends(), rank + 1),
        when(record.receives(), rank + 1), when(record.sends(), rank - 1),
    )  # fmt: skip


def _forward_first(look: Look) -> str | None:
    """GPipe: on each rank all forward messages before any backward one."""
    for rank in look.ranks:
        arrived, left, back_arrived, back_left = _moments(look, rank)
        forward, backward = arrived + left, back_arrived + back_left
        if forward and backward and min(backward) < max(forward):
            return (
                f"on rank {rank} a gradient went back before all micro-batches had gone forward: "
                "GPipe takes all of them forward first."
            )
    return None


def _overlapping(look: Look) -> str | None:
    """A rank hands a micro-batch on before the last one has come."""
    for rank in look.ranks[1:-1]:
        arrived, left, *_ = _moments(look, rank)
        if len(arrived) > 1 and left and left[0] > max(arrived):
            return (
                f"rank {rank} passed its first micro-batch on only when all {len(arrived)} had "
                "arrived: the ranks work one after the other, as without micro-batches."
            )
    for rank in look.ranks:
        arrived, left, back_arrived, back_left = _moments(look, rank)
        barriers = [e.begin for e in look.records[rank].events if e.op == "barrier"]
        for some in (arrived + left, back_arrived + back_left):
            if any(min(some, default=b) < b < max(some, default=b) for b in barriers):
                return (
                    f"rank {rank} called a barrier between its micro-batches: all ranks then wait "
                    "for the slowest, and nothing overlaps."
                )
    return None


def _in_flight(look: Look) -> int:
    """How many micro-batches rank 0 had sent when the first gradient came back."""
    _, left, back_arrived, _ = _moments(look, 0)
    return sum(moment < min(back_arrived) for moment in left)


def _parts(look: Look) -> int:
    return look.case.get("microbatches", 1)


def _losses(look: Look) -> tuple[object, float]:
    return returned(look)[-1], wanted(look)[-1]


#: mistakes that a pipeline can have in any order of its micro-batches
_OF_A_STEP = (
    Hint(
        "sum for mean",
        lambda look: _factor(_parts)(look),
        "All gradients are `microbatches` times too large. The loss of the whole batch is the "
        "mean of the micro-batches' losses: what has to be done to each of them before "
        "backward()?",
    ),
    Hint(
        "sum over elements",
        lambda look: any(
            _factor(lambda look, n=n: look.inputs[0]["targets"].size // n)(look)
            for n in (1, _parts(look))
        ),
        "All gradients are too large by the number of elements in the targets, those of a "
        "micro-batch or of the whole batch. F.mse_loss returns the mean over elements, unless "
        "told otherwise: take it as it comes.",
    ),
    Hint(
        "sum of the losses",
        lambda look: _parts(look) > 1
        and look.same(_losses(look)[1] * _parts(look), _losses(look)[0]),
        "The returned loss is the sum over the micro-batches: their mean is asked for.",
    ),
    Hint(
        "tensor for float",
        lambda look: isinstance(_losses(look)[0], np.ndarray),
        "The loss is to be a plain number: .item() makes one of a tensor with one element.",
    ),
    Hint(
        "loss elsewhere",
        lambda look: look.size > 1 and any(got is not None for got in returned(look)[:-1]),
        "Only the last rank knows the loss: the others return None.",
    ),
    Hint(
        "nothing returned",
        lambda look: _losses(look)[0] is None,
        "The last rank returned None: the mean loss is asked for. (It is rank size − 1, which "
        "is rank 0 where there is only one.)",
    ),
    Hint(
        "no gradients",
        _lost(_GRADIENTS),
        "Some parameters have no gradient: do they take part in a graph that backward() goes "
        "through, on every rank?",
    ),
    Hint(
        "gradients mixed up",
        lambda look: _right_at_the_end_alone(look),
        "The last stage's gradients are right, those in front of it are not. Each micro-batch "
        "has an output of its own and a gradient of its own: do the two that meet in "
        "backward() belong together? Both neighbours have to go through the micro-batches in "
        "the same order.",
    ),
    *hints.MESSAGES,
)  # fmt: skip


pipeline_step = Exercise(
    "pipeline_step", LAB, 5,
    make=_model,
    share=_own_part,
    call=_call_step,
    asks="In pipeline_step, the batch goes through the stages in `microbatches` equal parts, all "
    "of them forward and then all of them back; every gradient is the undivided model's, and the "
    "last rank returns the mean loss as a float.",
    visible=(
        Case(2, 1, {"widths": [3, 5, 2], "rows": [4], "microbatches": 2}),
        Case(4, 2, {"widths": [2, 6, 3, 4, 1], "rows": [12], "microbatches": 4}),
    ),
    rules=(
        *_MESSAGES,
        traffic.messages(
            lambda case: _chain(1, "microbatches")(case) + _chain(-1, "microbatches")(case)
        ),
        *_REQUESTS,
        _forward_first,
        _overlapping,
    ),
    hints=(
        _EARLY,
        Hint(
            "one micro-batch at a time",
            lambda look: look.size > 1 and _parts(look) > 1
            and _forward_first(look) is not None and _in_flight(look) == 1,
            "Each micro-batch goes forward and back before the next one begins, so only one rank "
            "works at any time. Two loops are needed: one in which all go forward, and after it "
            "one in which all come back.",
        ),
        Hint(
            "1F1B",
            lambda look: look.size > 1 and _parts(look) > 1
            and _forward_first(look) is not None and _in_flight(look) > 1,
            "This looks like 1F1B, one forward, one backward in turn: a good schedule, which needs "
            "less memory, but another one. GPipe is asked for here: no backward pass begins "
            "before the last micro-batch has gone forward.",
        ),
        Hint(
            "no overlap",
            lambda look: _overlapping(look) is not None,
            "Values and messages are right, but nobody works while the rank before does: send the "
            "output of a micro-batch as soon as you have it, before you receive the next one.",
        ),
        *_OF_A_STEP,
    ),
)  # fmt: skip

# what `one_f_one_b` shares
MAKE, GRADIENTS, EARLY, OF_A_STEP = _model, _GRADIENTS, _EARLY, _OF_A_STEP
RULES = (*_MESSAGES, *_REQUESTS)
stage_of, gradients_of, chain, microbatches = _stage, _gradients, _chain, _parts
