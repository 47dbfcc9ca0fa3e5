"""Frameworks that only some labs need: which of them are here, and what brings the others.

torch is used everywhere in this course and is one of its requirements. Horovod has to be compiled
and TensorFlow is large, so only labs 07 and 08 ask for them. nbgrader is for those who grade.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from distlab.processes.entry_points import HOROVOD_PRELOAD


@dataclass(frozen=True)
class Framework:
    """A framework that is not in the requirements.

    Args:
        title: its name for people.
        packages: the distributions that contain it, any one of which will do.
        modules: those that are imported before ranks are forked.
        brings: how to install it, in words.
    """

    title: str
    packages: tuple[str, ...]
    modules: tuple[str, ...]
    brings: str

    @property
    def version(self) -> str | None:
        """The installed version; `None` where it is missing. It is not imported for that."""
        for package in self.packages:
            try:
                return importlib.metadata.version(package)
            except importlib.metadata.PackageNotFoundError:
                continue
        return None


#: in the order in which ranks import them
FRAMEWORKS = {
    "tensorflow": Framework(
        "TensorFlow", ("tensorflow-cpu", "tensorflow"), ("tensorflow", "keras"),
        "`make tensorflow` in the course's folder, or `pip install 'distlab[tensorflow]'`",
    ),
    "horovod": Framework(
        "Horovod", ("horovod",), HOROVOD_PRELOAD,
        "`make horovod` in the course's folder",
    ),
}  # fmt: skip

#: in older ones a request of Validate can name a file outside of the server's folder
SAFE_NBGRADER = (0, 9, 6)

_needed: list[str] = []  # names of frameworks that this process's ranks need


class Missing(ImportError):
    """A framework that is needed is not installed. Notebooks show the message alone."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def missing(names: Iterable[str], what: str = "This lab") -> str:
    """A sentence that names those of the frameworks that are not installed; empty if all are."""
    names = list(names)
    absent = [FRAMEWORKS[name] for name in names if FRAMEWORKS[name].version is None]
    if not absent:
        return _unfit(names, what) if "horovod" in names else ""
    titles = " and ".join(one.title for one in absent)
    there = "is" if len(absent) == 1 else "are"
    return f"{what} needs {titles}, which {there} not installed: " + ", then ".join(
        one.brings for one in absent
    )


def horovod_built_for() -> dict[str, str]:
    """The frameworks that the installed Horovod was compiled for, with their versions, as its file
    `metadata.json` says: `horovodrun --check-build` can claim more than there is.
    """
    try:
        file = importlib.metadata.distribution("horovod").locate_file("horovod/metadata.json")
        built = json.loads(Path(str(file)).read_text("utf-8"))
    except (importlib.metadata.PackageNotFoundError, OSError, ValueError):
        return {}
    return {name: str(version) for name, version in built.items() if name != "dummy"}


def _unfit(names: Sequence[str], what: str) -> str:
    """A sentence on a Horovod that was compiled for other versions than are needed here; empty if
    it fits.
    """
    built = horovod_built_for()
    wanted = {"pytorch": importlib.metadata.version("torch")}
    if "tensorflow" in names:
        wanted["tensorflow"] = FRAMEWORKS["tensorflow"].version or ""  # none is absent here
    for name, version in wanted.items():
        if built.get(name, "").partition("+")[0] != version.partition("+")[0]:
            there = ", ".join(f"{n} {v}" for n, v in built.items()) or "nothing that it names"
            return (
                f"{what} needs Horovod for {name} {version}, but the one that is installed was "
                f"built for {there}: {FRAMEWORKS['horovod'].brings} builds the other"
            )
    return ""


def nbgrader_too_old() -> str:
    """A sentence on an installed nbgrader that must not be used; empty if it may be, or if there is
    none.
    """
    try:
        version = importlib.metadata.version("nbgrader")
    except importlib.metadata.PackageNotFoundError:
        return ""
    if tuple(map(int, re.findall(r"\d+", version)[:3])) >= SAFE_NBGRADER:
        return ""
    safe = ".".join(map(str, SAFE_NBGRADER))
    return (
        f"nbgrader {version} lets whoever uses Validate reach files outside of their folder: "
        f"install {safe} or later (`pip install 'nbgrader>={safe}'`), which needs Python 3.11"
    )


def need(*names: str, what: str = "This lab") -> None:
    """Note that the ranks of this process need these frameworks: what they are forked from imports
    them first.

    Raises:
        Missing: one of them is not installed.
    """
    if said := missing(names, what):
        raise Missing(said)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # else TensorFlow logs what CPU this is
    _needed.extend(name for name in names if name not in _needed)


def need_if_there(*names: str) -> None:
    """`need` for those of these frameworks that are installed."""
    need(*(name for name in names if FRAMEWORKS[name].version is not None))


def preload(names: Sequence[str] | None = None) -> tuple[str, ...]:
    """The modules of these frameworks, or of those that `need` has noted."""
    chosen = _needed if names is None else names
    return tuple(m for name, one in FRAMEWORKS.items() if name in chosen for m in one.modules)
