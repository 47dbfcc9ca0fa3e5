"""`split_layers`: which layers belong to which stage."""

from __future__ import annotations

import itertools

from distlab.exercises.exercise import Case, Exercise, Hint, Look

_LARGEST = "parameter count of its largest stage"
_LAYERS = "numbers of its stages' layers, end to end"
_KINDS = "types of its stages"


def _layers(case: Case) -> list[dict]:
    return [{"layers": case.params["layers"], "stages": case.params["stages"]}]


def _layer(of):
    """A layer of so many parameters: a number; "norm 4" has buffers too; a list is a block."""
    from torch import nn

    if isinstance(of, list):
        return nn.Sequential(*map(_layer, of))
    if isinstance(of, str):
        return nn.BatchNorm1d(int(of.split()[1]))
    return nn.Linear(of, 1, bias=False) if of else nn.ReLU()


def parameter_count(of) -> int:
    """How many parameters a layer has that `layers` describes."""
    if isinstance(of, list):
        return sum(map(parameter_count, of))
    return 2 * int(of.split()[1]) if isinstance(of, str) else of


def _call_split(function, rank, size, inputs):
    """Which layers the stages hold is named by their number in the model; −1 is no layer of it."""
    from torch import nn

    model = nn.Sequential(*map(_layer, inputs["layers"]))
    numbers = {id(layer): number for number, layer in enumerate(model)}
    stages = function(model, inputs["stages"])
    if not isinstance(stages, (list, tuple)):
        return {"returned": stages}
    members = [list(s.children()) if isinstance(s, nn.Module) else [] for s in stages]
    counts = [sum(p.numel() for layer in held for p in layer.parameters()) for held in members]
    return {
        "returned": f"{'list' if isinstance(stages, list) else 'tuple'} of {len(stages)}",
        _KINDS: ", ".join(sorted({_kind(stage) for stage in stages})),
        "number of empty stages": sum(not held for held in members),
        _LAYERS: [numbers.get(id(layer), -1) for held in members for layer in held],
        _LARGEST: max(counts, default=0),
    }


def _kind(stage) -> str:
    from torch import nn

    return "Sequential" if isinstance(stage, nn.Sequential) else type(stage).__name__


def _held(look: Look) -> list[int]:
    return look.got[0][_LAYERS]


def _largest(cuts: list[list]) -> int:
    return max(sum(map(parameter_count, part)) for part in cuts)


def _evenly(look: Look) -> list[list[list]]:
    """The ways to cut into equally many layers: NumPy's, torch.chunk's and by whole division, by
    where their stages begin.
    """
    layers, stages = look.case.params["layers"], look.case.params["stages"]
    number = len(layers)
    up, down, rest = -(-number // stages), number // stages, number % stages
    ways = [
        [stage * down + min(stage, rest) for stage in range(stages)],
        [min(stage * up, number) for stage in range(stages)],
        [stage * down for stage in range(stages)],
        [stage * number // stages for stage in range(stages)],
    ]
    return [
        [layers[begin:end] for begin, end in itertools.pairwise([*begins, number])]
        for begins in ways
    ]


exercise = Exercise(
    points=3,
    make=_layers,
    call=_call_split,
    group=False,
    asks="split_layers returns a list of `size` nn.Sequential stages that hold the model's own "
    "layers in their order, none of them empty, and whose largest has as few parameters as can be.",
    visible=(
        Case(1, 1, {"layers": [20, 0, 30, 0, 100, 0, 10], "stages": 2}),
        Case(1, 2, {"layers": [60, 0, [30, 0, 30], 0, 10, 10, 50], "stages": 3}),
    ),
    hints=(
        Hint(
            "no list",
            lambda look: "list of" not in str(look.got[0]["returned"]),
            "Return a list, one entry for each stage.",
        ),
        Hint(
            "plain lists for stages",
            lambda look: look.differs(_KINDS),
            "Each stage has to be an nn.Sequential, so that it can be called like the model. "
            "nn.Sequential(*layers) makes one of a list of layers.",
        ),
        Hint(
            "empty stage",
            lambda look: look.differs("number of empty stages"),
            "A stage without layers leaves its rank without work. Layers without parameters count "
            "as layers, and there are at least as many of them as stages.",
        ),
        Hint(
            "another number of stages",
            lambda look: look.differs("returned"),
            "`size` says how many stages there have to be, also where fewer would be as small.",
        ),
        Hint(
            "blocks taken apart",
            lambda look: len(_held(look)) > len(look.case.params["layers"]),
            "A block inside the model is one of its layers, and stays whole: list(model) gives the "
            "layers, model.modules() takes blocks apart. And no layer may stand in two stages.",
        ),
        Hint(
            "copies",
            lambda look: -1 in _held(look),
            "The stages hold other layers than the model: not copies, the same objects, so that "
            "training the stages trains the model.",
        ),
        Hint(
            "layers lost",
            lambda look: len(_held(look)) < len(look.case.params["layers"]),
            "Some layers are in no stage. Layers without parameters (ReLU, Flatten) belong to the "
            "model too; and where does the last stage end?",
        ),
        Hint(
            "another order",
            lambda look: look.differs(_LAYERS),
            "The stages, run one after the other, must be the model: keep its layers in their "
            "order, each stage a run of neighbours.",
        ),
        Hint(
            "equally many layers",
            lambda look: look.got[0][_LARGEST] in map(_largest, _evenly(look)),
            "The largest stage is as large as with equally many layers in each stage. Layers "
            "differ in size: count their parameters (elements, not tensors), and compare several "
            "places for the cuts.",
        ),
        Hint(
            "not the best cuts",
            lambda look: look.got[0][_LARGEST] > look.expected[0][_LARGEST],
            "There is a better place for the cuts: with these the largest stage has more "
            "parameters than it needs. Filling each stage up to the average can cut just before or "
            "just after a large layer, where the other would be better. The models are "
            "small: you can afford to compare many ways to cut.",
        ),
    ),
)
