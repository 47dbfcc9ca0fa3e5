"""The collected answers of `grader/answers/LAB/EXERCISE/`, and how each is to be judged.

An answer is the source of one solution cell. `right_*.py` must pass in full; `wrong_*.py` must
fail, and says in its first lines how:

    # status: wrong
    # hint: sum for mean

`status` is the verdict's (by default wrong), or several if it depends on the machine (`error or
timeout`); `hint` names the exercise's hint that must apply; `says` is a part of the message. Any
answer may say which PyTorch it needs at least, if the oldest that the course supports will not do
(`# torch: 2.13`): the version pinned for grading will, but a machine may bring an older one.
"""

from __future__ import annotations

import copy
import dataclasses
import json
import math
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from distlab import course
from distlab.checking.judge_notebook import Grader
from distlab.exercises.verdict import Verdict
from grader import coursedir
from grader.paths import ROOT

ANSWERS = ROOT / "grader" / "answers"


@dataclass(frozen=True)
class Answer:
    path: Path
    right: bool
    source: str
    expected: dict[str, str] = field(default_factory=dict)

    @property
    def exercise(self) -> str:
        return self.path.parent.name

    @property
    def torch(self) -> str:
        """The oldest PyTorch that has what the answer calls; "" if every supported one has."""
        return self.expected.get("torch", "")

    def runs_with(self, version: str) -> bool:
        """Has this PyTorch ("2.11.0+cu130") what it calls?"""
        return _numbers(version) >= _numbers(self.torch)

    def complaint(self, verdict: Verdict) -> str | None:
        """What is wrong with a verdict on this answer, if anything."""
        if self.right:
            return None if verdict.status == "passed" else f"{verdict.status}: {verdict.message}"
        status = self.expected.get("status", "wrong")
        if verdict.status not in status.split(" or "):
            return f"{verdict.status} where {status} should be: {verdict.message}"
        hint = self.expected.get("hint")
        if hint and verdict.hint != hint:
            return f"hint {verdict.hint!r} where {hint!r} should be: {verdict.message}"
        said = self.expected.get("says")
        if said and said not in verdict.message:
            return f"{said!r} is not in the message: {verdict.message}"
        return None


def answers(lab: str, exercise: str = "*") -> Iterator[Answer]:
    for path in sorted((ANSWERS / lab).glob(f"{exercise}/*.py")):
        source = path.read_text("utf-8")
        expected = dict(re.findall(r"^# (status|hint|says|torch): (.+)$", source, re.M))
        yield Answer(path, path.name.startswith("right"), source, expected)


def _numbers(version: str) -> tuple[int, ...]:
    """The first two numbers of a version; none of no version."""
    return tuple(map(int, re.findall(r"\d+", version)[:2]))


def handed_in(lab: str, **sources: str) -> dict[str, Any]:
    """The released notebook with these solution cells filled in."""
    return filled(coursedir.released(lab), **sources)


def filled(content: dict[str, Any], **sources: str) -> dict[str, Any]:
    """A copy of a notebook with other sources in the cells of these names."""
    content = copy.deepcopy(content)
    for cell in content["cells"]:
        name = cell["metadata"].get("nbgrader", {}).get("grade_id")
        if name in sources:
            cell["source"] = sources[name]
    return content


def hand_in(grades: Path, student: str, lab: str, content: Any, name: str | None = None) -> None:
    """Put a notebook, or a text in its place, among the submissions below `grades`."""
    path = grades / "submitted" / student / lab / (name or course.notebook_name(lab))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")


def source_of(content: dict[str, Any], name: str) -> str:
    """The source of the cell of that name."""
    for cell in content["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == name:
            return "".join(cell["source"])
    raise KeyError(name)


def grader(lab: str, exercises: Collection[str] = (), deadline: float = math.inf) -> Grader:
    """Judges answers to these exercises of a lab, or to all.

    Args:
        deadline: the most seconds that an exercise gets, so as not to wait for an answer that hangs
            as long as the exercise allows.
    """
    asked = coursedir.lab(lab, exercises)
    given = {
        name: dataclasses.replace(one, deadline=min(one.deadline, deadline))
        for name, one in asked.exercises.items()
    }
    return Grader(dataclasses.replace(asked, exercises=given))
