"""Decides whether an answer does what its exercise asks.

`judge` runs the cases through whatever runs them (a notebook's ranks, the grader's sandbox),
compares what comes out with the recorded reference outputs, and returns a `Verdict` that a student
can act on. Runs in which a rank did not return are judged by `distlab.exercises.unfinished`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from distlab.engines.exploring import Exploration, Explored, Explorer, nearest, parting, told
from distlab.engines.outcomes import Outcome, Run
from distlab.engines.watching import MOST_QUEUED
from distlab.exercises import hints, unfinished
from distlab.exercises.compare import Difference, compare
from distlab.exercises.exercise import BROUGHT, Case, Exercise, Hint, Look, Rule
from distlab.exercises.sources import Sources
from distlab.exercises.verdict import Verdict, begun, misread, quoted, subject
from distlab.processes import payload
from distlab.records import redaction
from distlab.records.causality import has_choices
from distlab.records.choices import Schedule
from distlab.records.deadlock import Watcher
from distlab.records.events import CHANGED

#: how long other schedules may take: this many times what the runs of the cases took, and at least
#: this many seconds
SCHEDULES_TIMES, SCHEDULES_SECONDS = 4.0, 1.0
MOST_SCHEDULES = 64  # of one case
#: a failure is tried again, this often, if this process was stopped for so many seconds meanwhile
STOPPED, AGAIN = 1.0, 2
NOT_READABLE = "something that cannot be read"  # what messages call output that is no payload
#: also called with `schedule=` where a case has several
Runner = Callable[..., Run]


def judge(
    exercise: Exercise,
    cases: Iterable[Case],
    reference: Callable[[Exercise, Case], list[Any]],
    run: Runner,
    sources: Sources | None = None,
) -> Verdict:
    """Run the cases until one is not right, as `Judging` does."""
    cases = list(cases)
    return Judging(exercise, len(cases), reference, run, sources).judged(cases)


class Judging:
    """The judging of one answer, whose cases may be run in several goes.

    Args:
        total: how many cases there are.
        reference: the expected outputs of a case, by rank.
        run: runs a case; gets the inputs of each rank as payloads and the seconds that are left,
            and a `schedule` where the answer leaves open which message it takes.
        sources: the cells that the answer comes from, for messages to quote (never what a rank has
            told of them).
    """

    def __init__(
        self, exercise: Exercise, total: int, reference: Callable[[Exercise, Case], list[Any]],
        run: Runner, sources: Sources | None = None,
    ) -> None:  # fmt: skip
        self.exercise, self._reference, self._run = exercise, reference, run
        self._sources = sources or Sources()
        self._others = _Schedules(exercise, run)
        self._seconds = self._queued = 0.0  # what the first runs of the cases took
        self._verdict = Verdict(exercise, "passed", total=total)

    def judged(self, cases: Iterable[Case]) -> Verdict:
        """The verdict after these cases: on the first that is not right, if any is."""
        verdict, begin = self._verdict, time.monotonic()
        before = verdict.seconds
        for case in cases:
            found = self._wrong(case)
            if found is not None:
                found.passed, found.total = verdict.passed, verdict.total
                verdict = self._verdict = found
                break
            verdict.passed += 1
        verdict.seconds = before + time.monotonic() - begin
        verdict.covered = self._others.told() if verdict.status == "passed" else ""
        return verdict

    def _wrong(self, case: Case) -> Verdict | None:
        """The verdict on a case, if it is not right. A failure during which this process was
        stopped is tried again: while a machine is suspended, timeouts of the answer's own pass.
        """
        before = self._seconds, self._queued
        for _ in range(AGAIN):
            found = self._failed(case)
            if found is None or found.run is None or found.run.stopped < STOPPED:
                return found
            self._seconds, self._queued = before
        return self._failed(case)

    def _failed(self, case: Case) -> Verdict | None:
        """The verdict on one run of a case, and on its other schedules, if it is not right."""
        exercise, sources = self.exercise, self._sources
        inputs, expected = exercise.inputs(case), exercise.asked(self._reference(exercise, case))
        spent = self._seconds - min(self._queued, MOST_QUEUED * exercise.deadline)
        left = max(exercise.deadline - max(spent, 0.0), 0.1)
        sent = exercise.payloads(inputs)
        result = self._run(exercise, case, sent, left)
        self._seconds, self._queued = self._seconds + result.seconds, self._queued + result.queued
        places = _places(result)
        asked = _Asked(exercise, case, inputs, expected, sources)
        found = asked.judged(result)
        self._verdict.run, self._verdict.case = result, case
        if found is None and exercise.schedules and has_choices(result.records):
            found = self._others.judged(asked, result, sent, self._seconds)
            places |= _places(found.run) if found is not None and found.run is not None else set()
        if case.hidden:
            result.records = redaction.events(result.records)
        if found is None:
            return None
        found.run, found.case = found.run or result, case
        if case.hidden:
            found.happened = redaction.clipped(found.happened, sources.holds)
            found.look = redaction.clipped(found.look, sources.holds)
        found.lines = sources.quoted(f"{found.happened} {found.look}", places, case.hidden)
        return found


@dataclass
class _Asked:
    """A case with its inputs and the outputs that are expected."""

    exercise: Exercise
    case: Case
    inputs: list[dict[str, Any]]
    expected: list[Any]
    sources: Sources

    def judged(self, run: Run) -> Verdict | None:
        """The verdict on a run, if it is not right."""
        exercise, case, records = self.exercise, self.case, run.records
        if case.hidden:
            run.records = redaction.events(records)
        try:
            return (
                unfinished.judged(exercise, case, run, self.sources)
                or _wrong(exercise, case, self.inputs, self.expected, run, self.sources)
                or _doubted(exercise, case, run)
            )
        finally:
            run.records = records


class _Schedules:
    """Judges an answer under the other schedules of its cases, within a budget for all of them."""

    def __init__(self, exercise: Exercise, run: Runner) -> None:
        self._exercise, self._run = exercise, run
        self._spent, self._count, self._complete = 0.0, 0, True

    def judged(
        self, asked: _Asked, first: Run, sent: list[bytes], seconds: float
    ) -> Verdict | None:
        """The verdict on the first schedule that is not right, after a first run that is."""
        allowed = max(SCHEDULES_TIMES * seconds, SCHEDULES_SECONDS)
        limit = min(1.0 + 5 * first.seconds, self._exercise.deadline)

        def again(schedule: Schedule) -> Run:
            run = self._run(self._exercise, asked.case, sent, limit, schedule=schedule)
            if run.ok or run.stopped < STOPPED:
                return run
            return self._run(self._exercise, asked.case, sent, limit, schedule=schedule)

        # without buffered sends: the back end that answers are run on has none
        explorer = Explorer(again, MOST_SCHEDULES, max(allowed - self._spent, 0.0), buffered=False)
        found = explorer.explore(first)
        self._spent += found.seconds
        self._count += len(found.explored)
        self._complete &= found.complete
        verdicts = [None, *(asked.judged(one.run) for one in found.explored[1:])]
        wrong = next((n for n, verdict in enumerate(verdicts) if verdict is not None), 0)
        verdict = verdicts[wrong]
        if verdict is None:
            return None
        right = [one for one, v in zip(found.explored, verdicts, strict=True) if v is None]
        return _in_a_schedule(verdict, asked.case, found, found.explored[wrong], right)

    def told(self) -> str:
        """How many schedules were run; "" where no answer had a choice."""
        if not self._count:
            return ""
        many = f"{self._count} schedules" if self._count > 1 else "the only schedule"
        return f"{many}, all there are" if self._complete else f"{many}, of more that there are"


def _in_a_schedule(
    verdict: Verdict, case: Case, found: Exploration, wrong: Explored, right: list[Explored]
) -> Verdict:
    """The verdict on a wrong schedule, told beside the nearest one that is right."""
    other = nearest(wrong, right)
    assert other is not None  # the first run was right
    how = told(wrong, other)
    if case.hidden:  # the number of schedules, and the name of one, could carry a hidden input
        share = "Right in one order in which messages can arrive, not in every one."
        when = redaction.operations(how, case.size)
    else:
        share = f"Right in {len(right)} of {len(found.explored)} schedules"
        share += "." if found.complete else " that were run."
        when = f"{how} (schedule {wrong.name})"
        verdict.schedule = wrong.name
    verdict.happened = f"{share} When {when}: {verdict.happened}"
    if not verdict.look:
        verdict.look = (
            "A receive without src takes whichever message comes first: use the rank that it "
            "returns, or name the source."
        )
    verdict.run, verdict.right = wrong.run, other.run
    key = parting(wrong, other)
    if key is not None:
        verdict.parting = wrong.event(key), other.event(key)
    if case.hidden:
        verdict.run.records = redaction.events(verdict.run.records)
        verdict.right.records, verdict.parting = (
            redaction.events(verdict.right.records),
            (None, None),
        )
    return verdict


def _places(run: Run) -> set[tuple[str, int]]:
    """(function, line) of everything that ranks have called or raised, as they tell it."""
    events = {(event.function, event.line) for record in run.records for event in record.events}
    errors = [outcome.error for outcome in run.outcomes if outcome.error]
    errors += [record.beside for record in run.records if record.beside]
    return events | {(f["function"], f["line"]) for error in errors for f in error["frames"]}


#: hints on requests, which may be why a result that was right did not stay so
_OF_REQUESTS = (
    hints.EARLY.name, hints.CHANGED.name, hints.FUNCTIONAL.name, hints.UNWAITED.name,
)  # fmt: skip


def _wrong(
    exercise: Exercise, case: Case, inputs: list[dict[str, Any]], expected: list[Any], run: Run,
    sources: Sources,
) -> Verdict | None:  # fmt: skip
    """The verdict on a run in which every rank returned, if it is not right."""
    got, answer = [*map(_output, run.outcomes)], sources.function(exercise.name)
    look = Look(exercise, case, inputs, expected, got, run.records, answer)
    rules = (*exercise.rules, _race)
    broken = next((said for rule in rules if (said := _broken(rule, look))), None)
    different = _difference(look)
    if broken is None and different is None and not run.overwritten:
        return None
    verdict = Verdict(exercise, "wrong", exercise.asks)
    if different is not None and not (broken and BROUGHT in different[1].where):
        rank, difference = different
        who = subject(exercise, case, f"rank {rank}")
        verdict.happened = f"{who} {_told(difference, case)}.{unfinished.beside(run, case)}"
        if conflict := Watcher().conflict(run.records):  # the run may end before anybody looks
            verdict.happened += f" {begun(quoted(conflict.message, case))}"
            verdict.look = conflict.hint
            return verdict
        if mistaken := misread(run, case, rank):
            verdict.happened += mistaken
            verdict.hint, verdict.look = hints.DTYPE.name, hints.DTYPE.says
            return verdict
    elif broken is not None:
        verdict.happened = f"{case.told(begins=True)}: {quoted(broken, case)}"
    else:
        verdict.happened = (
            "What an earlier call had returned was changed by a later call: return a tensor of "
            "its own, not a buffer that is used again."
        )
    _advise(verdict, look, broken, different)
    return verdict


def _output(outcome: Outcome) -> Any:
    """What a rank returned."""
    try:
        return payload.decode(outcome.output)
    except ValueError:
        return payload.Foreign(NOT_READABLE)


def _advise(
    verdict: Verdict, look: Look, broken: str | None, different: tuple[int, Difference] | None
) -> None:
    """Say in the verdict on a wrong run where to look: by the first hint that shows, else by the
    rule that it breaks.
    """
    # where only a buffer was used again, this call's values and traffic are right: what a hint says
    # of wrong ones would be untrue
    right = different is None and broken is None
    asked = [h for h in look.exercise.hints if not right or h.name in _OF_REQUESTS]
    hint = next((hint for hint in asked if _shows(hint, look)), None)
    # what came of an operation under way is undefined, and hints on values take it for something
    undefined = different is not None and any(e.race and e.op != "send" for e in look.events())
    if undefined and (hint is None or hint.name not in _OF_REQUESTS):
        hint = hints.UNDER_WAY
    if hint:
        verdict.hint, verdict.look = hint.name, hint.says
        races = hint.name in (hints.EARLY.name, hints.CHANGED.name, hints.UNDER_WAY.name)
        if races and different is not None and (raced := _race(look) or _left(look, different[0])):
            verdict.happened += f" {begun(quoted(raced, look.case))}"
    elif broken and different is not None and BROUGHT not in different[1].where:
        verdict.look = begun(quoted(broken, look.case))


def _doubted(exercise: Exercise, case: Case, run: Run) -> Verdict | None:
    """The verdict on a right answer whose records do not agree with the network."""
    if run.seen is None or not run.seen.doubts:
        return None
    return Verdict(
        exercise, "tampered", exercise.asks,
        f"{case.told(begins=True)}, what went over the network is not what was recorded: "
        f"{run.seen.doubts[0]}.",
        "Send with the functions of torch.distributed, and leave to the course how they are "
        "recorded.",
    )  # fmt: skip


def _race(look: Look) -> str | None:
    """A rule: no buffer is touched while an operation on it is under way."""
    for event in look.events():
        if event.race is not None:
            how, where = event.race
            return (
                f"rank {event.rank}'s {event} at {event.place} was under way when its buffer was "
                f"{how} at {where}: wait for the request first."
            )
        if event.flags & CHANGED:
            return (
                f"rank {event.rank}'s {event} at {event.place} was under way when its buffer was "
                "changed, past torch (NumPy's view of a tensor is the tensor's memory): wait for "
                "the request first."
            )
    return None


def _left(look: Look, rank: int) -> str | None:
    """What this rank receives into and never waited for: it may have returned that very buffer."""
    for event in look.events():
        if event.rank == rank and event.op != "send" and not (event.waited or event.done):
            return f"rank {rank} never waited for the request of {event} at {event.place}."
    return None


def _broken(rule: Rule, look: Look) -> str | None:
    """What a rule says; records that a student's code has tampered with can be any nonsense."""
    try:
        return rule(look)
    except Exception:
        return "the record of what the ranks sent makes no sense."


def _shows(hint: Hint, look: Look) -> bool:
    try:
        return bool(hint.shows(look))
    except Exception:  # a hint that cannot read a strange answer does not apply to it
        return False


def _difference(look: Look) -> tuple[int, Difference] | None:
    for rank, (expected, got) in enumerate(zip(look.expected, look.got, strict=True)):
        difference = compare(expected, got, look.exercise.tolerance)
        if difference and look.exercise.calls:
            difference = difference.of_a_call(len(expected["returned"]))
        if difference:
            return rank, difference
    return None


def _told(difference: Difference, case: Case) -> str:
    return difference.kind_only() if case.hidden else difference.in_full()
