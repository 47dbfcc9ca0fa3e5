"""One run of a function on every rank: hand it out, watch, end it, collect what is left.

`drive` is what every run goes through, of a notebook as of a submission. Nothing here can block
forever. A run ends when every rank has answered, when its deadline has passed, or when its watcher
proves that it cannot end; ranks that are still busy then are killed and replaced.
"""

from __future__ import annotations

import contextlib
import functools
import json
import math
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from distlab.network.seen import Seen
from distlab.processes import clocks, disk_room, payload, untrusted
from distlab.processes.stopped import Stopwatch
from distlab.records import events, holdings, reading
from distlab.records import reports as reporting

if TYPE_CHECKING:
    from distlab.engines.live import Live, Show
    from distlab.records.choices import Schedule

POLL = 0.05  # seconds between two looks at the records of ranks that have not answered
SOON = 0.003  # seconds after the first answer within which the others usually come
MOST_QUEUED = 2.0  # times its deadline: the most by which waiting for a processor extends a run
GRACE = 1.0  # seconds that the other ranks get when one has died
#: seconds, within the deadline, that a rank whose function has ended gets to send its answer: a
#: busy machine is slow
ANSWER = 10.0
#: seconds that a check goes on after a rank has raised, which decides it: long enough to tell where
#: the ranks that wait for that one stand
RAISED = 5.0
PRINTED_BYTES = 1 << 18  # the most that is read back of what a rank printed
CAUSES_BYTES = 1 << 18  # the most that is read back of what a rank noted about its store


class Engines(Protocol):
    """Processes that carry ranks. Rank r is the r-th of them."""

    folder: Path  # where the files of runs go; both sides can reach it

    def __len__(self) -> int: ...
    # the parts of a message, which the rank has to read `within` so many seconds
    def send(self, rank: int, task: Sequence[payload.Block], within: float = ...) -> None: ...
    def receive(self, timeout: float) -> list[tuple[int, payload.Block | None]]: ...
    def busy(self) -> list[int]: ...  # ranks that have not answered
    def settle(self) -> None: ...  # called before a run
    # called after a run whose ranks have all answered; in the ranks `left`, threads of the function
    # are still running
    def tidy(self, size: int, left: Sequence[int]) -> None: ...
    def replace(self, ranks: Sequence[int]) -> None: ...
    def store(self, run: Path) -> list[Any]: ...
    def machines(self) -> list[str]: ...  # by rank, where its clock runs: its `clocks.machine()`
    def clock(self, rank: int) -> float: ...  # what that clock shows now


@dataclass
class Outcome:
    """What became of one rank.

    `status`: "returned", "raised", "killed" (it was still busy when the run was ended) or "crashed"
    (its process died by itself).
    """

    rank: int
    status: str = "killed"
    output: payload.Block = b""
    error: dict[str, Any] | None = None
    seconds: float = 0.0
    printed: str = ""


@dataclass
class Run:
    """What became of a run: an outcome and a record for each rank."""

    outcomes: list[Outcome]
    records: list[events.RankRecord]
    seconds: float
    deadline: float
    finding: Any = None  # what the watcher found, if it ended the run
    hindsight: Any = None  # what it found about ranks that timeouts of their own ended
    timed_out: bool = False
    queued: float = 0.0  # of `seconds`, those in which ranks waited for a processor
    stopped: float = 0.0  # seconds, left out of `seconds`, in which this process was stopped itself
    overwritten: bool = False  # this call changed what an earlier one had returned
    raw: list[bytes] = field(default_factory=list)  # the records as they were read
    seen: Seen | None = None  # what went over the network, where that was measured
    #: by rank, what it did with its store
    causes: list[list[tuple[float, str, str]]] = field(default_factory=list)
    reports: list[list[reporting.Report]] = field(default_factory=list)  # by rank, where kept
    usable: bool = True  # do all ranks say that their connections can be used again?

    @property
    def size(self) -> int:
        return len(self.outcomes)

    @property
    def ok(self) -> bool:
        return all(outcome.status == "returned" for outcome in self.outcomes)


#: may also have methods `conflict(records)` and `hindsight(records)`, as `deadlock.Watcher` has
Watcher = Callable[[Sequence[events.RankRecord], set[int]], Any]


def drive(
    engines: Engines,
    function: payload.Block,
    inputs: Sequence[payload.Block],
    *,
    harness: str | None = None,
    group: bool = True,
    backend: str | None = None,
    strict: bool = False,
    seed: int | None = None,
    sources: dict[str, str] | None = None,
    deadline: float = 60.0,
    watch: Watcher | None = None,
    schedule: Schedule | None = None,
    keeps: bool = False,
    live: Live | None = None,
    device: tuple[str, bool] | None = None,
) -> Run:
    """Run a pickled function on ranks 0 … len(inputs) − 1 of `engines`.

    Args:
        function: the function, by cloudpickle.
        inputs: for each rank its arguments: a payload for a `harness` ("lab/exercise"), else a
            cloudpickle of (args, kwargs).
        group: initialise the default process group first.
        deadline: seconds after which ranks that have not answered are killed; time in which the
            ranks waited for a processor does not count, where the engines can tell.
        watch: called with the records and the set of dead ranks while ranks are busy; what it
            returns, if true, ends the run.
        schedule: which way the choices of the run go. Where the program cannot go that way, the
            finding's kind is "impossible".
        keeps: record what tensors held, too. Not for inputs that are hidden from whoever sees the
            records.
        live: is handed each look at the records while the run goes on.
        device: where a `harness` gets the tensors of its inputs ("cuda": each rank on its GPU),
            and whether new tensors are made there too. By default inputs lie on the CPU, and a
            harness takes a GPU where its exercise says so.
    """
    size = len(inputs)
    if schedule is not None and watch is not None:
        from distlab.records.deadlock import Scheduled

        watch = Scheduled(watch)
    getattr(engines, "ripen", _none)(function)  # ranks that were forked early
    engines.settle()
    folder = Path(tempfile.mkdtemp(prefix="run-", dir=engines.folder))
    begin, clock = time.monotonic(), Stopwatch()
    with _ended_as_a_whole(engines, folder):
        store, times = engines.store(folder), _clocks(engines, size, group)
        kept = getattr(engines, "kept", _none)(size)
        for rank, values in enumerate(inputs):
            tree = dict(
                rank=rank, size=size, local_rank=rank, folder=str(folder), store=store, group=group,
                backend=backend, harness=harness, strict=strict, seed=seed, sources=sources or {},
                lasts=deadline, clock=times[rank], kept=kept,
                schedule=schedule.of_rank(rank) if schedule else None, keeps=keeps,
                device=device,
            )  # fmt: skip
            latest = begin + (1 + MOST_QUEUED) * deadline
            engines.send(rank, payload.parts(tree, function, values), latest - time.monotonic())
        outcomes = [Outcome(rank) for rank in range(size)]
        run = Run(outcomes, [], 0.0, deadline)
        show = live.of(folder, size) if live else None
        patience = RAISED if harness else math.inf
        busy = _Watching(engines, run, folder, begin, watch, show, patience, clock).until_over()
        clock.seconds()
        run.seconds, run.stopped = time.monotonic() - begin, clock.stopped
        _stop(run, busy, folder, begin)
        run.seconds -= run.stopped
        if busy:  # `tidy` is for runs that have ended by themselves
            engines.replace(sorted(busy | (_going_on(folder, size) if harness else set())))
    run.raw = [_raw(f"{folder}/{rank}.rec") for rank in range(size)]
    run.records = _records(run.raw)
    if keeps:
        for record in run.records:
            holdings.attach(record, folder / f"{record.rank}{holdings.SUFFIX}")
            run.reports.append(
                reporting.read(folder / f"{record.rank}{reporting.SUFFIX}", record.offset)
            )
    if not busy:
        left = [record.rank for record in run.records if not record.over]
        engines.tidy(size, left if harness else [])
    run.causes = [_causes(f"{folder}/{rank}.causes") for rank in range(size)]
    if run.finding is None or run.finding.kind in ("ended", "partial"):
        # two operations that do not fit break a run, or it ends between two looks: which is chance
        dead = {outcome.rank for outcome in outcomes if outcome.status == "crashed"}
        found = _afterwards(watch, "conflict", run, dead) or (_no_room(folder) if dead else None)
        run.finding = found or run.finding
    run.hindsight = _afterwards(watch, "hindsight", run)
    for outcome in outcomes:
        outcome.printed = _printed(f"{folder}/{outcome.rank}.out")
    shutil.rmtree(folder, ignore_errors=True)
    return run


def _no_room(folder: Path) -> Finding | None:
    """Has a full disk ended ranks? They write their records into mapped files."""
    if not (said := disk_room.full(folder)):
        return None
    return Finding(
        "limit",
        f"the disk is full on which ranks note what they do ({folder.parent}: {said}), and their "
        "processes end with it",
        "Make room there, or set TMPDIR to a folder on another disk before ranks are started.",
    )


def _none(_: object) -> list[int]:
    return []


def _going_on(folder: Path, size: int) -> set[int]:
    """The ranks in which threads or requests of the function go on, by their records."""
    records = _records([_raw(f"{folder}/{rank}.rec") for rank in range(size)])
    return {record.rank for record in records if not record.over}


def _stop(run: Run, busy: Iterable[int], folder: Path, begin: float) -> None:
    """Write into the records of ranks that are ended when that was."""
    for rank in busy:
        outcome = run.outcomes[rank]
        passed = outcome.seconds if outcome.status == "crashed" else run.seconds
        reading.stop(f"{folder}/{rank}.rec", begin + passed)


@contextlib.contextmanager
def _ended_as_a_whole(engines: Engines, folder: Path) -> Iterator[None]:
    """Whatever interrupts a run (a notebook's stop button), no rank goes on with it: its answer
    would be taken for an answer to the next run.
    """
    try:
        yield
    except BaseException:
        engines.replace(engines.busy())
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _clocks(engines: Engines, size: int, group: bool) -> list[dict[str, Any] | None]:
    """For each rank how it finds out what this process's clock shows; `None` where all ranks have
    the same clock.
    """
    machines, here = engines.machines()[:size], clocks.machine()
    if set(machines) == {here}:
        return [None] * size

    def offset(rank: int) -> float:
        if machines[rank] == here:
            return 0.0
        return clocks.offset(functools.partial(engines.clock, rank))

    hub = machines.index(here) if here in machines else 0
    if group:  # ranks compare their clocks with the hub's more precisely than this process can
        offsets = [offset(hub)] * size
    else:
        offsets = [offset(rank) for rank in range(size)]
    return [{"offset": one, "hub": hub, "machines": machines} for one in offsets]


class _Watching:
    """Waits until a run is over.

    Args:
        watch: looks at the records meanwhile and may end the run.
        show: is handed what is seen at each look.
        patience: seconds that the run goes on after a rank has raised.
        clock: of this process, since the run began: its stops are no fault of the ranks.
    """

    def __init__(
        self, engines: Engines, run: Run, folder: Path, begin: float, watch: Watcher | None,
        show: Show | None, patience: float, clock: Stopwatch,
    ) -> None:  # fmt: skip
        self._engines, self._run, self._begin = engines, run, begin
        self._watch, self._show, self._patience, self._clock = watch, show, patience, clock
        self._deadline = begin + run.deadline
        self._waiting = set(range(run.size))  # ranks that have not answered
        self._dead: set[int] = set()
        self._queued = getattr(engines, "queued", float)  # 0.0 of those that cannot tell
        self._queued_before = self._queued()
        self._followers = [
            reading.Follower(f"{folder}/{rank}.rec", rank, run.size) for rank in range(run.size)
        ]

    def until_over(self) -> set[int]:
        """Returns the ranks that must be replaced: those that are still busy, and the dead."""
        due = self._begin + POLL  # when to look at the records again
        while self._waiting:
            left = self._seconds_left()
            if left <= 0:
                self._hear(0.0)  # answers may have lain there for long
                if self._waiting:
                    self._time_is_up()
                break
            none_yet = len(self._waiting) == self._run.size
            if self._hear(min(max(due - time.monotonic(), 0.0), left)):
                self._end_within(GRACE)
                due = 0.0
            if none_yet and len(self._waiting) < self._run.size:
                due = min(due, time.monotonic() + SOON)  # the others may hang already
            if any(one.status == "raised" for one in self._run.outcomes):
                self._end_within(self._patience)
                self._patience = math.inf  # it counts from the first
            if self._waiting and time.monotonic() >= due:
                due = time.monotonic() + POLL
                if self._watch is not None and self._look(self._watch):
                    break
        self._run.queued = self._waited()
        return self._waiting | self._dead

    def _waited(self) -> float:
        """Seconds in which a busy machine let the ranks do nothing."""
        waited = max(self._queued() - self._queued_before, 0.0)
        return min(waited, MOST_QUEUED * self._run.deadline)

    def _seconds_left(self) -> float:
        """Until the deadline, which a busy machine puts off: it is not the fault of the ranks."""
        self._clock.seconds()
        left = self._deadline - time.monotonic()
        if left <= 0 and not self._dead:
            self._run.queued = self._waited()
            left += self._run.queued + self._clock.stopped
        return left

    def _end_within(self, seconds: float) -> None:
        self._deadline = min(self._deadline, time.monotonic() + seconds)

    def _time_is_up(self) -> None:
        self._run.timed_out = True
        why = Finding("timeout", f"It had not ended after {self._run.deadline:g} s.")
        self._tell(self._records(), why)

    def _hear(self, timeout: float) -> bool:
        """Take what ranks answer within `timeout` seconds; has one died?"""
        before = len(self._dead)
        for rank, reply in self._engines.receive(timeout):
            self._waiting.discard(rank)
            if reply is None or not _noted(self._run, rank, reply):
                self._dead.add(rank)
                self._run.outcomes[rank].status = "crashed"
                self._run.outcomes[rank].seconds = time.monotonic() - self._begin
        return len(self._dead) > before

    def _records(self) -> list[events.RankRecord]:
        return [follower.look() for follower in self._followers]

    def _hear_and_look(self) -> list[events.RankRecord]:
        self._hear(POLL)
        return self._records()

    def _look(self, watch: Watcher) -> bool:
        """Have the watcher look at the records; has it ended the run?"""
        seen = self._records()
        finding = watch(seen, self._dead)
        if finding and (settled := getattr(watch, "settled", None)):
            finding = settled(finding, self._dead, self._hear_and_look)
            seen = self._records()
        if _cannot_begin(seen, self._waiting):
            self._end_within(GRACE)
        self._tell(seen, finding)
        self._run.finding = finding
        if finding:
            self._hear_ended({rank for rank in self._waiting if seen[rank].ended})
        return bool(finding)

    def _tell(self, seen: Sequence[events.RankRecord], finding: Any) -> None:
        """Hand a look to whoever shows the run."""
        if self._show is not None:
            self._show(seen, getattr(self._watch, "ledger", None), finding)

    def _hear_ended(self, ended: set[int]) -> None:
        """What ranks whose function has ended returned or raised is on its way: wait for it."""
        now = time.monotonic()
        end = min(max(self._deadline, now + GRACE), now + ANSWER)
        while ended & self._waiting and time.monotonic() < end:
            self._hear(POLL)


def _cannot_begin(looks: Sequence[events.RankRecord], waiting: set[int]) -> bool:
    """Does every rank that has not answered wait for a rank that ended before it joined them?"""
    gone = any(not look.begin for look in looks if look.rank not in waiting)
    return gone and not any(looks[rank].begin for rank in waiting)


def _afterwards(watch: Watcher | None, question: str, run: Run, *more: Any) -> Any:
    """What a watcher says of a run that is over, if it has a method of this name."""
    ask = getattr(watch, question, None)
    try:
        return ask(run.records, *more) if ask else None
    except Exception:  # records that a student's code has tampered with can be any nonsense
        return None


def _noted(run: Run, rank: int, reply: payload.Block) -> bool:
    """Put a rank's reply into its outcome. False where it is no reply: student code can have
    written it.
    """
    outcome = run.outcomes[rank]
    try:
        tree, output = payload.unpack(reply)
        overwritten, seconds = bool(tree["overwritten"]), finite(tree["seconds"])
        usable = bool(tree.get("usable"))
        status, error = tree["status"], checked(tree["error"])
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        return False
    if status not in ("returned", "raised") or (status == "raised") != (error is not None):
        return False
    run.overwritten |= overwritten
    run.usable &= usable
    outcome.status, outcome.error = status, error
    outcome.seconds, outcome.output = seconds, output
    return True


def _raw(path: str) -> bytes:
    try:
        return reading.trimmed(path)
    except OSError:
        return b""


def _causes(path: str) -> list[tuple[float, str, str]]:
    try:
        with untrusted.plain_file(path) as file:
            lines = file.read(CAUSES_BYTES).decode("utf-8", "replace").splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        with contextlib.suppress(ValueError, TypeError, OverflowError, RecursionError):
            found.append(cause(json.loads(line)))
    return found


def cause(told: Any) -> tuple[float, str, str]:
    """What a rank says it did with its store: (when, what, which key).

    Raises:
        ValueError, TypeError, OverflowError: nothing of the kind.
    """
    moment, kind, key = told
    return finite(moment), str(kind), str(key)


def _printed(path: str) -> str:
    try:
        with untrusted.plain_file(path) as file:
            return file.read(PRINTED_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""


def refusal(reason: str) -> bytes:
    """What takes the place of a rank's reply that is too large."""
    error = {"type": "OutputTooLarge", "message": reason, "frames": []}
    return payload.pack(
        {"status": "raised", "error": error, "seconds": 0, "overwritten": False, "usable": False},
        b"",
    )


def _records(raw: Sequence[bytes]) -> list[events.RankRecord]:
    found = []
    for rank, data in enumerate(raw):
        try:
            found.append(reading.read(data))
        except ValueError:
            found.append(events.RankRecord(rank, len(raw)))
    return found


@dataclass(frozen=True)
class Finding:
    """Why a run was ended, as data that can cross the sandbox wall: what a watcher found."""

    kind: str
    message: str
    hint: str = ""


def finite(number: Any) -> float:
    """A number as told by an untrusted process. A deadline that is computed with NaN never passes.

    Raises:
        ValueError, TypeError, OverflowError: it is no finite number.
    """
    if not math.isfinite(found := float(number)):
        raise ValueError(f"{found} where a finite number belongs")
    return found


def checked(error: dict[str, Any] | None) -> dict[str, Any] | None:
    """An exception as told by an untrusted process.

    Raises:
        ValueError, TypeError, KeyError, AttributeError, OverflowError: it is no such thing.
    """
    if error is None:
        return None
    frames = [
        {"function": payload.text(f["function"])[:80], "line": int(f["line"] or 0),
         "file": payload.text(f["file"])[:80], "text": payload.text(f["text"] or "")[:200]}
        for f in error["frames"][:12]
    ]  # fmt: skip
    return {
        "type": payload.text(error["type"])[:80],
        "message": payload.text(error["message"])[:2000],
        "frames": frames,
    }
