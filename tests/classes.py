"""Graded submissions made by hand, for tests of what is written about them."""

from distlab import course
from grader.judging.grade import Graded
from grader.judging.ledger import Entry, Line

LAB = "01-message-passing"
NAMES = list(course.exercises(LAB))


def graded(
    folder,
    student,
    manual=None,
    repaired=(),
    unreadable="",
    seconds=1.0,
    flagged=(),
    outdated=(),
    **verdicts,
):
    """A submission; `verdicts` are Lines' fields by exercise, all others passed."""
    lines = []
    for name, exercise in course.exercises(LAB).items():
        fields = {"status": "passed", "seconds": seconds, **verdicts.get(name, {})}
        points = float(exercise.points)
        score = points if fields["status"] == "passed" and not unreadable else 0.0
        lines.append(Line(name, score=score, max_score=points, **fields))
    entry = Entry(
        student, LAB, "", lines, list(repaired), seconds, unreadable, flagged=list(flagged)
    )
    page = folder / "feedback" / student / LAB
    return Graded(entry, manual, 4.0, page, outdated=list(outdated))


def wrong(happened="On 2 ranks, rank 0 returned 1.", status="wrong", **fields):
    return {"status": status, "happened": happened, "message": happened, **fields}
