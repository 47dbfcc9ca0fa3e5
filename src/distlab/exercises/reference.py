"""Reference outputs on disk, with where and how each was recorded.

A lab's references are two files: JSON (device, back end, versions, tolerance, and for each case the
fingerprint of its inputs and the tree of its outputs) and safetensors (the tensors; equal ones are
stored once, and large ones that repeat themselves as their different blocks).
"""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors import numpy as safe

from distlab.exercises.exercise import BLOCK, LARGE, Case, Exercise
from distlab.processes import origin

RECORD = "run `distlab reference record`"  # what only authors and instructors can do


class NoReference(RuntimeError):
    """There is no reference output for a case, or one of other inputs."""


class References:
    """The references of one lab: `folder/stem.json` and `folder/stem.safetensors`.

    Args:
        content, tensors: what these two files hold, if they have been read already.
        instead: what to do where they cannot be used, for whoever reads that.
    """

    def __init__(
        self, folder: str | Path, stem: str, content: Any = None, tensors: bytes | None = None,
        instead: str = RECORD,
    ) -> None:  # fmt: skip
        self.path, self._instead = Path(folder) / f"{stem}.json", instead
        beside = self.path.with_suffix(".safetensors")
        try:
            self._content = _checked(content or json.loads(self.path.read_text("utf-8")))
            self._tensors = safe.load(tensors) if tensors is not None else safe.load_file(beside)
        except (OSError, ValueError, SafetensorError) as error:
            raise NoReference(
                f"{self.path} cannot be read ({type(error).__name__}): {instead}"
            ) from error
        self._compared: set[tuple[str, str, bytes]] = set()  # cases whose inputs were checked

    @property
    def recorded(self) -> dict[str, Any]:
        """Device, back end and versions of the recording."""
        recorded: dict[str, Any] = self._content["recorded"]
        return recorded

    @property
    def exercises(self) -> set[str]:
        """The names of the exercises that it has outputs of."""
        return set(self._content["exercises"])

    def __call__(self, exercise: Exercise, case: Case) -> list[Any]:
        """The expected outputs of a case, by rank.

        Raises:
            NoReference: it was not recorded, or with other inputs.
        """
        entry = self._content["exercises"].get(exercise.name, {}).get(case.key)
        # the parameters of a hidden case may be its inputs, and students may see this message
        which = f"{exercise.name}, {'a hidden case' if case.hidden else case.key}"
        if entry is None:
            raise NoReference(f"{self.path.name} has no output for {which}: {self._instead}")
        asked = (exercise.name, case.key, case.entropy)
        if asked not in self._compared:
            if entry["inputs"] != exercise.fingerprint(case):
                raise NoReference(
                    f"{self.path.name}: the inputs of {which} are others than those that were "
                    f"recorded: {self._instead}"
                )
            self._compared.add(asked)
        try:
            return [_up(tree, self._tensors) for tree in entry["outputs"]]
        except KeyError as error:  # only one of the two files was replaced
            raise NoReference(
                f"{self.path.name} and {self.path.stem}.safetensors are not of one recording: "
                f"{self._instead}"
            ) from error


def _checked(content: Any) -> dict[str, Any]:
    """The content of a references file.

    Raises:
        ValueError: this is some other JSON.
    """
    if not isinstance(content, dict) or not isinstance(content.get("exercises"), dict):
        raise ValueError("it holds no references")
    return content


def released(folder: Path, lab: str, instead: str) -> References:
    """The references that a lab came with, in the folder of its notebook.

    Args:
        instead: what to do where they are not there.

    Raises:
        NoReference: one of the two files is missing, or cannot be read.
    """
    for suffix in (".json", ".safetensors"):
        if not (folder / f"reference{suffix}").exists():
            raise NoReference(
                f"reference{suffix} of lab {lab} is not in {folder.resolve()}: {instead}"
            )
    return References(folder, "reference", instead=_renewed(folder, lab))


def in_repository(folder: Path, lab: str) -> bool:
    """Is it a lab's folder in the course's own repository, where references are recorded?"""
    repository = Path(origin.ROOT).parent.parent
    return folder.resolve() in (repository / "labs" / lab, repository / "solutions" / lab)


def _renewed(folder: Path, lab: str) -> str:
    """What to do where references that are there cannot be used. Students cannot record any, and
    `distlab fetch` keeps what is there.
    """
    if in_repository(folder, lab):
        return f"run `distlab reference record {lab}`, then `make labs`"
    return (
        f"remove reference.json and reference.safetensors in {folder.resolve()} and say "
        f"`distlab fetch {lab} {shlex.quote(str(folder))}`, which brings those of this version"
    )


def write(
    folder: str | Path,
    stem: str,
    recorded: dict[str, Any],
    outputs: Iterable[tuple[Exercise, Case, list[Any]]],
) -> Path:
    """Write the references of one lab; returns the JSON file's path. The same input gives the same
    bytes.
    """
    path = Path(folder) / f"{stem}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    content, tensors = written(recorded, outputs)
    path.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n", "utf-8")
    path.with_suffix(".safetensors").write_bytes(tensors)
    return path


def written(
    recorded: dict[str, Any], outputs: Iterable[tuple[Exercise, Case, list[Any]]]
) -> tuple[dict[str, Any], bytes]:
    """What `write` puts into the two files."""
    tensors: dict[str, np.ndarray] = {}
    exercises: dict[str, dict[str, Any]] = {}
    for exercise, case, values in outputs:
        exercises.setdefault(exercise.name, {})[case.key] = {
            "inputs": exercise.fingerprint(case),
            "tolerance": [exercise.tolerance.rtol, exercise.tolerance.atol],
            "outputs": [_down(value, tensors) for value in values],
        }
    content = {"recorded": recorded, "exercises": exercises}
    return content, safe.save(dict(sorted(tensors.items())))


def _down(value: Any, tensors: dict[str, np.ndarray]) -> Any:
    if isinstance(value, np.ndarray):
        array = np.ascontiguousarray(value).reshape(value.shape)
        if (repeats := _repeats(array)) is not None:
            return {"repeats": [*(_down(part, tensors) for part in repeats), list(array.shape)]}
        head = f"{array.dtype}{array.shape}".encode()
        key = hashlib.sha256(head + array.tobytes()).hexdigest()[:16]
        tensors[key] = array
        return {"tensor": key}
    if isinstance(value, float):
        return {"float": value.hex()}
    if isinstance(value, dict):
        return {"dict": [[key, _down(item, tensors)] for key, item in value.items()]}
    if isinstance(value, (list, tuple)):
        return [_down(item, tensors) for item in value]
    if isinstance(value, set):
        return {"set": sorted(value)}
    if value is None or isinstance(value, (bool, int, str)):
        return value
    raise TypeError(f"a reference output cannot hold {value!r}")


def _repeats(array: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """The different blocks of a large array, and which stands where, if that is much shorter."""
    if array.size <= LARGE or array.size % BLOCK:
        return None
    rows = array.reshape(-1, BLOCK)
    blocks, places = np.unique(rows, axis=0, return_inverse=True)
    return (blocks, places.ravel().astype("int32")) if 4 * len(blocks) <= len(rows) else None


def _up(tree: Any, tensors: dict[str, np.ndarray]) -> Any:
    if isinstance(tree, list):
        return [_up(item, tensors) for item in tree]
    if not isinstance(tree, dict):
        return tree
    ((kind, content),) = tree.items()
    if kind == "tensor":
        return tensors[content]
    if kind == "repeats":
        blocks, places, shape = content
        return _up(blocks, tensors)[_up(places, tensors)].reshape(shape)
    if kind == "float":
        return float.fromhex(content)
    if kind == "set":
        return set(content)
    return {key: _up(item, tensors) for key, item in content}
