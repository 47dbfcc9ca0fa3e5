"""Collected right answers, judged by inputs of students' own: none may be called wrong.

    python -m bench.variant_answers --kept DIR [--students 3] [--labs 04-ring-allreduce …]

Each right answer of `grader/answers` is handed in by each of so many students, those of a lab's
exercises together, a notebook a round. What does not pass in such company is judged again in a
notebook of its own, by the same inputs and by everybody's. That takes long, so DIR keeps the
secret, the references and every verdict: whoever ends it goes on where it stopped, and several labs
can be judged in runs of their own. A time limit that was passed says that the machine had too much
else to do: that is judged again in the next run. Exit status 1 if a right answer is called wrong.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import secrets
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

from bench.variants import student
from distlab import course
from grader import collected, coursedir, secret
from grader.collected import Answer
from grader.judging.judges import local_judges
from grader.judging.ledger import Line
from grader.judging.local import LocalJudges
from grader.variants import references

TOO_LATE = "timeout"
Round = dict[str, Answer]  # by exercise


def rounds(lab: str) -> list[Round]:
    """All right answers of a lab, one of each exercise in a round while there are some."""
    right = [
        [one for one in collected.answers(lab, name) if one.right] for name in course.exercises(lab)
    ]
    return [{one.exercise: one for one in some if one} for some in zip_longest(*right)]


class Kept:
    """What was judged, a line each; a line that was cut short was not."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "judged.jsonl"
        self.found: dict[tuple[str, str, str, str], str] = {}
        with contextlib.suppress(FileNotFoundError):
            for line in self._path.read_text("utf-8").splitlines():
                with contextlib.suppress(ValueError):
                    *key, said = json.loads(line)
                    if said.startswith(TOO_LATE):
                        continue
                    self.found[tuple(key)] = said  # type: ignore[index]

    def note(self, lab: str, whose: str, one: Answer, said: str) -> None:
        """Args:
        said: what is wrong with the verdict; empty where nothing is.
        """
        key = lab, whose, one.exercise, one.path.name
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps([*key, said]) + "\n")
        self.found[key] = said


def handed_in(judges: LocalJudges, lab: str, some: Round, whose: str | None) -> dict[str, Line]:
    """The verdicts on a notebook with these answers."""
    plan = coursedir.lab(lab).plan(
        collected.handed_in(lab, **{name: one.source for name, one in some.items()})
    )
    if whose is None:
        with secret.using(secret.PUBLIC_SECRET):  # whose references lie in the repository
            lines = judges.lines(lab, plan)
    else:
        lines = judges.lines(lab, plan, whose)
    return {line.name: line for line in lines if line.name in some}


def judged(judges: LocalJudges, lab: str, some: Round, whose: str) -> Iterator[tuple[Answer, str]]:
    """Each answer of a round, and what is wrong with its verdict, where something is."""
    for name, line in handed_in(judges, lab, some, whose).items():
        said, alone = "", {name: some[name]}
        if line.status != "passed":
            again = handed_in(judges, lab, alone, whose)[name]
            if again.status != "passed":
                usual = handed_in(judges, lab, alone, None)[name]
                said = f"{again.status}: {again.message} (by everybody's inputs: {usual.status})"
        yield some[name], said


def all_judged(judges: LocalJudges, kept: Kept, labs: Sequence[str], students: int) -> int:
    """Judge what is left, and say how much that is; returns how many were called wrong."""
    wrong = 0
    for lab in labs:
        begin, before = time.perf_counter(), len(kept.found)
        every = [
            (some, student(number)) for number in range(students) for some in rounds(lab)
        ]  # fmt: skip
        for some, whose in every:
            left = {
                name: one for name, one in some.items()
                if (lab, whose, name, one.path.name) not in kept.found
            }  # fmt: skip
            for one, said in judged(judges, lab, left, whose) if left else ():
                kept.note(lab, whose, one, said)
        asked = [(lab, whose, n, one.path.name) for some, whose in every for n, one in some.items()]
        bad = [(key, kept.found[key]) for key in asked if kept.found.get(key)]
        done = sum(key in kept.found for key in asked)
        print(
            f"{lab}: {done} of {len(asked)} right answers judged, {len(bad)} not called right "
            f"({len(kept.found) - before} now, {time.perf_counter() - begin:.0f} s)", flush=True,
        )  # fmt: skip
        for (_, whose, name, file), said in bad:
            print(f"  {whose} {name}/{file}: {said}", flush=True)
        wrong += len(bad)
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kept", type=Path, required=True, help="a folder, new or begun")
    parser.add_argument("--students", type=int, default=3)
    here = [lab for lab in course.LABS if not course.missing(lab)]
    parser.add_argument("--labs", nargs="*", default=here)
    arguments = parser.parse_args()
    os.environ["DISTLAB_SECRET"] = secret.PUBLIC
    arguments.kept.mkdir(parents=True, exist_ok=True)
    key = arguments.kept / "secret"
    if not key.exists():
        key.write_bytes(secrets.token_bytes(secret.BYTES))
    references.FOLDER = arguments.kept.resolve() / "own-references"
    with (
        secret.using(secret.Secret(key.read_bytes())),
        contextlib.closing(local_judges(1)) as judges,
    ):
        wrong = all_judged(judges, Kept(arguments.kept), arguments.labs, arguments.students)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
