"""Whether an answer gives what its exercise asks.

`judge` runs the cases through whatever runs them (a notebook's engines, the grader's sandbox),
compares with the recorded reference outputs, and gives a `Verdict` that a student can act on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from distlab.engines.exploring import Exploration, Explored, Explorer, nearest, parting, told
from distlab.engines.runs import MOST_QUEUED, Outcome, Run
from distlab.exercises import hints, raised
from distlab.exercises.compare import Difference, compare
from distlab.exercises.exercise import BROUGHT, Case, Exercise, Hint, Look, Rule
from distlab.exercises.sources import Sources
from distlab.processes import payload
from distlab.records import explain, redaction
from distlab.records.causality import has_choices
from distlab.records.choices import Schedule
from distlab.records.deadlock import Watcher
from distlab.records.events import CHANGED, Event
from distlab.records.wording import gave_up, standing, until_timeout

#: findings of operations that don't fit together: what ranks raise or crash of is their consequence
CONFLICTS = {"mismatch", "message-size", "order"}
#: what other schedules may take: times what the runs of the cases took, and seconds at least
SCHEDULES_TIMES, SCHEDULES_SECONDS = 4.0, 1.0
MOST_SCHEDULES = 64  # of one case
NOT_READABLE = "something that cannot be read"  # what messages call output that is no payload
#: what ranks raise when processes of a runtime that is not recorded wait for ever (`standstill`)
STANDSTILL = "Standstill"
UNSENT = "NotSent"  # what is raised, before any rank runs, where a function cannot be sent to them
DIED = "Died"  # and when a process that a rank has started for the function ended in it (`fresh`)


@dataclass
class Verdict:
    """How an exercise was judged. The three sentences say what was expected, what each rank did,
    and where to look; `lines` are those that they name, as (place, source)."""

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
    covered: str = ""  # what was run besides the first schedules, where there are others
    parting: tuple[Event | None, Event | None] = (None, None)  # where `run` and `right` part

    @property
    def score(self) -> float:
        return float(self.exercise.points) if self.status == "passed" else 0.0

    @property
    def message(self) -> str:
        quoted = " ".join(f"{place} is `{text}`." for place, text in self.lines)
        parts = (self.expected, self.happened, quoted, self.look)
        return " ".join(part for part in parts if part)


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
        sources: where the answer comes from, for messages to quote; not as a rank has told it.
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
        """The verdict on the cases so far: on the first that is not right, where there is one."""
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
        """The verdict on a case, if it is not right."""
        exercise, sources = self.exercise, self._sources
        inputs, expected = exercise.inputs(case), self._reference(exercise, case)
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
    """A case with its inputs and what is expected."""

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
                _ended_badly(exercise, case, run, self.sources)
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
            return self._run(self._exercise, asked.case, sent, limit, schedule=schedule)

        # sends that a buffer lets through are not those of the back end that answers are run on
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
        """What was covered besides the first runs; nothing where there was no choice."""
        if not self._count:
            return ""
        many = f"{self._count} schedules" if self._count > 1 else "the only schedule"
        return f"{many}, all there are" if self._complete else f"{many}, of more that there are"


def _in_a_schedule(
    verdict: Verdict, case: Case, found: Exploration, wrong: Explored, right: list[Explored]
) -> Verdict:
    """The verdict on a run under one schedule, told beside a schedule that is right."""
    other = nearest(wrong, right)
    assert other is not None  # the first run was right
    how = told(wrong, other)
    if case.hidden:  # how many there are, and a schedule's name, could carry a hidden input
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
    """(function, line) of all that ranks have called and raised, as they have told it."""
    events = {(event.function, event.line) for record in run.records for event in record.events}
    errors = [outcome.error for outcome in run.outcomes if outcome.error]
    return events | {(f["function"], f["line"]) for error in errors for f in error["frames"]}


def _ended_badly(exercise: Exercise, case: Case, run: Run, sources: Sources) -> Verdict | None:
    """The verdict on a run in which a rank did not return."""
    failed = [o for o in run.outcomes if o.status == "raised"]
    if failed and all(_is_todo(o.error, exercise.name) for o in failed):
        return Verdict(
            exercise, "unanswered", exercise.asks, f"{exercise.name} is still to be written."
        )
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
        return _deadlock(exercise, case, run)
    crashed = [
        o.rank
        for o in run.outcomes
        if o.status == "crashed" or (o.error and o.error["type"] == DIED)
    ]
    if crashed:  # what the others raised then is only that their peer is gone
        who = _ranks(crashed)
        return Verdict(
            exercise, "crashed", exercise.asks,
            f"{case.told(begins=True)}, the process of {who} ended in the middle of the "
            "function.",
            "Look for os._exit, sys.exit, or memory used up.",
        )  # fmt: skip
    still = [o for o in failed if o.error and o.error["type"] == STANDSTILL]
    if still and len(still) == len(failed):
        return _stands_still(exercise, case, still)
    failed = [o for o in failed if o not in still]  # whoever waited for them is no news
    if failed:
        return _told_error(exercise, case, run, failed, sources)
    if run.finding:
        return _deadlock(exercise, case, run)
    if run.timed_out:
        busy = [o.rank for o in run.outcomes if o.status == "killed"]
        return Verdict(
            exercise, "timeout", exercise.asks,
            f"{case.told(begins=True)}, {_ranks(busy)} had not returned {_late(exercise, run)}: "
            f"{_quoted(_doing(run, busy), case)}.{_misread(run, case)}",
            _slow(run, busy),
        )  # fmt: skip
    return None


def _unsent(run: Run) -> str:
    """What the function uses that no rank can have; "" where it came to run."""
    error = run.outcomes[0].error if len(run.outcomes) == 1 else None
    if error is None or error["type"] != UNSENT or any(one.events for one in run.records):
        return ""
    return str(error["message"])


_POLLS = 5  # calls of `is_completed` in vain that make a loop of them


def _slow(run: Run, ranks: list[int]) -> str:
    """Where to look when ranks have not returned in time."""
    if any(run.records[rank].stands_in == "init_process_group" for rank in ranks):
        return (
            "init_process_group returns on no rank before world_size ranks have called it with one "
            "address, each with a number of its own from 0 to world_size - 1."
        )
    events = [event for rank in ranks for event in run.records[rank].events]
    if any(e.is_message and e.polls >= _POLLS and not e.seen and not e.done for e in events):
        return (
            "A loop asks a request again and again whether it is completed. With gloo, "
            "is_completed() of an isend or irecv stays False until wait() has been called on it: "
            "it is wait() that lets the request end."
        )
    return "Look for a loop that does not end, or for work that is far too large."


def _late(exercise: Exercise, run: Run) -> str:
    """After how long; what cases before have used up is not there for the later ones."""
    if run.deadline > exercise.deadline - 1:
        return f"after {run.deadline:.0f} s"
    return f"when the {exercise.deadline:.0f} s that all cases have were over"


def _deadlock(exercise: Exercise, case: Case, run: Run) -> Verdict:
    return Verdict(
        exercise, "deadlock", exercise.asks,
        f"{case.told(begins=True)}: {_quoted(run.finding.message, case)}", run.finding.hint,
    )  # fmt: skip


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


def _is_todo(error: dict[str, Any] | None, name: str) -> bool:
    if error is None or error["type"] != "NotImplementedError":
        return False
    return "TODO" in error["message"]


def _told_error(
    exercise: Exercise, case: Case, run: Run, failed: list[Outcome], sources: Sources
) -> Verdict:
    first = failed[0]
    assert first.error is not None  # who raised has one
    told = f"{case.told(begins=True)}, {_ranks([o.rank for o in failed])} raised "
    told += f"{redaction.error(first.error) if case.hidden else _raised_at(first.error)}."
    for record in run.records:
        if event := record.gave_up():
            told += f" Rank {record.rank} {_quoted(gave_up(event), case)}."
    others = [o.rank for o in run.outcomes if o.status == "killed"]
    verdict = Verdict(exercise, "error", exercise.asks, told)
    if run.hindsight:
        verdict.happened += f" {_quoted(until_timeout(run.hindsight), case)}"
        verdict.look = run.hindsight.hint
        return verdict
    if others:
        verdict.happened += f" Meanwhile {_quoted(_doing(run, others), case)}."
    verdict.happened += _misread(run, case)
    answer = sources.function(exercise.name)
    advice = raised.advice(raised.Raised(first.rank, first.error, run, exercise, answer))
    if advice is not None:
        verdict.hint, verdict.look = advice.name, advice.says
    return verdict


def _raised_at(error: dict[str, Any]) -> str:
    said = raised.text(error)
    if error["frames"]:
        last = error["frames"][-1]
        said = f"{said.rstrip('.')} at {last['function']}:{last['line']}"
    return said.rstrip(".")


def _quoted(said: str, case: Case) -> str:
    return redaction.operations(said, case.size) if case.hidden else said


def _doing(run: Run, ranks: list[int]) -> str:
    parts = []
    for rank in ranks:
        record = run.records[rank]
        event = record.waiting()
        if event is not None:
            parts.append(f"rank {rank} waits in {event} at {event.place}")
        elif record.stands:
            parts.append(f"rank {rank} stands still {standing(record)}")
        else:
            parts.append(f"rank {rank} computes")
    return ", ".join(parts)


def _ranks(ranks: list[int]) -> str:
    if len(ranks) == 1:
        return f"rank {ranks[0]}"
    return f"ranks {', '.join(map(str, ranks[:-1]))} and {ranks[-1]}"


def _wrong(
    exercise: Exercise, case: Case, inputs: list[dict[str, Any]], expected: list[Any], run: Run,
    sources: Sources,
) -> Verdict | None:  # fmt: skip
    """The verdict on a run in which every rank returned, if it is not right."""
    got = []
    for outcome in run.outcomes:
        try:
            got.append(payload.decode(outcome.output))
        except ValueError:
            got.append(payload.Foreign(NOT_READABLE))
    answer = sources.function(exercise.name)
    look = Look(exercise, case, inputs, expected, got, run.records, answer)
    rules = (*exercise.rules, _race)
    broken = next((said for rule in rules if (said := _broken(rule, look))), None)
    different = _difference(look)
    if broken is None and different is None and not run.overwritten:
        return None
    verdict = Verdict(exercise, "wrong", exercise.asks)
    if different is not None and not (broken and BROUGHT in different[1].where):
        rank, difference = different
        verdict.happened = f"{case.told(begins=True)}, rank {rank} {_told(difference, case)}."
        if conflict := Watcher().conflict(run.records):  # the run may end before anybody looks
            verdict.happened += f" {_begun(_quoted(conflict.message, case))}"
            verdict.look = conflict.hint
            return verdict
        if misread := _misread(run, case, rank):
            verdict.happened += misread
            verdict.hint, verdict.look = hints.DTYPE.name, hints.DTYPE.says
            return verdict
    elif broken is not None:
        verdict.happened = f"{case.told(begins=True)}: {_quoted(broken, case)}"
    else:
        verdict.happened = (
            "What an earlier call had returned was changed by a later call: return a tensor of "
            "its own, not a buffer that is used again."
        )
    hint = next((hint for hint in exercise.hints if _shows(hint, look)), None)
    if hint:
        verdict.hint, verdict.look = hint.name, hint.says
    elif broken and different is not None and BROUGHT not in different[1].where:
        verdict.look = _quoted(broken, case)
    return verdict


def _misread(run: Run, case: Case, first: int = 0) -> str:
    """What has led to all that is wrong: a message that was taken for another dtype, of this rank's
    if there is one.
    """
    if said := explain.misread(run.records, first):
        return f" {_begun(_quoted(said, case))}"
    return ""


def _begun(said: str) -> str:
    """A sentence as it begins."""
    return said[:1].upper() + said[1:]


def _doubted(exercise: Exercise, case: Case, run: Run) -> Verdict | None:
    """The verdict on a right answer whose records say something else than the network."""
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
    """A buffer was touched while an operation on it was under way."""
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
        if difference:
            return rank, difference
    return None


def _told(difference: Difference, case: Case) -> str:
    return difference.kind_only() if case.hidden else difference.in_full()
