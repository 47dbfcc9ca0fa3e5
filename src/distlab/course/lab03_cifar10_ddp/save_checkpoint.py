"""`save_checkpoint`: a checkpoint that survives an interruption."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import tempfile
from collections.abc import Callable
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
from distlab.exercises.raised import STATE_DICT, Advice


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
            with _torch_tells_of_writing():
                yield self.events
        finally:
            self.folder = ""


@contextlib.contextmanager
def _torch_tells_of_writing():
    """Meanwhile `torch.save` to a path is reported as Python's own `open` is: torch opens the file
    in C++.
    """
    from unittest import mock

    from torch import serialization

    made = serialization._open_zipfile_writer

    def told(name_or_buffer):
        if isinstance(name_or_buffer, (str, os.PathLike)):
            sys.audit("open", name_or_buffer, "wb", 0)
        return made(name_or_buffer)

    with mock.patch.object(serialization, "_open_zipfile_writer", told):
        yield


_MOVES = ("os.rename", "os.link")
_WATCHED = ("open", "os.remove", "os.truncate", *_MOVES)


def _writes(args: tuple) -> bool:
    mode, flags = (*args, None, None)[1:3]
    if isinstance(mode, str):
        return any(letter in mode for letter in "wax+")
    return bool((flags or 0) & (os.O_WRONLY | os.O_RDWR))


_audit = _Audit()


def _save_watched(function, rank, size, inputs):
    """Save into a folder of this rank's own. The older checkpoint there, if any, is held open."""
    model, optimizer = model_and_optimizer(inputs["seed"], inputs["width"], lr=0.25)
    model = on_device(model, inputs["wrapped"])
    older = b"an older checkpoint, whole " * 40
    failing = inputs["file"] == "failing"
    with tempfile.TemporaryDirectory(prefix="checkpoint-", ignore_cleanup_errors=True) as made:
        folder = Path(os.path.realpath(made))
        path = folder / "model.pth"
        path.write_bytes(older)
        with path.open("rb") as held:
            if inputs["file"] == "none":
                path.unlink()
            before = _bytes(path)
            room = _without_room() if failing else contextlib.nullcontext()
            with _audit.watching(folder) as events, room:
                function(PathText(path), model, optimizer, inputs["epoch"])
            kept = held.read() == older
        result: dict[str, Any] = {}
        if before is not None:
            lost = failing and _bytes(path) != older
            result["older file"] = "lost when a save failed" if lost else _fate(path, events, kept)
        if failing:
            return result
        changed = _bytes(path) != before
        if rank:
            others = {*os.listdir(folder)} - {path.name}
            written = changed or others or any(event[0] == "open" for event in events)
            return {"files": "written" if written else "none written"}
        result["files"] = "written" if changed else "none written"
        result["checkpoint"], result["optimizer"] = _content(path) if changed else (None, None)
        return result


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def _fate(path: Path, events: list, kept: bool) -> str:
    """What became of the file that lay there before."""
    refused = ("refused", str(path)) in events
    overwritten = "overwritten by a file from elsewhere" if refused else "overwritten in place"
    fates = {
        "os.remove": "removed before the new one was there",
        "os.rename": "moved away before the new one was there",
        "os.truncate": overwritten,
        "open": overwritten,
    }
    found = [fates[event] for event, name, *_ in events if name == str(path) and event in fates]
    return [*found, "whole at every moment"][0] if kept else overwritten


@contextlib.contextmanager
def _without_room():
    """No file may grow beyond 32 kB: any save of a larger model fails midway."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (32_768, hard))
    try:
        yield
    except NotImplementedError:
        raise
    except Exception:  # that it fails is right; what it leaves behind is asked
        pass
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def _content(path: Path) -> tuple[Any, Any]:
    """The checkpoint in the file without its optimizer, whose form varies with torch, and what
    comes back of that.
    """
    import torch

    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        return f"a file that torch.load cannot read ({type(error).__name__})", None
    if not isinstance(content, dict):
        return f"a {type(content).__name__}", None
    model, optimizer = (
        dict(content[name]) if isinstance(content.get(name), dict) else None
        for name in ("model", "optimizer")
    )
    checkpoint = {"keys": sorted(map(str, content)), "model": model, "epoch": content.get("epoch")}
    return checkpoint, None if None in (model, optimizer) else _restored(model, optimizer)


def _restored(model_state: dict, optimizer_state: dict) -> Any:
    """An optimizer's momentum and rate, brought back from what was saved."""
    import torch

    weight = next(iter(model_state.values()), None)
    if not isinstance(weight, torch.Tensor) or weight.dim() != 2:
        return None
    model, optimizer = model_and_optimizer(0, weight.shape[0], lr=1.0)
    try:
        optimizer.load_state_dict(optimizer_state)
    except Exception:
        return "not a state dict of this optimizer"
    state = state_of(model, optimizer)
    return {"momentum": state["momentum"], "learning rate": state["learning rate"]}


def _older_was(*fates: str) -> Callable[[Look], bool]:
    """A hint's `shows`: did one of these become of an older file?"""
    return lambda look: not {*fates}.isdisjoint(look.left("older file"))


def _saved(look: Look) -> Any:
    """The checkpoint of rank 0."""
    return look.left("checkpoint")[0]


exercise = Exercise(
    points=4,
    make=trained,
    call=_save_watched,
    asks="save_checkpoint lets rank 0 alone write the bare model's state dict, the optimizer's and "
    "the epoch just finished, so that at every moment a whole checkpoint lies at the path.",
    visible=(
        Case(2, 1),
        Case(3, 2, {"wrapped": True, "epoch": 0}),
        Case(1, 3, {"file": "failing", "width": 6000}),
    ),
    hints=(
        Hint(
            "another rank writes",
            lambda look: (
                look.left("files")[0] == "none written" and "written" in look.left("files")
            ),
            "Another rank than 0 wrote, and rank 0 did not.",
        ),
        Hint(
            "every rank writes",
            lambda look: "written" in look.left("files")[1:],
            "Other ranks than 0 wrote too: on a shared disk they write over each other.",
        ),
        Hint(
            "nothing written",
            lambda look: look.left("files")[0] == "none written",
            "After the call there was no new checkpoint at the path.",
        ),
        Hint(
            "lost when a save failed",
            _older_was("lost when a save failed"),
            "A save that failed midway (disk full) took the older checkpoint along. Write beside "
            "it first, and let the new file take the old one's place in one step, and only when it "
            "is whole: not in a `finally`, nor after an `except` that goes on.",
        ),
        Hint(
            "moved by copying",
            _older_was("overwritten by a file from elsewhere"),
            "The new checkpoint was written elsewhere and then moved. Between two file systems a "
            "move is a copy, which writes over the older checkpoint in place: a job that is killed "
            "in the middle has neither. Write into the folder where the file is to stay.",
        ),
        Hint(
            "overwritten in place",
            _older_was("overwritten in place"),
            "The older checkpoint was written over in place: a job that is killed in the middle "
            "has neither. Write beside it first; one system call puts a finished file in another's "
            "place.",
        ),
        Hint(
            "gap",
            _older_was(
                "removed before the new one was there", "moved away before the new one was there"
            ),
            "The older file was taken away before the new one was in its place: for a moment there "
            "is none. There is a call that replaces a file in one step.",
        ),
        Hint(
            "no state dict",
            lambda look: isinstance(_saved(look), str) and "cannot read" in _saved(look),
            "torch.load refuses the file: it holds whole objects where state dicts should be.",
        ),
        Hint(
            "module. in the names",
            lambda look: any(name.startswith("module.") for name in _saved(look)["model"]),
            "The names begin with `module.`: that is the DDP wrapper's state dict. Save the module "
            "inside, so that also a single process can load it.",
        ),
        Hint(
            "wrong keys",
            lambda look: _saved(look)["keys"] != ["epoch", "model", "optimizer"],
            'The file holds something other than a dict of "model", "optimizer" and "epoch".',
        ),
        Hint(
            "next epoch",
            lambda look: _saved(look)["epoch"] == look.asked("checkpoint")[0]["epoch"] + 1,
            "Save the epoch that was just finished; which one is next is the loader's business.",
        ),
        Hint(
            "objects saved",
            lambda look: (
                _saved(look)["model"] is None or not isinstance(look.left("optimizer")[0], dict)
            ),
            "Save state dicts, not the objects themselves.",
        ),
    ),
    advice=(
        STATE_DICT,
        Advice(
            "no older file",
            r"No such file or directory: '[^']*/model\.pth'",
            "At the first save nothing lies at the path yet: only its folder is there.",
        ),
    ),
)
