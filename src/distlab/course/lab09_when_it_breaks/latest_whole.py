"""Lab 09, `latest_whole`: the last checkpoint that can be trusted."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from distlab.course.lab09_when_it_breaks import checkpoints
from distlab.course.lab09_when_it_breaks.checkpoints import index_file, rank_file, step_folder
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.numpy_ints import as_plain
from distlab.exercises.raised import Advice

LENGTHS = [4, 0, 6]
AS_IT_WAS, NOT_RUN = "as it was", "not run"
_MARK = "a-file-ran-code"
NO_FOLDER, FOLDER = "no such folder", "run 1"


class _RunsCode:
    """When a file that holds this is loaded without weights_only=True, it makes a folder."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __reduce__(self):
        return os.mkdir, (self.folder,)


Break = Callable[[Path, int], object]


def _holding(rank: int, made: Callable[[Path], Any]) -> Break:
    """Put something else into the file of this rank, all of it there."""

    def break_it(folder: Path, step: int) -> None:
        import torch

        torch.save(made(folder), rank_file(folder, step, rank))

    return break_it


def _zeros(folder: Path) -> Any:
    import torch

    return torch.zeros(5)


def _other_index(text: str) -> Break:
    return lambda folder, step: index_file(folder, step).write_text(
        text.replace("STEP", str(step)), "utf-8"
    )


def _swapped(folder: Path, step: int) -> None:
    """Two ranks' files under each other's names: as many elements in all, and whole files."""
    first, last = rank_file(folder, step, 0), rank_file(folder, step, 2)
    first.rename(folder / "aside")
    last.rename(first)
    (folder / "aside").rename(last)


def _folder_for_file(folder: Path, step: int) -> None:
    rank_file(folder, step, 1).unlink()
    rank_file(folder, step, 1).mkdir()


def _file_for_folder(folder: Path, step: int) -> None:
    shutil.rmtree(step_folder(folder, step))
    step_folder(folder, step).write_text("notes")


def _named(name: str) -> Break:
    """Put the whole checkpoint under another name, where 7 stands for the step."""
    name = name.replace(" and a space", " ")
    return lambda folder, step: step_folder(folder, step).rename(
        folder / name.replace("7", str(step))
    )


#: what may be wrong with a step, and how a whole checkpoint is broken in that way
FLAWS: dict[str, Break] = {
    "whole": lambda folder, step: None,
    "no index": lambda folder, step: index_file(folder, step).unlink(),
    "an index that is no JSON": _other_index('{"step": STEP, "lengths": [4, 0'),
    "an empty index": _other_index(""),
    "an index that is no text": lambda folder, step: index_file(folder, step).write_bytes(
        b'{"step": \xff\xfe}'
    ),
    "an index that is a list": _other_index("[STEP, 4, 0, 6]"),
    "an index without lengths": _other_index('{"step": STEP}'),
    "an index with a number for the lengths": _other_index('{"step": STEP, "lengths": 3}'),
    "the index of another step": _other_index('{"step": 1, "lengths": [4, 0, 6]}'),
    "a file is missing": lambda folder, step: rank_file(folder, step, 2).unlink(),
    "a truncated file": lambda folder, step: checkpoints.halve(rank_file(folder, step, 2)),
    "an empty file": lambda folder, step: os.truncate(rank_file(folder, step, 0), 0),
    "a file of text": lambda folder, step: rank_file(folder, step, 0).write_text("<html></html>\n"),
    "another length": _holding(0, _zeros),
    "lengths swapped": _swapped,
    "a file that runs code": _holding(2, lambda folder: _RunsCode(str(folder / _MARK))),
    "a file without a tensor": _holding(2, lambda folder: [0.0] * 6 + [1.0]),
    "a folder in place of a file": _folder_for_file,
    "more files than ranks": lambda folder, step: shutil.copy(
        rank_file(folder, step, 0), rank_file(folder, step, 7)
    ),
    "a file for a folder": _file_for_folder,
} | {
    name: _named(name)
    for name in (
        "step-007", "step-7.tmp", "step-+7", "step-7_0", "Step-7", "step-7 and a space", "step-²",
        "step-٣", "old-step-7",
    )
}  # fmt: skip


def _call(function, rank: int, size: int, inputs: dict[str, Any]) -> dict[str, Any]:
    with checkpoints.temporary_folder() as base:
        folder = base / FOLDER
        if inputs["steps"] != NO_FOLDER:
            folder.mkdir()
            for step, flaw in reversed(inputs["steps"]):  # the highest is not the last one written
                checkpoints.lay_down(folder, step, LENGTHS, seed=step)
                FLAWS[flaw](folder, step)
        before = checkpoints.content(base)
        returned = as_plain(function(str(folder)))
        ran = (folder / _MARK).exists()
        if ran:
            (folder / _MARK).rmdir()
        return {
            "returned": returned,
            "folder": AS_IT_WAS if checkpoints.content(base) == before else "changed",
            "code in a file": "run" if ran else NOT_RUN,
        }


# what hints ask


def _flaws(look: Look) -> dict[int, str]:
    """What is wrong with each step."""
    steps = look.inputs[0]["steps"]
    return {} if steps == NO_FOLDER else dict(map(tuple, steps))


def _taken(look: Look) -> str:
    """What is wrong with the step that was returned; "" if the folder has no such step."""
    return _flaws(look).get(look.returned[0], "")


def _took(*words: str):
    return lambda look: any(word in _taken(look) for word in words)


exercise = Exercise(
    points=3,
    make=lambda case: [{"steps": case.params["steps"]}],
    call=_call,
    group=False,
    asks="latest_whole returns the highest step whose index can be read and is of that step and "
    "whose files are all there, load with weights_only=True and have the lengths that the index "
    "says; None where there is none. It changes nothing.",
    visible=(
        Case(1, 1, {"steps": [[8, "whole"], [9, "whole"], [10, "whole"], [12, "no index"]]}),
        Case(1, 2, {"steps": [[3, "whole"], [5, "a truncated file"], [6, "a file is missing"],
                              [7, "step-7.tmp"]]}),
        Case(1, 3, {"steps": [[2, "whole"], [4, "another length"], [30, "an empty index"]]}),
        Case(1, 4, {"steps": NO_FOLDER}),
        Case(1, 5, {"steps": [[1, "no index"], [2, "an empty file"]]}),
        Case(1, 6, {"steps": [[0, "whole"], [1, "step-007"]]}),
    ),
    advice=(
        Advice(
            "no folder", f"No such file or directory: '[^']*/{FOLDER}'",
            "There may be no such folder yet: then there is no checkpoint either, and None is the "
            "answer.",
        ),
        Advice(
            "not a number", "invalid literal for int",
            "A name was taken for a number that int() cannot read. str.isdigit is no safeguard: it "
            "says yes to more characters than 0 to 9. Compare the whole name with what it would be "
            "for that step, and pass over what raises.",
        ),
        Advice(
            "not passed over",
            "Pytorch|EOFError|Unpickling|central directory|JSON|Unicode|Error: .*Errno|KeyError"
            "|TypeError|AttributeError|ValueError|IndexError|AssertionError",
            "Does this come of something damaged in the folder, or of another name? Whatever lies "
            "there is passed over, and what is damaged raises one exception or another, by how it "
            "is damaged: none of them may leave the function.",
        ),
    ),
    hints=(
        Hint(
            "code ran", lambda look: look.differs("code in a file"),
            "A file was loaded that runs code when it is loaded. With weights_only=True torch.load "
            "takes tensors only and refuses the rest.",
        ),
        Hint(
            "folder changed", lambda look: look.differs("folder"),
            "Something in the folder was changed, made or removed: only look. What lies there may "
            "be the last trace of what happened.",
        ),
        Hint(
            "no int", lambda look: type(look.returned[0]) not in (int, type(None)),
            "Return the step as an int.",
        ),
        Hint(
            "without index", _took("no index"),
            "A step without its index counts for nothing: the save did not get to its end.",
        ),
        Hint(
            "index not read", _took("index"),
            "That step has an index.json, but it is not the index of a whole checkpoint of that "
            "step: read it and compare.",
        ),
        Hint(
            "files not loaded",
            _took("truncated", "empty file", "of text", "runs code", "in place of a file"),
            "That step has all its files, and not all of them load: a file that is there can "
            "still be half a file. Try each.",
        ),
        Hint(
            "file missing", _took("is missing"),
            "That step lacks a rank's file: the index says how many ranks there were.",
        ),
        Hint(
            "lengths not compared", _took("length", "without a tensor"),
            "A rank's file of that step does not hold a tensor of the length that the index says.",
        ),
        Hint(
            "other names",
            lambda look: _took("step-", "Step")(look)
            or look.returned[0] is not None and not _taken(look),
            "No folder here is that step's: step-{step} is a checkpoint's name, step-007 and "
            "step-7.tmp are others.",
        ),
        Hint(
            "zero for none",
            lambda look: look.wanted[0] == 0 and look.returned[0] is None,
            "Step 0 is a step. `if step:` and `step or None` take it for none: compare with None.",
        ),
        Hint(
            "not the highest", lambda look: _taken(look) == "whole",
            "There is a later one. Are steps compared as numbers? As strings, step-9 comes after "
            "step-10. And does it count as whole with other files beside those of its ranks?",
        ),
        Hint(
            "gave up early",
            lambda look: look.returned[0] is None and "whole" in _flaws(look).values(),
            "There is a whole checkpoint, below one that is not: go on looking.",
        ),
    ),
)  # fmt: skip
