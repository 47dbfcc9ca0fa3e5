"""A machine of ranks that run scripts, small enough to try every interleaving of them.

A script is a tuple of ("send" | "isend", to, tag), ("recv" | "irecv", from or None, tag),
("wait",) for the oldest open request, ("reduce",) over all ranks, and ("if", source, then, else),
which asks who the rank's last receive was from. Messages match by MPI's rules (MPI 4.1, 3.5).
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from recorded import event

from distlab.engines.outcomes import Outcome, Run
from distlab.records import events
from distlab.records.choices import Plan, Schedule
from distlab.records.deadlock import Scheduled, Watcher
from distlab.records.events import DONE, POSTED, RETURNED, RUNNING, RankRecord


@dataclass
class Operation:
    rank: int
    number: int  # among those of its rank
    op: str
    peer: int | None
    tag: int
    match: Operation | None = None
    done: bool = False
    forced: int | None = None


@dataclass
class State:
    """Where each rank stands."""

    scripts: list[tuple]
    buffered: bool = False
    operations: list[list[Operation]] = field(default_factory=list)
    requests: list[list[Operation]] = field(default_factory=list)
    sits_in: list[Operation | None] = field(default_factory=list)
    last: list[int | None] = field(default_factory=list)  # source of the last receive

    @classmethod
    def of(cls, scripts, buffered=False) -> State:
        n = len(scripts)
        return cls([tuple(s) for s in scripts], buffered, [[] for _ in range(n)],
                   [[] for _ in range(n)], [None] * n, [None] * n)  # fmt: skip

    @property
    def size(self) -> int:
        return len(self.scripts)

    def ended(self, rank: int) -> bool:
        return not self.scripts[rank] and self.sits_in[rank] is None

    def able(self) -> list[int]:
        return [
            r for r in range(self.size)
            if (self.sits_in[r].done if self.sits_in[r] else bool(self.scripts[r]))
        ]  # fmt: skip

    def step(self, rank: int, plan: Plan | None = None) -> list[Operation]:
        """Let a rank go on until it has posted something; returns that."""
        if (sits := self.sits_in[rank]) is not None:
            self.sits_in[rank] = None
            if sits.op == "recv":
                self.last[rank] = sits.match.rank
            return []
        (op, *rest), self.scripts[rank] = self.scripts[rank][0], self.scripts[rank][1:]
        if op == "if":
            source, then, otherwise = rest
            branch = then if self.last[rank] == source else otherwise
            self.scripts[rank] = (*branch, *self.scripts[rank])
            return []
        if op == "wait":
            if self.requests[rank]:
                self.sits_in[rank] = self.requests[rank].pop(0)
            return []
        peer, tag = rest if rest else (None, 0)
        made = Operation(rank, len(self.operations[rank]), op.removeprefix("i"), peer, tag)
        if made.op == "recv" and peer is None and plan is not None:
            made.forced = plan.source()
        self.operations[rank].append(made)
        if op.startswith("i"):
            self.requests[rank].append(made)
        else:
            self.sits_in[rank] = made
        if made.op == "send" and self.buffered:
            made.done = True
        if made.op == "reduce":
            self._reduce(made)
        return [made]

    def _reduce(self, made: Operation) -> None:
        calls = [[o for o in mine if o.op == "reduce"] for mine in self.operations]
        place = len(calls[made.rank])
        if all(len(mine) >= place for mine in calls):
            for mine in calls:
                mine[place - 1].done = True

    def matches(self, forced: bool = True) -> list[tuple[Operation, Operation]]:
        """The pairs of a send and a receive that can match now."""
        found, heads = [], set()
        for mine in self.operations:
            for send in mine:
                channel = (send.rank, send.peer, send.tag)
                if send.op != "send" or send.match or channel in heads:
                    continue
                heads.add(channel)
                for receive in self.operations[send.peer]:
                    wanted = receive.peer
                    if forced and receive.forced is not None:
                        wanted = receive.forced
                    if receive.op == "recv" and not receive.match and receive.tag == send.tag \
                            and wanted in (None, send.rank):  # fmt: skip
                        found.append((send, receive))
                        break
        return found

    @staticmethod
    def match(send: Operation, receive: Operation) -> None:
        send.match, receive.match = receive, send
        send.done = receive.done = True

    def outcome(self) -> tuple:
        """From whom each receive from anybody took its message, as far as its rank has learned it,
        and which ranks ended.
        """
        open_ = {id(o) for o in (*sum(self.requests, []), *self.sits_in)}
        sources = tuple(
            tuple(o.match.rank if o.match and id(o) not in open_ else None
                  for o in mine if o.op == "recv" and o.peer is None)
            for mine in self.operations
        )  # fmt: skip
        return sources, tuple(self.ended(rank) for rank in range(self.size))

    def key(self) -> tuple:
        return (
            tuple(self.scripts),
            tuple(
                tuple((o.op, o.peer, o.tag, o.done, o.match and (o.match.rank, o.match.number))
                      for o in mine)
                for mine in self.operations
            ),
            tuple(o and o.number for o in self.sits_in),
            tuple(tuple(o.number for o in mine) for mine in self.requests),
            tuple(self.last),
        )  # fmt: skip

    def copy(self) -> State:
        made = State(list(self.scripts), self.buffered, [], [], [], list(self.last))
        new = {}
        for mine in self.operations:
            row = [Operation(o.rank, o.number, o.op, o.peer, o.tag, None, o.done, o.forced)
                   for o in mine]  # fmt: skip
            made.operations.append(row)
            new.update(zip(map(id, mine), row, strict=True))
        for mine in self.operations:
            for o in mine:
                new[id(o)].match = new[id(o.match)] if o.match else None
        made.requests = [[new[id(o)] for o in mine] for mine in self.requests]
        made.sits_in = [o and new[id(o)] for o in self.sits_in]
        return made


def every_outcome(scripts, buffered: bool = False, most: int = 60_000) -> set[tuple] | None:
    """The outcomes of all interleavings; None if there are too many states."""
    seen, outcomes, ahead = set(), set(), [State.of(scripts, buffered)]
    while ahead:
        state = ahead.pop()
        if (key := state.key()) in seen:
            continue
        seen.add(key)
        if len(seen) > most:
            return None
        able, pairs = state.able(), state.matches()
        if not able and not pairs:
            outcomes.add(state.outcome())
        for rank in able:
            following = state.copy()
            following.step(rank)
            ahead.append(following)
        for number in range(len(pairs)):
            following = state.copy()
            following.match(*following.matches()[number])
            ahead.append(following)
    return outcomes


def run(scripts, chance: random.Random, schedule: Schedule | None = None) -> tuple[Run, tuple]:
    """One run of the scripts in a random order, with its records; and its outcome."""
    schedule = schedule or Schedule()
    state = State.of(scripts, schedule.buffered)
    plans = [Plan(schedule.of_rank(rank)) for rank in range(state.size)]
    ranks = [RankRecord(r, state.size, RUNNING, begin=1.0) for r in range(state.size)]
    noted: dict[int, events.Event] = {}
    now = 1.0
    while True:
        moves = [("step", rank) for rank in state.able()]
        moves += [("match", pair) for pair in state.matches()]
        if not moves:
            break
        now += 1.0
        what, which = chance.choice(moves)
        if what == "match":
            state.match(*which)
            continue
        rank, before = which, state.sits_in[which]
        for made in state.step(rank, plans[rank]):
            _note(ranks[rank], made, noted, now, state.buffered)
        if before is not None:
            _end(noted[id(before)], before, now)
        if (sits := state.sits_in[rank]) is not None:
            noted[id(sits)].wait_begin = now
            noted[id(sits)].flags |= events.WAITED
        if state.ended(rank):
            ranks[rank].progress = RETURNED
    finding, watch = None, Scheduled(Watcher())
    for _ in range(2):
        finding = watch(ranks, set())
    outcomes = [Outcome(r, "returned" if state.ended(r) else "killed") for r in range(state.size)]
    return Run(outcomes, ranks, 0.0, 1.0, finding, causes=[]), state.outcome()


def _note(record: RankRecord, made: Operation, noted: dict, now: float, buffered: bool) -> None:
    op = "all_reduce" if made.op == "reduce" else made.op
    one = event(
        made.rank, len(record.events), op, record.size, made.peer, made.tag, state=POSTED,
        flags=0, begin=now, wait_begin=0.0,
    )  # fmt: skip
    if op == "recv" and made.peer is None:
        one.flags |= events.ANY_SOURCE
        if made.forced is not None:
            one.flags |= events.FORCED
            one.note = str(made.forced)
    record.events.append(one)
    noted[id(made)] = one
    if op == "send" and buffered:
        one.flags |= events.BUFFERED
        one.state, one.end = DONE, now


def _end(one: events.Event, made: Operation, now: float) -> None:
    one.state, one.end, one.wait_end = DONE, one.end or now, now
    if made.op == "recv":
        one.peer = made.match.rank
