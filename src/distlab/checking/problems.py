"""What kept an exercise from being run: a cell that failed, a sandbox that was lost, time used up.

A problem is what `distlab.checking.room.problem_of` makes: status, type and message.
"""

from __future__ import annotations

from typing import Any

from distlab.exercises.exercise import Exercise
from distlab.exercises.verdict import Verdict

#: errors in what the text of a cell says, not in what it does
_UNREADABLE = ("SyntaxError", "IndentationError", "TabError")
#: how Python's words on what stands outside of an `async def` begin
_ASYNC = ("'await'", "'async for'", "'async with'", "asynchronous comprehension")


def taken_along() -> dict[str, Any]:
    said = "what it started took its whole sandbox along"
    return {"status": "crashed", "type": "SystemExit", "message": said}


def out_of_time(seconds: float) -> dict[str, Any]:
    said = f"judging the exercises before it had used up all {seconds:.0f} s of the submission"
    return {"status": "timeout", "type": "TimeoutError", "message": said}


def cell_verdict(exercise: Exercise, problem: dict[str, Any]) -> Verdict:
    said = problem["message"][:300]
    if problem["status"] == "error":
        said = f"its cell raised {problem['type']}: {said}"
    happened = f"{exercise.name} could not be run: {said}."
    return Verdict(exercise, problem["status"], exercise.asks, happened, _where_to_look(problem))


#: where to look, by the type of what a cell raised
_BY_TYPE = {
    "ModuleNotFoundError": "Answers are judged with the course's packages, and with the modules "
    "(*.py) that lie beside the notebook: put what you need of another one into a cell.",
    "FileNotFoundError": "Answers are judged in a folder of their own, where of all that lies "
    "beside the notebook only modules (*.py) are, and notebooks that a cell runs or loads: put "
    "what you need of another file into a cell.",
    "EOFError": "Nobody types anything where answers are judged: take input() out of the cell.",
}


def _where_to_look(problem: dict[str, Any]) -> str:
    if found := _BY_TYPE.get(problem["type"]):
        return found
    if problem["type"] not in _UNREADABLE:
        return "Look at what the cell does besides defining the function."
    if any(f"{word} outside" in problem["message"] for word in _ASYNC):
        return (
            "`await` may stand in a cell, or in an `async def`. The functions that are asked for "
            "are called without it: leave it out of them."
        )
    return "Python cannot read the cell: look at that line and the one above it."
