"""What `distlab looks`, `answer` and `replay` do; each returns the exit status."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable

from distlab import course
from distlab.checking.second_look import Mistaken, need_exercise
from distlab.cli import labs
from distlab.records import redaction
from grader.coursedir import GRADES, GradingFailed, released
from grader.judging import grade, handed_in
from grader.judging.ledger import Ledger
from grader.looks import told
from grader.looks.answering import Answering, Wanted, checked
from grader.looks.diary import MOST_KEPT, Diary, State
from grader.looks.inbox import take_in
from grader.plugins.gradebook import Gradebook, GradebookBusy
from grader.policy import reading

BACK = "none"  # in place of points: the judge's count again
TOLD = 20  # refused requests that are named


def collect(book: Gradebook) -> list[str]:
    """Take in what has arrived; returns a sentence on each request that is refused, or on why none
    can be taken in now, which keeps nobody from grading and answering.
    """
    ledger = Ledger(GRADES / "ledger")

    def graded(lab: str, student: str) -> bool:
        return grade.named_well(student) and ledger.latest(lab, student) is not None

    try:
        refused = take_in(book.exchange.second_looks(), Diary(), graded)
    except (GradingFailed, Mistaken) as error:
        return [str(error)]
    more = [f"And {len(refused) - TOLD} more requests are left out."] if refused[TOLD:] else []
    return [*refused[:TOLD], *more]


def looks(asked: list[str]) -> int:
    """Print what waits for an answer, and write a page for each lab with the verdicts beside it."""
    from grader.reports import report

    chosen = [labs.named(name) for name in asked] or list(course.LABS)
    book, ledger = Gradebook(grade.SUBMITTED), Ledger(GRADES / "ledger")
    _say(collect(book))
    state = Diary().read()
    for lab in chosen:
        graded = [
            grade.Graded(entry, None, 0.0, book.feedback(lab, entry.student))
            for entry in ledger.counting(lab)
        ]
        waiting = told.waiting(state, lab, [one.entry for one in graded])
        for one in waiting:
            judged = f", {one.line.status}, {one.line.score:g} points" if one.line else ""
            _say([f"{lab} {one.look.student} {one.look.exercise}{judged}: {one.said}"])
        if waiting:
            page = GRADES / "out" / f"{lab}-looks.html"
            _say([f"page: {os.path.relpath(report.write_looks(page, lab, graded, waiting))}"])
    if not any(map(state.open, chosen)):
        where = f" in {', '.join(chosen)}" if asked else ""
        print(f"Nobody waits for a second look{where}.")
    for name, comment in sorted(state.comments.items()):
        _say([f"@{name}: {comment}"])
    return 0


def answer(
    student: str, lab: str, exercise: str, points: str, comment: str, keep: str, alike: bool
) -> int:
    """Answer about a student's exercise, and bring gradebook and pages up to date.

    Args:
        points: a number, "none" for those of the judge, or empty to leave them.
        comment: Markdown, or @NAME of one that is kept.
        keep: a name under which to keep the comment for later use.
        alike: answer all who have made the same mistake.

    Raises:
        Mistaken: something cannot be done; nothing is changed then.
    """
    lab = labs.named(lab)
    if exercise in _free_text(lab):
        raise Mistaken(
            f"{exercise} is free text: give points and a comment for it in the formgrader, where "
            "they stay when the submission is graded again"
        )
    need_exercise(lab, exercise)
    book, diary = Gradebook(grade.SUBMITTED), Diary()
    _say(collect(book))
    state = diary.read()
    wanted = checked(
        Wanted(_points(points), points == BACK, _comment(comment, state)),
        course.exercises(lab)[exercise].points,
    )
    name = _name_to_keep(keep, wanted.comment, state)
    _known(student, lab)
    asked = {look.student for look in state.looks.values() if look.lab == lab and look.asked}
    answering = Answering(book, Ledger(GRADES / "ledger"), diary)
    try:
        if alike:
            done, kept = answering.answer_alike(student, lab, exercise, wanted)
        else:
            answering.answer(student, lab, exercise, wanted)
            done, kept = [student], []
    except GradebookBusy as error:
        raise GradingFailed(f"{error}: say it again when nobody else writes it") from error
    if name:
        with diary.adding() as adding:
            adding.add({"what": "kept", "name": name, "comment": wanted.comment})
    problems = _refresh(book, lab, done, asked)
    _say([f"Answered: {', '.join(done)}."])
    if kept:
        _say(
            [f"Left as they are, because they have points or a comment by hand: {', '.join(kept)}."]
        )
    _say(problems)
    return 1 if problems else 0


def _free_text(lab: str) -> set[str]:
    """The names of the cells of a lab that a person gives points for."""
    found = (cell["metadata"].get("nbgrader", {}) for cell in released(lab)["cells"])
    return {one["grade_id"] for one in found if one.get("grade") and one.get("solution")}


def replay(student: str, lab: str, exercise: str) -> int:
    """Judge a student's exercise once more, and write a page on what its ranks did."""
    from grader.looks import replay as replaying

    lab = labs.named(lab)
    need_exercise(lab, exercise)
    _known(student, lab)
    verdict = replaying.again(student, lab, exercise)
    page = replaying.write(GRADES / "out" / "replays", student, lab, verdict)
    _say([f"{verdict.status}: {verdict.message}" if verdict.message else verdict.status,
          f"page: {os.path.relpath(page)}"])  # fmt: skip
    return 0


def _refresh(
    book: Gradebook, lab: str, students: Iterable[str], asked: Collection[str]
) -> list[str]:
    """Write the pages again, and release those of students who asked; returns the problems."""
    from grader.policy.pages import Pages

    pages, problems, wait = Pages(book, Ledger(GRADES / "ledger")), [], []
    for student in students:
        try:
            _, said = pages.refresh(student)
            problems += said
            if not pages.policy.in_force:
                book.write_feedback(lab, student)
            elif (lab, student) in pages.stale:
                continue  # the page of before would be released
            if student in asked and handed_in.secret(grade.SUBMITTED / student / lab):
                book.release_feedback(lab, student)
            else:
                wait.append(student)
        except GradingFailed as error:
            problems.append(str(error))
    if wait:
        _say([f"Feedback is written, and yours to release: {', '.join(wait)}."])
    return problems


def _points(said: str) -> float | None:
    if not said or said == BACK:
        return None
    try:
        return float(said)
    except ValueError:
        raise Mistaken(
            f"{redaction.shown(said[:60])!r} are no points: write a number, or {BACK} for those "
            "of the judge"
        ) from None


def _comment(said: str, state: State) -> str:
    text = redaction.visible(said).strip()
    if not text.startswith("@"):
        return text
    name = text[1:]
    if name not in state.comments:
        known = ", ".join(sorted(state.comments)) or "none so far"
        raise Mistaken(f"no comment is kept as {redaction.shown(name[:60])!r}: there is {known}")
    return state.comments[name]


def _name_to_keep(name: str, comment: str, state: State) -> str:
    if not name:
        return ""
    if not comment:
        raise Mistaken(f'what should be kept as {name!r}? Add --comment "…"')
    if not name.replace("-", "").replace("_", "").isalnum() or len(name) > 40:
        raise Mistaken("a comment's name has letters, digits, - and _, at most 40 of them")
    if name not in state.comments and len(state.comments) >= MOST_KEPT:
        raise Mistaken(f"{MOST_KEPT} comments are kept already: keep this one under another's name")
    return name


def _known(student: str, lab: str) -> None:
    ledger = Ledger(GRADES / "ledger")
    if grade.named_well(student) and ledger.latest(lab, student) is not None:
        return
    known = [entry.student for entry in ledger.counting(lab)]
    like = reading.nearest(student, known) or f": grade it first (distlab grade {lab})"
    raise Mistaken(f"nothing of {redaction.shown(student[:100])!r} is graded in {lab}{like}")


def _say(lines: Iterable[str]) -> None:
    for one in lines:
        print(redaction.visible(one))
