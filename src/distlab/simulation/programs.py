"""Programs: what each rank of a simulated cluster does, one thing after the other.

A program is a list of `Compute`, `Post` and `Wait`. `recorded` makes programs from a real run's
records, `described` from an algorithm's steps, and `pipeline` writes those of a pipeline.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from distlab.processes.wrong_argument import WrongArgument
from distlab.records.events import FUTURE, POSTED, WAITED, WORLD, Event, RankRecord
from distlab.simulation.steps import Step


@dataclass(frozen=True)
class Compute:
    """Computing, in the seconds that a rank takes that is not slow."""

    seconds: float


@dataclass(frozen=True)
class Post:
    """Begin an operation: a send, a receive or a collective, as its event says.

    The event's times and rank are ignored.
    """

    event: Event


@dataclass(frozen=True)
class Wait:
    """Wait for the operation that the `number`-th `Post` of this program began, from 0."""

    number: int


Program = list[Compute | Post | Wait]


def recorded(records: Sequence[RankRecord], computing: float = 1.0) -> list[Program]:
    """The programs of a run, by rank: its operations in order, and the time between them.

    Args:
        computing: a factor for the time between operations: 0 leaves out what the ranks computed,
            less than 1 stands for faster ranks.

    Raises:
        WrongArgument: the run did not end, or more was recorded than was kept.
    """
    for record in records:
        if not record.ended or record.dropped:
            raise WrongArgument(
                f"rank {record.rank} of this run did not return, or did more than is recorded: "
                "simulate a run that ends"
            )
    return [_program(record, computing) for record in records]


def _program(record: RankRecord, computing: float) -> Program:
    program: Program = []
    posted: dict[int, int] = {}  # an operation's number in the record → that in the program
    now = record.begin
    for moment in sorted(_moments(record), key=lambda moment: moment.at):
        if computing and moment.begin > now:
            program.append(Compute((moment.begin - now) * computing))
        if moment.waits:
            program.append(Wait(posted[moment.number]))
        else:
            posted[moment.number] = len(posted)
            program.append(Post(record.events[moment.number]))
        now = max(now, moment.end)
    if computing and record.end > now:
        program.append(Compute((record.end - now) * computing))
    return program


@dataclass(frozen=True)
class _Moment:
    """What a rank did with an operation from `begin` to `end`; moments are sorted by `at`."""

    number: int  # of the operation, in the record
    at: float
    begin: float
    end: float
    waits: bool = False


def _moments(record: RankRecord) -> list[_Moment]:
    moments: list[_Moment] = []
    begins = sorted(event.begin for event in record.events)
    handed: list[tuple[int, Event]] = []  # DDP's buckets, whose futures it waits for all together
    for number, event in enumerate(record.events):
        takes = event.flags & FUTURE and event.internal and not event.waited and event.end
        if not takes:
            moments += _together(handed, event.begin)
            handed = []
        else:
            handed.append((number, event))
        begun, ended = event.wait_begin or event.end, event.wait_end or event.end
        until = begun if event.blocking else event.begin
        moments.append(_Moment(number, event.begin, event.begin, until))
        if event.blocking or event.waited:
            # operations that other threads of the rank begin during the wait may be what it waits
            # for. Simulated ranks have one thread: there the wait comes after them
            beside = bisect_right(begins, begun) < bisect_left(begins, ended)
            at = ended if beside else begun
            moments.append(_Moment(number, at, begun, ended, waits=True))
    return moments + _together(handed, record.end)


def _together(handed: Sequence[tuple[int, Event]], latest: float) -> list[_Moment]:
    """Waits for operations whose futures torch's own code has taken: at the end of the last one."""
    end = min(latest, max((event.end for _, event in handed), default=0.0))
    return [
        _Moment(number, max(end, event.begin), end, end, waits=True) for number, event in handed
    ]


def described(steps: Iterable[Step], size: int) -> list[Program]:
    """The programs of an algorithm's steps, by rank, to draw what `run_steps` only times."""
    writers = [_Writer() for _ in range(size)]
    for step in steps:
        seconds = np.broadcast_to(step.seconds, size).tolist()
        for writer, one in zip(writers, seconds, strict=True):
            if one:
                writer.program.append(Compute(one))
        if step.pattern is None:
            continue
        pairs = list(zip(step.pattern.src.tolist(), step.pattern.dst.tolist(), strict=True))
        sizes = np.broadcast_to(step.n_bytes, len(pairs)).tolist()
        for (src, dst), n_bytes in zip(pairs, sizes, strict=True):
            writers[src].begin("send", dst, n_bytes)
        for (src, dst), n_bytes in zip(pairs, sizes, strict=True):
            writers[dst].begin("recv", src, n_bytes)
        for writer in writers:
            writer.wait_for_all()
    return [writer.program for writer in writers]


def message(op: str, peer: int, n_bytes: int, function: str = "") -> Event:
    """The event of a message that was not recorded; `op` is "send" or "recv"."""
    api = {"send": "isend", "recv": "irecv"}[op]
    return Event(
        rank=0, index=0, op=op, api=api, group=(), group_index=WORLD, peer=peer, tag=0,
        nbytes=n_bytes, dtype="uint8", shape=(n_bytes,), pieces=1, reduction="",
        function=function, file="", line=0, state=POSTED, flags=WAITED, begin=0.0, end=0.0,
        wait_begin=0.0, wait_end=0.0, value=float("nan"),
    )  # fmt: skip


def pipeline(
    size: int,
    microbatches: int,
    n_bytes: int,
    forward: float,
    backward: float,
    order: str = "GPipe",
) -> list[Program]:
    """One step of a pipeline of `size` stages.

    Args:
        n_bytes: of one micro-batch's activations, and again of their gradients.
        forward: seconds that a micro-batch takes in a stage on its way there.
        backward: and on its way back.
        order: "GPipe" (all forward, then all backward) or "1F1B".

    Raises:
        ValueError: another order.
    """
    if order not in ("GPipe", "1F1B"):
        raise ValueError(f"a pipeline's order is GPipe or 1F1B, not {order!r}")
    programs = []
    for rank in range(size):
        first = microbatches if order == "GPipe" else min(size - 1 - rank, microbatches)
        turns = ["forward"] * first
        for _ in range(microbatches - first):
            turns += ["forward", "backward"]
        turns += ["backward"] * (turns.count("forward") - turns.count("backward"))
        writer = _Writer()
        for turn in turns:
            before, after = (rank - 1, rank + 1) if turn == "forward" else (rank + 1, rank - 1)
            if 0 <= before < size:
                writer.wait_for(writer.begin("recv", before, n_bytes, turn))
            writer.program.append(Compute(forward if turn == "forward" else backward))
            if 0 <= after < size:
                writer.begin("send", after, n_bytes, turn)
        writer.wait_for_all()
        programs.append(writer.program)
    return programs


class _Writer:
    """Writes a program."""

    def __init__(self) -> None:
        self.program: Program = []
        self._posted = 0
        self._open: list[int] = []

    def begin(self, op: str, peer: int, n_bytes: float, function: str = "") -> int:
        """Post a message; returns its number."""
        self.program.append(Post(message(op, peer, round(n_bytes), function)))
        self._open.append(self._posted)
        self._posted += 1
        return self._posted - 1

    def wait_for(self, number: int) -> None:
        self._open.remove(number)
        self.program.append(Wait(number))

    def wait_for_all(self) -> None:
        """Wait for all operations that have not been waited for yet."""
        self.program += map(Wait, self._open)
        self._open.clear()
