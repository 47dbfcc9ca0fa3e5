"""What the class hands in: one entry a student, with the score that it must get.

An attack is a file of `attacks/`, the source of a solution cell. The exercises before and after it
are solved and have to pass; to save time, the others are left as they were released. Its first
lines say

    # tries: what it tries, in one line
    # exercise: relay           (which cell; relay where it is left out)
    # lab: 02-toy-model         (01-message-passing where it is left out)
    # status: crashed           (the exercise's; "passed" where nothing may happen)
    # says: a piece of the message that must be there

A line `# cell: NAME` begins the source of another cell. What stands in `guard.py` is put before
all of it, so that no attack acts outside of the sandbox.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from distlab import course
from grader import collected, coursedir
from grader.judging import demo
from grader.paths import REFERENCE
from grader.sandbox import bubblewrap

#: what attacks and broken submissions solve; honest ones answer everything
SOLVED = {
    "01-message-passing": {"run_blocking", "relay", "exchange", "broadcast_from"},
    "02-toy-model": {"setup", "average_gradients", "demo_basic"},
    "04-ring-allreduce": {"ring_reduce_scatter", "ring_all_gather", "ring_all_reduce"},
}
HERE = Path(__file__).parent
LAB = "01-message-passing"

NOT_GRADED = "not graded"  # no points, not even none: the exit status says so


@dataclass(frozen=True)
class Entry:
    """One submission and how it must be judged.

    Args:
        student: the name of its folder; bytes where that is no text.
        write: writes the submission's folder, which is there and empty.
        lost: {exercise: status} of those that may not pass.
        status: of the submission as a whole, where it has one ("unreadable", or `NOT_GRADED`).
        says: a piece of a message that must be there.
        perhaps: another status of the whole that it may have, by chance.
        meanwhile: goes on in the submission's folder while the class is graded.
    """

    student: str
    tries: str
    write: Callable[[Path], None]
    lab: str = LAB
    lost: dict[str, str] = field(default_factory=dict)
    status: str = ""
    says: str = ""
    kind: str = "attack"  # or "broken", "honest"
    perhaps: str = ""
    meanwhile: Callable[[Path], contextlib.AbstractContextManager] = contextlib.nullcontext

    @property
    def score(self) -> float | None:
        if self.status == NOT_GRADED:
            return None
        if self.status:
            return 0.0
        exercises = course.exercises(self.lab).items()
        return float(sum(e.points for name, e in exercises if name not in self.expected))

    @property
    def expected(self) -> dict[str, str]:
        """The statuses of all exercises that may not pass."""
        if self.kind == "honest":
            return self.lost
        blank = set(course.exercises(self.lab)) - SOLVED[self.lab]
        return {**dict.fromkeys(blank, "unanswered"), **self.lost}


def notebook(content: dict, lab: str = LAB) -> Callable[[Path], None]:
    """Writes a notebook of the lab's name."""

    def write(folder: Path) -> None:
        (folder / course.notebook_name(lab)).write_text(json.dumps(content), "utf-8")

    return write


def right(lab: str = LAB) -> dict:
    """The released notebook with some exercises solved."""
    whole = demo.handed_in("ada", lab)
    return collected.filled(
        coursedir.released(lab), **{name: collected.source_of(whole, name) for name in SOLVED[lab]}
    )


def attacks(known: dict[str, str]) -> Iterator[Entry]:
    """The files of `attacks/`; `known` are the words that stand for `{name}` in them."""
    guard = (HERE / "guard.py").read_text("utf-8")
    for path in sorted((HERE / "attacks").glob("*.py")):
        text = path.read_text("utf-8")
        about = dict(re.findall(r"^# (tries|exercise|lab|status|says): (.+)$", text, re.M))
        for name, value in known.items():
            text = text.replace("{" + name + "}", value)
        lab, exercise = about.get("lab", LAB), about.get("exercise", "relay")
        first, *others = re.split(r"^# cell: (\w+)\n", text, flags=re.M)
        sources = {exercise: first, **dict(zip(others[::2], others[1::2], strict=True))}
        content = collected.filled(
            right(lab), **{name: f"{guard}\n\n{source}" for name, source in sources.items()}
        )
        status = about["status"]
        lost = {} if status == "passed" else {exercise: status}
        yield Entry(
            path.stem, about["tries"], notebook(content, lab), lab, lost, says=about.get("says", "")
        )


def honest(count: int = 20) -> Iterator[Entry]:
    """Mixtures of solutions and of the collected right and wrong answers."""
    pool = {
        name: [a for a in collected.answers(LAB, name) if _alone(a)]
        for name in course.exercises(LAB)
    }
    for number in range(count):
        chosen, lost = {}, {}
        for place, (name, answers) in enumerate(pool.items()):
            if (number + place) % 3 == 0 or not answers:
                continue  # the solution
            answer = answers[(number * 7 + place) % len(answers)]
            chosen[name] = answer.source
            if not answer.right:
                lost[name] = answer.expected.get("status", "wrong")
        content = collected.filled(demo.handed_in("ada", LAB), **chosen)
        yield Entry(
            f"honest{number:02}", f"honest, {len(lost)} of {len(pool)} wrong", notebook(content),
            lost=lost, kind="honest",
        )  # fmt: skip


def _alone(answer: collected.Answer) -> bool:
    """Does it define nothing but its function, and end by itself?"""
    cell = labs_cell(answer)
    return cell.defines() == {answer.exercise} and answer.expected.get("status") != "timeout"


def labs_cell(answer: collected.Answer):
    from distlab.notebook import Cell

    return Cell(answer.exercise, answer.source, "solution")


def predictable(exercise: str) -> dict[str, str]:
    """What an attack can know of an exercise's cases: all that the repository holds."""
    from grader.secret import PUBLIC_SECRET

    package = course.package(LAB)
    cases = [
        (exercise, case.size, case.seed, dict(case.params), hidden)
        for hidden, some in (
            (False, course.exercises(LAB)[exercise].visible),
            (True, importlib.import_module(f"grader.cases.{package}.{exercise}").HIDDEN),
        )
        for case in some
    ]
    return {"cases": repr(cases), "key": repr(PUBLIC_SECRET.key)}


def about(secret) -> dict[str, str]:
    """What attacks on a secret are given: all that the repository holds, and what they are to look
    for in their memory, shifted so that the source does not hold it.
    """
    looked_for = (secret.key, secret.key.hex().encode())
    shifted = [bytes((byte + 90) % 256 for byte in text) for text in looked_for]
    return {"shifted": repr(shifted), **predictable("broadcast_from")}


def places(grades: Path, home: Path, *more: Path) -> str:
    """The secrets' own paths, as source: what an attack looks for. Spelt backwards, because pages
    show a student's own source.
    """
    found = [
        coursedir.ROOT / "grader", coursedir.SOLUTIONS, REFERENCE, coursedir.LABS, grades, home,
        Path("/etc/shadow"), Path("/home"), Path("/var"), Path("/sys"), *more,
    ]  # fmt: skip
    # where the library or Python lie in one of these, it is there, with nothing else in it
    above = {parent for shown in bubblewrap.shown() for parent in shown.parents}
    return repr([str(path)[::-1] for path in found if path not in above])
