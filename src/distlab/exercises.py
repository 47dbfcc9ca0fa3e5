"""What an exercise asks, and whether an answer gives it.

An `Exercise` says how inputs are made, how a student's function is called on a rank, which traffic
it may cause, and what the well-known wrong answers look like. A `Case` is one world size and one
set of inputs. `judge` runs the cases through whatever runs them (a notebook's engines, the
grader's sandbox), compares with the recorded reference outputs, and gives a `Verdict` that a
student can act on.

Nothing here imports torch or runs student code: inputs and outputs are NumPy arrays and plain
values.
"""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from distlab import payload, quoting
from distlab.compare import Difference, Tolerance, compare
from distlab.describing import gave_up, until_timeout
from distlab.records import Event, RankRecord
from distlab.runs import MOST_QUEUED, Run

#: findings of operations that don't fit together: what ranks raise or crash of is their consequence
CONFLICTS = {"mismatch", "message-size", "order"}
DEADLINE = 10.0  # seconds that an exercise may take over all its cases
NOT_READABLE = "something that cannot be read"  # what messages call output that is no payload
#: what ranks raise when processes of a runtime that is not recorded wait for ever (`standstill`)
STANDSTILL = "Standstill"
DIED = "Died"  # and when a process that a rank has started for the function ended in it (`fresh`)


@dataclass(frozen=True)
class Case:
    """One world size and one set of inputs. `params` are JSON values that `make` understands."""

    size: int
    seed: int = 0
    params: Mapping[str, Any] = field(default_factory=dict)
    hidden: bool = False

    @property
    def key(self) -> str:
        """A name that stays the same: what reference outputs are filed under."""
        return json.dumps([self.size, self.seed, dict(self.params)], sort_keys=True)

    def get(self, name: str, default: Any = None) -> Any:
        return self.params.get(name, default)

    def generator(self, rank: int = -1) -> np.random.Generator:
        """Random numbers for what all ranks share, or for one rank's own input."""
        return np.random.default_rng([self.seed, rank + 1, self.size])

    def draw(self, rank: int = -1, shape: Sequence[int] = (4,), dtype: str = "float32"):
        """A random array: standard normal, or integers from −9 to 9."""
        generator = self.generator(rank)
        if np.dtype(dtype).kind == "i":
            return generator.integers(-9, 10, tuple(shape)).astype(dtype)
        return generator.standard_normal(tuple(shape)).astype(dtype)

    def told(self, begins: bool = False) -> str:
        """How a message speaks of this case, or begins with it; of a hidden one it tells the world
        size alone.
        """
        ranks = f"{'On' if begins else 'on'} {self.size} rank" + ("s" if self.size != 1 else "")
        if self.hidden:
            return f"{'In' if begins else 'in'} a hidden case {ranks.lower()}"
        given = ", ".join(f"{name} {value}" for name, value in self.params.items())
        return f"{ranks} ({given})" if given else ranks


@dataclass
class Look:
    """A finished run as rules and hints see it. Lists are by rank."""

    exercise: Exercise
    case: Case
    inputs: list[dict[str, Any]]
    expected: list[Any]
    got: list[Any]
    records: list[RankRecord]

    @property
    def size(self) -> int:
        return self.case.size

    @property
    def ranks(self) -> range:
        return range(self.case.size)

    def same(self, left: Any, right: Any) -> bool:
        """Would these two outputs be judged equal?"""
        return compare(left, right, self.exercise.tolerance) is None

    def events(self, *ops: str) -> list[Event]:
        """All events of all ranks, of these operations where any are named."""
        return [e for record in self.records for e in record.events if not ops or e.op in ops]


#: Returns a sentence that says what is wrong, or `None`.
Rule = Callable[[Look], "str | None"]


@dataclass(frozen=True)
class Hint:
    """A well-known wrong answer: how it shows, and what helps whoever wrote it.

    `shows` is asked only when an answer is known to be wrong. `says` is where to look; it may
    not contain the solution.
    """

    name: str
    shows: Callable[[Look], bool]
    says: str


def positional(function, rank: int, size: int, inputs: dict[str, Any]) -> Any:
    """Call an exercise the usual way: rank, size, then its inputs in order."""
    return function(rank, size, *inputs.values())


@dataclass(frozen=True)
class Exercise:
    """What one exercise asks.

    Args:
        lab: the assignment's name, "01-message-passing".
        make: the inputs of each rank, a list of dicts of arrays and JSON values.
        call: calls the student's function on a rank, with arrays as tensors, and returns what is
            compared: a tree of tensors and plain values.
        asks: one sentence in a beginner's words, for messages: "each rank returns its partner's
        tensor". visible: the cases that the student sees run. rules: what else must hold, traffic
        above all. group: whether the default process group is initialised on the ranks before.
        needs: frameworks besides torch, by their names in `distlab.frameworks`. processes: how
            many processes and threads its runtime starts, where that is more than the usual limit.
    """

    name: str
    lab: str
    points: int
    make: Callable[[Case], list[dict[str, Any]]]
    asks: str
    visible: tuple[Case, ...]
    call: Callable[..., Any] = positional
    rules: tuple[Rule, ...] = ()
    hints: tuple[Hint, ...] = ()
    tolerance: Tolerance = Tolerance()
    group: bool = True
    deadline: float = DEADLINE
    needs: tuple[str, ...] = ()
    processes: int = 0

    @property
    def id(self) -> str:
        return f"{self.lab}/{self.name}"

    def inputs(self, case: Case) -> list[dict[str, Any]]:
        made = self.make(case)
        if len(made) != case.size:
            raise ValueError(f"{self.id} made inputs for {len(made)} ranks, not {case.size}")
        return made

    def fingerprint(self, case: Case) -> int:
        """A checksum of a case's inputs: reference outputs of other inputs are no reference."""
        return zlib.crc32(b"".join(payload.encode(values) for values in self.inputs(case)))


@dataclass
class Verdict:
    """How an exercise was judged. The three sentences say what was expected, what each rank did,
    and where to look."""

    exercise: Exercise
    status: str
    expected: str = ""
    happened: str = ""
    look: str = ""
    hint: str = ""  # the name of the hint that applied
    seconds: float = 0.0
    passed: int = 0
    total: int = 0
    case: Case | None = None
    run: Run | None = None

    @property
    def score(self) -> float:
        return float(self.exercise.points) if self.status == "passed" else 0.0

    @property
    def message(self) -> str:
        return " ".join(part for part in (self.expected, self.happened, self.look) if part)


Runner = Callable[[Exercise, Case, "list[bytes]", float], Run]


def judge(
    exercise: Exercise,
    cases: Iterable[Case],
    reference: Callable[[Exercise, Case], list[Any]],
    run: Runner,
) -> Verdict:
    """Run the cases until one is not right.

    Args:
        reference: the expected outputs of a case, by rank.
        run: runs a case; gets the inputs of each rank as payloads and the seconds that are left.
    """
    cases = list(cases)
    begin, seconds, queued = time.monotonic(), 0.0, 0.0
    verdict = Verdict(exercise, "passed", total=len(cases))
    for case in cases:
        expected = reference(exercise, case)
        inputs = exercise.inputs(case)
        spent = seconds - min(queued, MOST_QUEUED * exercise.deadline)
        left = max(exercise.deadline - max(spent, 0.0), 0.1)
        result = run(exercise, case, [payload.encode(values) for values in inputs], left)
        seconds, queued = seconds + result.seconds, queued + result.queued
        if case.hidden:
            result.records = quoting.events(result.records)
        found = _ended_badly(exercise, case, result) or _wrong(
            exercise, case, inputs, expected, result
        )
        verdict.run, verdict.case = result, case
        if found is not None:
            found.run, found.case = result, case
            found.passed, found.total = verdict.passed, verdict.total
            verdict = found
            break
        verdict.passed += 1
    verdict.seconds = time.monotonic() - begin
    return verdict


def _ended_badly(exercise: Exercise, case: Case, run: Run) -> Verdict | None:
    """The verdict on a run in which a rank did not return."""
    raised = [o for o in run.outcomes if o.status == "raised"]
    if raised and all(_is_todo(o.error, exercise.name) for o in raised):
        return Verdict(
            exercise, "unanswered", exercise.asks, f"{exercise.name} is still to be written."
        )
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
    still = [o for o in raised if o.error["type"] == STANDSTILL]
    if still and len(still) == len(raised):
        return _stands_still(exercise, case, still)
    raised = [o for o in raised if o not in still]  # whoever waited for them is no news
    if raised:
        return Verdict(exercise, "error", exercise.asks, *_told_error(case, run, raised))
    if run.finding:
        return _deadlock(exercise, case, run)
    if run.timed_out:
        busy = [o.rank for o in run.outcomes if o.status == "killed"]
        return Verdict(
            exercise, "timeout", exercise.asks,
            f"{case.told(begins=True)}, {_ranks(busy)} had not returned after "
            f"{run.deadline:.0f} s: {_quoted(_doing(run, busy), case)}.",
            "Look for a loop that does not end, or for work that is far too large.",
        )  # fmt: skip
    return None


def _deadlock(exercise: Exercise, case: Case, run: Run) -> Verdict:
    return Verdict(
        exercise, "deadlock", exercise.asks,
        f"{case.told(begins=True)}: {_quoted(run.finding.message, case)}", run.finding.hint,
    )  # fmt: skip


def _stands_still(exercise: Exercise, case: Case, still: list) -> Verdict:
    if case.hidden:  # their text is a rank's own
        lines = [(o.rank, frame["line"]) for o in still for frame in o.error["frames"][-1:]]
        said = ", ".join(f"rank {rank} waits at line {quoting.line(at)}" for rank, at in lines)
        said = f"{said or _ranks([o.rank for o in still]) + ' waits'} and nobody goes on"
    else:
        said = ", ".join(o.error["message"] for o in still)
    return Verdict(
        exercise, "deadlock", exercise.asks, f"{case.told(begins=True)}, {said}.",
        "Every worker has to do the same steps in the same order: what one does alone waits for "
        "the others.",
    )  # fmt: skip


def _is_todo(error: dict | None, name: str) -> bool:
    return bool(error) and error["type"] == "NotImplementedError" and "TODO" in error["message"]


def _told_error(case: Case, run: Run, raised: list) -> tuple[str, str]:
    first = raised[0]
    error = first.error
    where = ""
    if error["frames"]:
        last = error["frames"][-1]
        where = f" at {last['function']}:{last['line']}"
        if last["text"]:
            where += f" (`{last['text'].strip()[:100]}`)"
    what = f"{error['type']}: {' '.join(error['message'].split())[:400]}{where}"
    if case.hidden:
        what = quoting.error(error)
    told = f"{case.told(begins=True)}, {_ranks([o.rank for o in raised])} raised {what}."
    for record in run.records:
        if event := record.gave_up():
            told += f" Rank {record.rank} {_quoted(gave_up(event), case)}."
    others = [o.rank for o in run.outcomes if o.status == "killed"]
    if run.hindsight:
        return f"{told} {_quoted(until_timeout(run.hindsight), case)}", run.hindsight.hint
    if others:
        told += f" Meanwhile {_quoted(_doing(run, others), case)}."
    return told, _error_hint(error)


def _error_hint(error: dict) -> str:
    text = error["message"]
    if error["type"] == "MemoryError" or "DefaultCPUAllocator" in text:
        return "Memory is limited: look for a tensor far larger than the inputs."
    if error["type"] == "BlockingIOError" or "can't start new thread" in text:
        return "Processes and threads are limited: look for a loop that starts one after another."
    if "No space left" in text or "Too many open files" in text:
        return "Disk space and open files are limited: write less, close what you open."
    if "No such file" in text or error["type"] == "FileNotFoundError":
        return "Look at the path: every rank sees the same files, but not at the same moment."
    if "cuda" in text.lower() and ("not" in text.lower() or "no " in text.lower()):
        return "This machine has no CUDA device for that: use the device that you are given."
    if error["type"] == "NameError":
        return "Define or import this name in a cell above, not in a cell that only you have run."
    return ""


def _quoted(said: str, case: Case) -> str:
    return quoting.operations(said, case.size) if case.hidden else said


def _doing(run: Run, ranks: list[int]) -> str:
    parts = []
    for rank in ranks:
        event = run.records[rank].waiting()
        parts.append(
            f"rank {rank} waits in {event} at {event.place}" if event else f"rank {rank} computes"
        )
    return ", ".join(parts)


def _ranks(ranks: list[int]) -> str:
    if len(ranks) == 1:
        return f"rank {ranks[0]}"
    return f"ranks {', '.join(map(str, ranks[:-1]))} and {ranks[-1]}"


def _wrong(exercise, case, inputs, expected, run: Run) -> Verdict | None:
    """The verdict on a run in which every rank returned, if it is not right."""
    got = []
    for outcome in run.outcomes:
        try:
            got.append(payload.decode(outcome.output))
        except ValueError:
            got.append(payload.Foreign(NOT_READABLE))
    look = Look(exercise, case, inputs, expected, got, run.records)
    broken = next((said for rule in exercise.rules if (said := _broken(rule, look))), None)
    different = _difference(look)
    if broken is None and different is None and not run.overwritten:
        return None
    verdict = Verdict(exercise, "wrong", exercise.asks)
    if different is not None:
        rank, difference = different
        verdict.happened = f"{case.told(begins=True)}, rank {rank} {_told(difference, case)}."
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
    elif broken and different is not None:
        verdict.look = _quoted(broken, case)
    return verdict


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
