"""One run of a function on every rank: hand it out, watch, end it, collect what is left.

`drive` is what every run goes through, of a notebook as of a submission. Nothing here can block
forever: ranks that are still busy when the run is over (`distlab.engines.watching`) are killed and
replaced.
"""

from __future__ import annotations

import contextlib
import functools
import math
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from distlab.engines import run_files
from distlab.engines.outcomes import Outcome, Run
from distlab.engines.watching import MOST_QUEUED, RAISED, Watcher, Watching
from distlab.processes import clocks, payload
from distlab.processes.stopped import Stopwatch

if TYPE_CHECKING:
    from distlab.engines.live import Live
    from distlab.records.choices import Schedule


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

    Raises:
        KeyboardInterrupt: the run was interrupted; the exception's `run` is what there is of it.
    """
    size = len(inputs)
    if schedule is not None and watch is not None:
        from distlab.records.deadlock import Scheduled

        watch = Scheduled(watch)
    getattr(engines, "ripen", _none)(function)  # ranks that were forked early
    engines.settle()
    folder = Path(tempfile.mkdtemp(prefix="run-", dir=engines.folder))
    begin, clock = time.monotonic(), Stopwatch()
    same = dict(
        size=size, folder=str(folder), group=group, backend=backend, harness=harness,
        strict=strict, seed=seed, sources=sources or {}, lasts=deadline, keeps=keeps, device=device,
    )  # fmt: skip
    with _ended_as_a_whole(engines, folder):
        latest = begin + (1 + MOST_QUEUED) * deadline
        run = Run([Outcome(rank) for rank in range(size)], [], 0.0, deadline)
        show = live.of(folder, size) if live else None
        patience = RAISED if harness else math.inf
        queued = getattr(engines, "queued", float)  # 0.0 of those that cannot tell
        watching = Watching(
            engines.receive, queued, run, folder, begin, watch, show, patience, clock
        )
        try:
            _hand_out(engines, folder, function, inputs, same, schedule, latest)
            busy = watching.until_over()
        except KeyboardInterrupt as interrupt:  # while some ranks had begun and others had not
            run.interrupt, busy = interrupt, set(engines.busy())
        clock.seconds()
        run.seconds, run.stopped = time.monotonic() - begin, clock.stopped
        run_files.stop(run, busy, folder, begin)
        run.seconds -= run.stopped
        if busy:  # `tidy` is for runs that have ended by themselves
            engines.replace(sorted(busy | (run_files.going_on(folder, size) if harness else set())))
    run_files.read_records(run, folder, keeps)
    if not busy:
        left = [record.rank for record in run.records if not record.over]
        engines.tidy(size, left if harness else [])
    run_files.read_the_rest(run, folder)
    _conclude(run, watch, folder)
    shutil.rmtree(folder, ignore_errors=True)
    if run.interrupt is not None:
        run.interrupt.run = run  # type: ignore[attr-defined]  # an exception takes any attribute
        raise run.interrupt
    return run


def _hand_out(
    engines: Engines, folder: Path, function: payload.Block, inputs: Sequence[payload.Block],
    same: dict[str, Any], schedule: Schedule | None, latest: float,
) -> None:  # fmt: skip
    """Send each rank the function with what is its own and what is the `same` for all. A rank
    that has not read it by `latest`, on the monotonic clock, is given up.
    """
    size = len(inputs)
    store, times = engines.store(folder), _clocks(engines, size, same["group"])
    kept = getattr(engines, "kept", _none)(size)
    for rank, values in enumerate(inputs):
        tree = same | dict(
            rank=rank, local_rank=rank, store=store, clock=times[rank], kept=kept,
            schedule=schedule.of_rank(rank) if schedule else None,
        )  # fmt: skip
        engines.send(rank, payload.parts(tree, function, values), latest - time.monotonic())


def _conclude(run: Run, watch: Watcher | None, folder: Path) -> None:
    """Ask the watcher once more, of the whole records: two operations that do not fit break a run,
    or it ends between two looks, which is chance.
    """
    if run.finding is None or run.finding.kind in ("ended", "partial"):
        dead = {outcome.rank for outcome in run.outcomes if outcome.status == "crashed"}
        found = _afterwards(watch, "conflict", run, dead)
        run.finding = found or (run_files.no_room(folder) if dead else None) or run.finding
    run.hindsight = _afterwards(watch, "hindsight", run)


def _none(_: object) -> list[int]:
    return []


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


def _afterwards(watch: Watcher | None, question: str, run: Run, *more: Any) -> Any:
    """What a watcher says of a run that is over, if it has a method of this name."""
    ask = getattr(watch, question, None)
    try:
        return ask(run.records, *more) if ask else None
    except Exception:  # records that a student's code has tampered with can be any nonsense
        return None
