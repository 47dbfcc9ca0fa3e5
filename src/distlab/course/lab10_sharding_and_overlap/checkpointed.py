"""`checkpointed`: activation checkpointing, judged beside the same stages in an `nn.Sequential`.

Random numbers on CPUs differ from machine to machine, so that twin runs on the same rank, and the
harness returns how far apart the two are.
"""

from __future__ import annotations

import functools
import gc
from collections import Counter

from distlab.exercises.compare import Tolerance
from distlab.exercises.exercise import Case, Exercise, Hint, Look

_SLACK = 12_000  # bytes that a segment may keep besides, for states of random generators
_PARAMETERS = "number of parameters that it lacks or has too many of"
_BEYOND = "bytes held after the forward pass beyond what may be kept"
_FEWER = "number of outputs that were to be kept and are not"
_TOO_OFTEN = "number of stages that ran more than twice in a step"
_ORDER = "number of segments that ran again out of their order"
_RANDOM = "distance of the next random numbers from the right ones"
_OUTPUT = "distance of the output from the right one"
_OF_INPUT = "distance of the input's gradient from the right one"
_OF_PARAMETERS = "distance of the parameters' gradients from the right ones"
_ONCE = "an nn.Module that is right in its first step alone"
_NEAR = 1e-5  # a difference up to which two results are equal
_COUNTS = (_PARAMETERS, _BEYOND, _FEWER, _TOO_OFTEN, _ORDER)
_GAPS = (_OUTPUT, _OF_INPUT, _OF_PARAMETERS, _RANDOM)


# inputs


def _stages(case: Case) -> list[dict]:
    """`stages`: "linear", "wide" (an inner layer four times as wide), "dropout", "tanh", "norm".

    `forwards`: passes before the backward pass. `leaf`: does the input require a gradient?
    """
    generator, shape = case.generator(), (2, case.get("forwards", 1), 128, 128)
    seed = int(generator.integers(1, 2**31))
    inputs, weights = generator.standard_normal(shape).astype(case.get("dtype", "float32"))
    return [
        {
            "stages": case.params["stages"],
            "every": case.params["every"],
            "width": shape[-1],
            "seed": seed,
            "leaf": case.get("leaf", True),
            "inputs": list(inputs),
            "weights": list(weights),
        }
    ]


# on a rank


def _made(inputs):
    """The stages, the same ones for the same seed."""
    import torch
    from torch import nn

    width, like = inputs["width"], inputs["inputs"][0]

    class Dropout(nn.Dropout):
        """Draws from the CPU's generator whatever its input's device: an answer need not save the
        state of any other.
        """

        def forward(self, input):
            if input.device.type == "cpu" or not self.training:
                return super().forward(input)
            drawn = super().forward(torch.ones(input.shape, dtype=input.dtype, device="cpu"))
            return input * drawn.to(input.device)

    def stage(name: str) -> nn.Module:
        if name == "linear":
            return nn.Sequential(nn.Linear(width, width), nn.Tanh())
        if name == "wide":
            return nn.Sequential(
                nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
            )
        return {"dropout": Dropout(0.4), "tanh": nn.Tanh(), "norm": nn.LayerNorm(width)}[name]

    torch.manual_seed(inputs["seed"])
    return [stage(name).to(like.device, like.dtype) for name in inputs["stages"]]


class _Log:
    """Which stage ran when, by its number; cleared between the passes."""

    def __init__(self, stages) -> None:
        self.ran: list[int] = []
        for number, stage in enumerate(stages):
            stage.register_forward_pre_hook(functools.partial(self._note, number))

    def _note(self, number: int, _module, _inputs) -> None:
        self.ran.append(number)

    def taken(self) -> list[int]:
        ran, self.ran = self.ran, []
        return ran


def _call(function, rank, size, inputs):
    from torch import nn

    twin = nn.Sequential(*_made(inputs))
    stages = _made(inputs)
    log = _Log(stages)
    module = function(list(stages), inputs["every"])
    if not isinstance(module, nn.Module):
        kind = "None" if module is None else f"a {type(module).__name__}"
        return {"returned": kind, **dict.fromkeys(_COUNTS, 0), **dict.fromkeys(_GAPS, 0.0)}
    parameters = [p for stage in stages for p in stage.parameters()]
    found = _step(module, parameters, inputs, log)
    expected = _step(twin, twin.parameters(), inputs, _Log(twin))
    gaps = {name: _apart(expected[name], found[name]) for name in _GAPS}
    without = [_under_no_grad(one, inputs) for one in (twin, module)]
    gaps[_OUTPUT] = max(gaps[_OUTPUT], _apart(*without))
    later = 0.0
    if len(inputs["inputs"]) > 1 and max(gaps.values()) <= _NEAR:
        later = _of_a_later_step(twin, module, parameters, inputs)
    return {
        "returned": _ONCE if later > _NEAR else "an nn.Module",
        _PARAMETERS: len({*map(id, parameters)} ^ {*map(id, module.parameters())}),
        **{name: found[name] for name in _COUNTS if name in found},
        **gaps,
    }


def _of_a_later_step(twin, module, parameters, inputs) -> float:
    """The largest difference in one more step, with passes in it that have no backward pass."""
    for parameter in (*twin.parameters(), *parameters):
        parameter.grad = None
    expected = _step(twin, twin.parameters(), inputs, _Log([]), besides=True)
    found = _step(module, parameters, inputs, _Log([]), besides=True)
    return max(_apart(expected[name], found[name]) for name in _GAPS)


def _under_no_grad(module, inputs) -> list:
    import torch

    torch.manual_seed(inputs["seed"] + 1)
    with torch.no_grad():
        return [module(inputs["inputs"][0])]


def _step(module, parameters, inputs, log: _Log, besides: bool = False) -> dict:
    """One step: as many forward passes as there are inputs, then one backward pass; `besides`: in
    between one forward pass whose output is not used, and one under `no_grad`.
    """
    import torch

    from distlab.training import memory

    every = inputs["every"]
    given = [x.clone().requires_grad_(inputs["leaf"]) for x in inputs["inputs"]]
    torch.manual_seed(inputs["seed"])
    log.taken()
    with memory.Storages(given[0].device.type) as used:
        outputs = [module(x) for x in given]
        gc.collect()  # what nobody can reach does not count
        held = used.now
    ran = Counter(log.taken())
    if besides:
        module(given[0])
        with torch.no_grad():
            module(given[0])
    loss = sum((y * w).sum() for y, w in zip(outputs, inputs["weights"], strict=True))
    kept = [y.detach().clone() for y in outputs]
    if loss.requires_grad:
        loss.backward()
    backward = log.taken()
    ran.update(backward)
    # the outputs of all segments but the last, and the module's own
    segments, output = len(given) * -(-len(inputs["stages"]) // every), given[0].nbytes
    may_be_kept = segments * (output + _SLACK) + len(given) * output  # and a copy of each input
    return {
        _OUTPUT: kept,
        _OF_INPUT: [x.grad for x in given],
        _OF_PARAMETERS: [p.grad for p in parameters],
        _RANDOM: [torch.rand(3, device="cpu")],
        _BEYOND: max(0, held - may_be_kept),
        _FEWER: max(0, round(segments - held / output)),
        _TOO_OFTEN: sum(times > 2 * len(given) for times in ran.values()),
        _ORDER: _out_of_order(backward, every, len(given)),
    }


def _out_of_order(ran: list[int], every: int, forwards: int) -> int:
    """How often a stage that ran again was in a later segment than the one before it.

    Not counted for several forward passes, in which the segments of each run again in turn.
    """
    if forwards > 1:
        return 0
    segments = [number // every for number in ran]
    return sum(later > sooner for sooner, later in zip(segments, segments[1:], strict=False))


def _apart(wanted: list, found: list) -> float:
    """The largest difference of two lists of tensors; infinite where one is missing."""
    most = 0.0
    for want, got in zip(wanted, found, strict=True):
        if want is None and got is None:
            continue
        if want is None or got is None or want.shape != got.shape:
            return float("inf")
        gap = float((want - got).abs().max()) / max(1.0, float(want.abs().max()))
        most = max(most, gap if gap == gap else float("inf"))
    return most


# hints


def _far(*names: str):
    return lambda look: any(look.left(name)[0] > 1e-4 for name in names)


_wrong_gradients = _far(_OF_PARAMETERS, _OF_INPUT)


def _some(name: str):
    return lambda look: look.left(name)[0] > 0


def _of(look: Look, key: str):
    return look.inputs[0][key]


_HINTS = (
    Hint(
        "first step alone",
        lambda look: look.returned == [_ONCE],
        "The first step is right. In the next one the module was called twice more before the "
        "backward pass, once for an output that is not used and once under torch.no_grad(), as in "
        "an evaluation, and the step differs from that of an nn.Sequential. What a forward pass "
        "notes (its input, the state of the random numbers) belongs to that pass, not to a list or "
        "a count of the module: not every pass has a backward pass that takes it out again.",
    ),
    Hint(
        "no module",
        lambda look: look.returned != ["an nn.Module"],
        "Return an nn.Module: a class that has the stages, and whose forward applies them.",
    ),
    Hint(
        "parameters not found",
        _some(_PARAMETERS),
        "The module's parameters() are not those of the stages. nn.Module finds only modules that "
        "are attributes: keep the stages in an nn.ModuleList or an nn.Sequential, not in a plain "
        "list, and not copies of them. Are all of them there, also where `every` does not divide "
        "their number?",
    ),
    Hint(
        "output differs",
        _far(_OUTPUT),
        "The output is not that of the stages one after another. Is one left out, at the end "
        "perhaps, where `every` does not divide their number? (eval() switches dropout off, and "
        "off it stays, in later passes too.)",
    ),
    Hint(
        "no gradient of the parameters",
        lambda look: look.left(_OF_PARAMETERS) == [float("inf")],
        "Parameters have no gradient after the backward pass. An input may need no gradient, and "
        "still the stages' parameters do: the first segment too is to be run again. "
        "(torch.utils.checkpoint with use_reentrant=True leaves it out.)",
    ),
    Hint(
        "random numbers differ",
        lambda look: (
            "dropout" in _of(look, "stages")
            and len(_of(look, "inputs")) == 1
            and not _far(_RANDOM)(look)
            and _wrong_gradients(look)
        ),
        "With dropout the gradients are wrong: when a segment runs again, its dropout has to draw "
        "the same numbers as the first time. torch.get_rng_state() and torch.set_rng_state() keep "
        "and restore what comes next.",
    ),
    Hint(
        "random numbers drawn anew",
        lambda look: (
            "dropout" in _of(look, "stages") and _far(_RANDOM)(look) and _wrong_gradients(look)
        ),
        "With dropout the gradients are wrong, and other random numbers come after the backward "
        "pass than after an nn.Sequential. When a segment runs again it has to draw the same "
        "numbers as the first time (torch.get_rng_state() and torch.set_rng_state() keep and "
        "restore what comes next), and to leave the generator where it found it.",
    ),
    Hint(
        "random numbers set back",
        _far(_RANDOM),
        "After the backward pass other random numbers come than after an nn.Sequential: running a "
        "segment again has to leave the generator where it found it.",
    ),
    Hint(
        "forward passes mixed up",
        lambda look: len(_of(look, "inputs")) > 1 and _wrong_gradients(look),
        "Two forward passes came before one backward pass, and the gradients are wrong: what a "
        "pass keeps (inputs, states of the random numbers) belongs to that pass, not to the "
        "module.",
    ),
    Hint(
        "one segment kept",
        lambda look: _some(_BEYOND)(look) and _keeps_one_alone(look),
        "What is in memory after the forward pass, and should not be, is about as large as the "
        "activations of one segment. Is there one that is not checkpointed, perhaps the last? "
        "(checkpoint_sequential leaves that out.)",
    ),
    Hint(
        "too much kept",
        _some(_BEYOND),
        "After the forward pass more is in memory than the outputs at the segments' ends. What "
        "runs outside of torch.no_grad() leaves its activations in autograd's graph; and a segment "
        "has `every` stages, so the outputs of stages every − 1, 2·every − 1, … stay.",
    ),
    Hint(
        "run too often",
        _some(_TOO_OFTEN),
        "A stage ran more than twice in a step: once forward, and once more when its segment's "
        "turn comes in the backward pass. Each segment begins from what was kept in front of it, "
        "not from the input.",
    ),
    Hint(
        "segments of another length",
        _some(_FEWER),
        "Fewer outputs are kept than there should be: `every` says how many stages a segment has, "
        "and not how many segments there are.",
    ),
    Hint(
        "segments out of order",
        _some(_ORDER),
        "In the backward pass the segments are to run again from the last to the first, each just "
        "before its own backward pass: otherwise all activations are in memory again. If they do, "
        "are they cut elsewhere? The first holds stages 0 … every − 1, and only the last may be "
        "shorter.",
    ),
    Hint(
        "wrong gradients",
        _wrong_gradients,
        "The output is right and gradients are not: the gradient of a segment's output goes into "
        "its backward pass, and that of its input comes out of it and goes on to the segment "
        "before. Every parameter gets its gradient once.",
    ),
)


#: what autograd's graph keeps for each kind of stage, its output included, in sizes of an output
_KEPT = {"wide": 9, "linear": 1, "dropout": 1.25, "tanh": 1, "norm": 1}


def _keeps_one_alone(look: Look) -> bool:
    """Is the excess about the activations of one segment, and not those of all segments?"""
    every, names = _of(look, "every"), _of(look, "stages")
    cuts = range(0, len(names), every)
    inner = [sum(_KEPT[name] for name in names[cut : cut + every]) - 1 for cut in cuts]
    passes, output = len(_of(look, "inputs")), _of(look, "inputs")[0].nbytes
    excess = look.left(_BEYOND)[0] / passes / output + len(cuts) * _SLACK / output + 1
    return any(abs(excess - one) < min(abs(excess - sum(inner)), one / 2) for one in inner)


exercise = Exercise(
    points=4,
    make=_stages,
    call=_call,
    group=False,
    tolerance=Tolerance(rtol=0.0, atol=_NEAR),
    asks="checkpointed(stages, every) returns an nn.Module that computes what "
    "nn.Sequential(*stages) does, keeps the output of every `every`-th stage alone, and runs the "
    "stages between them again in the backward pass.",
    visible=(
        Case(1, 1, {"stages": ["linear"] * 6, "every": 2}),
        Case(1, 2, {"stages": ["wide", "dropout", "linear", "norm", "wide"], "every": 2}),
        Case(
            1,
            3,
            {"stages": ["linear", "dropout", "linear"], "every": 2, "leaf": False, "forwards": 2},
        ),
    ),
    hints=_HINTS,
)
