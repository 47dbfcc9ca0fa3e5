"""A student's own visible inputs, where the course hands such out (`own-inputs.json`).

The file holds the visible cases as they are for one student, with their reference outputs, and
nothing from which a hidden case could be made. `check` uses it where it lies beside the notebook,
or where the Hub keeps it (DISTLAB_VARIANTS); without it, `check` uses the lab's usual inputs. Both
are right, whichever inputs the submission is judged by later.
"""

from __future__ import annotations

import base64
import dataclasses
import functools
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from distlab.exercises.exercise import Case, Exercise
from distlab.exercises.reference import NoReference, References, written
from distlab.processes import untrusted

NAME = "own-inputs.json"
VARIABLE = "DISTLAB_VARIANTS"  # folders, as in PATH, that hold STUDENT/LAB/own-inputs.json
#: where the exchange over HTTP puts them, by course (`distlab.exchange.base`)
FETCHED = "~/.local/share/distlab/own-inputs"
LARGEST = 64 << 20  # bytes of the file
_FORMAT = 2  # 1 had parameters sorted by name, and formulas take theirs by position


class NotYours(ValueError):
    """A file of own inputs that cannot be used. The message says why, in one sentence."""


@dataclass(frozen=True)
class OwnInputs:
    """One student's visible cases of a lab, and their references."""

    student: str
    lab: str
    cases: Mapping[str, tuple[Case, ...]]
    reference: References

    def of(self, exercise: Exercise) -> tuple[Case, ...] | None:
        """The student's visible cases of an exercise; `None` where the file does not fit the
        exercise as it is now, so that the usual cases count.
        """
        own = self.cases.get(exercise.name, ())
        if [case.size for case in own] != [case.size for case in exercise.visible]:
            return None
        try:
            for case in own:
                self.reference(exercise, case)
        except Exception:  # an exercise that has changed may make no inputs of such parameters
            return None
        return own


def packed(
    student: str, lab: str, recorded: dict[str, Any],
    outputs: Iterable[tuple[Exercise, Case, list[Any]]],
) -> str:  # fmt: skip
    """The file's content.

    Args:
        outputs: the visible cases of all exercises, with their outputs by rank.
    """
    outputs = list(outputs)
    if any(case.hidden for _, case, _ in outputs):
        raise ValueError("a hidden case is handed out to nobody")
    cases: dict[str, list[dict[str, Any]]] = {}
    for exercise, case, _ in outputs:
        told = {"size": case.size, "seed": case.seed, "params": dict(case.params)}
        cases.setdefault(exercise.name, []).append({**told, "entropy": case.entropy.hex()})
    content, tensors = written(recorded, outputs)
    about = {
        "format": _FORMAT, "student": student, "lab": lab, "cases": cases, "references": content,
        "tensors": base64.b64encode(tensors).decode(),
    }  # fmt: skip
    return json.dumps({**about, "digest": _digest(about)}) + "\n"


def _digest(about: Mapping[str, Any]) -> str:
    text = json.dumps({k: v for k, v in about.items() if k != "digest"})
    return hashlib.sha256(text.encode()).hexdigest()


def read(path: Path) -> OwnInputs:
    """The own inputs in a file.

    Raises:
        NotYours: it is damaged, or was changed by hand.
        OSError: it cannot be opened.
    """
    found = path.stat()
    return _read(path.resolve(), found.st_mtime_ns, found.st_size)


@functools.lru_cache(maxsize=4)
def _read(path: Path, *state: int) -> OwnInputs:
    """`read`, once for each state of a file."""
    damaged = f"{path.name} is damaged: fetch it again."
    try:
        about = json.loads(untrusted.read(path, LARGEST).decode("utf-8"))
        if about["format"] != _FORMAT:
            raise NotYours(f"{path.name} is of another version of the course: fetch it again.")
        if about["digest"] != _digest(about):
            raise NotYours(damaged)
        cases = {name: tuple(map(_case, some)) for name, some in about["cases"].items()}
        tensors = base64.b64decode(about["tensors"], validate=True)
        instead = f"fetch {path.name} again"
        references = References(path.parent, path.stem, about["references"], tensors, instead)
        return OwnInputs(str(about["student"]), str(about["lab"]), cases, references)
    except NotYours:
        raise
    except (
        untrusted.TooLarge, ValueError, LookupError, TypeError, AttributeError, RecursionError,
        NoReference,
    ) as error:  # fmt: skip
        raise NotYours(damaged) from error


def _case(told: Mapping[str, Any]) -> Case:
    return Case(told["size"], told["seed"], told["params"], entropy=bytes.fromhex(told["entropy"]))


def me() -> str:
    """The student whose server this is, on a Hub; "" elsewhere."""
    return os.environ.get("JUPYTERHUB_USER", "")


def found(lab: str, folder: Path) -> tuple[OwnInputs | None, str]:
    """The own inputs of whoever works here, and a sentence on a file that could not be used.

    Args:
        folder: where the notebook lies.
    """
    said = ""
    for path in _places(lab, folder):
        try:
            own = read(path)
            return _refused(own, lab, path), ""
        except NotYours as error:
            said = said or f"{error} The lab's usual inputs are used."
        except OSError:
            continue
    return None, said


def _places(lab: str, folder: Path) -> Iterator[Path]:
    if me():
        for kept in filter(None, os.environ.get(VARIABLE, "").split(os.pathsep)):
            yield Path(kept, me(), lab, NAME)
        for course in sorted(Path(os.path.expanduser(FETCHED)).glob("*")):
            yield course / me() / lab / NAME
    yield folder / NAME


def _refused(own: OwnInputs, lab: str, path: Path) -> OwnInputs:
    """Raises:
    NotYours: they are another student's, or another lab's.
    """
    if own.lab != lab:
        raise NotYours(f"{path.name} belongs to {own.lab}, not to {lab}.")
    if me() and own.student != me():
        raise NotYours(f"{path.name} is {own.student}'s, not yours ({me()}).")
    return own


def asked(exercise: Exercise, folder: Path) -> tuple[Exercise, References | None, str]:
    """An exercise with the visible cases that count here, their references where these are the
    student's own, and a sentence that says so.
    """
    own, said = found(exercise.lab, folder)
    if own is None:
        return exercise, None, said
    cases = own.of(exercise)
    if cases is None:
        usual = f"{NAME} does not fit {exercise.name} as it is now: fetch it again."
        return exercise, None, f"{usual} The lab's usual inputs are used."
    said = f"These were {own.student}'s own inputs."
    return dataclasses.replace(exercise, visible=cases), own.reference, said
