"""One run of a function on every rank: hand it out, watch, end it, collect what is left.

Nothing here can block for ever. A run ends when every rank has answered, when its deadline has passed, or
when its watcher proves that it cannot end; ranks that are still busy then are killed and replaced.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from distlab import payload, records

POLL = 0.05  # seconds between two looks at ranks that have not answered
GRACE = 1.0  # seconds that the others get when a rank has died


class Engines(Protocol):
    """Processes that carry ranks. Rank r is the r-th of them."""

    folder: Path  # where the files of runs go; both sides can reach it

    def __len__(self) -> int: ...
    def send(self, rank: int, task: bytes) -> None: ...
    def receive(self, timeout: float) -> list[tuple[int, bytes | None]]: ...
    def replace(self, ranks: Sequence[int]) -> None: ...
    def store(self, run: Path) -> list: ...


@dataclass
class Outcome:
    """What became of one rank.

    `status`: "returned", "raised", "killed" (it was still busy when the run was ended) or "crashed"
    (its process died by itself).
    """

    rank: int
    status: str = "killed"
    output: bytes = b""
    error: dict[str, Any] | None = None
    seconds: float = 0.0
    printed: str = ""


@dataclass
class Run:
    """What became of a run: an outcome and a record for each rank."""

    outcomes: list[Outcome]
    records: list[records.RankRecord]
    seconds: float
    deadline: float
    finding: Any = None  # what the watcher found, if it ended the run
    timed_out: bool = False
    notes: list[str] = field(default_factory=list)

    @property
    def size(self) -> int:
        return len(self.outcomes)

    @property
    def ok(self) -> bool:
        return all(outcome.status == "returned" for outcome in self.outcomes)


Watcher = Callable[[list[records.RankRecord], set[int]], Any]


def drive(
    engines: Engines,
    function: bytes,
    inputs: Sequence[bytes],
    *,
    harness: str | None = None,
    group: bool = True,
    backend: str | None = None,
    strict: bool = False,
    seed: int | None = None,
    sources: dict[str, str] | None = None,
    deadline: float = 60.0,
    watch: Watcher | None = None,
) -> Run:
    """Run a pickled function on ranks 0 … len(inputs) − 1 of `engines`.

    Args:
        function: the function, by cloudpickle.
        inputs: for each rank its arguments: a payload for a `harness` ("lab/exercise"), else a
            cloudpickle of (args, kwargs).
        group: initialise the default process group first.
        deadline: seconds after which ranks that have not answered are killed.
        watch: called with the records and the set of dead ranks while ranks are busy; what it
            returns, if true, ends the run.
    """
    size = len(inputs)
    folder = Path(tempfile.mkdtemp(prefix="run-", dir=engines.folder))
    begin = time.monotonic()
    store = engines.store(folder)
    for rank, values in enumerate(inputs):
        tree = dict(
            rank=rank, size=size, local_rank=rank, folder=str(folder), store=store, group=group,
            backend=backend, harness=harness, strict=strict, seed=seed, sources=sources or {},
        )  # fmt: skip
        engines.send(rank, payload.pack(tree, function, values))
    outcomes = [Outcome(rank) for rank in range(size)]
    run = Run(outcomes, [], 0.0, deadline)
    busy = _watch(engines, run, folder, begin + deadline, watch)
    run.seconds = time.monotonic() - begin
    if busy:
        # even ranks that have answered hold connections to those that are killed now
        engines.replace(sorted(busy))
    run.records = _records(folder, size)
    for outcome in outcomes:
        path = folder / f"{outcome.rank}.out"
        outcome.printed = path.read_text("utf-8", "replace") if path.exists() else ""
    shutil.rmtree(folder, ignore_errors=True)
    return run


def _watch(engines, run: Run, folder: Path, deadline: float, watch: Watcher | None) -> set[int]:
    """Wait until the run is over; returns the ranks that must be replaced."""
    waiting, dead = set(range(run.size)), set()
    while waiting:
        left = deadline - time.monotonic()
        if left <= 0:
            run.timed_out = True
            break
        for rank, reply in engines.receive(min(POLL, left)):
            waiting.discard(rank)
            if reply is None:
                dead.add(rank)
                run.outcomes[rank].status = "crashed"
                deadline = min(deadline, time.monotonic() + GRACE)
            else:
                _note(run.outcomes[rank], reply)
        if waiting and watch is not None:
            run.finding = watch(_records(folder, run.size), dead)
            if run.finding:
                break
    return waiting | dead


def _note(outcome: Outcome, reply: bytes) -> None:
    tree, outcome.output = payload.unpack(reply)
    outcome.status, outcome.error = str(tree["status"]), tree["error"]
    outcome.seconds = float(tree["seconds"])


def _records(folder: Path, size: int) -> list[records.RankRecord]:
    found = []
    for rank in range(size):
        try:
            found.append(records.read(folder / f"{rank}.rec"))
        except (OSError, ValueError):
            found.append(records.RankRecord(rank, size))
    return found
