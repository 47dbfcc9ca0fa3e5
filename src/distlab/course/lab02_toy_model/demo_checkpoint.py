"""`demo_checkpoint`: a checkpoint that one rank writes and all read."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from pathlib import Path

from distlab.course.lab02_toy_model.weights import PATIENCE, pinned_weights, starting_from
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.raised import STATE_DICT
from distlab.rank import sharing, world
from distlab.rank.sharing import Board, meet
from distlab.records import reading

_watched: dict = {"folder": ""}  # what the audit hook looks at

HELD = 1.5  # seconds that rank 0 is held at most while it writes: longer than others may pause
_BRIEFLY = 0.25  # the same on more than two ranks: a wait that no record shows is held to the end
_SLOW = 0.12  # seconds that rank 0 is always held: by then a rank that left a wait has recorded it
_LOOK = 0.005  # seconds between two looks at the other ranks
_READ = "has read"  # the note of a rank that has begun to read


def _checkpoint_inputs(case: Case) -> list[dict]:
    older = pinned_weights(case, 0, salt=1) if case.get("older_file", False) else None
    return [{"weights": pinned_weights(case, rank), "older": older} for rank in range(case.size)]


_MOVES = ("os.rename", "os.link", "os.symlink")


def _audit(event: str, args: tuple) -> None:
    """Note what is saved and loaded: who moves a file into the folder has saved it as well. Who
    removes one there is held as who writes is.
    """
    moved = event in _MOVES
    if not _watched["folder"] or not (moved or event in ("open", "os.remove")) or not args:
        return
    path, mode, flags = (*args, None, None)[:3]
    if moved:
        path = args[1]
    if not isinstance(path, (str, bytes, os.PathLike)) or not _inside(path):
        return
    if event == "os.remove":
        _watched["hold"]()  # an older file is there until every other rank waits, or has read it
        return
    writes = moved or (bool(set(mode or "") & set("wax+")) if mode else bool((flags or 0) & 3))
    log = _watched["log"]
    if writes:
        log.add("saved")
        _watched["hold"]()
    elif "loaded" not in log:
        log.add("loaded")
        with contextlib.suppress(OSError):  # no error here may reach who opens it
            _watched["board"].note(_READ, "")


def _inside(path: str | bytes | os.PathLike) -> bool:
    """Does this name lie in the watched folder, wherever a link of that name leads?"""
    folder = os.path.dirname(os.path.abspath(os.fsdecode(path)))
    return f"{os.path.realpath(folder)}{os.sep}".startswith(f"{_watched['folder']}{os.sep}")


class _Hold:
    """Holds rank 0 while it writes or removes a file until every other rank waits or has read
    already: a rank that only pauses between saving and loading then reads too early.

    Args:
        most: seconds that it holds in all. A rank that pauses for longer is not found out, and one
            that gives up waiting sooner fails.
    """

    def __init__(self, board: Board, most: float) -> None:
        self._board, self._left = board, most

    def __call__(self) -> None:
        begin = time.monotonic()
        time.sleep(_SLOW)
        while time.monotonic() < begin + self._left and not self._settled():
            time.sleep(_LOOK)
        self._left = max(0.0, self._left - (time.monotonic() - begin))

    def _settled(self) -> bool:
        read = self._board.notes(_READ)
        others = set(range(1, self._board.size)) - set(read)
        return all(map(self._waits, others))

    def _waits(self, rank: int) -> bool:
        """Does this rank wait, for a message, a collective or a store? Or has it ended?"""
        with contextlib.suppress(OSError, ValueError):
            record = reading.read(self._board.folder / f"{rank}.rec")
            return record.ended or bool(record.waiting() or record.stands_in)
        return False


@contextlib.contextmanager
def _watching(folder: str, board: Board, most: float):
    """Note whether files in `folder` are written and read here; rank 0 is held while it writes, for
    `most` seconds at most.
    """
    from unittest import mock

    import torch.serialization as serialization

    if not _watched.get("hooked"):
        sys.addaudithook(_audit)
        _watched["hooked"] = True
    writer = serialization._open_zipfile_writer
    log: set[str] = set()
    hold = _Hold(board, most) if board.rank == 0 else (lambda: None)

    def opened(target):
        if not isinstance(target, (str, os.PathLike)):
            return writer(target)
        if _inside(target):
            log.add("saved")
        hold()
        file = writer(target)
        hold()  # the file is there now, and nothing in it
        return file

    _watched.update(folder=folder, log=log, hold=hold, board=board)
    try:
        with mock.patch.object(serialization, "_open_zipfile_writer", opened):
            yield log
    finally:
        _watched["folder"] = ""


def _in_file(path: Path):
    """The tensors of a saved state dict, in its order; `None` without a file."""
    import torch

    if not path.exists():
        return None
    try:
        return list(torch.load(path, map_location="cpu", weights_only=True).values())
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
    most = HELD if size == 2 else _BRIEFLY
    # the answer has not begun yet: whoever is late here is late because of the machine
    meet("before", rank, size, sharing.PATIENCE)
    try:
        with (
            starting_from(inputs["weights"]),
            _watching(os.path.realpath(folder), Board(rank, size), most) as log,
        ):
            returned = function(rank, size, str(path))
    finally:
        meet("after", rank, size, PATIENCE)
    return {
        "file": _in_file(path),
        "record of the file": " and ".join(sorted(log, reverse=True)) or "nothing",
        "returned": returned,
        "device of the tensors": "its own" if _own_device(returned) else "another rank's",
    }


def _older(look: Look) -> list | None:
    """The tensors in the file that lay there before."""
    return look.inputs[0]["older"]


def _own_device(tensors) -> bool:
    """Are they on this rank's device, or the CPU?"""
    import torch

    if not isinstance(tensors, (list, tuple)):
        return True
    own = {torch.device("cpu"), world.here().device}
    return all(t.device in own for t in tensors if isinstance(t, torch.Tensor))


exercise = Exercise(
    points=4,
    make=_checkpoint_inputs,
    call=_call_demo_checkpoint,
    deadline=30.0,  # rank 0 is held while it writes
    asks="In demo_checkpoint rank 0 alone saves its ToyModel's state dict, and every rank loads "
    "it after it was written and returns the loaded tensors; the file stays.",
    visible=(Case(2, 1), Case(3, 2, {"older_file": True})),
    hints=(
        Hint(
            "file removed",
            lambda look: None in look.left("file"),
            "When the function has returned there is no file at the given path. Either it was "
            "written somewhere else (under another name?), or somebody has removed it: leave it "
            "where it is.",
        ),
        Hint(
            "everyone saves",
            lambda look: any("saved" in done for done in look.left("record of the file")[1:]),
            "More than one rank writes to the same path: the file can end up mixed or half "
            "written. Rank 0 alone saves.",
        ),
        Hint(
            "older file kept",
            lambda look: (
                _older(look) and all(look.same(_older(look), file) for file in look.left("file"))
            ),
            "The older file still lies there after the function has returned. Rank 0 saves its own "
            "state dict in any case, in place of whatever is there.",
        ),
        Hint(
            "older file read",
            lambda look: (
                _older(look) and any(look.same(_older(look), got) for got in look.returned)
            ),
            "A rank has read the older file that lay there: that a file exists does not say that "
            "rank 0 has written it. Let the ranks wait for each other between saving and "
            "loading.",
        ),
        Hint(
            "not loaded",
            lambda look: any("loaded" not in done for done in look.left("record of the file")),
            "Every rank has to read the file, rank 0 too: torch.load, then load_state_dict.",
        ),
        Hint(
            "own weights",
            lambda look: any(map(look.same, look.given("weights")[1:], look.returned[1:])),
            "A rank returned the weights that it began with: what was loaded has to go into the "
            "model.",
        ),
        Hint(
            "state dict returned",
            lambda look: all(isinstance(got, dict) for got in look.returned),
            "A state dict has names and tensors. Asked for are the tensors alone, in a list.",
        ),
    ),
    advice=(STATE_DICT,),
)
