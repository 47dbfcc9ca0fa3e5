"""`accumulate`: many micro-batches behind one update, and how they are watched.

The model notes every forward and backward pass, so that "each micro-batch its own" can be told from
one large batch, or from graphs that are all kept until one backward pass at the end.
"""

from __future__ import annotations

import numpy as np

from distlab.exercises import hints
from distlab.exercises.compare import counted
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.rank import world
from distlab.rank.models import gradients, in_ddp, linear, parameters

_FEATURES, _OUTPUTS = 6, 3


# inputs


def _microbatches(case: Case) -> list[dict]:
    hidden, dtype = case.get("width", 8), case.get("dtype", "float32")
    shared = case.generator()
    shapes = ((hidden, _FEATURES), (hidden,), (_OUTPUTS, hidden), (_OUTPUTS,))
    weights = [(shared.standard_normal(shape) * 0.5).astype(dtype) for shape in shapes]
    return [
        {
            "weights": weights,
            **_drawn(case, rank, dtype),
            "loss": case.get("loss", "mse"),
            "buckets": case.get("buckets", "one"),
        }
        for rank in range(case.size)
    ]


def _drawn(case: Case, rank: int, dtype: str) -> dict:
    generator = case.generator(rank)
    inputs, targets = [], []
    for turn, n in enumerate(case.get("batches", [4, 4])):
        # later micro-batches are larger in value too: how they are weighted then shows
        inputs.append((generator.standard_normal((n, _FEATURES)) * (1 + turn)).astype(dtype))
        if case.get("loss", "mse") == "mse":
            targets.append((generator.standard_normal((n, _OUTPUTS)) + rank).astype(dtype))
        else:
            targets.append(generator.integers(0, _OUTPUTS, n))
    return {"inputs": inputs, "targets": targets}


# on a rank


class _Passes:
    """The forward and backward passes that a model went through since it was last cleared."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.forward: list[int] = []  # samples of each
        self.backward = 0
        self.alive = self.most_alive = 0  # graphs that no backward pass has gone through yet

    def went_forward(self, samples: int) -> None:
        self.forward.append(samples)
        self.alive += 1
        self.most_alive = max(self.most_alive, self.alive)

    def went_backward(self, _gradient) -> None:
        self.backward += 1
        self.alive -= 1


def _watched(weights, passes: _Passes):
    """A small network that tells `passes` what it goes through."""
    from torch import nn

    class Watched(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.Sequential(linear(*weights[:2]), nn.Tanh(), linear(*weights[2:]))

        def forward(self, inputs):
            outputs = self.layers(inputs)
            if outputs.requires_grad:
                passes.went_forward(len(inputs))
                outputs.register_hook(passes.went_backward)
            return outputs

    return Watched()


def _accumulate(function, rank, size, inputs):
    from torch.nn import functional

    from distlab.rank import recording

    device = world.here().device
    batches = [
        (x.to(device), y.to(device))
        for x, y in zip(inputs["inputs"], inputs["targets"], strict=True)
    ]
    loss_fn = functional.mse_loss if inputs["loss"] == "mse" else functional.cross_entropy
    passes = _Passes()
    small = {"bucket_cap_mb": 0.0002} if inputs["buckets"] == "many" else {}
    model = in_ddp(_watched(inputs["weights"], passes), **small)
    with recording.paused():
        # two steps: after the first one DDP settles its buckets, and the second one leaves
        # gradients behind
        last = _of_last_alone(model, batches, loss_fn)
        loss_fn(model(batches[0][0]), batches[0][1]).backward()
    passes.clear()
    before = gradients(model.parameters())
    returned = function(model, batches, loss_fn)
    return {
        "gradients": gradients(model.parameters()),
        "returned": returned,
        "forward passes": sorted(passes.forward),
        "number of backward passes": passes.backward,
        "number of graphs held at once": passes.most_alive,
        "parameters": parameters(model),
        "model": "synchronising" if model.require_backward_grad_sync else "not synchronising",
        # the same whatever the function did, and so never wrong: hints compare with them
        "before": before,
        "last": last,
    }


def _of_last_alone(model, batches, loss_fn) -> list:
    """What the last micro-batch alone adds to the gradients: a hint wants to know."""
    inputs, targets = batches[-1]
    share = len(inputs) / sum(len(x) for x, _ in batches)
    (loss_fn(model(inputs), targets) * share).backward()
    return gradients(model.parameters())


# rules and hints


def _reduced(look: Look, rank: int) -> list:
    """DDP's own all-reduces on a rank."""
    return [e for e in look.records[rank].events if e.op == "all_reduce" and e.internal]


def _times_reduced(look: Look) -> list[float]:
    """How often each rank's gradients went through DDP's all-reduce."""
    whole = sum(g.nbytes for g in look.asked("gradients")[0])
    return [sum(e.nbytes for e in _reduced(look, rank)) / whole for rank in look.ranks]


def _each_bucket_once(look: Look) -> str | None:
    for rank, times in enumerate(_times_reduced(look)):
        if times == 1:
            continue
        calls, batches = len(_reduced(look, rank)), len(look.inputs[rank]["inputs"])
        if not calls:
            return f"rank {rank}: DDP reduced no bucket at all, and each should be reduced once."
        return (
            f"rank {rank}: DDP reduced its gradients {times:g} times, in "
            f"{counted(calls, 'all-reduce')}, while {batches} micro-batch"
            f"{'es' if batches != 1 else ''} went through it: each bucket should be reduced once."
        )
    return None


def _gradients_are(look: Look, wrong: list[list[np.ndarray]]) -> bool:
    """Did every rank end with these gradients, and are they not the right ones?"""
    return all(
        look.same(wrong[rank], got) and not look.same(wrong[rank], want)
        for rank, (want, got) in enumerate(look.pairs("gradients"))
    )


def _scaled(look: Look, factor: float) -> bool:
    return _gradients_are(look, [[g * factor for g in want] for want in look.asked("gradients")])


def _sizes(look: Look) -> list[int]:
    return [len(x) for x in look.inputs[0]["inputs"]]


def _unequal(look: Look) -> bool:
    return len(set(_sizes(look))) > 1


def _one_for_all(losses: list) -> bool:
    """Did all ranks return the same loss?"""
    floats = all(isinstance(loss, float) for loss in losses)
    return floats and max(losses) - min(losses) < 1e-6 * max(map(abs, losses))


_HINTS = (
    Hint(
        "nothing returned",
        lambda look: hints.NOTHING.shows(look) and look.right_but("returned"),
        "The gradients are right. Return the mean loss too.",
    ),
    Hint(
        "one large batch",
        lambda look: look.got[0]["forward passes"] == [sum(_sizes(look))] != _sizes(look),
        "All samples went through the model in one forward pass: that is the memory of the large "
        "batch, which accumulation is there to save.",
    ),
    Hint(
        "one backward for all",
        lambda look: look.got[0]["number of graphs held at once"] > 1,
        "Several forward passes came before a backward pass, so that all their activations were "
        "held at once: let each micro-batch go forward and backward before the next one.",
    ),
    Hint(
        "a micro-batch twice",
        lambda look: len(look.got[0]["forward passes"]) > len(_sizes(look)),
        "The model saw more forward passes than there are micro-batches. Does the loop inside the "
        "with block leave out the one that goes through the model after it?",
    ),
    Hint(
        "reduced every micro-batch",
        lambda look: _times_reduced(look)[0] == len(_sizes(look)) > 1,
        "DDP reduces in every backward pass whose forward pass did not run under no_sync(): the "
        "forward pass has to be inside the with block too, of all micro-batches but the last.",
    ),
    Hint(
        "never reduced",
        lambda look: not any(_times_reduced(look)),
        "No bucket was reduced: every rank has gradients of its own. One of the micro-batches, the "
        "last one, goes through the DDP module itself, outside no_sync().",
    ),
    Hint(
        "reduced several times",
        lambda look: _times_reduced(look)[0] > 1,
        "DDP reduced more than once: all micro-batches but the last go through the model under "
        "no_sync(), the last one alone outside of it.",
    ),
    Hint(
        "gradients missing",
        lambda look: any(g is None for found in look.left("gradients") for g in found),
        "Parameters have no gradient when the function returns: they are what it is called for, "
        "and the caller takes the step.",
    ),
    Hint(
        "stepped",
        lambda look: look.differs("parameters"),
        "The parameters have changed: leave the step to the caller.",
    ),
    Hint(
        "sum of micro-batches",
        lambda look: not _unequal(look) and len(_sizes(look)) > 1
        and _scaled(look, len(_sizes(look))),
        "The gradients are as many times too large as there are micro-batches: backward() adds up, "
        "and a mean is asked for.",
    ),
    Hint(
        "gradients from before",
        lambda look: _gradients_are(look, [
            [g + b for g, b in zip(want["gradients"], want["before"], strict=True)]
            for want in look.expected
        ]),
        "What backward() had left in .grad before this call is still in there: backward() adds to "
        "it. Clear the gradients first.",
    ),
    Hint(
        "cleared between",
        lambda look: len(_sizes(look)) > 1
        and _gradients_are(look, look.asked("last")),
        "Only the last micro-batch is in the gradients: clear them once, before the first one, not "
        "in the loop.",
    ),
    Hint(
        "reduced too early",
        lambda look: look.size > 1 and look.right_but("gradients", "returned")
        and not look.same(*look.left("gradients")[:2]),
        "The ranks end with different gradients: what backward() added after DDP's all-reduce has "
        "stayed on its own rank. It is the last micro-batch, not an earlier one, that goes through "
        "the model outside no_sync().",
    ),
    Hint(
        "mean of means",
        lambda look: _unequal(look) and look.right_but("gradients", "returned"),
        "With micro-batches of equal size this may be right. Here they are unequal, and each "
        "sample has to count the same: how many of all samples does a micro-batch hold? (It is a "
        "pair of inputs and targets, so its own len is 2.)",
    ),
    Hint(
        "divided by ranks",
        lambda look: look.size > 1 and _scaled(look, 1 / look.size),
        "The gradients are as many times too small as there are ranks: DDP has already averaged "
        "over them.",
    ),
    Hint(
        "tensor for float",
        lambda look: any(map(hints.holds_a_number, look.returned)) and look.right_but("returned"),
        "The gradients are right. The loss is to be a plain float: .item() makes one of a tensor "
        "that holds a single value (and lets go of its graph).",
    ),
    Hint(
        "mean over ranks",
        lambda look: look.size > 1 and look.right_but("returned") and _one_for_all(look.returned),
        "The gradients are right. The loss is the same on every rank: this rank's own is asked "
        "for.",
    ),
    Hint(
        "another loss",
        lambda look: look.right_but("returned"),
        "The gradients are right, and the loss is not: it is the mean over all samples of all "
        "micro-batches of this rank, before anything is scaled twice or left out.",
    ),
    Hint(
        "wrong scale",
        lambda look: look.right_but("gradients", "returned"),
        "The passes and the traffic are right, the gradients are not: look at the factor that each "
        "micro-batch's loss is multiplied by, and at when the gradients are cleared.",
    ),
)  # fmt: skip


exercise = Exercise(
    points=5,
    make=_microbatches,
    call=_accumulate,
    asks="accumulate leaves in every parameter the gradient of the mean loss over all samples of "
    "all micro-batches, each of which has its own forward and backward pass while DDP reduces each "
    "bucket once, and returns this rank's mean loss.",
    visible=(
        Case(2, 1, {"batches": [4, 4, 4]}),
        Case(2, 2, {"batches": [6, 1, 3]}),
        Case(3, 3, {"batches": [5], "loss": "cross_entropy"}),
    ),
    rules=(_each_bucket_once,),
    unrecorded=True,
    hints=_HINTS,
)
