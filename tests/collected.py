"""The collected answers of `tests/answers/LAB/EXERCISE/`, and how each is to be judged.

An answer is the source of one solution cell. `right_*.py` must pass in full; `wrong_*.py` must
fail, and says in its first lines how:

    # status: wrong
    # hint: sum for mean

`status` is the verdict's (wrong where it is left out); `hint` is the name of the exercise's hint
that must apply; `says` is a piece of the message that must be there.

Run as a script it judges a lab's collection: python tests/collected.py 01-message-passing
[EXERCISE]
"""

from __future__ import annotations

import copy
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from distlab import course as labs  # noqa: E402
from distlab import frameworks  # noqa: E402
from distlab.exercises import Verdict  # noqa: E402
from distlab.grading import Grader  # noqa: E402
from distlab.zygote import PRELOAD, Zygote  # noqa: E402
from grader import course  # noqa: E402

ANSWERS = ROOT / "tests" / "answers"


@dataclass(frozen=True)
class Answer:
    path: Path
    right: bool
    source: str
    expected: dict[str, str] = field(default_factory=dict)

    @property
    def exercise(self) -> str:
        return self.path.parent.name

    def complaint(self, verdict: Verdict) -> str | None:
        """What is wrong with a verdict on this answer, if anything."""
        if self.right:
            return None if verdict.status == "passed" else f"{verdict.status}: {verdict.message}"
        status = self.expected.get("status", "wrong")
        if verdict.status != status:
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
        expected = dict(re.findall(r"^# (status|hint|says): (.+)$", source, re.M))
        yield Answer(path, path.name.startswith("right"), source, expected)


def handed_in(lab: str, **sources: str) -> dict[str, Any]:
    """The released notebook with these solution cells filled in."""
    return filled(course.released(lab), **sources)


def filled(content: dict[str, Any], **sources: str) -> dict[str, Any]:
    """A copy of a notebook with other sources in the cells of these names."""
    content = copy.deepcopy(content)
    for cell in content["cells"]:
        name = cell["metadata"].get("nbgrader", {}).get("grade_id")
        if name in sources:
            cell["source"] = sources[name]
    return content


def hand_in(grades: Path, student: str, lab: str, content: Any, name: str | None = None) -> None:
    """Put a notebook, or a text in its place, where `grades` collects it."""
    path = grades / "submitted" / student / lab / (name or labs.notebook_name(lab))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")


def source_of(content: dict[str, Any], name: str) -> str:
    """The source of the cell of that name."""
    for cell in content["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == name:
            return "".join(cell["source"])
    raise KeyError(name)


def grader(lab: str, exercises: list[str] | None = None) -> Grader:
    asked = labs.exercises(lab)
    if exercises:
        asked = {name: asked[name] for name in exercises}
    return Grader(course.released(lab), asked, course.cases, course.reference)


def main(lab: str, exercise: str = "*") -> int:
    failures = 0
    with Zygote((*PRELOAD, *frameworks.preload(labs.needs(lab)))) as source:
        for answer in answers(lab, exercise):
            judge = grader(lab, [answer.exercise])
            plan = judge.plan(handed_in(lab, **{answer.exercise: answer.source}))
            verdict = judge.grade(plan, source)[0]
            complaint = answer.complaint(verdict)
            failures += complaint is not None
            mark = "ok " if complaint is None else "BAD"
            print(
                f"{mark} {answer.exercise}/{answer.path.name} {verdict.status} [{verdict.hint}] "
                f"{verdict.seconds:.2f}s {verdict.happened} {verdict.look}", flush=True,
            )  # fmt: skip
            if complaint:
                print(f"    {complaint}", flush=True)
    print(f"{failures} judged otherwise than stated")
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
