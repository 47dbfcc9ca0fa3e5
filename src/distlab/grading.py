"""Judge all exercises of one notebook, its code run in a session.

The same function serves `distlab check` (visible cases), the grader (hidden ones too) and the
recording of references: what differs is the cases and what they are compared with.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from distlab import submission
from distlab.exercises import Case, Exercise, Verdict, judge
from distlab.isolation import Limits
from distlab.runs import Run
from distlab.session import Session, SessionLost
from distlab.zygote import Zygote

CELL_LIMIT = 10.0  # seconds that a cell may take


class Grader:
    """Grades notebooks of one lab.

    Args:
        course: the released lab's notebook, parsed.
        exercises: what to judge, by name.
        cases: the cases of an exercise.
        reference: the expected outputs of a case.
        limits: what each submission may use; `None` for code that is trusted.
        walls: submissions share the zygote's sandbox, with walls between them.
        devices: the GPUs that the ranks may use, as `CUDA_VISIBLE_DEVICES` names them.
    """

    def __init__(
        self,
        course: dict[str, Any],
        exercises: Mapping[str, Exercise],
        cases: Callable[[Exercise], Iterable[Case]],
        reference: Callable[[Exercise, Case], list[Any]],
        limits: Limits | None = None,
        walls: bool = False,
        devices: str | None = None,
    ) -> None:
        self._course = course
        self._exercises = exercises
        self._cases, self._reference = cases, reference
        self._limits, self._walls, self._devices = self._enough(limits), walls, devices

    def _enough(self, limits: Limits | None) -> Limits | None:
        """The limits, with room for the processes that the exercises' own runtimes start."""
        if limits is None:
            return None
        most = max((exercise.processes for exercise in self._exercises.values()), default=0)
        return dataclasses.replace(limits, processes=max(limits.processes, most))

    def plan(self, rebuilt: dict[str, Any]) -> submission.Plan:
        """What of a rebuilt notebook is run."""
        return submission.plan(self._course, rebuilt, self._exercises)

    def grade(self, plan: submission.Plan, source: Zygote) -> list[Verdict]:
        """The verdicts on a submission, in the order of the exercises; its code is run in sessions
        forked from `source`.
        """
        if all(cell.kind == "given" for cell in plan.cells):
            return [self._unanswered(e) for e in self._exercises.values()]
        verdicts = []
        session, problems = self._open(plan, source)
        try:
            for exercise in self._exercises.values():
                problem = problems.get(exercise.name)
                if problem and (_fatal(problem) or exercise.name not in plan.answered):
                    verdicts.append(_cell_verdict(exercise, problem))
                elif exercise.name not in plan.answered:
                    verdicts.append(self._unanswered(exercise))
                else:
                    try:
                        verdict = self._judge(exercise, session)
                        if problem and verdict.status == "unanswered":
                            verdict = _cell_verdict(exercise, problem)
                        verdicts.append(verdict)
                    except SessionLost:  # it did not outlive the exercise
                        lost = {"status": "crashed", "message": "it took its whole session along"}
                        verdicts.append(_cell_verdict(exercise, lost))
                        session.close()
                        session, problems = self._open(plan, source)
        finally:
            session.close()
        return verdicts

    def _open(self, plan: submission.Plan, source: Zygote) -> tuple[Session, dict[str, dict]]:
        session = Session(source, self._limits, self._walls, self._devices)
        try:
            return session, session.cells(plan.cells, CELL_LIMIT, plan.answered)
        except SessionLost:
            lost = {"status": "crashed", "message": "what the cells started took everything along"}
            return session, dict.fromkeys(plan.answered, lost)

    def _judge(self, exercise: Exercise, session: Session) -> Verdict:
        def run(exercise: Exercise, case: Case, inputs: list[bytes], left: float) -> Run:
            return session.run(exercise.id, inputs, left)

        try:
            return judge(exercise, self._cases(exercise), self._reference, run)
        finally:
            session.end_exercise()

    @staticmethod
    def _unanswered(exercise: Exercise) -> Verdict:
        said = f"{exercise.name} is still to be written."
        return Verdict(exercise, "unanswered", exercise.asks, said)


def _fatal(problem: dict) -> bool:
    """Did the cell end or hang its process? (After an error what it had defined is still there.)"""
    return problem["status"] != "error"


def _cell_verdict(exercise: Exercise, problem: dict) -> Verdict:
    said = problem["message"][:300]
    if problem["status"] == "error":
        said = f"its cell raised {problem['type']}: {said}"
    return Verdict(
        exercise, problem["status"], exercise.asks, f"{exercise.name} could not be run: {said}.",
        "Look at what the cell does besides defining the function.",
    )  # fmt: skip
