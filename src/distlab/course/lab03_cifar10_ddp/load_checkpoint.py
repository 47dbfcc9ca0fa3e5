"""`load_checkpoint`: going on from a checkpoint."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from distlab.course.lab03_cifar10_ddp.checkpoints import (
    PathText,
    model_and_optimizer,
    on_device,
    state_of,
    trained,
)
from distlab.course.lab03_cifar10_ddp.looks import differs
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.raised import Advice


def _load_watched(function, rank, size, inputs):
    """Load a file that the course wrote (or damaged) into another model and optimizer."""
    from distlab.rank import world

    kind, device = inputs["file"], world.here().device
    folder = Path(os.path.realpath(tempfile.mkdtemp(prefix="checkpoint-")))
    path = folder / "model.pth"
    try:
        _lay_down(path, kind, inputs)
        model, optimizer = model_and_optimizer(inputs["shared"] + 7, inputs["width"], lr=0.5)
        model = on_device(model, inputs["wrapped"])
        if kind in ("older", "from a GPU"):
            epoch = function(PathText(path), model, optimizer, device)
            state = {"returned": epoch, **state_of(model, optimizer)}
            # left in whichever mode: training and evaluating begin with the one that they need
            return {**state, "mode": model.train().training}
        raised = None
        try:
            function(PathText(path), model, optimizer, device)
        except NotImplementedError:
            raise
        except Exception as error:
            raised = error
        if kind == "another dict" and raised and _takes_another_models(function, folder, device):
            told = "nothing raised for another model's checkpoint"
        elif kind == "missing":
            missing = isinstance(raised, FileNotFoundError)
            told = "FileNotFoundError" if missing else type(raised).__name__
        elif raised is None:
            told = "nothing raised"
        else:
            told = "with the path" if str(path) in str(raised) else "without the path"
        return {"exception": told, **state_of(model, optimizer)}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _takes_another_models(function, folder: Path, device) -> bool:
    """Does it load a whole checkpoint of another model, none of whose names fits?"""
    import torch

    path = folder / "another_model.pth"
    model, optimizer = model_and_optimizer(1, 4, lr=0.125)
    names = {f"body.{name}": tensor for name, tensor in model.state_dict().items()}
    torch.save({"model": names, "optimizer": optimizer.state_dict(), "epoch": 0}, path)
    try:
        function(PathText(path), model.to(device), optimizer, device)
    except Exception:
        return False
    return True


def _lay_down(path: Path, kind: str, inputs: dict) -> None:
    """The file of a case, at `path`."""
    import torch
    from torch import serialization

    if kind == "missing":
        return
    model, optimizer = model_and_optimizer(inputs["shared"], inputs["width"], lr=0.125)
    content: Any = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "epoch": inputs["epoch"],
    }
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


exercise = Exercise(
    points=4,
    make=trained,
    call=_load_watched,
    asks="load_checkpoint brings model and optimizer back on every rank's own device and returns "
    "the next epoch; a file that is no whole checkpoint gives an exception that names it, and "
    "nothing is changed.",
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
            "wants to tell a first start from a damaged file.",
        ),
        Hint(
            "damaged file taken", lambda look: look.got[0].get("exception") == "nothing raised",
            "The file is no checkpoint of this lab, and no exception said so.",
        ),
        Hint(
            "another model's", lambda look: "another model" in look.got[0].get("exception", ""),
            "The file is a whole checkpoint of another model: none of its names is in this one, so "
            "that nothing was loaded, and no exception said so. load_state_dict does, unless it is "
            "told not to be strict.",
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
