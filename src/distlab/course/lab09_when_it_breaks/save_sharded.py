"""Lab 09, `save_sharded`: a checkpoint that is whole or is none.

Every case saves twice. In the first save one rank starts late, in both the writer of one rank is
slow: an index that is written without waiting for all files is there before them. In some cases a
save of the same step fails first, on a rank whose files may not grow. That one runs in separate
processes, because ranks that wait for the one that failed may wait forever.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from distlab.course.lab09_when_it_breaks import checkpoints
from distlab.course.lab09_when_it_breaks.file_watch import Deed, watched
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.raised import Advice
from distlab.rank.sharing import among_ranks, meet

OVERHEAD = 8192  # bytes that a file may have beyond those of its piece
DELAY = 0.25  # seconds by which one rank is later than the others
GROWTH = 64 << 10  # bytes to which the files of the rank may grow whose save is to fail
PATIENCE = 2.0  # seconds that the others have when the failing rank is done
LONGEST = 8.0  # seconds after which a save that was to fail is ended
MISSING, THERE = "missing", "there"
IN_PLACE, FROM_OUTSIDE = "in place, byte by byte", "from outside of the given folder"
AS_THEY_WERE, REFUSES = "as they were", "one that torch.load refuses"
INDEX = "index.json"
FIRST, SECOND, FAILED = "first save", "second save", "failed save"


def _inputs(case: Case) -> list[dict]:
    given = {
        "lengths": case.params["lengths"],
        "step": case.get("step", 7),
        "seed": case.number(2**31),
        "turn": case.seed,
        "view": case.get("view", False),
        "left": case.get("left", "nothing"),
        "fails": case.get("fails"),
    }
    return [given] * case.size


def _call(function, rank: int, size: int, inputs: dict[str, Any]) -> dict[str, Any]:
    patience = DELAY * 50

    def together(name: str) -> None:
        """Wait for the others; not for long once somebody has not come, who hangs perhaps."""
        nonlocal patience
        if not meet(name, rank, size, patience):
            patience = DELAY

    with checkpoints.temporary_folder() as own:
        folder = Path(among_ranks("folder", rank, size, lambda: str(own))[0])  # rank 0's, for all
        if rank == 0:
            checkpoints.lay_down(folder, 1, [2, 3], seed=99)
            checkpoints.lay_down(folder, 2, [2, 3], seed=98, whole=False)  # its save crashed
            _leave(folder, inputs)
        together("laid down")
        found = {}
        if inputs["fails"] is not None:
            found[FAILED] = _fail(function, rank, size, inputs, folder)
        _join(rank, size)
        for number, name in enumerate((FIRST, SECOND)):
            found[name] = _save(function, rank, size, inputs, folder, number, together)
        return found


def _leave(folder: Path, inputs: dict) -> None:
    """What a crashed save has left of the step that is saved first."""
    lengths, step, left = inputs["lengths"], inputs["step"], inputs["left"]
    if left == "a folder":
        checkpoints.step_folder(folder, step).mkdir()
    if left in ("whole files", "halves"):
        # complete files of an older run with as many ranks, and of one rank more
        checkpoints.lay_down(folder, step, [*lengths, 3], seed=98, whole=False)
    if left == "halves":
        for rank in range(len(lengths)):
            checkpoints.halve(checkpoints.rank_file(folder, step, rank))


def _piece(rank: int, inputs: dict, number: int):
    """This rank's piece of the save of that number; perhaps a view of a much larger tensor."""
    import torch

    lengths, view = inputs["lengths"], inputs["view"]
    beside = 9_000 * view
    flat = np.pad(checkpoints.flat_of(lengths, inputs["seed"] + number), beside)
    begin = beside + sum(lengths[:rank])
    mine = slice(begin, begin + lengths[rank])
    return torch.from_numpy(flat)[mine] if view else torch.from_numpy(flat[mine].copy())


_store: Any = None  # the group's: torch keeps alive only its C++ part


def _join(rank: int, size: int, name: str = "group") -> None:
    """Make the default process group, as every other exercise finds it."""
    import torch.distributed as dist

    from distlab.rank.store import PromptStore

    global _store
    _store = PromptStore(os.path.join(os.environ["DISTLAB_RUN"], name), size)
    dist.init_process_group("gloo", store=_store, rank=rank, world_size=size)


# a save that is to succeed


def _save(
    function, rank: int, size: int, inputs: dict, folder: Path, number: int,
    together: Callable[[str], None],
) -> dict:  # fmt: skip
    step = inputs["step"] + 5 * number
    piece = _piece(rank, inputs, number)
    before = _others(folder, step)
    late = inputs["turn"] % size
    slow = 1 + inputs["turn"] % (size - 1) if size > 1 else 0  # one that rank 0 waits for
    index, seen = checkpoints.index_file(folder, step), []

    def dawdle() -> None:
        """Give the others the time to go ahead without this rank."""
        end = time.monotonic() + DELAY
        while time.monotonic() < end and not index.exists():
            time.sleep(0.005)
        seen.append(index.exists())

    if rank == late and number == 0:
        dawdle()
    with watched(folder, dawdle if rank == slow else None) as deeds:
        returned = function(rank, size, piece, str(folder), step)
        at_return = index.exists()
    found = {
        "returned": returned,
        "index at the return": THERE if at_return else "not there yet",
        "index before this rank's file": "there already" if any(seen) else "none",
        "files of other ranks": _of_others(deeds, rank),
    }
    together(f"saved {number}")
    found |= _file(checkpoints.rank_file(folder, step, rank), piece)
    if rank == 0:
        found["index"] = _read(index)
        found["writing of the index"] = _manner(deeds, index)
        found["other steps"] = AS_THEY_WERE if _others(folder, step) == before else "changed"
    together(f"looked {number}")
    return found


def _others(folder: Path, step: int) -> dict[str, dict[str, bytes]]:
    """What all other steps hold. Not what else lies in the folder: other ranks may be at work
    already, in this step's folder and with temporary files beside it.
    """
    own = checkpoints.step_folder(folder, step)
    steps = [path for path in folder.iterdir() if re.fullmatch(r"step-\d+", path.name)]
    return {path.name: checkpoints.content(path) for path in steps if path != own}


def _of_others(deeds: list[Deed], rank: int) -> str:
    """Which other ranks' files this one has written; the index is rank 0's."""
    wrote = {os.path.basename(deed.path) for deed in deeds if deed.what != "read"}
    writers = {name: 0 if name == INDEX else checkpoints.rank_of(name) for name in wrote}
    found = sorted(name for name, writer in writers.items() if writer not in (None, rank))
    return f"{' and '.join(found)} written by this rank" if found else "left to them"


def _file(path: Path, piece) -> dict[str, Any]:
    """The tensor in a rank's own file, and whether the file is as small as it should be."""
    import torch

    if not path.exists():
        return {"file": MISSING, "bytes of the file": MISSING}
    try:
        held = torch.load(path, weights_only=True)
    except Exception as error:
        return {"file": f"{REFUSES} ({type(error).__name__})", "bytes of the file": "not asked"}
    size, room = path.stat().st_size, piece.numel() * 4
    small = size <= room + OVERHEAD
    told = "few enough" if small else f"{size} for a piece of {room}"
    shown = held if isinstance(held, torch.Tensor) else f"a {type(held).__name__}"
    return {"file": shown, "bytes of the file": told}


def _read(index: Path) -> Any:
    try:
        return json.loads(index.read_text("utf-8"))
    except OSError:
        return MISSING
    except ValueError:
        return "no JSON"


def _manner(deeds: list[Deed], index: Path) -> str:
    if Deed("write", str(index)) in deeds:
        return IN_PLACE
    return FROM_OUTSIDE if Deed("put from outside", str(index)) in deeds else "in one step"


# a save that is to fail


def _fail(function, rank: int, size: int, inputs: dict, folder: Path) -> dict[str, str]:
    """Save where one rank's files cannot grow, and report what became of the step.

    The save runs in separate processes. They are ended some time after the failing rank is done,
    which the others may spend waiting.
    """
    from distlab.rank import child_process

    fails, index = rank == inputs["fails"], checkpoints.index_file(folder, inputs["step"])
    ended = folder.parent / f"{folder.name}-failed"
    with child_process.Process(
        lambda: _save_in_vain(function, rank, size, inputs, folder)
    ) as process:
        deadline = time.monotonic() + LONGEST
        while not process.ended(0.02) and time.monotonic() < deadline:
            if ended.exists():
                deadline = min(deadline, time.monotonic() + PATIENCE)
        if fails:
            ended.touch()
        end = _end(process)
    meet("failed", rank, size, 2 * LONGEST)
    there = index.exists()
    found = {"index": THERE if there else "none"}
    if fails:
        found["end of the rank that failed"] = end
    elif end == AS_IF_NOTHING and not there:
        found["index"] = RETURNED_WITHOUT
    meet("failure seen", rank, size, 2 * LONGEST)
    if rank == 0:
        index.unlink(missing_ok=True)
    return found


RAISED, AS_IF_NOTHING = "no normal return", "a return as if nothing had happened"
RETURNED_WITHOUT = "none, and a return all the same"


def _end(process) -> str:
    """How the save ended.

    Raises:
        NotImplementedError: the function is still to be written.
    """
    from distlab.rank import child_process

    if not process.ended(0.0):
        return RAISED  # it still waits: not a normal return either
    try:
        process.result()
    except child_process.Died:
        return RAISED
    except child_process.Raised as raised:
        told = raised.described
        if told["type"] == "NotImplementedError" and "TODO" in told["message"]:
            raise NotImplementedError(told["message"]) from None
        return RAISED
    return AS_IF_NOTHING


def _save_in_vain(function, rank: int, size: int, inputs: dict, folder: Path) -> None:
    """In the new process: save, on one rank without room for the file."""
    import resource

    from distlab.rank import group_maker

    group_maker.uninstall()  # the record is the rank's, not of this process
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    _join(rank, size, "failing group")
    piece = _piece(rank, inputs, 9)
    if rank == inputs["fails"]:
        resource.setrlimit(resource.RLIMIT_FSIZE, (GROWTH, resource.RLIM_INFINITY))
    with contextlib.suppress(SystemExit):
        function(rank, size, piece, str(folder), inputs["step"])
        return
    raise RuntimeError("the function ended the process")


# what hints ask


def _left(look: Look, name: str, *saves: str) -> list[Any]:
    """What ranks left under this name in these saves, or in the two that are to succeed."""
    told = [found for save in saves or (FIRST, SECOND) for found in look.left(save) if found]
    return [found[name] for found in told if name in found]


def _says(name: str, *texts: str):
    return lambda look: any(
        isinstance(found, str) and text in found for found in _left(look, name) for text in texts
    )


def _isnt(name: str, right: str):
    return lambda look: any(found != right for found in _left(look, name))


exercise = Exercise(
    points=5,
    make=_inputs,
    call=_call,
    forks=True,
    group=False,  # the call makes it: a save that fails needs another one
    deadline=60.0,  # most of it is waiting
    asks="save_sharded has every rank write its own piece to rank-{rank}.pt, and rank 0, when all "
    "files are complete, index.json in one step; nobody returns before the index is there, and "
    "after a failed save of any rank none appears.",
    visible=(
        Case(2, 1, {"lengths": [5, 3]}),
        Case(3, 2, {"lengths": [4, 0, 7], "view": True, "left": "halves"}),
        Case(3, 4, {"lengths": [40_000, 40_000, 40_000], "fails": 2}),
    ),
    hints=(
        Hint(
            "index after a failed save",
            lambda look: THERE in _left(look, "index", FAILED),
            "A rank's save failed, and an index was written all the same: it promises what is not "
            "there. Rank 0 has to learn that all others have succeeded, not only that they are "
            "done.",
        ),
        Hint(
            "failure swallowed",
            lambda look: AS_IF_NOTHING in _left(look, "end of the rank that failed", FAILED),
            "A rank whose save failed returned as if nothing had happened: let the exception out.",
        ),
        Hint(
            "returned after another's failure",
            lambda look: RETURNED_WITHOUT in _left(look, "index", FAILED),
            "Another rank's save failed, so that there is no index, and a rank returned as if the "
            "step were saved: no rank returns before the index is there. Raise on every rank when "
            "one has failed.",
        ),
        Hint(
            "file missing", _says("file", MISSING, REFUSES),
            "A rank's file is not there, or is only what a crashed save had left: each rank writes "
            "folder/step-{step}/rank-{rank}.pt itself, whatever the length of its piece.",
        ),
        Hint(
            "index before the files", _isnt("index before this rank's file", "none"),
            "The index was there before a rank had written its file. That a file of that name is "
            "there says nothing: it can be an older one, or half of one. The ranks have to tell "
            "each other when they are done.",
        ),
        Hint(
            "returned before the index", _isnt("index at the return", THERE),
            "A rank returned when the index was not there yet. Whoever goes on then, and fails, "
            "believes in a checkpoint that may never come to be.",
        ),
        Hint(
            "index of several", _says("files of other ranks", INDEX),
            "Another rank than 0 wrote the index. One rank alone declares the checkpoint valid, "
            "when it knows that all files are complete: rank 0.",
        ),
        Hint(
            "files of other ranks", _isnt("files of other ranks", "left to them"),
            "A rank wrote the file of another. Each writes its own: that is what makes saving "
            "quick, and a piece need not fit into another rank's memory.",
        ),
        Hint(
            "too many bytes", _says("bytes of the file", " for a piece of "),
            "The file is far larger than its piece. torch.save writes all of the storage that a "
            "view looks into: save a copy of the piece (clone).",
        ),
        Hint(
            "another content",
            lambda look: any(isinstance(held, str) for held in _left(look, "file")),
            "The file does not hold the piece alone, as a tensor: torch.save(piece, path), without "
            "a dict or a list around it.",
        ),
        Hint(
            "in place", _says("writing of the index", IN_PLACE),
            "index.json was written in place: whoever looks meanwhile, or after a crash, sees half "
            "of it. Write it under another name, and let os.replace put it in its place.",
        ),
        Hint(
            "from outside", _says("writing of the index", FROM_OUTSIDE),
            "The index was written outside of `folder` and then moved. From one disk to another "
            "nothing is moved in one step, and /tmp is seldom on the disk of the checkpoints: "
            "write it in the step's folder, under another name (tempfile takes dir=…).",
        ),
        Hint(
            "no index", _says("index", MISSING),
            "After the save there is no index.json in the step's folder.",
        ),
        Hint(
            "another index",
            lambda look: any(
                not look.same(want.get("index"), got.get("index"))
                for save in (FIRST, SECOND) for want, got in look.pairs(save)
            ),
            'The index holds something other than {"step": step, "lengths": [each rank\'s '
            "length, in order]}, all of them ints.",
        ),
        Hint(
            "other steps", _isnt("other steps", AS_THEY_WERE),
            "Another step's folder was changed: older checkpoints are what you have if this one "
            "fails, and what a crash has left of another step is not this save's to remove.",
        ),
        Hint(
            "something returned",
            lambda look: any(value is not None for value in _left(look, "returned")),
            "Return nothing (None).",
        ),
    ),
    advice=(
        Advice(
            "nothing to rename", r"No such file or directory: '[^']*' -> '",
            "What is renamed is not there, or no longer. Is it renamed once, by one rank, and "
            "under the very name that it was written with?",
        ),
        Advice(
            "folder of the step",
            r"Parent directory [^ ]*step-\d+ does not exist|File exists: .*step-\d+"
            # the index comes last: whoever lacks that, or a file to rename, has the folder
            r"|No such file or directory: '[^']*step-\d+(/(?!index)[^/']*)?'$",
            "The step's folder may be there, from a save that crashed, and it may not: then it has "
            "to be made before anything is written into it. See what os.makedirs says of folders "
            "that exist already.",
        ),
    ),
)  # fmt: skip
