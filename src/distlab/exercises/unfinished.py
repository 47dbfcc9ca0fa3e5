"""The verdict on a run in which a rank did not return: it raised, waited for ever or died."""

from __future__ import annotations

import re
from typing import Any

from distlab.engines.outcomes import Outcome, Run
from distlab.exercises import raised
from distlab.exercises.exercise import Case, Exercise
from distlab.exercises.sources import Sources
from distlab.exercises.verdict import Verdict, misread, quoted, subject
from distlab.records import events, redaction
from distlab.records.wording import advice, computing, contended, gave_up, standing, until_timeout

#: findings on operations that don't fit together; that ranks raise or crash is their consequence
CONFLICTS = {"mismatch", "message-size", "order"}
#: what ranks raise when processes of a runtime that is not recorded wait forever
#: (`distlab.course.lab08_tensorflow_strategies.stall`)
STANDSTILL = "Standstill"
UNSENT = "NotSent"  # raised, before any rank runs, where a function cannot be sent to them
#: raised where a process that a rank has started for the function ended by itself
#: (`distlab.rank.child_process`)
DIED = "Died"


def judged(exercise: Exercise, case: Case, run: Run, sources: Sources) -> Verdict | None:
    """The verdict on a run in which a rank did not return."""
    failed = [o for o in run.outcomes if o.status == "raised"]
    if failed and all(_is_todo(o.error) for o in failed):
        said = _unwritten(exercise, case, failed, sources)
        return Verdict(exercise, "unanswered", exercise.asks, said)
    if said := _unsent(run):
        if case.hidden:
            said = f"{exercise.name} uses what cannot be sent to another process."
        return Verdict(exercise, "error", exercise.asks, said)
    if run.finding and run.finding.kind == "limit":
        return Verdict(
            exercise, "crashed", exercise.asks,
            f"{case.told(begins=True)}, {run.finding.message}.", run.finding.hint,
        )  # fmt: skip
    if run.finding and run.finding.kind in CONFLICTS:
        return _deadlock(exercise, case, run, sources)
    crashed = [
        o.rank
        for o in run.outcomes
        if o.status == "crashed" or (o.error and o.error["type"] == DIED)
    ]
    if crashed:  # what the others raised then is only that their peer is gone
        return _crashed(exercise, case, run, crashed)
    still = [o for o in failed if o.error and o.error["type"] == STANDSTILL]
    if still and len(still) == len(failed):
        return _stands_still(exercise, case, still)
    failed = [o for o in failed if o not in still]  # that others waited for these is no news
    if failed:
        return _told_error(exercise, case, run, failed, sources)
    if run.finding:
        return _deadlock(exercise, case, run, sources)
    if run.timed_out:
        busy = [o.rank for o in run.outcomes if o.status == "killed"]
        return Verdict(
            exercise, "timeout", exercise.asks,
            f"{case.told(begins=True)}, {_ranks(busy)} had not returned {_late(exercise, run)}: "
            f"{quoted(_doing(run, busy), case)}.{misread(run, case)}{beside(run, case)}",
            _beside_first(exercise, run, sources) or _slow(run, busy),
        )  # fmt: skip
    return None


def beside(run: Run, case: Case) -> str:
    """A sentence on what a thread raised, and on which ranks; "" where none has."""
    by_text: dict[str, list[int]] = {}
    for record in run.records:
        if record.beside:
            said = redaction.error(record.beside) if case.hidden else _raised_at(record.beside)
            by_text.setdefault(redaction.visible(said), []).append(record.rank)
    said, ranks = next(iter(by_text.items()), ("", []))
    who = "A thread" if len(ranks) == 1 else "Threads"
    return f" {who} of {_ranks(ranks)} raised {said}." if ranks else ""


def _beside_first(exercise: Exercise, run: Run, sources: Sources) -> str:
    """Where to look when a thread has raised; "" where none has."""
    for record in run.records:
        if record.beside:
            answer = sources.function(exercise.name)
            told = raised.Raised(record.rank, record.beside, run, exercise, answer)
            advice = raised.advice(told)
            look = "Look at the thread's exception first: what it was still to do was never done."
            return f"{look} {advice.says}" if advice else look
    return ""


def _unsent(run: Run) -> str:
    """What the function uses that cannot be sent to ranks; "" where it was run."""
    error = run.outcomes[0].error if len(run.outcomes) == 1 else None
    if error is None or error["type"] != UNSENT or any(one.events for one in run.records):
        return ""
    return str(error["message"])


def _slow(run: Run, ranks: list[int]) -> str:
    """Where to look when ranks have not returned in time."""
    said = advice([run.records[rank] for rank in ranks])
    return said or "Look for a loop that does not end, or for work that is far too large."


def _late(exercise: Exercise, run: Run) -> str:
    """After how long. All cases share their time: earlier ones leave less to the later ones."""
    if run.deadline > exercise.deadline - 1:
        return f"after {run.deadline:.0f} s"
    return f"when the {exercise.deadline:.0f} s that all cases have were over"


def _crashed(exercise: Exercise, case: Case, run: Run, crashed: list[int]) -> Verdict:
    """The verdict on ranks whose processes ended by themselves, in an operation or outside of one.

    Where the records show a mismatch, that is a finding, and not judged here. But they do not hold
    the splits of an all-to-all over many ranks, so a mismatch in those ends up here.
    """
    process = "process" if len(crashed) == 1 else "processes"
    told = f"{case.told(begins=True)}, the {process} of {_ranks(crashed)} ended"
    waits = [run.records[rank].waiting() for rank in crashed]
    inside = [f"{event} at {event.place}" for event in waits if event is not None]
    if all(run.records[rank].progress == events.RETURNED for rank in crashed):
        told += " after the function had returned."
        return Verdict(exercise, "crashed", exercise.asks, told, _TOO_LARGE)
    told += " in the middle of "
    if not inside:
        look = "Look for os._exit, sys.exit, or memory used up."
        return Verdict(exercise, "crashed", exercise.asks, f"{told}the function.", look)
    return Verdict(
        exercise, "crashed", exercise.asks, f"{told}{quoted(inside[0], case)}.",
        contended(run.records) or _TOO_MUCH,
    )  # fmt: skip


_TOO_LARGE = (
    "Is what the function returns far larger than what is asked for? Handing it over takes memory, "
    "too. If it is not, look for a thread or a callback that ends the process."
)
_TOO_MUCH = (
    "gloo ends a process to which more comes than its buffer has room for: do the other ranks send "
    "as much as this one expects? If so, look for os._exit, or memory used up."
)


def _deadlock(exercise: Exercise, case: Case, run: Run, sources: Sources) -> Verdict:
    said, look = f"{case.told(begins=True)}: {quoted(run.finding.message, case)}", ""
    if run.finding.kind not in CONFLICTS:  # what threads raise then is that operations failed
        said, look = said + beside(run, case), _beside_first(exercise, run, sources)
    look = look or contended(run.records) or run.finding.hint
    return Verdict(exercise, "deadlock", exercise.asks, said, look)


def _stands_still(exercise: Exercise, case: Case, still: list[Outcome]) -> Verdict:
    errors = {o.rank: o.error for o in still if o.error}
    if case.hidden:  # their text is a rank's own
        lines = [(rank, at["line"]) for rank, told in errors.items() for at in told["frames"][-1:]]
        said = ", ".join(f"rank {rank} waits at line {redaction.line(at)}" for rank, at in lines)
        said = f"{said or _ranks([o.rank for o in still]) + ' waits'} and nobody goes on"
    else:
        said = ", ".join(told["message"] for told in errors.values())
    return Verdict(
        exercise, "deadlock", exercise.asks, f"{case.told(begins=True)}, {said}.",
        "Every worker has to do the same steps in the same order: what one does alone waits for "
        "the others.",
    )  # fmt: skip


def _is_todo(error: dict[str, Any] | None) -> bool:
    if error is None or error["type"] != "NotImplementedError":
        return False
    return "TODO" in error["message"]


def _unwritten(exercise: Exercise, case: Case, failed: list[Outcome], sources: Sources) -> str:
    """What is missing where every failed rank raised a TODO. The function may be written and have
    kept that line, or call another function that is still to be written. (That other one is named
    for visible cases only: its name is a rank's word.)
    """
    name = exercise.name
    if line := sources.todo_left(name):
        where = f"at line {line}" if case.hidden else f"at {name}:{line}"
        return (
            f"{name} came to the line {where} that raises NotImplementedError: take that line out "
            "once the function is written."
        )
    todo = _TODO.search(failed[0].error["message"]) if failed[0].error else None
    if todo and not case.hidden and todo[1] != name and sources.function(todo[1]):
        return f"{name} calls {todo[1]}, which is still to be written."
    return f"{name} is still to be written."


_TODO = re.compile(r"TODO (\w+)")


def _told_error(
    exercise: Exercise, case: Case, run: Run, failed: list[Outcome], sources: Sources
) -> Verdict:
    first, told = failed[0], f"{_raised(exercise, case, failed)}."
    assert first.error is not None  # who raised has one
    for record in run.records:
        if event := record.gave_up():
            told += f" Rank {record.rank} {quoted(gave_up(event), case)}."
    others = [o.rank for o in run.outcomes if o.status == "killed"]
    verdict = Verdict(exercise, "error", exercise.asks, told)
    if run.hindsight:
        verdict.happened += f" {quoted(until_timeout(run.hindsight), case)}"
        verdict.look = run.hindsight.hint
        return verdict
    if others:
        verdict.happened += f" Meanwhile {quoted(_doing(run, others), case)}."
    verdict.happened += misread(run, case) + beside(run, case)
    answer = sources.function(exercise.name)
    advice = raised.advice(raised.Raised(first.rank, first.error, run, exercise, answer))
    if advice is not None:
        verdict.hint, verdict.look = advice.name, advice.says
    return verdict


def _raised(exercise: Exercise, case: Case, failed: list[Outcome]) -> str:
    """In which case which ranks raised what; those that say the same are named together. Of a
    hidden case, or of more than two different exceptions, only the first one is told.
    """
    by_text: dict[str, list[int]] = {}
    for outcome in failed:
        if outcome.error:
            said = redaction.error(outcome.error) if case.hidden else _raised_at(outcome.error)
            by_text.setdefault(said, []).append(outcome.rank)
    (first, ranks), *others = by_text.items()
    told = f"{subject(exercise, case, _ranks(ranks))} raised {first}"
    if len(others) == 1 and not case.hidden:
        return f"{told}, and {_ranks(others[0][1])} raised {others[0][0]}"
    if others:
        rest = sorted(rank for _, some in others for rank in some)
        return f"{told}, and {_ranks(rest)} raised something else"
    return told


def _raised_at(error: dict[str, Any]) -> str:
    """An exception with its place, and what it was raised from. Where it arose in a helper in
    another cell (it may be a given one), also the place in the answer's cell from which that was
    called.
    """
    said, causes = raised.text(error).rstrip("."), f"; {error['from']}" if "from" in error else ""
    if not error["frames"]:
        return said + causes
    first, last = error["frames"][0], error["frames"][-1]
    here = next(one for one in reversed(error["frames"]) if one["file"] == first["file"])
    called = f", called at {_place(here)}" if last["file"] != here["file"] else ""
    return f"{said} at {_place(last)}{called}{causes}"


def _place(frame: dict[str, Any]) -> str:
    return f"{frame['function']}:{frame['line']}"


def _doing(run: Run, ranks: list[int]) -> str:
    parts = []
    for rank in ranks:
        record = run.records[rank]
        event = record.waiting()
        if event is not None:
            parts.append(f"rank {rank} waits in {event} at {event.place}")
        elif record.progress == events.RETURNED:
            parts.append(f"rank {rank} hands over what the function returned")
        elif record.stands:
            parts.append(f"rank {rank} stands still {standing(record)}")
        else:
            parts.append(f"rank {rank} computes{computing(record)}")
    return ", ".join(parts)


def _ranks(ranks: list[int]) -> str:
    if len(ranks) == 1:
        return f"rank {ranks[0]}"
    return f"ranks {', '.join(map(str, ranks[:-1]))} and {ranks[-1]}"
