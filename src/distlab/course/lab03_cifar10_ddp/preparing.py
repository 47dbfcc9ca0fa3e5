"""Lab 03: seeds, the model and the share of the data of each rank."""

from __future__ import annotations

import contextlib
import random
import zlib
from typing import Any

import numpy as np

from distlab.course.lab03_cifar10_ddp.looks import LAB, same_on_all, was_left
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.raised import Advice

# --- set_random_seeds -----------------------------------------------------------------------------


def _seed_twice(function, rank, size, inputs):
    import torch

    def draw() -> dict[str, Any]:
        drawn = {
            "Python": random.random(),
            "NumPy": float(np.random.random()),
            "torch": torch.rand(3).tolist(),
        }
        if torch.cuda.is_available():
            drawn["CUDA"] = torch.rand(3, device="cuda").tolist()
        return drawn

    told: list[int] = []
    real = torch.cuda.manual_seed_all, torch.cuda.manual_seed

    def noting(seed_cuda):
        def seed(value):
            told.append(int(value))
            return seed_cuda(value)

        return seed

    torch.cuda.manual_seed_all, torch.cuda.manual_seed = map(noting, real)
    try:
        function(inputs["seed"])
        first = draw()
        draw()
        function(inputs["other"])
        between = draw()
        told.clear()
        function(inputs["seed"])
        again = draw()
    finally:
        torch.cuda.manual_seed_all, torch.cuda.manual_seed = real
    repeats = {name: first[name] == again[name] for name in ("Python", "NumPy", "torch")}
    repeats["CUDA"] = inputs["seed"] in told and first.get("CUDA") == again.get("CUDA")
    return {
        "repeats": repeats,
        "other seed": {name: first[name] != between[name] for name in ("Python", "NumPy", "torch")},
        "seed of CUDA": inputs["seed"] if inputs["seed"] in told else None,
    }


def _does_not_repeat(name: str):
    return lambda look: not look.got[0]["repeats"][name]


set_random_seeds = Exercise(
    "set_random_seeds", LAB, 2,
    make=lambda case: same_on_all(case, other=case.get("seed", case.number()) + 1),
    call=_seed_twice,
    asks="After set_random_seeds(seed), Python's random, NumPy and torch (CPU and CUDA) draw the "
    "same "
    "numbers whenever the seed is the same, and others when it is another.",
    visible=(Case(1, 0), Case(1, 31)),
    hints=(
        Hint(
            "Python not seeded", _does_not_repeat("Python"),
            "Python's own random module does not repeat: augmentation code often draws from it.",
        ),
        Hint(
            "NumPy not seeded", _does_not_repeat("NumPy"),
            "NumPy's global generator does not repeat. A generator object that you make and drop "
            "leaves the global one as it was.",
        ),
        Hint(
            "torch not seeded", _does_not_repeat("torch"),
            "torch's generator does not repeat: initial weights and dropout come from it. "
            "(torch.seed() draws a random seed, it does not set one.)",
        ),
        Hint(
            "CUDA not seeded", _does_not_repeat("CUDA"),
            "The generators of the GPUs were not seeded: they are others than the CPU's.",
        ),
        Hint(
            "seed ignored",
            lambda look: not all(look.got[0]["other seed"].values()),
            "Another seed gave the same numbers: is the argument used everywhere?",
        ),
    ),
    group=False,
)  # fmt: skip


# --- make_model -----------------------------------------------------------------------------------


@contextlib.contextmanager
def _no_downloads(asked: list[str]):
    """Note who asks for pretrained weights, and give an untrained network's instead."""
    import importlib

    from distlab.training.vision import models

    def instead(url, *args, **kwargs):
        asked.append(str(url))
        return models.resnet18().state_dict()

    places = [
        (importlib.import_module(name), "load_state_dict_from_url")
        for name in (
            "torch.hub",
            "torchvision._internally_replaced_utils",
            "torchvision.models._api",
        )
    ]
    places = [(module, name) for module, name in places if hasattr(module, name)]
    real = [getattr(module, name) for module, name in places]
    for module, name in places:
        setattr(module, name, instead)
    try:
        yield
    finally:
        for (module, name), was in zip(places, real, strict=True):
            setattr(module, name, was)


def _build_twice(function, rank, size, inputs):
    import torch

    asked: list[str] = []
    with _no_downloads(asked):
        model, other = function(inputs["num_classes"]), function(inputs["num_classes"])
    if not isinstance(model, torch.nn.Module):
        return {"returned": type(model).__name__}
    state = model.state_dict()
    entries = [f"{name} {tuple(value.shape)}" for name, value in state.items()]
    shapes = {
        name: list(state[name].shape) if name in state else None
        for name in ("conv1.weight", "layer4.1.bn2.running_var", "fc.weight", "fc.bias")
    }
    with torch.no_grad():
        output = list(model.eval()(torch.zeros(2, 3, 32, 32)).shape)
    return {
        "returned": "Module",
        "weights downloaded": bool(asked),
        "shapes": shapes,
        "number of entries": len(entries),
        "frozen parameters": [n for n, p in model.named_parameters() if not p.requires_grad][:3],
        "output's shape": output,
        "state dict's names and shapes": zlib.crc32("\n".join(entries).encode()),
        "second model": "the same one" if other is model else "another one",
    }


make_model = Exercise(
    "make_model", LAB, 2,
    make=lambda case: [dict(case.params) for _ in range(case.size)],
    call=_build_twice,
    asks="make_model returns torchvision's ResNet-18 with a head for num_classes classes, "
    "untrained "
    "and with every parameter trainable.",
    visible=(Case(1, 0, {"num_classes": 10}), Case(1, 0, {"num_classes": 3})),
    hints=(
        Hint(
            "no module", lambda look: look.got[0]["returned"] != "Module",
            "What came back is no model: is the network returned, and is the constructor called?",
        ),
        Hint(
            "weights downloaded", lambda look: look.got[0]["weights downloaded"],
            "This asks torchvision for pretrained weights: the lab trains from scratch, also where "
            "there is no network.",
        ),
        Hint(
            "parameters frozen", lambda look: bool(look.got[0]["frozen parameters"]),
            "Some parameters do not require a gradient: here nothing is frozen, DDP would not even "
            "look at them.",
        ),
        Hint(
            "one model for all calls", was_left("second model", "the same one"),
            "A second call returned the first call's model: build a new one each time.",
        ),
        Hint(
            "stem changed",
            lambda look: look.got[0]["shapes"]["conv1.weight"] != [64, 3, 7, 7]
            and look.got[0]["shapes"]["conv1.weight"] is not None,
            "The first convolution is another one. Small stems are popular for 32×32 images, but "
            "here the network is torchvision's own.",
        ),
        Hint(
            "wrong head",
            lambda look: look.got[0]["shapes"]["fc.weight"]
            != look.expected[0]["shapes"]["fc.weight"],
            "The last layer, fc, is not the one for this number of classes (1000 is ImageNet's).",
        ),
        Hint(
            "other names",
            lambda look: look.got[0]["number of entries"]
            != look.expected[0]["number of entries"],
            "Names or number of the state dict's entries are not resnet18's: another depth, a "
            "wrapper around it, or a head of several layers. A checkpoint would not fit.",
        ),
    ),
    group=False,
)  # fmt: skip


# --- make_train_loader ----------------------------------------------------------------------------


def _read_two_epochs(function, rank, size, inputs):
    import torch
    from torch.utils.data import DataLoader
    from torch.utils.data.distributed import DistributedSampler

    n = inputs["n"]
    dataset = torch.utils.data.TensorDataset(torch.arange(n), torch.arange(n) % 10)
    loader = function(dataset, rank, size, inputs["batch_size"], inputs["seed"])
    if not isinstance(loader, DataLoader):
        return {"returned": type(loader).__name__}
    sampler = loader.sampler
    if not isinstance(sampler, DistributedSampler):
        epochs = [[b[0].tolist() for b in loader]]
        return {"returned": "DataLoader", "sampler": type(sampler).__name__, "epochs": epochs}
    epochs = []
    for epoch in (0, 1):
        sampler.set_epoch(epoch)
        epochs.append([[int(i) for i in batch[0]] for batch in loader])
    return {
        "returned": "DataLoader",
        "sampler": "DistributedSampler",
        "share": [int(sampler.rank), int(sampler.num_replicas)],
        "epochs": epochs,
    }


def _batches(look: Look, rank: int, epoch: int = 0) -> list[list[int]]:
    return look.got[rank]["epochs"][epoch]


def _indices(look: Look, rank: int, epoch: int = 0) -> list[int]:
    return [i for batch in _batches(look, rank, epoch) for i in batch]


def _expected_count(look: Look, rank: int) -> int:
    return sum(map(len, look.expected[rank]["epochs"][0]))


make_train_loader = Exercise(
    "make_train_loader", LAB, 3,
    make=same_on_all,
    call=_read_two_epochs,
    asks="make_train_loader returns a DataLoader of batch_size samples per rank whose sampler is a "
    "shuffling DistributedSampler made from the arguments; nothing is dropped.",
    visible=(
        Case(2, 1, {"n": 21, "batch_size": 4}),
        Case(3, 2, {"n": 12, "batch_size": 2}),
    ),
    hints=(
        Hint(
            "no loader", lambda look: look.got[0]["returned"] != "DataLoader",
            "Return a torch.utils.data.DataLoader.",
        ),
        Hint(
            "shuffled without sampler", lambda look: look.got[0]["sampler"] != "DistributedSampler",
            "loader.sampler is no DistributedSampler: every rank would go through the whole "
            "dataset "
            "by itself. The sampler divides and shuffles; the loader then must not.",
        ),
        Hint(
            "wrong share",
            lambda look: any(look.got[r]["share"] != [r, look.size] for r in look.ranks),
            "The sampler's share is not this rank's: it has to be told rank and number of ranks, "
            "each in its place (num_replicas is the number of ranks).",
        ),
        Hint(
            "dropped",
            lambda look: any(
                len(_indices(look, r)) < _expected_count(look, r) for r in look.ranks
            ),
            "Samples were left out: both the sampler and the loader have a drop_last, and neither "
            "may drop here.",
        ),
        Hint(
            "not shuffled",
            lambda look: all(
                _indices(look, r) == [i % look.inputs[0]["n"] for i in
                                      range(r, r + look.size * _expected_count(look, r), look.size)]
                for r in look.ranks
            ),
            "The order is that of the dataset: the sampler does not shuffle.",
        ),
        Hint(
            "wrong batch size",
            lambda look: any(
                [len(b) for b in _batches(look, r)]
                != [len(b) for b in look.expected[r]["epochs"][0]]
                for r in look.ranks
            ),
            "batch_size is what each rank takes at a time, not what all take together.",
        ),
        Hint(
            "seed not used",
            lambda look: any(
                _indices(look, r) != [i for b in look.expected[r]["epochs"][0] for i in b]
                for r in look.ranks
            ),
            "The shares are fine, but the order is not the one of this seed: the sampler has an "
            "argument for it, the same on all ranks.",
        ),
    ),
    advice=(
        Advice(
            "shares not given", "process group has not been initialized",
            "A DistributedSampler that is told neither the number of ranks nor the rank asks the "
            "process group for both, and here there is none: tell it both, they are arguments of "
            "this exercise.",
        ),
        Advice(
            "rank and size swapped", r"Invalid rank \d+, rank should be in",
            "The sampler takes num_replicas, the number of ranks, before rank. With their names "
            "nothing can be swapped.",
        ),
        Advice(
            "shuffled twice", "mutually exclusive with shuffle",
            "The sampler shuffles, and the loader takes its order from there: shuffle belongs to "
            "one of the two.",
        ),
    ),
    group=False,
)  # fmt: skip
