"""`fsdp_step`: one step of fully sharded data parallel training, by hand.

What is watched besides values and traffic: how often `layer` is called, and how many layers'
parameters are whole in a rank's memory at the same time
(`distlab.course.lab10_sharding_and_overlap.gathered`).
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from distlab.course.lab10_sharding_and_overlap.flat import (
    by_one_factor,
    drawn_layers,
    pieces_of,
    shortened,
)
from distlab.course.lab10_sharding_and_overlap.rules import calls, others, stray, traffic_of
from distlab.exercises import hints
from distlab.exercises.exercise import Case, Exercise, Hint, Look, positional
from distlab.exercises.raised import Advice
from distlab.exercises.traffic import called

_CALLS = "number of calls of layer beyond two for each layer"
_MOST = "number of layers beyond two whose parameters were whole at once"


# inputs


def _model(case: Case) -> list[dict]:
    """`widths`: features before, between and after the layers. `still`: ranks whose batch is all
    zeros; the model then has no biases, so that their gradients are zero.
    """
    dtype, still, size = case.get("dtype", "float32"), case.get("still", []), case.size
    widths, rows = case.params["widths"], case.params["rows"]
    layers = drawn_layers(case.generator(), widths, dtype, biased=not still)
    cut = [pieces_of(layer, size) for layer in layers]
    # of each piece the part that belongs to the weight
    of_weight = [
        [piece[: max(0, weight.size - r * piece.size)] for r, piece in enumerate(pieces)]
        for pieces, (weight, _) in zip(cut, layers, strict=True)
    ]
    watched = max(widths) < 100  # looking for large weights in memory takes seconds
    made = []
    for rank in range(size):
        own = case.generator(rank)
        inputs, targets = (
            own.standard_normal((rows, width)) * (rank not in still)
            for width in (widths[0], widths[-1])
        )
        made.append(
            {
                "pieces": [pieces[rank] for pieces in cut],
                "shapes": [[part.shape for part in layer] for layer in layers],
                "inputs": inputs.astype(dtype),
                "targets": (targets * case.get("scale", 3)).astype(dtype),
                "others": [parts[:rank] + parts[rank + 1 :] for parts in of_weight] * watched,
            }
        )
    return made


# on a rank


def _call(function, rank, size, inputs):
    from distlab.course.lab10_sharding_and_overlap import layers
    from distlab.course.lab10_sharding_and_overlap.gathered import Gathered

    others = inputs.pop("others")
    called_with: Counter[tuple[int, ...]] = Counter()  # by the shape of the weight
    allowed = Counter(2 * [tuple(weight) for weight, _ in inputs["shapes"]])

    def told(weight) -> None:
        called_with[tuple(weight.shape)] += 1

    with Gathered(others) as seen, layers.watched(told):
        returned = positional(function, rank, size, inputs)
    return {
        "returned": shortened(returned),
        _CALLS: (called_with - allowed).total(),
        _MOST: max(seen.most - 2, 0),
    }


# traffic


def _in_order(look: Look) -> str | None:
    """The all-gathers and reduce-scatters of FSDP, in their order."""
    if look.size == 1:
        return None
    needed = ": all-gathers and reduce-scatters are all that is needed."
    if said := stray(look, "all_gather", "reduce_scatter", instead=needed, barriers=True):
        return said
    return next((said for rank in look.ranks if (said := _of_rank(look, rank))), None)


def _of_rank(look: Look, rank: int) -> str | None:
    """What is wrong with the order of one rank's collectives, if anything."""
    pieces = [piece.nbytes for piece in look.inputs[0]["pieces"]]
    count = len(pieces)
    events = traffic_of(look, rank, barriers=True)
    forward, backward = events[:count], events[count:]
    for number, event in enumerate(forward):
        if (event.op, event.nbytes) != ("all_gather", pieces[number]):
            return (
                f"{called(event)} as its operation {number + 1}: the forward pass gathers the "
                f"pieces of layer {number} there."
            )
    if len(forward) < count:
        return f"rank {rank} gathered {len(forward)} of {count} layers in its forward pass."
    gathers = [e for e in backward if e.op == "all_gather"]
    scatters = [e for e in backward if e.op == "reduce_scatter"]
    if len(scatters) != count:
        return f"rank {rank} called {len(scatters)} reduce-scatters for {count} layers."
    for number, event in zip(reversed(range(count)), scatters, strict=True):
        if event.nbytes != pieces[number] * look.size:
            return (
                f"{called(event)} of {event.nbytes} bytes where the gradients of layer {number} "
                f"with their padding have {pieces[number] * look.size}: a reduce-scatter for each "
                "layer, from the last to the first."
            )
    found = _layers_gathered(gathers, pieces)
    if not found:
        return (
            f"rank {rank} called {len(gathers)} all-gathers in its backward pass, and not one for "
            "each layer from the last to the first."
        )
    if any(_fits(backward, layers) for layers in found):
        return None
    return (
        f"rank {rank} gathered a layer in its backward pass too early or too late: each layer is "
        "gathered before its own reduce-scatter, and at most one layer ahead."
    )


def _layers_gathered(gathers, pieces: list[int]) -> list[list[int]]:
    """The lists of layers, in order, that the backward pass may have gathered, going by the bytes:
    all layers, perhaps without the last and the first.
    """
    count = len(pieces)
    backwards = list(reversed(range(count)))
    possible = [backwards[last : count - first] for last in (0, 1) for first in (0, 1)]
    nbytes = [event.nbytes for event in gathers]
    return [layers for layers in possible if [pieces[layer] for layer in layers] == nbytes]


def _fits(backward, layers: list[int]) -> bool:
    """Is each of these layers gathered before its own reduce-scatter, and not before that of the
    layer two after it?
    """
    gathered = iter(layers)
    left = sum(event.op == "reduce_scatter" for event in backward)  # layers without theirs
    for event in backward:
        if event.op == "reduce_scatter":
            left -= 1
        elif not left - 2 <= next(gathered) < left:
            return False
    return True


# hints


def _pairs(look: Look) -> list[tuple]:
    """(wanted, returned) of each rank that returned two things."""
    return [
        (want, got)
        for want, got in look.pairs()
        if isinstance(got, (list, tuple)) and len(got) == 2
    ]


def _gradients(look: Look) -> list[tuple[list, list]]:
    """(wanted, returned) gradients of each rank that returned a list of them beside its loss."""
    return [
        (want, list(got)) for (_, want), (_, got) in _pairs(look) if isinstance(got, (list, tuple))
    ]


def _losses(look: Look) -> list[tuple[float, object]]:
    return [(want, got) for (want, _), (got, _) in _pairs(look)]


def _plain_losses(look: Look) -> bool:
    return all(isinstance(got, (int, float)) for _, got in _losses(look))


def _right(look: Look, pairs: list[tuple]) -> bool:
    """Has every rank one of these (wanted, returned), and are they the same?"""
    return len(pairs) == look.size and all(look.same(want, got) for want, got in pairs)


def _times(look: Look, factor: float) -> bool:
    scaled = [([part * factor for part in want], got) for want, got in _gradients(look)]
    return look.size > 1 and _right(look, scaled)


def _own_gradients(look: Look) -> bool:
    """Did each rank return pieces of its own gradient (which is computed again here)?"""
    pairs = [(_of_rank_alone(look, rank), got) for rank, (_, got) in enumerate(_gradients(look))]
    return look.size > 1 and _right(look, pairs)


def _of_rank_alone(look: Look, rank: int) -> list[np.ndarray]:
    """The pieces of the gradients of this rank's own batch."""
    given = look.inputs[rank]
    weights, outputs = [], [given["inputs"]]
    for number, ((rows, columns), _) in enumerate(given["shapes"]):
        line = np.concatenate([pieces[number] for pieces in look.given("pieces")])
        weight, bias, _ = np.split(line, [rows * columns, rows * columns + rows])
        weights.append(weight.reshape(rows, columns))
        outputs.append(np.tanh(outputs[-1] @ weights[-1].T + bias))
    down = 2 * (outputs[-1] - given["targets"]) / outputs[-1].size
    pieces = []
    for number in reversed(range(len(weights))):
        down = down * (1 - outputs[number + 1] ** 2)
        gradients = [down.T @ outputs[number], down.sum(axis=0)]
        pieces.insert(0, pieces_of(gradients, look.size)[rank])
        down = down @ weights[number]
    return pieces


def _kind(gradient: object) -> tuple:
    """What two gradients have in common that differ in their values alone."""
    return type(gradient), getattr(gradient, "dtype", None), getattr(gradient, "shape", None)


def _elements(gradient: object) -> int:
    """Of a tensor, or of all tensors in a list."""
    parts = gradient if isinstance(gradient, (list, tuple)) else [gradient]
    return sum(part.size for part in parts if isinstance(part, np.ndarray))


def _turned_round(look: Look, want: list, got: list) -> bool:
    """Are these gradients those of the layers from the last to the first, by values or lengths?"""
    kinds, found = list(map(_kind, want)), list(map(_kind, got))
    return (kinds != found and kinds[::-1] == found) or (
        look.same(want[::-1], got) and not look.same(want, got)
    )


def _layers(look: Look) -> int:
    return len(look.inputs[0]["pieces"])


_HINTS = (
    hints.NOTHING,
    Hint(
        "a pair",
        lambda look: not _losses(look),
        "Two things are returned, `(loss, gradients)`: this rank's loss as a float, and a list "
        "with one 1-D piece for each layer.",
    ),
    Hint(
        "no list of gradients",
        lambda look: len(_gradients(look)) < len(_losses(look)),
        "The gradients are to be a list of tensors, one 1-D piece for each layer. (A generator or "
        "a map is none yet: list(…) makes one of it.)",
    ),
    Hint(
        "read before wait",
        lambda look: (
            any(hints.poisoned(got) for _, got in _gradients(look))
            or any(isinstance(got, float) and np.isnan(got) for _, got in _losses(look))
        ),
        "There are NaNs: a gathered or reduced buffer was used before its request had been waited "
        "for. (A buffer made by torch.empty holds anything too until something is written into "
        "it.)",
    ),
    Hint(
        "loss of all ranks",
        lambda look: (
            _right(look, _gradients(look))
            and look.size > 1
            and _plain_losses(look)
            and len({got for _, got in _losses(look)}) == 1
            and len({want for want, _ in _losses(look)}) > 1
        ),
        "The gradients are right. The loss is the same on every rank: this rank's own is asked "
        "for.",
    ),
    Hint(
        "sum for mean",
        lambda look: _right(look, _losses(look)) and _times(look, look.size),
        "The gradients are `size` times too large: a reduce-scatter adds up, and the mean over the "
        "ranks is asked for.",
    ),
    Hint(
        "divided twice",
        lambda look: _times(look, 1 / look.size),
        "The gradients are `size` times too small: they have been divided by the number of ranks "
        "twice.",
    ),
    Hint(
        "own gradients",
        _own_gradients,
        "Each rank has the gradient of its own batch alone: it has to go through a reduce-scatter, "
        "whose result is returned.",
    ),
    Hint(
        "too many layers at once",
        lambda look: any(look.left(_MOST)),
        "The full parameters of three or more layers were in memory at the same time: then nothing "
        "is saved. Who still holds them? Autograd keeps what a forward pass needs for its backward "
        "pass, unless that runs under torch.no_grad(). A list keeps what is in it, and a name that "
        "is left over from an earlier loop keeps its last layer.",
    ),
    Hint(
        "layer called too often",
        lambda look: any(look.left(_CALLS)),
        "`layer` is called once a layer in the forward pass, and once more in the backward pass: "
        "keep each layer's input, so that the backward pass need not begin at the first layer "
        "again.",
    ),
    Hint(
        "weight and bias apart",
        lambda look: (
            calls(look, "all_gather") > 2 * _layers(look)
            or calls(look, "reduce_scatter") > _layers(look)
        ),
        "There are more operations than two all-gathers and one reduce-scatter a layer. A layer's "
        "weight and bias are one piece: they travel together, cut and padded together.",
    ),
    Hint(
        "never gathered again",
        lambda look: look.size > 1 and calls(look, "all_gather") == _layers(look) > 2,
        "Each layer was gathered once. Between its forward and its backward pass a layer's full "
        "parameters are thrown away, so the backward pass gathers them again.",
    ),
    Hint(
        "all-reduce of gradients",
        lambda look: any(e.op == "all_reduce" and e.elements > 1 for e in look.events()),
        "An all-reduce gives every rank the whole gradient. Each rank needs its piece of it alone: "
        "that is a reduce-scatter, and half the bytes.",
    ),
    Hint(
        "another collective",
        lambda look: others(look, "all_gather", "reduce_scatter"),
        "An all-gather brings a layer's parameters together, a reduce-scatter takes its gradients "
        "apart: nothing else has to travel, the loss included.",
    ),
    Hint(
        "tensor for float",
        lambda look: not _plain_losses(look),
        "The loss is to be a plain float: .item() makes one of a tensor that holds a single value, "
        "and of a number of NumPy.",
    ),
    Hint(
        "another loss",
        lambda look: _right(look, _gradients(look)) and not _right(look, _losses(look)),
        "The gradients are right, and the loss is not: it is the mean squared error of this rank's "
        "batch.",
    ),
    Hint(
        "order of traffic",
        lambda look: _right(look, _gradients(look)) and _in_order(look) is not None,
        "Loss and gradients are right, and what travels is in another order, or of another size. "
        "Forward, each layer's piece is gathered as it is, first to last. Backward, last to first, "
        "each layer is gathered and its gradients are reduce-scattered, so that nobody keeps those "
        "of all layers.",
    ),
    Hint(
        "order of layers",
        lambda look: any(_turned_round(look, want, got) for want, got in _gradients(look)),
        "The gradients come from the last layer to the first, as the backward pass makes them. "
        "Return them in the order of the layers.",
    ),
    Hint(
        "gradients in full",
        lambda look: any(
            _elements(g) > max(map(_elements, want)) for want, got in _gradients(look) for g in got
        ),
        "A gradient is larger than a piece: return this rank's piece alone, cut and padded as "
        "shard_flat does it.",
    ),
    Hint(
        "losses summed",
        lambda look: by_one_factor(
            pair for pairs in _gradients(look) for pair in zip(*pairs, strict=True)
        ),
        "The gradients have the right direction and another length: the loss is the *mean* of the "
        "squared errors, over all elements of this rank's output.",
    ),
    Hint(
        "other gradients",
        lambda look: (
            _right(look, _losses(look))
            and not _right(look, _gradients(look))
            and all(
                list(map(_kind, want)) == list(map(_kind, got)) for want, got in _gradients(look)
            )
        ),
        "The loss is right, and gradients are not. What comes down from the layer above is the "
        "gradient of *this* layer's output; through tanh and the product it becomes those of the "
        "weight, the bias and the input, and the last goes on to the layer below. Then they are "
        "cut as shard_flat cuts, weight before bias, padding at the end.",
    ),
)


exercise = Exercise(
    points=6,
    make=_model,
    tuples=0,
    call=_call,
    deadline=30.0,  # seconds of a processor, of which a busy machine makes many
    asks="fsdp_step returns this rank's own loss and, for each layer, this rank's piece of the "
    "mean gradient; parameters are gathered layer by layer, and never more than two layers are "
    "whole.",
    visible=(
        Case(2, 1, {"widths": [3, 5, 4, 6, 3], "rows": 4}),
        Case(3, 2, {"widths": [4, 3, 6, 5], "rows": 3}),
    ),
    traffic=(_in_order,),
    hints=_HINTS,
    advice=(
        Advice(
            "gradient of another output",
            "Mismatch in shape: grad_output",
            "What is handed to backward has another shape than the output that it is handed to. "
            "Backward goes from the last layer to the first: each one gets the gradient of its own "
            "output, and hands on that of its input, which is the output of the layer below.",
        ),
    ),
)
