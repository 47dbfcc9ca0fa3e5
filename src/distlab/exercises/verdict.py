"""What a judge says of an answer, and the words that its messages share."""

from __future__ import annotations

from dataclasses import dataclass

from distlab.engines.outcomes import Run
from distlab.exercises.exercise import Case, Exercise
from distlab.records import dtypes, redaction
from distlab.records.events import Event


@dataclass
class Verdict:
    """How an exercise was judged. `expected`, `happened` and `look` say what was expected, what
    each rank did, and where to look; `lines` are the source lines that they name, as (place,
    source).
    """

    exercise: Exercise
    status: str
    expected: str = ""
    happened: str = ""
    look: str = ""
    lines: tuple[tuple[str, str], ...] = ()
    hint: str = ""  # the name of the hint that applied
    seconds: float = 0.0
    passed: int = 0
    total: int = 0
    case: Case | None = None
    run: Run | None = None
    schedule: str = ""  # the schedule in which it is not right, where others are
    right: Run | None = None  # a run of the same case that is right, in another schedule
    covered: str = ""  # how many schedules were run, where there are several
    parting: tuple[Event | None, Event | None] = (None, None)  # where `run` and `right` part

    @property
    def score(self) -> float:
        return float(self.exercise.points) if self.status == "passed" else 0.0

    @property
    def message(self) -> str:
        quoted = " ".join(f"{place} is `{text}`." for place, text in self.lines)
        parts = (self.expected, self.happened, quoted, self.look)
        return " ".join(part for part in parts if part)


def subject(exercise: Exercise, case: Case, ranks: str) -> str:
    """What a sentence begins with: "On 2 ranks (shape [3]), rank 1", or the call of a formula."""
    if not exercise.formula:
        return f"{case.told(begins=True)}, {ranks}"
    if case.hidden:
        return f"In a hidden case, {exercise.name}"
    given = ", ".join(f"{name}={value!r}" for name, value in exercise.inputs(case)[0].items())
    return f"{exercise.name}({given})"


def quoted(said: str, case: Case) -> str:
    return redaction.operations(said, case.size) if case.hidden else said


def misread(run: Run, case: Case, first: int = 0) -> str:
    """A sentence on a message that was received as another dtype, which led to all that is wrong;
    on one that this rank received, if there is one. "" where there is none.
    """
    if said := dtypes.misread(run.records, first):
        return f" {begun(quoted(said, case))}"
    return ""


def begun(said: str) -> str:
    """A sentence with a capital letter at its beginning."""
    return said[:1].upper() + said[1:]
