"""Lab 03: checkpoints that survive an interruption, and going on from them."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from distlab.course.lab03_cifar10_ddp.looks import LAB, differs
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.raised import STATE_DICT, Advice

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
            "seed": case.number(2**31, rank), "shared": case.number(2**31), "width": width,
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

    from distlab.rank import recorder, world

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
    """Files opened for writing, renamed or removed below a folder, as Python reports them.

    The folder is taken for a file system of its own, as a shared disk is beside a node's folder
    for temporary files: nothing can be renamed or linked into it from outside.
    """

    def __init__(self) -> None:
        self.folder, self.events, self._added = "", [], False

    def __call__(self, event: str, args: tuple) -> None:
        if not self.folder or event not in _WATCHED:
            return
        names: list[str] = []
        with contextlib.suppress(Exception):
            names = [os.path.abspath(os.fspath(a)) for a in args[: 2 if event in _MOVES else 1]]
            if event == "open" and not _writes(args):
                return
        inside = [name.startswith(self.folder) for name in names]
        if inside == [False, True] and event in _MOVES:
            self.events.append(("refused", names[1]))
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), names[0], None, names[1])
        if any(inside) and event != "os.link":
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


_MOVES = ("os.rename", "os.link")
_WATCHED = ("open", "os.remove", "os.truncate", *_MOVES)


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
    overwritten = "overwritten in place"
    if ("refused", str(path)) in events:
        overwritten = "overwritten by a file from elsewhere"
    if not kept:
        return overwritten
    for event, *names in events:
        if event == "os.remove" and names[0] == str(path):
            return "removed before the new one was there"
        if event == "os.rename" and names[0] == str(path):
            return "moved away before the new one was there"
        if event in ("open", "os.truncate") and names[0] == str(path):
            return overwritten
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
            "moved by copying",
            lambda look: "overwritten by a file from elsewhere" in _older(look),
            "The new checkpoint was written elsewhere and then moved. Between two file systems a "
            "move is a copy, which writes over the older checkpoint in place: a job that is killed "
            "in the middle has neither. Write into the folder where the file is to stay.",
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
    advice=(STATE_DICT,),
)  # fmt: skip


def _load_watched(function, rank, size, inputs):
    """Load a file that the course wrote (or damaged) into another model and optimizer."""
    from distlab.rank import world

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
    return any(differs(look, name) for name in ("model", "momentum", "learning rate"))


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
            "to tell a first start from a damaged file.",
        ),
        Hint(
            "damaged file taken", lambda look: look.got[0].get("exception") == "nothing raised",
            "The file is no checkpoint of this lab, and no exception said so.",
        ),
        Hint(
            "path not named", lambda look: look.got[0].get("exception") == "without the path",
            "The exception does not say which file is damaged: catch what torch.load (or a missing "
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
            "model not loaded", lambda look: differs(look, "model"),
            "The model is not the one from the file (buffers of BatchNorm included).",
        ),
        Hint(
            "optimizer not loaded",
            lambda look: differs(look, "momentum") or differs(look, "learning rate"),
            "The optimizer is not the one from the file: its momentum belongs to the training as "
            "much as the weights.",
        ),
    ),
    advice=(
        Advice(
            "no map_location", "Attempting to deserialize object on",
            "The file may come from a GPU that is not here: map_location says where the tensors go "
            "when they are loaded.",
        ),
        Advice(
            "names of the wrapper", "state_dict for DistributedDataParallel",
            "The names in the file are the bare model's. DDP puts `module.` before each: load into "
            "the module inside.",
        ),
    ),
)  # fmt: skip
