"""`load_checkpoint`: going on from a checkpoint."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from distlab.course.lab03_cifar10_ddp.checkpoints import (
    PathText,
    model_and_optimizer,
    on_device,
    state_of,
    trained,
)
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.raised import Advice
from distlab.rank.sharing import among_ranks


def _load_watched(function, rank, size, inputs):
    """Load a file that the course wrote (or damaged) into another model and optimizer. All ranks
    have the same path: an answer may read on one rank and hand on what it has read.
    """
    from distlab.rank import world

    kind, device = inputs["file"], world.here().device
    folder = Path(os.path.realpath(os.environ["DISTLAB_RUN"]), "checkpoint")
    path = folder / "model.pth"

    def written() -> None:
        if rank == 0:
            folder.mkdir()
            _lay_down(path, kind, inputs)

    among_ranks("written", rank, size, written)
    model, optimizer = model_and_optimizer(inputs["shared"] + 7, inputs["width"], lr=0.5)
    model = on_device(model, inputs["wrapped"])
    if kind in ("older", "from a GPU"):
        epoch = function(PathText(path), model, optimizer, device)
        state = {"returned": epoch, **state_of(model, optimizer)}
        # left in whichever mode: training and evaluating begin with the one that they need
        return {**state, "mode": model.train().training}
    raised = _raised(function, path, model, optimizer)
    another = folder / f"another_model-{rank}.pth"
    if kind == "missing":
        told = type(raised).__name__
        if isinstance(raised, FileNotFoundError):
            told = "FileNotFoundError"
    elif raised is None:
        told = "nothing raised"
    elif kind == "another dict" and _takes_another_models(function, another):
        told = "nothing raised for another model's checkpoint"
    else:
        told = "with the path" if str(path) in str(raised) else "without the path"
    return {"exception": told, **state_of(model, optimizer)}


def _raised(function, path: Path, model, optimizer) -> Exception | None:
    """The exception with which loading ends."""
    from distlab.rank import world

    try:
        function(PathText(path), model, optimizer, world.here().device)
    except NotImplementedError:
        raise
    except Exception as error:
        return error
    return None


def _takes_another_models(function, path: Path) -> bool:
    """Does it load a whole checkpoint of another model, none of whose names fits?"""
    import torch

    model, optimizer = model_and_optimizer(1, 4, lr=0.125)
    names = {f"body.{name}": tensor for name, tensor in model.state_dict().items()}
    torch.save({"model": names, "optimizer": optimizer.state_dict(), "epoch": 0}, path)
    return _raised(function, path, on_device(model, False), optimizer) is None


def _lay_down(path: Path, kind: str, inputs: dict) -> None:
    """The file of a case, at `path`."""
    from unittest import mock

    import torch
    from torch import serialization

    if kind == "missing":
        return
    if kind == "text":
        path.write_text("<html>this is no checkpoint</html>\n")
        return
    model, optimizer = model_and_optimizer(inputs["shared"], inputs["width"], lr=0.125)
    content: Any = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "epoch": inputs["epoch"],
    }
    if kind == "another dict":
        content = {"state_dict": content["model"], "best_accuracy": 0.5}
    elif kind.startswith("without "):
        del content[kind.removeprefix("without ")]
    elif kind == "list":
        content = [1, 2, 3]
    tag = (lambda storage: "cuda:0") if kind == "from a GPU" else serialization.location_tag
    with mock.patch.object(serialization, "location_tag", tag):
        torch.save(content, path)
    if kind == "truncated":
        os.truncate(path, path.stat().st_size // 2)
    elif kind == "empty":
        os.truncate(path, 0)


def _told(look: Look) -> str:
    """What rank 0 tells of the exception; nothing where none was to be raised."""
    return look.left("exception")[0] or ""


exercise = Exercise(
    points=4,
    make=trained,
    call=_load_watched,
    asks="load_checkpoint brings model and optimizer back on every rank's own device and returns "
    "the next epoch; a file that is no whole checkpoint gives an exception that names it, and "
    "nothing is changed.",
    visible=(
        Case(2, 1),
        Case(2, 2, {"wrapped": True, "file": "from a GPU", "epoch": 0}),
        Case(1, 3, {"file": "missing"}),
        Case(1, 4, {"file": "truncated"}),
        Case(1, 5, {"file": "another dict"}),
    ),
    hints=(
        Hint(
            "not FileNotFoundError",
            lambda look: look.case.get("file") == "missing" and _told(look) != "FileNotFoundError",
            "A file that is not there has its own exception, FileNotFoundError: whoever resumes "
            "wants to tell a first start from a damaged file.",
        ),
        Hint(
            "damaged file taken",
            lambda look: _told(look) == "nothing raised",
            "The file is no checkpoint of this lab, and no exception said so.",
        ),
        Hint(
            "another model's",
            lambda look: "another model" in _told(look),
            "The file is a whole checkpoint of another model: none of its names is in this one, so "
            "that nothing was loaded, and no exception said so. load_state_dict does, unless it is "
            "told not to be strict.",
        ),
        Hint(
            "path not named",
            lambda look: "without the path" in look.left("exception"),
            "The exception does not say which file is damaged: catch what torch.load (or a missing "
            "entry) raises and raise one of your own, with the path in its message.",
        ),
        Hint(
            "half loaded",
            lambda look: _told(look) and look.differs("model", "momentum", "learning rate"),
            "The exception came too late: model or optimizer were changed before it. See that "
            "everything is there first, then load. (Where you put back what was there before, copy "
            "it first: state_dict() gives the tensors themselves.)",
        ),
        Hint(
            "rank 0 alone",
            lambda look: not look.same(look.left("model")[0], look.left("model")[-1]),
            "Not every rank has loaded: each reads the file itself.",
        ),
        Hint(
            "no int",
            lambda look: type(look.got[0].get("returned", 0)) is not int,
            "Return the next epoch as a plain int.",
        ),
        Hint(
            "same epoch again",
            lambda look: look.returned[0] == look.wanted[0] - 1,
            "The file has the epoch that was finished; the one to return is the next.",
        ),
        Hint(
            "model not loaded",
            lambda look: look.differs("model"),
            "The model is not the one from the file (buffers of BatchNorm included).",
        ),
        Hint(
            "optimizer not loaded",
            lambda look: look.differs("momentum", "learning rate"),
            "The optimizer is not the one from the file: its momentum belongs to the training as "
            "much as the weights.",
        ),
    ),
    advice=(
        Advice(
            "no map_location",
            "Attempting to deserialize object on",
            "The file may come from a GPU that is not here: map_location says where the tensors go "
            "when they are loaded.",
        ),
    ),
)
