"""Lab 02: what its exercises ask.

Weights are part of a case's inputs: on the ranks every `nn.Linear` of a `ToyModel` starts from
them, whatever the random numbers, and on each rank from others. Who forgets that all ranks begin
with rank 0's is then seen.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from distlab.compare import Tolerance
from distlab.exercises import Case, Exercise, Hint, Look

LAB = "02-toy-model"
PATIENCE = 2.0  # seconds that a rank waits for the others outside of any process group
_SHAPES = ((10, 10), (10,), (5, 10), (5,))  # of a ToyModel's parameters


# what the harnesses of this lab share


def _meet(name: str, rank: int, size: int) -> None:
    """Wait for the other ranks without a process group, by files in the run's folder."""
    folder = Path(os.environ["DISTLAB_RUN"])
    (folder / f"{name}.{rank}").touch()
    deadline = time.monotonic() + PATIENCE
    for other in range(size):
        while not (folder / f"{name}.{other}").exists() and time.monotonic() < deadline:
            time.sleep(0.002)


def _weights(case: Case, rank: int, salt: int = 0) -> list[np.ndarray]:
    generator = np.random.default_rng([case.seed, 7, rank + 1, salt])
    return [generator.uniform(-0.4, 0.4, shape).astype("float32") for shape in _SHAPES]


@contextlib.contextmanager
def _starting_from(weights):
    """Let the layers of every ToyModel that is made meanwhile start from these weights."""
    import torch

    own = torch.nn.Linear.reset_parameters
    table = {(10, 10): weights[:2], (5, 10): weights[2:]}

    def reset_parameters(layer) -> None:
        pinned = table.get(tuple(layer.weight.shape))
        if pinned is None or layer.bias is None:
            own(layer)
            return
        with torch.no_grad():
            layer.weight.copy_(pinned[0])
            layer.bias.copy_(pinned[1])

    torch.nn.Linear.reset_parameters = reset_parameters
    try:
        yield
    finally:
        torch.nn.Linear.reset_parameters = own


def _forward(weights, inputs):
    hidden = np.maximum(inputs @ weights[0].T + weights[1], 0)
    return hidden, hidden @ weights[2].T + weights[3]


def _loss(weights, inputs, targets) -> float:
    return float(((_forward(weights, inputs)[1] - targets) ** 2).mean())


def _alone(weights, batches, lr: float, pile_up: bool = False) -> list[np.ndarray]:
    """One process, no communication: what hints hold the mistakes of a training loop against."""
    weights = [w.astype("float64") for w in weights]
    before = [0.0] * 4
    for inputs, targets in batches:
        hidden, outputs = _forward(weights, inputs)
        down = 2 * (outputs - targets) / outputs.size
        back = (down @ weights[2]) * (hidden > 0)
        gradients = [back.T @ inputs, back.sum(0), down.T @ hidden, down.sum(0)]
        if pile_up:
            gradients = [g + b for g, b in zip(gradients, before, strict=True)]
        before = gradients
        weights = [w - lr * g for w, g in zip(weights, gradients, strict=True)]
    return [w.astype("float32") for w in weights]


def _ranks_differ(look: Look, part) -> bool:
    return any(not look.same(part(look.got[0]), part(look.got[r])) for r in look.ranks)


# setup


_FOUND = (
    "default process group", "choice of the back end", "address of the rendezvous",
    "sum of a one from each rank",
)  # fmt: skip
_MISLEADING = "127.0.0.2"  # reaches this machine too, so that a mistake shows and does not hang


def _setup_inputs(case: Case) -> list[dict]:
    return [{"gpus": case.get("gpus", 0)} for _ in range(case.size)]


@contextlib.contextmanager
def _pretending(gpus: int, asked: list[str]):
    """A machine with this many GPUs, where gloo takes NCCL's part; notes what was asked for."""
    from unittest import mock

    import torch
    import torch.distributed as dist
    from torch.distributed import distributed_c10d as c10d

    make = c10d._new_process_group_helper

    def helper(size, rank, ranks, backend, *args, **kwargs):
        name = str(backend).lower()
        if name == "undefined":  # torch then takes what the machine has
            name = "nccl" if gpus else "gloo"
        asked.append("nccl" if "nccl" in name else name)
        kwargs.pop("device_id", None)
        return make(size, rank, ranks, c10d.Backend("gloo"), *args, **kwargs)

    def count() -> int:
        return gpus

    def available() -> bool:
        return gpus > 0

    replaced = [
        (torch.cuda, "_is_compiled", available), (torch.cuda, "_cached_device_count", gpus),
        (torch.cuda, "device_count", count), (torch.cuda, "is_available", available),
        (torch.cuda, "set_device", lambda device: None), (torch.cuda, "init", lambda: None),
        (torch.accelerator, "device_count", count), (torch.accelerator, "is_available", available),
        (torch._C, "_cuda_getDeviceCount", count), (dist, "is_nccl_available", lambda: True),
        (c10d, "is_nccl_available", lambda: True), (c10d, "_new_process_group_helper", helper),
    ]  # fmt: skip
    with contextlib.ExitStack() as stack:
        for where, name, value in replaced:
            stack.enter_context(mock.patch.object(where, name, value, create=True))
        yield


def _told_port(turn: int, rank: int) -> int:
    """A free port that rank 0 has found."""
    import socket

    file = Path(os.environ["DISTLAB_RUN"], f"port.{turn}")
    if rank == 0:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        file.with_suffix(".new").write_text(str(port))
        file.with_suffix(".new").rename(file)
        return port
    deadline = time.monotonic() + PATIENCE
    while not file.exists() and time.monotonic() < deadline:
        time.sleep(0.002)
    return int(file.read_text())


def _group_as_found(port: int, asked: list[str]) -> dict:
    import torch
    import torch.distributed as dist
    from torch.distributed import distributed_c10d as c10d

    from distlab import recorder

    if not dist.is_initialized():
        return dict.fromkeys(_FOUND)
    store = c10d._get_default_store()
    while hasattr(store, "underlying_store"):
        store = store.underlying_store
    host, at = getattr(store, "host", type(store).__name__), getattr(store, "port", None)
    host = "127.0.0.1" if host == "localhost" else host
    total = torch.ones(1)
    with recorder.paused():
        dist.all_reduce(total)
    values = (
        f"rank {dist.get_rank()} of {dist.get_world_size()}", asked[-1] if asked else "",
        f"{host}, {'this port' if at == port else 'another port'}", int(total.item()),
    )  # fmt: skip
    return dict(zip(_FOUND, values, strict=True))


def _call_setup(function, rank, size, inputs):
    import torch.distributed as dist

    from distlab import recorder

    found, before = [], dict(os.environ)
    try:
        for turn in range(2):
            port, asked = _told_port(turn, rank), []
            os.environ.update(
                MASTER_ADDR=_MISLEADING, MASTER_PORT=str(_told_port(turn + 10, rank)),
                RANK=str(size - 1 - rank), WORLD_SIZE="1",
            )  # fmt: skip
            with _pretending(inputs["gpus"], asked):
                function(rank, size, port)
                found.append(_group_as_found(port, asked))
            if turn == 0 and dist.is_initialized():
                with recorder.paused():
                    dist.barrier()
                dist.destroy_process_group()
    finally:
        os.environ.clear()
        os.environ.update(before)
    return {"first group": found[0], "group after cleanup()": found[1]}


def _found(look: Look, key: str) -> list:
    return [group.get(key) for got in look.got for group in got.values()]


setup = Exercise(
    "setup",
    LAB,
    3,
    make=_setup_inputs,
    call=_call_setup,
    group=False,
    deadline=20.0,  # who knocks before rank 0 listens tries again, on a busy machine seconds later
    asks="setup makes the default process group of world_size ranks at 127.0.0.1 and the given "
    "port, with NCCL when there are at least world_size GPUs and with gloo otherwise, whatever "
    "the environment says.",
    visible=(Case(2, 1, {"gpus": 0}), Case(2, 2, {"gpus": 2}), Case(3, 3, {"gpus": 2})),
    hints=(
        Hint(
            "no group",
            lambda look: None in _found(look, "default process group"),
            "After setup there is no default process group: init_process_group has to be called.",
        ),
        Hint(
            "environment believed",
            lambda look: any(
                _MISLEADING in str(a) for a in _found(look, "address of the rendezvous")
            ),
            "The check leaves another program's MASTER_ADDR in the environment. Set the variable "
            "yourself (os.environ[...] = ..., not setdefault), or pass the address as "
            "init_method.",
        ),
        Hint(
            "port not used",
            lambda look: any(
                "another" in str(a) for a in _found(look, "address of the rendezvous")
            ),
            "The ranks met at another port than the one that setup was given: two jobs on one "
            "machine would then collide.",
        ),
        Hint(
            "NCCL without enough GPUs",
            lambda look: (
                "nccl" in _found(look, "choice of the back end")
                and look.inputs[0]["gpus"] < look.size
            ),
            "NCCL refuses two ranks on one GPU: that there is a GPU is not enough. Compare their "
            "number with world_size.",
        ),
        Hint(
            "gloo beside enough GPUs",
            lambda look: (
                "gloo" in _found(look, "choice of the back end")
                and look.inputs[0]["gpus"] >= look.size
            ),
            "With one GPU for each rank, or more, the back end has to be NCCL. Look at the "
            "comparison: exactly as many GPUs as ranks are enough.",
        ),
    ),
)


# average_gradients


def _layers(case: Case) -> list[tuple[int, int]]:
    sizes = case.get("sizes", [10, 10, 5])
    return list(zip(sizes[:-1], sizes[1:], strict=True))


def _gradient_inputs(case: Case) -> list[dict]:
    dtype, layers = case.get("dtype", "float32"), _layers(case)
    rows = case.get("rows", 4)
    shared = np.random.default_rng([case.seed, 3])
    weights = []
    for inside, outside in [*layers, (inside_of_unused := layers[0][0], 3)]:
        weights.append(shared.standard_normal((outside, inside)).astype(dtype))
        weights.append(shared.standard_normal(outside).astype(dtype))
    assert inside_of_unused == layers[0][0]
    return [
        {
            "weights": weights, "unused": case.get("unused", False),
            "frozen": case.get("frozen", False),
            "inputs": case.draw(rank, (rows, layers[0][0]), dtype),
            "targets": case.draw(rank + 50, (rows, layers[-1][1]), dtype),
        }
        for rank in range(case.size)
    ]  # fmt: skip


def _after_backward(inputs):
    """A model whose gradients are those of this rank's own data."""
    import torch
    from torch import nn

    weights = inputs["weights"]
    linear = [nn.Linear(w.shape[1], w.shape[0], dtype=w.dtype) for w in weights[::2]]
    model = nn.Module()
    model.layers = nn.ModuleList(linear[:-1])
    if inputs["unused"]:
        model.unused = linear[-1]
    with torch.no_grad():
        for layer, weight, bias in zip(linear, weights[::2], weights[1::2], strict=True):
            layer.weight.copy_(weight)
            layer.bias.copy_(bias)
    if inputs["frozen"]:
        linear[0].requires_grad_(False)
    values = inputs["inputs"]
    for number, layer in enumerate(model.layers):
        values = layer(values if number == 0 else torch.relu(values))
    nn.functional.mse_loss(values, inputs["targets"]).backward()
    return model


def _call_average_gradients(function, rank, size, inputs):
    model = _after_backward(inputs)
    function(model)
    return {
        "gradients": [p.grad for p in model.parameters()],
        "parameters": [p.detach() for p in model.parameters()],
    }


def _gradients(tree) -> list:
    return tree["gradients"]


def _scaled(factor) -> callable:
    """Every gradient is this factor times the right one."""

    def shows(look: Look) -> bool:
        by = factor(look)
        return by != 1 and all(
            (right is None and got is None) or look.same(right * by, got)
            for r in look.ranks
            for right, got in zip(
                _gradients(look.expected[r]), _gradients(look.got[r]), strict=True
            )
        )

    return shows


def _none_filled(look: Look) -> bool:
    return any(
        right is None and got is not None
        for r in look.ranks
        for right, got in zip(_gradients(look.expected[r]), _gradients(look.got[r]), strict=True)
    )


average_gradients = Exercise(
    "average_gradients",
    LAB,
    4,
    make=_gradient_inputs,
    call=_call_average_gradients,
    asks="After average_gradients every gradient of the model is the mean of that gradient over "
    "all ranks; parameters stay as they are, and a parameter that has no gradient keeps none.",
    visible=(Case(2, 1), Case(4, 2, {"sizes": [3, 2], "unused": True})),
    hints=(
        Hint(
            "gradient made up",
            _none_filled,
            "A parameter that was not used in the forward pass has the gradient None on every "
            "rank, and has to keep it: an optimizer skips None, but steps with a zero.",
        ),
        Hint(
            "sum for mean",
            _scaled(lambda look: look.size),
            "Every gradient is the sum over the ranks: a mean is divided by their number.",
        ),
        Hint(
            "divided twice",
            _scaled(lambda look: 1 / look.size),
            "Every gradient is the mean divided once more by the number of ranks: divide before "
            "the sum or after it, not both.",
        ),
        Hint(
            "divided by another number",
            lambda look: any(_scaled(lambda look, n=n: look.size / n)(look) for n in range(1, 9)),
            "The gradients are the right sums over a wrong number: ask the process group for its "
            "size.",
        ),
        Hint(
            "some gradients left out",
            lambda look: _ranks_differ(look, _gradients),
            "The ranks still have different gradients. Every parameter that has a gradient takes "
            "part, and the result has to end up in its .grad, not in a copy.",
        ),
    ),
)


# demo_basic


def _step_inputs(case: Case) -> list[dict]:
    rows = case.get("rows", 6)
    return [
        {
            "weights": _weights(case, rank),
            "inputs": case.draw(rank, (rows, 10)),
            "targets": 3 * case.draw(rank + 50, (rows, 5)),
        }
        for rank in range(case.size)
    ]


def _call_demo_basic(function, rank, size, inputs):
    with _starting_from(inputs["weights"]):
        return function(rank, size, inputs["inputs"], inputs["targets"])


def _reduced_by_ddp(look: Look) -> str | None:
    for record in look.records:
        if not any(e.op == "all_reduce" and e.internal for e in record.events):
            return (
                f"on rank {record.rank} DDP reduced no gradient. Wrap the model in "
                "DistributedDataParallel, and let the forward pass go through the wrapped model, "
                "not through the one inside."
            )
    return None


def _moved(look: Look, r: int) -> tuple[np.ndarray, np.ndarray]:
    """How far the parameters went from rank 0's, as flat arrays: expected and got."""
    begin = np.concatenate([w.ravel() for w in look.inputs[0]["weights"]])
    return tuple(
        np.concatenate([p.ravel() for p in tree["parameters"]]) - begin
        for tree in (look.expected[r], look.got[r])
    )


def _wrong_length(look: Look) -> bool:
    """The step goes the right way by the wrong amount."""
    expected, got = _moved(look, 0)
    ratio = float(expected @ got / (expected @ expected))
    return abs(ratio - 1) > 0.02 and np.abs(got - ratio * expected).max() < 0.02 * np.abs(got).max()


demo_basic = Exercise(
    "demo_basic",
    LAB,
    4,
    make=_step_inputs,
    call=_call_demo_basic,
    asks="demo_basic makes one SGD step (lr 0.001) on a ToyModel wrapped in DDP and returns this "
    "rank's own MSE loss before the step and the parameters after it.",
    visible=(Case(2, 1), Case(4, 2, {"rows": 3})),
    rules=(_reduced_by_ddp,),
    tolerance=Tolerance(rtol=1e-5, atol=2e-6),
    hints=(
        Hint(
            "ranks ended differently",
            lambda look: _ranks_differ(look, lambda tree: tree["parameters"]),
            "The ranks ended with different parameters. DDP gives every rank rank 0's weights "
            "when it wraps the model, and averages gradients only of what went through its own "
            "forward.",
        ),
        Hint(
            "loss as a tensor",
            lambda look: any(isinstance(got["loss"], np.ndarray) for got in look.got),
            "The loss is a tensor of one element: item() makes a plain number of it.",
        ),
        Hint(
            "no step",
            lambda look: bool(np.abs(_moved(look, 0)[1]).max() == 0),
            "The parameters are those before the step. The order is forward, loss, backward, step.",
        ),
        Hint(
            "wrong length of step",
            _wrong_length,
            "The parameters moved in the right direction by the wrong amount: look at the "
            "learning rate, and remember that DDP has already divided the gradients by the "
            "number of ranks.",
        ),
        Hint(
            "loss after the step",
            lambda look: all(
                np.isclose(
                    look.got[r]["loss"],
                    _loss(
                        look.expected[r]["parameters"],
                        look.inputs[r]["inputs"],
                        look.inputs[r]["targets"],
                    ),
                    rtol=1e-5,
                )
                for r in look.ranks
            ),
            "The loss was computed after the step: return the one that the backward pass began "
            "from.",
        ),
        Hint(
            "loss of all ranks",
            lambda look: look.size > 1 and len({round(g["loss"], 4) for g in look.got}) == 1,
            "Every rank returned the same loss. Asked for is each rank's own: DDP averages "
            "gradients, the losses differ.",
        ),
        Hint(
            "own weights",
            lambda look: any(
                np.isclose(
                    look.got[r]["loss"],
                    _loss(
                        look.inputs[r]["weights"],
                        look.inputs[r]["inputs"],
                        look.inputs[r]["targets"],
                    ),
                    rtol=1e-5,
                )
                for r in look.ranks
                if r > 0
            ),
            "The loss is that of this rank's own first weights: compute it after DDP has wrapped "
            "the model, when all ranks have rank 0's.",
        ),
    ),
)


# train


def _train_inputs(case: Case) -> list[dict]:
    rows = case.get("rows", [4, 4, 2])
    return [
        {
            "weights": _weights(case, rank),
            "batches": [
                (
                    case.draw(rank + 10 * number, (count, 10)),
                    2 * case.draw(rank + 500 + 10 * number, (count, 5)),
                )
                for number, count in enumerate(rows)
            ],
            "lr": case.get("lr", 0.1),
        }
        for rank in range(case.size)
    ]


def _call_train(function, rank, size, inputs):
    with _starting_from(inputs["weights"]):
        return function(rank, size, inputs["batches"], inputs["lr"])


def _union(look: Look) -> list:
    return [
        tuple(np.concatenate(parts) for parts in zip(*batches, strict=True))
        for batches in zip(*(look.inputs[r]["batches"] for r in look.ranks), strict=True)
    ]


def _like(simulated) -> callable:
    """Every rank returned what this mistake would give."""

    def shows(look: Look) -> bool:
        return all(look.same(simulated(look, r), look.got[r]) for r in look.ranks)

    return shows


def _begin(look: Look, r: int = 0) -> list[np.ndarray]:
    return look.inputs[r]["weights"]


def _lr(look: Look) -> float:
    return look.inputs[0]["lr"]


train = Exercise(
    "train",
    LAB,
    5,
    make=_train_inputs,
    call=_call_train,
    asks="train makes one SGD step for each batch, and every rank ends with the parameters that "
    "one process would have reached from rank 0's weights on the batches of all ranks put "
    "together.",
    visible=(Case(2, 1), Case(3, 2, {"rows": [2, 5], "lr": 0.05})),
    hints=(
        Hint(
            "no step",
            lambda look: (
                any(look.inputs[0]["batches"])
                and all(
                    any(look.same(_begin(look, k), look.got[r]) for k in {0, r}) for r in look.ranks
                )
            ),
            "The parameters are those from the beginning: no step has reached them.",
        ),
        Hint(
            "no averaging",
            lambda look: all(
                any(
                    look.same(
                        _alone(_begin(look, k), look.inputs[r]["batches"], _lr(look)), look.got[r]
                    )
                    for k in {0, r}
                )
                for r in look.ranks
            ),
            "Every rank has trained on its own batches alone: between backward and step the "
            "gradients of all ranks have to be averaged.",
        ),
        Hint(
            "gradients pile up",
            _like(lambda look, r: _alone(_begin(look), _union(look), _lr(look), pile_up=True)),
            "The gradients of earlier batches are still in .grad and are added to: they have to "
            "be cleared before each backward.",
        ),
        Hint(
            "sum for mean",
            _like(lambda look, r: _alone(_begin(look), _union(look), _lr(look) * look.size)),
            "Every step is as many times too long as there are ranks: a sum where a mean "
            "belongs, or a learning rate multiplied.",
        ),
        Hint(
            "divided twice",
            _like(lambda look, r: _alone(_begin(look), _union(look), _lr(look) / look.size)),
            "Every step is too short by the number of ranks: the gradients are divided twice "
            "(DDP has already divided them).",
        ),
        Hint(
            "first batch alone",
            _like(lambda look, r: _alone(_begin(look), _union(look)[:1], _lr(look))),
            "Only the first batch was used: look for a return inside the loop.",
        ),
        Hint(
            "ranks began differently",
            lambda look: _ranks_differ(look, lambda tree: tree),
            "The ranks ended with different parameters. Each builds a ToyModel with random "
            "weights of its own: before the first step all need rank 0's.",
        ),
    ),
)


# demo_checkpoint


_watched: dict = {"folder": "", "log": None, "slow": False}  # what the audit hook looks at
_SLOW = 0.12  # seconds that rank 0 takes to begin writing, and again to end


def _checkpoint_inputs(case: Case) -> list[dict]:
    older = _weights(case, 0, salt=1) if case.get("older_file", False) else None
    return [{"weights": _weights(case, rank), "older": older} for rank in range(case.size)]


def _audit(event: str, args: tuple) -> None:
    if event != "open" or not _watched["folder"] or not args:
        return
    path, mode, flags = (*args, None, None)[:3]
    if not isinstance(path, (str, bytes, os.PathLike)):
        return
    where = os.path.realpath(os.fsdecode(path))
    if not where.startswith(_watched["folder"]):
        return
    writes = bool(set(mode or "") & set("wax+")) if mode else bool((flags or 0) & 3)
    _watched["log"].add("saved" if writes else "loaded")
    if writes and _watched["slow"]:
        time.sleep(2 * _SLOW)


@contextlib.contextmanager
def _watching(folder: str, slow: bool):
    """Note whether files in `folder` are written and read here; `slow`: writing takes its time."""
    import torch.serialization as serialization

    if not _watched.get("hooked"):
        sys.addaudithook(_audit)
        _watched["hooked"] = True
    writer = serialization._open_zipfile_writer
    log: set[str] = set()

    def opened(target):
        if not isinstance(target, (str, os.PathLike)):
            return writer(target)
        if os.path.realpath(target).startswith(folder):
            log.add("saved")
        time.sleep(_SLOW if slow else 0)
        file = writer(target)
        time.sleep(_SLOW if slow else 0)
        return file

    serialization._open_zipfile_writer = opened
    _watched.update(folder=folder, log=log, slow=slow)
    try:
        yield log
    finally:
        _watched.update(folder="", slow=False)
        serialization._open_zipfile_writer = writer


def _in_file(path: Path):
    """The tensors of a saved state dict, in its order; `None` without a file."""
    import torch

    if not path.exists():
        return None
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
        return list(state.values())
    except Exception as error:
        return f"nothing that torch.load can read as a state dict ({type(error).__name__})"


def _call_demo_checkpoint(function, rank, size, inputs):
    import torch

    folder = Path(os.environ["DISTLAB_RUN"], "checkpoint")
    path = folder / "toy_model.pt"
    if rank == 0:
        folder.mkdir(exist_ok=True)
        if inputs["older"] is not None:
            names = ("net1.weight", "net1.bias", "net2.weight", "net2.bias")
            torch.save(dict(zip(names, inputs["older"], strict=True)), path)
    _meet("before", rank, size)
    try:
        with (
            _starting_from(inputs["weights"]),
            _watching(os.path.realpath(folder), slow=rank == 0) as log,
        ):
            returned = function(rank, size, str(path))
    finally:
        _meet("after", rank, size)
    return {
        "file": _in_file(path),
        "record of the file": " and ".join(sorted(log, reverse=True)) or "nothing",
        "returned": returned,
        "device of the tensors": "its own" if _own_device(returned, rank) else "another rank's",
    }


def _own_device(tensors, rank: int) -> bool:
    import torch

    if not isinstance(tensors, (list, tuple)):
        return True
    return all(
        t.device.type == "cpu" or t.device.index == rank % torch.cuda.device_count()
        for t in tensors
        if isinstance(t, torch.Tensor)
    )


demo_checkpoint = Exercise(
    "demo_checkpoint",
    LAB,
    4,
    make=_checkpoint_inputs,
    call=_call_demo_checkpoint,
    asks="In demo_checkpoint rank 0 alone saves its ToyModel's state dict, and every rank loads "
    "it after it was written and returns the loaded tensors; the file stays.",
    visible=(Case(2, 1), Case(3, 2, {"older_file": True})),
    hints=(
        Hint(
            "file removed",
            lambda look: any(got["file"] is None for got in look.got),
            "The file is gone when the function has returned: leave it where it is, or ask "
            "whether it was written to the given path at all.",
        ),
        Hint(
            "everyone saves",
            lambda look: any(
                "saved" in look.got[r]["record of the file"] for r in look.ranks if r > 0
            ),
            "More than one rank writes to the same path: the file can end up mixed or half "
            "written. Rank 0 alone saves.",
        ),
        Hint(
            "older file read",
            lambda look: any(
                look.same(look.inputs[0]["older"], got["returned"]) for got in look.got
            ),
            "A rank has read the older file that lay there: that a file exists does not say that "
            "rank 0 has written it. Let the ranks wait for each other between saving and "
            "loading.",
        ),
        Hint(
            "not loaded",
            lambda look: any("loaded" not in got["record of the file"] for got in look.got),
            "Every rank has to read the file, rank 0 too: torch.load, then load_state_dict.",
        ),
        Hint(
            "own weights",
            lambda look: any(
                look.same(look.inputs[r]["weights"], look.got[r]["returned"])
                for r in look.ranks
                if r
            ),
            "A rank returned the weights that it began with: what was loaded has to go into the "
            "model.",
        ),
    ),
)


# run_demo


_DEMO = """
import os
import signal

import torch
import torch.distributed as dist

FOLDER, FAILS, PARENT = {folder!r}, {fails!r}, {parent!r}


def note(rank, text):
    with open(os.path.join(FOLDER, f"{{rank}}.txt"), "w") as file:
        file.write(f"{{os.getpid()}} {{text}}")


def demo(rank, world_size):
    if os.getpid() == PARENT:
        raise RuntimeError("demo_fn was called in the parent, not in a new process")
    signal.alarm(40)  # nothing is left behind, however run_demo ends
    if FAILS is not None:
        note(rank, "")
        if rank == FAILS:
            raise RuntimeError(f"rank {{rank}} was told to fail")
        return
    store = dist.FileStore(os.path.join(FOLDER, "store"), world_size)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=world_size)
    total = torch.ones(1)
    dist.all_reduce(total)
    dist.destroy_process_group()
    note(rank, f"rank {{rank}} of {{world_size}}, a sum of {{int(total)}} ones")
"""


def _demo_inputs(case: Case) -> list[dict]:
    return [
        {"world_size": case.get("world_size"), "script": case.get("script", False),
         "fails": case.get("fails")}
    ]  # fmt: skip


def _demo_in(folder: str, script: bool, fails: int | None):
    """The demo as a notebook's `__main__` would hold it, or as a module would."""
    import importlib

    source = _DEMO.format(folder=folder, fails=fails, parent=os.getpid())
    if not script:
        namespace = {"__name__": "__main__"}
        exec(compile(source, "<demo>", "exec"), namespace)
        return namespace["demo"]
    name = f"demo_script_{os.path.basename(folder)}"
    Path(folder, f"{name}.py").write_text(source, "utf-8")
    sys.path.insert(0, folder)
    importlib.invalidate_caches()
    return importlib.import_module(name).demo


@contextlib.contextmanager
def _spawns_noted(log: list[str]):
    """Note each use of torch.multiprocessing.spawn, by whatever name it was imported."""
    import torch.multiprocessing  # noqa: F401

    module = sys.modules["torch.multiprocessing.spawn"]
    start = module.start_processes

    def start_processes(*args, **kwargs):
        log.append("torch.multiprocessing.spawn")
        return start(*args, **kwargs)

    module.start_processes = start_processes
    try:
        yield
    finally:
        module.start_processes = start


def _call_run_demo(function, rank, size, inputs):
    import multiprocessing

    folder = tempfile.mkdtemp(prefix="demo", dir=os.environ["DISTLAB_RUN"])
    fails, world_size = inputs["fails"], inputs["world_size"]
    demo = _demo_in(folder, inputs["script"], fails)
    starts: list[str] = []
    returned, raised = None, False
    try:
        with _spawns_noted(starts):
            returned = function(demo, world_size)
    except NotImplementedError:
        raise
    except Exception:
        if fails is None:
            raise
        raised = True
    finally:
        running = multiprocessing.active_children()
        for process in running:
            process.kill()
        if folder in sys.path:
            sys.path.remove(folder)
    notes = [_note_of(folder, r) for r in range(world_size)]
    pids = {pid for pid, _ in notes} - {"", str(os.getpid())}
    found = {
        "returned": returned,
        "list of what started the processes": starts,
        "parent": "with an exception" if raised else "without an exception",
        "number of processes still running": len(running),
    }
    if fails is None:
        found |= {
            "notes of the ranks": [text for _, text in notes],
            "number of processes": len(pids),
        }
    else:
        found["note of the rank that fails"] = bool(notes[fails][0])
    return found


def _note_of(folder: str, rank: int) -> tuple[str, str]:
    try:
        pid, _, text = Path(folder, f"{rank}.txt").read_text().partition(" ")
    except OSError:
        return "", "nothing"
    return pid, text


run_demo = Exercise(
    "run_demo",
    LAB,
    3,
    make=_demo_inputs,
    call=_call_run_demo,
    group=False,
    asks="run_demo starts world_size processes with torch.multiprocessing.spawn, in each of which "
    "demo_fn(rank, world_size) runs, waits for them, returns None, and raises when a rank raised.",
    visible=(Case(1, 1, {"world_size": 2}),),
    deadline=60.0,  # each spawned process imports torch anew, which takes seconds
    hints=(
        Hint(
            "not waited for",
            lambda look: look.got[0]["number of processes still running"] > 0,
            "run_demo returned while its processes were still running: whoever calls it can then "
            "know neither their results nor their failures.",
        ),
        Hint(
            "called here",
            lambda look: not look.got[0]["list of what started the processes"],
            "torch.multiprocessing.spawn was not called.",
        ),
        Hint(
            "failure swallowed",
            lambda look: (
                look.inputs[0]["fails"] is not None
                and look.got[0]["parent"] == "without an exception"
            ),
            "A rank raised and run_demo returned as if nothing had happened. Or that rank was "
            "never started: look at the number of processes.",
        ),
        Hint(
            "wrong number",
            lambda look: (
                look.got[0]["notes of the ranks"] != look.expected[0]["notes of the ranks"]
            ),
            "Not every rank ran as rank r of world_size: look at nprocs and at args. spawn "
            "passes the process's number first, by itself.",
        ),
    ),
)


# world_from_env


_TORCHRUN = {"RANK": "5", "LOCAL_RANK": "1", "WORLD_SIZE": "8", "MASTER_PORT": "29400"}
_OPEN_MPI = {
    "OMPI_COMM_WORLD_RANK": "2", "OMPI_COMM_WORLD_LOCAL_RANK": "0", "OMPI_COMM_WORLD_SIZE": "3",
}  # fmt: skip
_SLURM = {"SLURM_PROCID": "6", "SLURM_LOCALID": "2", "SLURM_NTASKS": "12", "SLURM_JOB_ID": "77"}
_NAME = re.compile(r"[A-Z][A-Z_]+")


#: what the visible cases ask: environments by name, and in which variables they are broken
_VISIBLE = {
    "one launcher, or none": ({"torchrun": _TORCHRUN, "nobody": {"HOME": "/home/ada"}}, {}),
    "other launchers": (
        {"Open MPI": _OPEN_MPI, "Slurm": _SLURM, "torchrun inside Slurm": _SLURM | _TORCHRUN}, {},
    ),
    "something broken": (
        {
            "a size that is missing": {"RANK": "0", "LOCAL_RANK": "0"},
            "a rank that is no integer": {"RANK": "one", "LOCAL_RANK": "0", "WORLD_SIZE": "2"},
        },
        {"a size that is missing": ["WORLD_SIZE"], "a rank that is no integer": ["RANK"]},
    ),
}  # fmt: skip


def _environments(case: Case) -> list[dict]:
    environments, bad = _VISIBLE.get(case.get("with"), ({}, {}))
    return [{"environments": case.get("environments", environments), "bad": case.get("bad", bad)}]


def _call_world_from_env(function, rank, size, inputs):
    returned = {}
    for name, environment in inputs["environments"].items():
        bad = set(inputs["bad"].get(name, ()))
        try:
            returned[name] = function(dict(environment))
        except NotImplementedError:
            raise
        except ValueError as error:
            named = bad & set(_NAME.findall(str(error)))
            returned[name] = (
                f"ValueError that names {'the variable' if named else 'no bad variable'}"
            )
        except Exception as error:
            returned[name] = f"{type(error).__name__}: {error}"
    return {"returned": returned}


def _answers(look: Look) -> dict:
    """The wrong ones, by name."""
    expected = look.expected[0]["returned"]
    got = look.got[0]["returned"]
    return {name: answer for name, answer in got.items() if not look.same(expected[name], answer)}


world_from_env = Exercise(
    "world_from_env",
    LAB,
    3,
    make=_environments,
    call=_call_world_from_env,
    group=False,
    asks="world_from_env reads (rank, local_rank, world_size) as integers from the variables of "
    "torchrun, else of Open MPI, else of Slurm, gives (0, 0, 1) without any, and raises a "
    "ValueError that names a variable which is missing or no integer.",
    visible=tuple(Case(1, number, {"with": name}) for number, name in enumerate(_VISIBLE, 1)),
    hints=(
        Hint(
            "job before launcher",
            lambda look: any("inside" in name for name in _answers(look)),
            "A launcher inside a job leaves two families of variables. The launcher started this "
            "process, the job only gave it the machine: ask torchrun first, then Open MPI, then "
            "Slurm.",
        ),
        Hint(
            "text for numbers",
            lambda look: any(
                isinstance(part, str)
                for got in _answers(look).values()
                if isinstance(got, (tuple, list))
                for part in got
            ),
            "What stands in an environment is text: turn it into integers.",
        ),
        Hint(
            "KeyError",
            lambda look: any(str(got).startswith("KeyError") for got in _answers(look).values()),
            "A missing variable raises KeyError in a dictionary. Asked for is a ValueError whose "
            "message names the variable, which is what somebody can mend at 2 a.m.",
        ),
        Hint(
            "variable not named",
            lambda look: any("no bad variable" in str(got) for got in _answers(look).values()),
            "The ValueError does not say which variable is wrong: int() knows the text alone. "
            "Catch it and raise one that names the variable.",
        ),
        Hint(
            "nothing started",
            lambda look: any(
                list(look.expected[0]["returned"][name]) == [0, 0, 1] for name in _answers(look)
            ),
            "Without any launcher's rank variable a program is one process: (0, 0, 1).",
        ),
        Hint(
            "a default for what is missing",
            lambda look: any(
                str(look.expected[0]["returned"][name]).startswith("ValueError")
                and isinstance(got, (tuple, list))
                for name, got in _answers(look).items()
            ),
            "A family is there when its rank variable is. A missing or broken one of that family "
            "is an error to report, not one to guess over: a wrong size hangs the job an hour "
            "later.",
        ),
    ),
)


# what_is_wrong


_STATEMENTS = "ABCDEF"


def _letters(answer) -> set[str] | None:
    """A set of letters out of a variable or of what a function returns."""
    answer = answer() if callable(answer) else answer
    if not isinstance(answer, (set, frozenset, list, tuple)):
        return None
    if not all(isinstance(letter, str) for letter in answer):
        return None
    return {letter.strip().upper() for letter in answer}


def _call_what_is_wrong(answer, rank, size, inputs):
    """A fingerprint is compared, so that the files beside the lab do not show the answer."""
    letters = _letters(answer)
    if letters is None:
        return "no set of letters"
    if unknown := sorted(letters - set(_STATEMENTS)):
        return f"{', '.join(unknown)}, which is none of {_STATEMENTS[0]} to {_STATEMENTS[-1]}"
    mark = hashlib.sha256(f"{LAB} {sorted(letters)}".encode()).hexdigest()[:6]
    return f"{len(letters)} letters with the fingerprint {mark}"


def _count(text: str) -> int:
    return int(text.split()[0])


what_is_wrong = Exercise(
    "what_is_wrong",
    LAB,
    2,
    make=lambda case: [{}],
    call=_call_what_is_wrong,
    group=False,
    asks="what_is_wrong is the set of the letters of all statements that are true.",
    visible=(Case(1, 1),),
    hints=(
        Hint(
            "no set",
            lambda look: not look.got[0][0].isdigit(),
            'Write a set of capital letters from A to F, like {"A", "F"}.',
        ),
        Hint(
            "too few",
            lambda look: _count(look.got[0]) < _count(look.expected[0]),
            "There are more true statements. Count the processes, then ask what number each of "
            "them believes to have, and where it got that from.",
        ),
        Hint(
            "too many",
            lambda look: _count(look.got[0]) > _count(look.expected[0]),
            "At least one of these is not true. For each: which experiment in this notebook "
            "would show it?",
        ),
        Hint(
            "others",
            lambda look: _count(look.got[0]) == _count(look.expected[0]),
            "The number is right, the choice is not: at least one of these is not true.",
        ),
    ),
)


EXERCISES = [
    setup, average_gradients, demo_basic, train, demo_checkpoint, run_demo, world_from_env,
    what_is_wrong,
]  # fmt: skip
