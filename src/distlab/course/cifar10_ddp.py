"""Lab 03: what its exercises ask.

Datasets and models here are tiny and made on the rank. What a function does besides returning (who
wrote a file, which samples a model saw, what a sampler was told) is noted and compared too.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import random
import shutil
import sys
import tempfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from distlab.compare import Tolerance
from distlab.exercises import Case, Exercise, Hint, Look

LAB = "03-cifar10-ddp"


def _same_on_all(case: Case, **more) -> list[dict]:
    return [{"seed": case.seed, **case.params, **more} for _ in range(case.size)]


def _left(name: str, value: Any):
    """A sign: some rank left `value` under `name`."""
    return lambda look: any(look.got[r][name] == value for r in look.ranks)


def _differs(look: Look, name: str) -> bool:
    return any(not look.same(look.expected[r][name], look.got[r][name]) for r in look.ranks)


def _returned(look: Look, values: list[float], decimals: float = 1e-4) -> bool:
    """Did rank r return values[r], for every r?"""
    got = [look.got[r]["returned"] for r in look.ranks]
    return all(
        isinstance(g, float) and abs(g - v) <= decimals * max(abs(v), 1e-3)
        for g, v in zip(got, values, strict=True)
    )


_no_float = Hint(
    "no float",
    lambda look: any(not isinstance(look.got[r]["returned"], (float, int)) for r in look.ranks),
    "The figure is to be a plain Python number, on every rank: .item() makes one of a tensor that "
    "holds a single value.",
)


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
    }


def _does_not_repeat(name: str):
    return lambda look: not look.got[0]["repeats"][name]


set_random_seeds = Exercise(
    "set_random_seeds", LAB, 2,
    make=lambda case: _same_on_all(case, other=case.seed + 1),
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

    from distlab.vision import models

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
            "one model for all calls", _left("second model", "the same one"),
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
    make=_same_on_all,
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
    group=False,
)  # fmt: skip


# --- wrap -----------------------------------------------------------------------------------------


def _linear(case: Case) -> list[dict]:
    features, n = case.get("features", 3), case.get("n", 4)
    return [
        {
            "weight": case.draw(r, [2, features]),
            "bias": case.draw(r, [2]),
            "batch": case.draw(10 + r, [n, features]),
            "index": case.get("index", 0),
        }
        for r in range(case.size)
    ]


def _small_model(weight, bias):
    import torch
    from torch import nn

    model = nn.Sequential(nn.Linear(weight.shape[1], weight.shape[0]))
    with torch.no_grad():
        model[0].weight.copy_(weight)
        model[0].bias.copy_(bias)
    return model


def _wrap_and_step(function, rank, size, inputs):
    from torch.nn.parallel import DistributedDataParallel

    from distlab import world

    device = world.here().device
    model = _small_model(inputs["weight"], inputs["bias"])
    wrapped = function(model, device)
    if not isinstance(wrapped, DistributedDataParallel):
        return {"returned": type(wrapped).__name__}
    inside = wrapped.module
    own = not hasattr(inside, "module") and [p.shape for p in inside.parameters()] == [
        p.shape for p in model.parameters()
    ]
    result = {
        "returned": "DistributedDataParallel",
        "wrapped module": "the model" if own else "something else",
        "device of the parameters": "the rank's" if
        all(p.device == device for p in inside.parameters()) else "another",
        "device_ids": "fitting" if _ids(wrapped.device_ids) ==
        ([] if device.type == "cpu" else [device.index]) else "others",
        "parameters": [p.detach().clone() for p in inside.parameters()],
    }  # fmt: skip
    wrapped(inputs["batch"].to(device)).square().mean().backward()
    result["gradients"] = [p.grad.clone() for p in inside.parameters()]
    result["GPU"] = _pretend_gpu(function, inputs)
    return result


def _ids(device_ids) -> list[int | str]:
    """device_ids as plain numbers: torch takes devices, names and numbers."""
    import torch

    found = []
    for one in device_ids or []:
        one = torch.device(one) if isinstance(one, str) else one
        found.append(one.index if isinstance(one, torch.device) else one)
    return found


def _pretend_gpu(function, inputs) -> dict[str, Any]:
    """What a rank with a GPU would do with it, on a machine that may have none."""
    import torch
    from torch import nn
    from torch.nn.parallel import DistributedDataParallel

    index = inputs["index"]
    device = torch.device("cuda", index)
    seen: dict[str, Any] = {"moved to": None, "device_ids": None, "moved": "never"}

    def moved(model, where=None, *args, device=None, **kwargs):
        where = device if where is None else where
        where = index if where is None else where
        where = torch.device("cuda", where) if isinstance(where, int) else torch.device(where)
        if where.type == "cuda" and where.index is None:
            where = torch.device("cuda", current[0])
        seen["moved to"] = str(where)
        if seen["moved"] == "never":
            seen["moved"] = "before wrapping" if seen["device_ids"] is None else "after wrapping"
        return model

    def wrap(self, module, device_ids=None, *args, **kwargs):
        nn.Module.__init__(self)
        self.module, self.device_ids = module, device_ids
        seen["device_ids"] = _ids(device_ids)

    current = [0]

    def select(which):
        found = torch.device("cuda", which) if isinstance(which, int) else torch.device(which)
        current[0] = found.index or 0

    with contextlib.ExitStack() as stack:
        for owner, name, value in (
            (nn.Module, "to", moved), (nn.Module, "cuda", moved),
            (DistributedDataParallel, "__init__", wrap),
            (torch.cuda, "set_device", select), (torch.cuda, "is_available", lambda: True),
            (torch.cuda, "device_count", lambda: index + 1),
            (torch.cuda, "current_device", lambda: current[0]),
        ):  # fmt: skip
            stack.callback(setattr, owner, name, getattr(owner, name))
            setattr(owner, name, value)
        function(_small_model(inputs["weight"], inputs["bias"]), device)
    return seen


wrap = Exercise(
    "wrap", LAB, 3,
    make=_linear,
    call=_wrap_and_step,
    asks="wrap moves the model to the device and returns it inside DistributedDataParallel, with "
    "device_ids on a GPU and without on a CPU.",
    visible=(Case(2, 1), Case(4, 2, {"features": 5, "index": 1})),
    hints=(
        Hint(
            "no DDP", lambda look: look.got[0]["returned"] != "DistributedDataParallel",
            "What came back is no DistributedDataParallel module: is the wrapped model returned?",
        ),
        Hint(
            "wrapped twice", lambda look: look.got[0]["wrapped module"] != "the model",
            "Inside DDP there is something other than the model that was given.",
        ),
        Hint(
            "not moved",
            lambda look: any(look.got[r]["GPU"]["moved to"] is None for r in look.ranks),
            "With a GPU as device the model was never moved there.",
        ),
        Hint(
            "moved too late", lambda look: look.got[0]["GPU"]["moved"] == "after wrapping",
            "With a GPU as device the model was moved after it was wrapped: DDP builds its buckets "
            "on the device where it finds the parameters.",
        ),
        Hint(
            "wrong GPU", lambda look: any(
                look.got[r]["GPU"]["moved to"] != look.expected[r]["GPU"]["moved to"]
                for r in look.ranks
            ),
            "With a GPU as device the model went to another one: use the device that is given, "
            "neither the rank's number nor the default.",
        ),
        Hint(
            "no device_ids", lambda look: any(
                look.got[r]["GPU"]["device_ids"] == [] for r in look.ranks
            ),
            "With a GPU as device, DDP was given no device_ids: they name the one GPU of this "
            "process.",
        ),
        Hint(
            "wrong device_ids", lambda look: any(
                look.got[r]["GPU"]["device_ids"] != look.expected[r]["GPU"]["device_ids"]
                for r in look.ranks
            ),
            "With a GPU as device, device_ids is not that GPU: the device knows its own index.",
        ),
    ),
)  # fmt: skip


# --- train_epoch ----------------------------------------------------------------------------------


def _shares(case: Case) -> list[dict]:
    """Per rank: equally many batches, the last ones of unequal sizes."""
    batch, batches = case.get("batch_size", 4), case.get("batches", 2)
    shared = case.generator()
    weights = [shared.standard_normal(shape).astype("float32") * 0.5
               for shape in ((6, 12), (6,), (3, 6), (3,))]  # fmt: skip
    inputs = []
    for rank in range(case.size):
        n = batch * batches
        if not case.get("equal"):
            n -= (rank * 2) % (batch - 1)
        generator = case.generator(rank)
        inputs.append(
            {
                "images": generator.standard_normal((n, 3, 2, 2)).astype("float32") * (1 + rank),
                "labels": generator.integers(0, 3, n),
                "weights": weights, "batch_size": batch, "lr": case.get("lr", 0.1),
                "epoch": case.get("epoch", 0), "momentum": case.get("momentum", 0.0),
            }
        )  # fmt: skip
    return inputs


def _network(weights):
    import torch
    from torch import nn

    model = nn.Sequential(
        nn.Flatten(), nn.Linear(12, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 3)
    )
    with torch.no_grad():
        for layer, (weight, bias) in ((1, weights[:2]), (4, weights[2:])):
            model[layer].weight.copy_(weight)
            model[layer].bias.copy_(bias)
    return model


def _noting_sampler(dataset, told: list):
    """A sampler like DistributedSampler that notes what epoch it was told, and when it was used."""
    import torch
    from torch.utils.data.distributed import DistributedSampler

    class Sampler(DistributedSampler):
        def __init__(self):
            super().__init__(dataset, num_replicas=1, rank=0, seed=5)

        def set_epoch(self, epoch):
            self.epoch = epoch

        def __iter__(self):
            told.append(int(self.epoch))
            generator = torch.Generator().manual_seed(5 + int(self.epoch))
            return iter(torch.randperm(len(dataset), generator=generator).tolist())

        def __len__(self):
            return len(dataset)

    sampler = Sampler()
    sampler.epoch = -1  # nobody has told it yet
    return sampler


def _train_one_epoch(function, rank, size, inputs):
    import torch
    from torch.nn.parallel import DistributedDataParallel
    from torch.utils.data import DataLoader, TensorDataset

    from distlab import recorder, world

    device = world.here().device
    dataset = TensorDataset(inputs["images"], inputs["labels"])
    told: list[int] = []
    sampler = _noting_sampler(dataset, told)
    loader = DataLoader(dataset, inputs["batch_size"], sampler=sampler)
    with recorder.paused():
        bare = _network(inputs["weights"]).to(device)
        model = DistributedDataParallel(
            bare, device_ids=[device.index] if device.type == "cuda" else None
        )
    model.eval()
    optimizer = torch.optim.SGD(model.parameters(), lr=inputs["lr"], momentum=inputs["momentum"])
    epoch = inputs["epoch"]
    result = function(model, loader, optimizer, device, epoch)
    return {
        "returned": result,
        "sampler's epoch": told,
        "mean of BatchNorm": bare[2].running_mean.clone(),
        "parameters": [p.detach().clone() for p in bare.parameters()],
    }


def _told_no_epoch(look: Look) -> bool:
    return any(set(look.got[r]["sampler's epoch"]) == {-1} for r in look.ranks)


def _unequal_results(look: Look) -> bool:
    got = [look.got[r]["returned"] for r in look.ranks]
    return any(abs(g - got[0]) > 1e-6 for g in got)


def _values_right(look: Look) -> bool:
    """Everything is right but what is returned."""
    return not _differs(look, "parameters") and not _differs(look, "sampler's epoch")


train_epoch = Exercise(
    "train_epoch", LAB, 4,
    make=_shares,
    call=_train_one_epoch,
    asks="train_epoch trains one epoch in train mode, tells the sampler the epoch first, and "
    "returns "
    "on every rank the mean loss over all samples of all ranks, each taken before its step.",
    visible=(
        Case(2, 1, {"epoch": 3}),
        Case(3, 2, {"epoch": 0, "batches": 3}),
        Case(2, 3, {"epoch": 1, "lr": 0.5, "equal": True}),
    ),
    hints=(
        Hint(
            "epoch passed twice",
            lambda look: any(len(look.got[r]["sampler's epoch"]) != 1 for r in look.ranks),
            "One call is one pass over the loader: here it was begun another number of times.",
        ),
        Hint(
            "set_epoch forgotten", _told_no_epoch,
            "The sampler was not told the epoch before the loop over the loader began: every "
            "epoch would "
            "have the same order.",
        ),
        Hint(
            "wrong epoch", lambda look: _differs(look, "sampler's epoch"),
            "The sampler was told another epoch than the given one, or only after the loop had "
            "begun.",
        ),
        _no_float,
        Hint(
            "eval mode",
            lambda look: any(
                not np.asarray(look.got[r]["mean of BatchNorm"]).any() for r in look.ranks
            ),
            "BatchNorm has not moved its running mean: the model was in eval mode. Whoever "
            "evaluated "
            "before left it there.",
        ),
        Hint(
            "no step",
            lambda look: all(
                look.same(list(look.inputs[r]["weights"][:1]), look.got[r]["parameters"][:1])
                for r in look.ranks
            ),
            "The parameters are those from before: the optimizer has not made a step.",
        ),
        Hint(
            "each rank its own", lambda look: _values_right(look) and _unequal_results(look),
            "Training is right, but each rank returned its own figure: the ranks have to put "
            "theirs "
            "together, and each gets the result.",
        ),
        Hint(
            "sum over ranks",
            lambda look: _values_right(look) and look.size > 1
            and _returned(
                look, [look.expected[r]["returned"] * look.size for r in look.ranks], 0.2
            ),
            "Training is right, but the figure is about as many times too large as there are "
            "ranks: "
            "a sum over ranks is no mean.",
        ),
        Hint(
            "not weighted by samples",
            lambda look: _values_right(look)
            and _returned(look, [look.expected[r]["returned"] for r in look.ranks], 0.15)
            and len({len(i["images"]) for i in look.inputs}) > 1,
            "Training is right and the figure nearly: batches and ranks do not have equally many "
            "samples, so that a mean of means counts some samples more than others.",
        ),
        Hint(
            "loss not that before the step", _values_right,
            "Training is right, but the figure is another than the cross-entropy before each step.",
        ),
        Hint(
            "gradients kept",
            lambda look: not _differs(look, "sampler's epoch") and _differs(look, "parameters")
            and not _unequal_parameters(look),
            "The ranks agree on parameters that are not right: look at the order of zero_grad, "
            "backward and step, at the loss, and at what the loss is divided by.",
        ),
        Hint(
            "ranks drift apart",
            lambda look: _unequal_parameters(look),
            "The ranks end with unequal parameters: the forward pass has to go through the DDP "
            "module, not through the module inside.",
        ),
    ),
)  # fmt: skip


def _unequal_parameters(look: Look) -> bool:
    return any(
        not look.same(look.got[0]["parameters"], look.got[r]["parameters"]) for r in look.ranks
    )


# --- evaluate -------------------------------------------------------------------------------------


def _labelled(case: Case) -> list[dict]:
    generator = case.generator()
    n = case.get("n", 10)
    images = generator.standard_normal((n, 3, 2, 2)).astype("float32")
    images[:, 0, 0, 0] = np.arange(n)  # a sample's number travels in its first pixel
    weight = generator.standard_normal((3, 11)).astype("float32")
    scores = images.reshape(n, -1)[:, 1:] @ weight.T
    labels = scores.argmax(1)
    wrong = generator.random(n) < np.linspace(0.1, 0.7, n)  # ranks' shares differ in accuracy
    labels = np.where(wrong, (labels + 1) % 3, labels).astype("int64")
    return [
        {"images": images, "labels": labels, "weight": weight,
         "batch_size": case.get("batch_size", 4), "wrapped": case.get("wrapped", False)}
        for _ in range(case.size)
    ]  # fmt: skip


def _marked_model(weight, n: int):
    """A linear model that notes which samples it saw, and in which mode."""
    import torch
    from torch import nn

    class Marked(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(11, 3, bias=False)
            self.norm = nn.BatchNorm1d(11, affine=False)
            self.norm.running_mean.zero_()
            # shared, so that nothing is lost where another process evaluates
            self.__dict__["marks"] = mmap.mmap(-1, 2 * max(n, 1))

        def forward(self, x):
            x = x.flatten(1)
            for i in x[:, 0].round().long().tolist():
                place = i + (n if self.training else 0)
                self.marks[place] = min(self.marks[place] + 1, 255)
            return self.linear(self.norm(x[:, 1:]) if len(x) > 1 or not self.training else x[:, 1:])

    model = Marked()
    with torch.no_grad():
        model.linear.weight.copy_(weight)
    return model


def _count_evaluated(function, rank, size, inputs):
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel
    from torch.utils.data import TensorDataset

    from distlab import recorder, world

    device, n = world.here().device, len(inputs["labels"])
    dataset = TensorDataset(inputs["images"], inputs["labels"])
    bare = _marked_model(inputs["weight"], n).to(device)
    model = bare
    if inputs["wrapped"]:
        with recorder.paused():
            model = DistributedDataParallel(
                bare, device_ids=[device.index] if device.type == "cuda" else None
            )
    model.train()
    result = function(model, dataset, rank, size, inputs["batch_size"], device)
    marks = torch.tensor(list(bare.marks[: 2 * n]), dtype=torch.int64)
    with recorder.paused():
        dist.all_reduce(marks)
    return {
        "returned": result,
        "samples seen in train mode": int(marks[n:].sum()),
        "times each sample was evaluated": marks[:n].clone(),
        "BatchNorm statistics": "as they were" if not bare.norm.running_mean.any() else "moved",
    }


def _times(look: Look) -> np.ndarray:
    return np.asarray(look.got[0]["times each sample was evaluated"])


evaluate = Exercise(
    "evaluate", LAB, 5,
    make=_labelled,
    call=_count_evaluated,
    asks="evaluate returns the exact accuracy over the whole dataset, the same float on every "
    "rank; "
    "the model is in eval mode and each sample is evaluated by exactly one rank.",
    visible=(
        Case(2, 1, {"n": 11}),
        Case(3, 2, {"n": 10, "batch_size": 2, "wrapped": True}),
        Case(4, 3, {"n": 3}),
    ),
    tolerance=Tolerance(1e-5, 1e-6),
    hints=(
        Hint(
            "train mode", lambda look: look.got[0]["samples seen in train mode"] > 0,
            "Samples went through the model in train mode: dropout would drop, and BatchNorm used "
            "and changed the statistics of the batch.",
        ),
        Hint(
            "samples counted twice",
            lambda look: (_times(look) > 1).any() and (_times(look) >= 1).all()
            and _times(look).min() < look.size,
            "Some samples were evaluated twice: a DistributedSampler pads its shares to equal "
            "lengths. For training that is harmless, for a test score it is not.",
        ),
        Hint(
            "everybody evaluates everything",
            lambda look: (_times(look) == look.size).all() and look.size > 1,
            "Every rank evaluated the whole dataset: the ranks are to share the work.",
        ),
        Hint(
            "samples left out", lambda look: (_times(look) == 0).any(),
            "Some samples were evaluated by nobody: look at drop_last, and at shares that are cut "
            "to n // size.",
        ),
        _no_float,
        Hint(
            "NaN", lambda look: any(
                isinstance(value := look.got[r]["returned"], float) and value != value
                for r in look.ranks
            ),
            "A rank may have no sample at all: nothing divided by nothing is no number.",
        ),
        Hint(
            "a count or percent", lambda look: any(look.got[r]["returned"] > 1 for r in look.ranks),
            "An accuracy lies between 0 and 1.",
        ),
        Hint(
            "each rank its own", _unequal_results,
            "The ranks returned different figures: correct answers and samples have to be added up "
            "over the ranks, and all need the result.",
        ),
        Hint(
            "mean of ranks",
            lambda look: (_times(look) == 1).all(),
            "Every sample was evaluated once, but the figure is not correct/all: ranks and batches "
            "with few samples must not weigh as much as those with many.",
        ),
    ),
)  # fmt: skip


# --- checkpoints ----------------------------------------------------------------------------------


class _PathText(str):
    """A path that is a string and can what a `pathlib.Path` can: the contract fixes neither."""

    def __getattr__(self, name):
        return getattr(Path(str.__str__(self)), name)

    def __truediv__(self, other):
        return Path(str.__str__(self)) / other


def _trained(case: Case) -> list[dict]:
    """A model's weights and an optimizer's momentum, each rank its own, and others to overwrite."""
    width = case.get("width", 4)
    return [
        {
            "seed": case.seed * 100 + rank, "shared": case.seed, "width": width,
            "epoch": case.get("epoch", 2), "wrapped": case.get("wrapped", False),
            "file": case.get("file", "older"),
        }
        for rank in range(case.size)
    ]  # fmt: skip


def _model_and_optimizer(seed: int, width: int, lr: float):
    """A model with BatchNorm and an SGD with momentum that has made a step, out of a seed."""
    import torch
    from torch import nn

    generator = np.random.default_rng(seed)

    def filled(tensor):
        values = generator.standard_normal(tuple(tensor.shape)).astype("float32")
        return torch.from_numpy(np.asarray(values)).to(tensor)

    model = nn.Sequential(nn.Linear(3, width), nn.BatchNorm1d(width), nn.Linear(width, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    with torch.no_grad():
        for tensor in (*model.parameters(), model[1].running_mean):
            tensor.copy_(filled(tensor))
        for parameter in model.parameters():
            parameter.grad = filled(parameter)
    optimizer.step()
    optimizer.zero_grad()
    return model, optimizer


def _wrapped(model, wanted: bool):
    from torch.nn.parallel import DistributedDataParallel

    from distlab import recorder, world

    device = world.here().device
    model = model.to(device)
    if not wanted:
        return model
    with recorder.paused():
        return DistributedDataParallel(
            model, device_ids=[device.index] if device.type == "cuda" else None
        )


def _state(model, optimizer) -> dict[str, Any]:
    """What a checkpoint has to bring back, in a form that no version of torch changes."""
    bare = getattr(model, "module", model)
    return {
        "model": {name: value.clone() for name, value in bare.state_dict().items()},
        "momentum": [
            optimizer.state[p].get("momentum_buffer") for p in bare.parameters()
        ],
        "learning rate": float(optimizer.param_groups[0]["lr"]),
    }  # fmt: skip


class _Audit:
    """Files opened for writing, renamed or removed below a folder, as Python reports them."""

    def __init__(self) -> None:
        self.folder, self.events, self._added = "", [], False

    def __call__(self, event: str, args: tuple) -> None:
        if not self.folder or event not in ("open", "os.rename", "os.remove", "os.truncate"):
            return
        with contextlib.suppress(Exception):
            names = [
                os.path.abspath(os.fspath(a)) for a in args[: 2 if event == "os.rename" else 1]
            ]
            if event == "open" and not _writes(args):
                return
            if any(name.startswith(self.folder) for name in names):
                self.events.append((event, *names))

    @contextlib.contextmanager
    def watching(self, folder: Path):
        if not self._added:
            sys.addaudithook(self)  # it cannot be taken out again
            self._added = True
        self.folder, self.events = str(folder), []
        try:
            yield
        finally:
            self.folder = ""


def _writes(args: tuple) -> bool:
    mode, flags = (*args, None, None)[1:3]
    if isinstance(mode, str):
        return any(letter in mode for letter in "wax+")
    return bool((flags or 0) & (os.O_WRONLY | os.O_RDWR))


_audit = _Audit()


def _save_watched(function, rank, size, inputs):
    """Save into a folder of this rank's own, where an older checkpoint lies that is held open."""
    import torch

    model, optimizer = _model_and_optimizer(inputs["seed"], inputs["width"], lr=0.25)
    model = _wrapped(model, inputs["wrapped"])
    folder = Path(os.path.realpath(tempfile.mkdtemp(prefix="checkpoint-")))
    path = folder / "model.pth"
    older = b"an older checkpoint, whole " * 40
    try:
        path.write_bytes(older)
        with path.open("rb") as held, _audit.watching(folder):
            failing = inputs["file"] == "failing"
            if failing:
                _save_without_room(function, path, model, optimizer, inputs["epoch"])
            else:
                function(_PathText(path), model, optimizer, inputs["epoch"])
            events = list(_audit.events)
            kept = held.read() == older
        result: dict[str, Any] = {"older file": _fate(path, events, kept, older, failing)}
        changed = not path.exists() or path.read_bytes() != older
        if failing:
            return result
        others = [name for name in os.listdir(folder) if name != path.name]
        if rank:
            written = changed or others or any(event[0] == "open" for event in events)
            return {"files": "written" if written else "none written"}
        result["files"] = "written" if changed else "none written"
        result["checkpoint"] = _content(path) if changed else None
        result["optimizer"] = None
        if changed and isinstance(result["checkpoint"], dict):
            result["optimizer"] = _restored(torch, path)
        return result
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _fate(path: Path, events: list, kept: bool, older: bytes, failing: bool) -> str:
    """What became of the file that lay there before."""
    if failing and (not path.exists() or path.read_bytes() != older):
        return "lost when a save failed"
    if not kept:
        return "overwritten in place"
    for event, *names in events:
        if event == "os.remove" and names[0] == str(path):
            return "removed before the new one was there"
        if event == "os.rename" and names[0] == str(path):
            return "moved away before the new one was there"
        if event in ("open", "os.truncate") and names[0] == str(path):
            return "overwritten in place"
    return "whole at every moment"


def _save_without_room(function, path: Path, model, optimizer, epoch: int) -> None:
    """Save where no file may grow beyond 32 kB: any save of a larger model fails midway."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (32_768, hard))
    try:
        function(_PathText(path), model, optimizer, epoch)
    except NotImplementedError:
        raise
    except Exception:  # that it fails is right; what it leaves behind is asked
        pass
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def _content(path: Path) -> Any:
    """The checkpoint in the file, without its optimizer, whose form varies with torch."""
    import torch

    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        return f"a file that torch.load cannot read ({type(error).__name__})"
    if not isinstance(content, dict):
        return f"a {type(content).__name__}"
    return {
        "keys": sorted(map(str, content)),
        "model": dict(content["model"]) if isinstance(content.get("model"), dict) else None,
        "epoch": content.get("epoch"),
    }


def _restored(torch, path: Path) -> Any:
    """An optimizer's momentum and rate, brought back from the file."""
    content = torch.load(path, map_location="cpu", weights_only=True)
    if not isinstance(content.get("optimizer"), dict) or not isinstance(content.get("model"), dict):
        return None
    weight = next(iter(content["model"].values()), None)
    if not isinstance(weight, torch.Tensor) or weight.dim() != 2:
        return None
    model, optimizer = _model_and_optimizer(0, weight.shape[0], lr=1.0)
    try:
        optimizer.load_state_dict(content["optimizer"])
    except Exception:
        return "not a state dict of this optimizer"
    state = _state(model, optimizer)
    return {"momentum": state["momentum"], "learning rate": state["learning rate"]}


def _older(look: Look) -> list[str]:
    return [look.got[r].get("older file", "") for r in look.ranks]


save_checkpoint = Exercise(
    "save_checkpoint", LAB, 4,
    make=_trained,
    call=_save_watched,
    asks="save_checkpoint lets rank 0 alone write the bare model's state dict, the optimizer's "
    "and the "
    "epoch just finished, so that at every moment a whole checkpoint lies at the path.",
    visible=(
        Case(2, 1), Case(3, 2, {"wrapped": True, "epoch": 0}),
        Case(1, 3, {"file": "failing", "width": 6000}),
    ),
    hints=(
        Hint(
            "every rank writes",
            lambda look: any(look.got[r]["files"] == "written" for r in look.ranks if r),
            "Other ranks than 0 wrote too: on a shared disk they write over each other.",
        ),
        Hint(
            "nothing written", lambda look: look.got[0].get("files") == "none written",
            "After the call there was no new checkpoint at the path.",
        ),
        Hint(
            "lost when a save failed", lambda look: "lost when a save failed" in _older(look),
            "A save that failed midway (disk full) took the older checkpoint along. Write beside "
            "it "
            "first, and let the new file take the old one's place in one step.",
        ),
        Hint(
            "overwritten in place", lambda look: "overwritten in place" in _older(look),
            "The older checkpoint was written over in place: a job that is killed in the middle "
            "has "
            "neither. Write beside it first; one system call puts a finished file in another's "
            "place.",
        ),
        Hint(
            "gap", lambda look: any("before the new one" in was for was in _older(look)),
            "The older file was taken away before the new one was in its place: for a moment there "
            "is none. There is a call that replaces a file in one step.",
        ),
        Hint(
            "no state dict", lambda look: isinstance(look.got[0]["checkpoint"], str)
            and "cannot read" in look.got[0]["checkpoint"],
            "torch.load refuses the file: it holds whole objects where state dicts should be.",
        ),
        Hint(
            "module. in the names",
            lambda look: any(
                name.startswith("module.") for name in look.got[0]["checkpoint"]["model"]
            ),
            "The names begin with `module.`: that is the DDP wrapper's state dict. Save the module "
            "inside, so that also a single process can load it.",
        ),
        Hint(
            "wrong keys",
            lambda look: look.got[0]["checkpoint"]["keys"] != ["epoch", "model", "optimizer"],
            'The file holds something other than a dict of "model", "optimizer" and "epoch".',
        ),
        Hint(
            "next epoch",
            lambda look: look.got[0]["checkpoint"]["epoch"]
            == look.expected[0]["checkpoint"]["epoch"] + 1,
            "Save the epoch that was just finished; which one is next is the loader's business.",
        ),
        Hint(
            "objects saved", lambda look: look.got[0]["checkpoint"]["model"] is None
            or not isinstance(look.got[0]["optimizer"], dict),
            "Save state dicts, not the objects themselves.",
        ),
    ),
)  # fmt: skip


def _load_watched(function, rank, size, inputs):
    """Load a file that the course wrote (or spoilt) into another model and optimizer."""
    from distlab import world

    kind, device = inputs["file"], world.here().device
    folder = Path(os.path.realpath(tempfile.mkdtemp(prefix="checkpoint-")))
    path = folder / "model.pth"
    try:
        _lay_down(path, kind, inputs)
        model, optimizer = _model_and_optimizer(inputs["shared"] + 7, inputs["width"], lr=0.5)
        model = _wrapped(model, inputs["wrapped"])
        if kind in ("older", "from a GPU"):
            epoch = function(_PathText(path), model, optimizer, device)
            return {"returned": epoch, **_state(model, optimizer), "mode": model.training}
        raised = None
        try:
            function(_PathText(path), model, optimizer, device)
        except NotImplementedError:
            raise
        except Exception as error:
            raised = error
        if kind == "missing":
            missing = isinstance(raised, FileNotFoundError)
            told = "FileNotFoundError" if missing else type(raised).__name__
        elif raised is None:
            told = "nothing raised"
        else:
            told = "with the path" if str(path) in str(raised) else "without the path"
        return {"exception": told, **_state(model, optimizer)}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _lay_down(path: Path, kind: str, inputs: dict) -> None:
    """The file of a case, at `path`."""
    import torch
    from torch import serialization

    if kind == "missing":
        return
    model, optimizer = _model_and_optimizer(inputs["shared"], inputs["width"], lr=0.125)
    content: Any = {
        "model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": inputs["epoch"],
    }  # fmt: skip
    if kind == "text":
        path.write_text("<html>this is no checkpoint</html>\n")
        return
    if kind == "another dict":
        content = {"state_dict": content["model"], "best_accuracy": 0.5}
    elif kind == "without optimizer":
        del content["optimizer"]
    elif kind == "list":
        content = [1, 2, 3]
    tag = serialization.location_tag
    if kind == "from a GPU":
        serialization.location_tag = lambda storage: "cuda:0"
    try:
        torch.save(content, path)
    finally:
        serialization.location_tag = tag
    if kind == "truncated":
        os.truncate(path, path.stat().st_size // 2)
    elif kind == "empty":
        os.truncate(path, 0)


def _kind(look: Look) -> str:
    return look.case.get("file", "older")


def _state_wrong(look: Look) -> bool:
    return any(_differs(look, name) for name in ("model", "momentum", "learning rate"))


load_checkpoint = Exercise(
    "load_checkpoint", LAB, 4,
    make=_trained,
    call=_load_watched,
    asks="load_checkpoint brings model and optimizer back on every rank's own device and returns "
    "the "
    "next epoch; a file that is no whole checkpoint gives an exception that names it, and nothing "
    "is changed.",
    visible=(
        Case(2, 1), Case(2, 2, {"wrapped": True, "file": "from a GPU", "epoch": 0}),
        Case(1, 3, {"file": "missing"}), Case(1, 4, {"file": "truncated"}),
        Case(1, 5, {"file": "another dict"}),
    ),
    hints=(
        Hint(
            "not FileNotFoundError", lambda look: _kind(look) == "missing"
            and look.got[0]["exception"] != "FileNotFoundError",
            "A file that is not there has its own exception, FileNotFoundError: whoever resumes "
            "wants "
            "to tell a first start from a spoilt file.",
        ),
        Hint(
            "spoilt file taken", lambda look: look.got[0].get("exception") == "nothing raised",
            "The file is no checkpoint of this lab, and no exception said so.",
        ),
        Hint(
            "path not named", lambda look: look.got[0].get("exception") == "without the path",
            "The exception does not say which file is spoilt: catch what torch.load (or a missing "
            "entry) raises and raise one of your own, with the path in its message.",
        ),
        Hint(
            "half loaded", lambda look: "exception" in look.got[0] and _state_wrong(look),
            "The exception came too late: model or optimizer were changed before it. See that "
            "everything is there first, then load.",
        ),
        Hint(
            "rank 0 alone",
            lambda look: look.size > 1 and not look.same(
                look.got[0]["model"], look.got[look.size - 1]["model"]
            ),
            "Not every rank has loaded: each reads the file itself.",
        ),
        Hint(
            "no int", lambda look: type(look.got[0].get("returned", 0)) is not int,
            "Return the next epoch as a plain int.",
        ),
        Hint(
            "same epoch again",
            lambda look: look.got[0]["returned"] == look.expected[0]["returned"] - 1,
            "The file has the epoch that was finished; the one to return is the next.",
        ),
        Hint(
            "model not loaded", lambda look: _differs(look, "model"),
            "The model is not the one from the file (buffers of BatchNorm included).",
        ),
        Hint(
            "optimizer not loaded",
            lambda look: _differs(look, "momentum") or _differs(look, "learning rate"),
            "The optimizer is not the one from the file: its momentum belongs to the training as "
            "much as the weights.",
        ),
    ),
)  # fmt: skip

EXERCISES = [
    set_random_seeds, make_model, make_train_loader, wrap,
    train_epoch, evaluate, save_checkpoint, load_checkpoint,
]  # fmt: skip
