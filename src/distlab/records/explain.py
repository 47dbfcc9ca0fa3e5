"""What is wrong with a run, in words for its author: where each rank stands, and how to fix it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from distlab.records.dtypes import misread
from distlab.records.events import (
    AGAIN,
    ANY_SOURCE,
    ELSEWHERE,
    FUTURE,
    RAISED,
    RETURNED,
    UNKNOWN,
    Event,
    RankRecord,
)
from distlab.records.matching import (
    BACKWARD,
    Conflict,
    Group,
    Ledger,
    broken_off,
    refused_by_torch,
)
from distlab.records.phrases import clause, listed, named, of_group, ordinal, ranks_text

PARTIAL = (
    "A collective has to be called by every rank of its group. Look for an `if rank == …`, an "
    "early return or a loop that runs more often on one rank."
)
HINTS = {
    "cycle": "One of these ranks has to do the other thing first, to receive where its neighbours "
    "send, or to send where they receive. Or post isend/irecv and wait for both afterwards. "
    "But see first whether each call names the rank that it should.",
    "peers": "Each of these ranks has begun both to send and to receive, but with ranks that do "
    "not name it: a send is received by the rank that it names, in a receive that names the "
    "sender. Work out by hand for two neighbours which ranks your formulas give.",
    "ended": "Every send needs a receive on its destination and every receive a send: count both "
    "for these two ranks, first and last rounds and edge ranks included.",
    "died": "Look for what ended its process in the middle of the function: os._exit, a signal, an "
    "error in C++ code, or the system where memory was short. The others wait because of that.",
    "partial": PARTIAL,
    "partial-group": f"{PARTIAL} And see whether each rank calls it in the group that it is in: "
    "a call in a group of others does nothing but warn.",
    "partial-world": f"{PARTIAL} Was it meant for the group that was made with new_group? Then "
    "pass that as `group`: a call without one runs in the default group, of all ranks.",
    "order": "Every rank of a group has to call the same collectives in the same order. Look for "
    "a call inside an `if rank == …` or for two calls that are swapped.",
    "names": "Under one name every worker has to call the same operation, and no worker may be "
    "left out. Look for a call inside an `if hvd.rank() == …`, or for a name that differs from "
    "worker to worker.",
    "splits": "Say for each pair of ranks how much one gives the other: input_split_sizes (or the "
    "tensor in the list) on the rank that gives and output_split_sizes (or the tensor in the list) "
    "on the one that takes have to be the same there. Without split sizes each rank gets an equal "
    "share: then all tensors have one length, a multiple of the number of ranks.",
    "mismatch": "In one collective every rank has to pass the same shape and dtype, and name the "
    "same root and operation. Print them on each rank before the call.",
    "message-size": "Messages from one rank to another arrive in the order in which they are sent: "
    "is this the receive for this message? Then its buffer has to be as large as the message: make "
    "it so, or send the size first.",
    "message-dtype": "Make buffers with the dtype of what will arrive in them: "
    "torch.empty_like(tensor) does, torch.zeros(shape) is float32 whatever the others send.",
    "any-size": "A receive that names no source takes whichever message comes first, also one that "
    "you wanted for another buffer. Take the first message of several from anybody, and those that "
    "belong to it from the rank that recv has returned.",
    "alone": "A message needs two ranks. Where the group has only one, as with size 1, leave the "
    "communication out.",
    "tag": "A message is received only with its own tag and in its own group: use the same ones in "
    "the send and in the receive.",
    "batches": "With DistributedDataParallel every rank has to call forward and backward equally "
    "often, and under no_sync() on all or on none: give all ranks as many batches "
    "(DistributedSampler does), or use the model's join(). Where the forward pass of some rank "
    "leaves a parameter out, DistributedDataParallel needs find_unused_parameters=True.",
    "raised": "Look at the error of that rank first: it ended before it came to what the others "
    "wait for.",
    "refused": "A call that torch refuses meets nobody: the error of that rank says why.",
    "waited-twice": "Call wait once for each request that isend or irecv has returned.",
    "new_group": "Call new_group on every rank of the job, those outside the new group included, "
    "and in the same order.",
}


@dataclass(frozen=True)
class Wait:
    """Arrows of the wait-for graph: `rank` sits in `event` and needs `on_ranks`, for `reason`."""

    rank: int
    event: Event
    on_ranks: tuple[int, ...]
    reason: str


@dataclass(frozen=True)
class Deadlock:
    """A proof that a run can't end well.

    Attributes:
        kind: "cycle", "ended" (the partner has returned, raised or died), "partial" (a collective
            that not every member calls), "order", "mismatch", "message-size", "tag", "new_group" or
            "waited-twice".
        message: what every rank concerned does and where, for a beginner.
        hint: how to fix this kind.
        waits: the wait-for graph, of all stuck ranks.
        ranks: those that the message is about.
    """

    kind: str
    message: str
    hint: str
    waits: tuple[Wait, ...] = field(repr=False)
    ranks: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}"


class Explanation:
    """Puts into words why the ranks in `stuck` can never move again."""

    def __init__(self, ledger: Ledger, stuck: dict[int, tuple[int, ...]], dead: set[int]) -> None:
        self.ledger, self.stuck, self.dead = ledger, stuck, dead
        self.every = {
            rank: [self._wait(rank, at) for at in places] for rank, places in stuck.items()
        }
        self.waits = {rank: waits[0] for rank, waits in self.every.items()}

    def _wait(self, rank: int, at: int) -> Wait:
        event = self.ledger.event((rank, at))
        if event.is_message:
            on = self.ledger.partners(event)
            need = "send" if event.op == "recv" else "receive"
            on = tuple(r for r in on if r in self.stuck or self._gone(r)) or on
            return Wait(rank, event, on, f"needs a {need} on {ranks_text(on, 'or')}")
        on = tuple(r for r in self.ledger.absentees(rank, at) if r in self.stuck or self._gone(r))
        return Wait(rank, event, on, f"needs {ranks_text(on)} to call it too")

    def _gone(self, rank: int) -> bool:
        return rank in self.dead or self.ledger.records[rank].over

    def verdict(self) -> Deadlock:
        found = self._waited_twice() or self._wrong_tag() or self._knot(min(self.stuck))
        if read := misread(self.ledger.records):  # what that rank did next may follow from it
            found = replace(found, message=f"{found.message} Before that, {read}")
        return found

    def _knot(self, rank: int) -> Deadlock:
        """Why this rank is stuck: what is at the end of its chain of waits."""
        path, end = self._walk(rank)
        if self._gone(end):
            found = self._left_alone(path[-1], end)
            died = end in self.dead or self._lost(end) is not None
            return replace(found, hint=HINTS["died"]) if died else found
        if any(self._from_any(r) for r in path):
            return self._nobody_can_send(next(r for r in path if self._from_any(r)))
        return self._cycle(path[path.index(end) :])

    def _from_any(self, rank: int) -> bool:
        event = self.waits[rank].event
        return event.op == "recv" and event.peer is None

    def _waited_twice(self) -> Deadlock | None:
        for rank, wait in sorted(self.waits.items()):
            if wait.event.flags & AGAIN:
                text = f"rank {rank} waits for its {named(wait.event)} at {wait.event.place} a "
                text += "second time: with gloo every wait needs a message of its own."
                return self._made("waited-twice", text, [rank])
        return None

    def _walk(self, rank: int) -> tuple[list[int], int]:
        """Follow the waits from a rank to one that has ended, that was met before, or that has
        nobody to wait for.
        """
        path: list[int] = []
        while rank not in path and not self._gone(rank):
            path.append(rank)
            if on := self.waits[rank].on_ranks:
                # prefer a rank that has died to one that has failed: its death may be the cause
                rank = max(on, key=lambda r: (r in self.dead, self._gone(r)))
        return path, rank

    def _lost(self, rank: int) -> int | None:
        """The rank whose death ended this one, because an operation between the two failed."""
        record = self.ledger.records[rank]
        last = record.events[-1] if record.events else None
        if record.progress != RAISED or last is None or not broken_off(last):
            return None
        met = self.ledger.partners(last) if last.is_message else last.group
        return min(self.dead.intersection(met), default=None)

    def _why(self, gone: int) -> str:
        """Of a rank that ended because another died: ": its recv(src=2) at f:3 failed, …"."""
        lost = self._lost(gone)
        if lost is None:
            return ""
        last = self.ledger.records[gone].events[-1]
        return f": its {named(last)} at {last.place} failed, because rank {lost} had died"

    def _made(
        self, kind: str, message: str, ranks: Sequence[int], hint: str = "",
        causes: Sequence[int] = (),
    ) -> Deadlock:  # fmt: skip
        others = sorted(set(self.stuck) - set(ranks))
        apart = [rank for rank in others if not self._leads_to(rank, [*ranks, *causes])]
        because = [rank for rank in others if rank not in apart]
        if because:
            verb = "waits" if len(because) == 1 else "wait"
            message += f" {ranks_text(because).capitalize()} {verb} because of that."
        if apart:
            message += f" Apart from that, {self._clauses(apart)}."
        waits = tuple(self.waits[rank] for rank in sorted(self.waits))
        hint = hint or HINTS[self._partial(ranks[0]) if kind == "partial" else kind]
        kind = "partial" if kind == "batches" else kind
        return Deadlock(kind, message, hint, waits, tuple(sorted(ranks)))

    def _partial(self, rank: int) -> str:
        """Which hint fits a collective that not every member calls."""
        if len(self.waits[rank].event.group) < self.ledger.size:
            return "partial-group"
        callers = set(self._together(rank))
        events = (event for record in self.ledger.records for event in record.events)
        smaller = (
            e.group for e in events if e.op == "new_group" and len(e.group) < self.ledger.size
        )
        return "partial-world" if any(callers <= set(group) for group in smaller) else "partial"

    def _leads_to(self, rank: int, ranks: Sequence[int]) -> bool:
        """Does a chain of waits lead from this rank to one of these?"""
        seen, look = set(), [rank]
        while look:
            rank = look.pop()
            if rank in ranks:
                return True
            if rank not in seen and rank in self.every:
                seen.add(rank)
                look += [other for wait in self.every[rank] for other in wait.on_ranks]
        return False

    def _clauses(self, ranks: Sequence[int]) -> str:
        return listed([self._clause(rank) for rank in ranks])

    def _clause(self, rank: int) -> str:
        first, *others = self.every[rank]
        told = clause(self.ledger, first.event)
        for wait in others:
            told += f" (and another thread of it in {named(wait.event)} at {wait.event.place})"
        return told

    def _nobody_can_send(self, rank: int) -> Deadlock:
        """`rank` waits for a message from anybody, and all who could send one wait themselves."""
        senders = [r for r in self.waits[rank].on_ranks if r in self.stuck and r != rank]
        others = self.ledger.partners(self.waits[rank].event)
        if not others:
            text = f"{self._clause(rank)}, but its group has no other rank that could send."
            return self._made("ended", text, [rank], HINTS["alone"])
        gone = [r for r in others if self._gone(r)]
        told = [self._clauses(senders)] if senders else []
        for one in gone:
            told.append(f"rank {one} {_end(self.ledger.records[one], one in self.dead)}")
        text = f"{self._clause(rank)}, and nobody can send to it: {'; '.join(told)}."
        return self._made("cycle" if senders else "ended", text, [rank, *senders])

    def _wrong_tag(self) -> Deadlock | None:
        """A message and a receive that would match but for their tag or group."""
        for rank, wait in sorted(self.waits.items()):
            event = wait.event
            if not event.is_message:
                continue
            near = [
                near for peer in self.ledger.partners(event) for near in self._near(event, peer)
            ]
            if near:
                return self._told_apart(rank, near[0])
        return None

    def _told_apart(self, rank: int, other: Event) -> Deadlock:
        """`rank` waits in what `other` would match but for its tag or group."""
        event = self.waits[rank].event
        what = f"{clause(self.ledger, event, plain=True)}, but rank {other.rank}'s {other} at "
        if other.tag != event.tag:
            text = f"{what}{other.place} has tag {other.tag}, not {event.tag}."
        else:
            group = self.ledger.group_of(other)
            assert group is not None  # `_near` finds what is filed under one
            text = f"{what}{other.place} is {of_group(self.ledger, group)}."
        involved = [rank] + [other.rank] * (other.rank in self.stuck)
        return self._made("tag", text, involved)

    def _near(self, event: Event, peer: int) -> list[Event]:
        """Operations of `peer` that wait and would match this one but for their tag or group."""
        near = self._unmet(event, peer)
        sits_in = [wait.event for wait in self.every.get(peer, ())]
        return [other for other in near if not sits_in or any(other is one for one in sits_in)]

    def _unmet(self, event: Event, peer: int) -> list[Event]:
        """Operations of `peer` that nothing matches, nor this one, because of tag or group."""
        sends = event.op == "send"
        ends = (event.rank, peer) if sends else (peer, event.rank)
        near = self.ledger.unmet_between(*ends, "recv" if sends else "send")
        if sends:
            near += self.ledger.unmet_from_any(peer, event.rank)
        return near

    def _begun_in_vain(self, ranks: Sequence[int]) -> Deadlock | None:
        """A cycle of ranks each of which has already begun what the one before it waits for, but
        with another tag, group or peer. Another order of calls would not help them.
        """
        waits = [self.waits[rank] for rank in ranks]
        pairs = [(wait.event, wait.on_ranks[0]) for wait in waits]
        if len({event.op for event, _ in pairs}) > 1 or any(event.blocking for event, _ in pairs):
            return None  # what follows a blocking call has not begun yet
        near = [self._unmet(event, peer) for event, peer in pairs]
        if all(near):
            return self._told_apart(ranks[0], near[0][0])
        begun = [self._begun_with_others(peer, event) for event, peer in pairs]
        if not all(begun) or all(met for found in begun for _, met in found):
            return None
        event, (other, _) = pairs[0][0], begun[0][0]
        what = "receive, but from" if event.op == "send" else "send, but to"
        text = f"{self._clauses(ranks)}; {_never([event for event, _ in pairs])}. They have also "
        text += f"begun to {what} other ranks: rank {other.rank}'s {named(other)} at {other.place} "
        text += f"is not for rank {event.rank}."
        return self._made("cycle", text, ranks, HINTS["peers"])

    def _begun_with_others(self, rank: int, waits: Event) -> list[tuple[Event, bool]]:
        """What this rank has begun of the kind that an operation waits for, but with other ranks
        than that operation's; each with whether it has met its match.
        """
        met = self.ledger.receive_met if waits.op == "send" else self.ledger.send_met
        return [
            (event, met(rank, at))
            for at, event in self.ledger.open(rank)
            if event.is_message and event.op != waits.op and event.peer not in (None, waits.rank)
        ]

    def _left_alone(self, rank: int, gone: int) -> Deadlock:
        """`rank` waits for `gone`, which does nothing any more."""
        event = self.waits[rank].event
        if event.flags & FUTURE and event.api in BACKWARD:
            return self._fewer_gradients(rank, gone)
        how = f"rank {gone} {_end(self.ledger.records[gone], gone in self.dead)}"
        if event.peer is None and event.is_message:
            return self._nobody_can_send(rank)
        if refused := self._refused(event, gone):
            together = [rank] if event.is_message else self._together(rank)
            text = f"{self._clauses(together)}, but torch refused {refused}."
            kind = "ended" if event.is_message else "partial"
            return self._made(kind, text, together, HINTS["refused"])
        failed = gone in self.dead or self.ledger.records[gone].progress == RAISED
        # if it has returned, each rank that waits for it misses an operation of its own
        causes, hint = ([gone], HINTS["raised"]) if failed else ([], "")
        if event.is_message:
            todo = "sending" if event.op == "recv" else "receiving"
            text = f"{clause(self.ledger, event)}, but {how} without {todo} it{self._why(gone)}."
            return self._made("ended", text, [rank], hint, causes)
        kind = "new_group" if event.op == "new_group" else "partial"
        together = self._together(rank)
        if self.ledger.records[gone].progress in (ELSEWHERE, UNKNOWN):
            how = _elsewhere(self.ledger.records[gone])
            return self._made(kind, f"{self._clauses(together)}, {how}.", together)
        text = f"{self._clauses(together)}, but {how} without calling it{self._why(gone)}."
        return self._made(kind, text, together, hint, causes)

    def _refused(self, event: Event, gone: int) -> str:
        """The call that would have met this operation if torch had not refused it, which ended
        rank `gone`: "rank 0's all_reduce() at f:3"; empty where there is none.
        """
        record = self.ledger.records[gone]
        last = record.events[-1] if record.events else None
        if record.progress != RAISED or last is None or not refused_by_torch(last):
            return ""
        partner = {"send": "recv", "recv": "send"}.get(event.op, event.op)
        if last.op != partner or self.ledger.group_of(last) != self.ledger.group_of(event):
            return ""
        if event.is_message and last.peer not in (None, event.rank):
            return ""
        return f"rank {gone}'s {named(last)} at {last.place}"

    def _fewer_gradients(self, rank: int, gone: int) -> Deadlock:
        """DDP's `backward` on `rank` needs gradients of a rank that gives none any more."""
        together, record = self._together(rank), self.ledger.records[gone]
        text = f"{self._clauses(together)} for the gradients of rank {gone}, which "
        text += _end(record, gone in self.dead)
        if record.progress != RETURNED or gone in self.dead:
            failed = gone in self.dead or record.progress == RAISED
            hint, causes = (HINTS["raised"], [gone]) if failed else ("", [])
            return self._made("partial", f"{text}{self._why(gone)}.", together, hint, causes)
        return self._made("batches", f"{text} without giving as many.", together)

    def _together(self, rank: int) -> list[int]:
        """The stuck ranks that sit in the same collective as this one."""
        mine = self._call(rank)
        return [r for r in sorted(self.stuck) if self._call(r) == mine]

    def _call(self, rank: int) -> tuple[Group | None, str, int] | None:
        at, event = self.stuck[rank][0], self.waits[rank].event
        if event.is_message:
            return None
        if event.op == "new_group":
            return (event.group, 0), event.op, 0
        return self.ledger.group_of(event), event.op, self.ledger.place(rank, at)

    def _cycle(self, ranks: list[int]) -> Deadlock:
        events = [self.waits[rank].event for rank in ranks]
        if all(event.is_message for event in events):
            if found := self._begun_in_vain(ranks):
                return found
            return self._made("cycle", f"{self._clauses(ranks)}; {_never(events)}.", ranks)
        if any(event.op == "new_group" for event in events):
            kind = "new_group"
        elif all(event.is_named for event in events):
            text = f"{self._clauses(ranks)}: Horovod matches operations by their names, and "
            text += "none of them meets another."
            return self._made("order", text, ranks, HINTS["names"])
        elif all(event.is_collective for event in events):
            text = (
                f"{self._clauses(ranks)}: they call the collectives of these groups in different "
            )
            return self._made("order", f"{text}orders.", ranks)
        else:
            kind = "partial"
        caller = next(r for r in ranks if not self.waits[r].event.is_message)
        together = self._together(caller)
        rest = [rank for rank in ranks if rank not in together]
        verb = "has" if len(rest) == 1 else "have"
        text = f"{self._clauses(together)}, but {ranks_text(rest)} {verb} not called it: "
        return self._made(kind, f"{text}{self._clauses(rest)}.", [*together, *rest])


def conflict_verdict(ledger: Ledger, conflict: Conflict) -> Deadlock:
    """Words for two operations that match and don't fit."""
    one, other = (ledger.event(where) for where in conflict.pair)
    pair = (
        f"rank {one.rank}'s {named(one)} at {one.place}",
        (f"rank {other.rank}'s {named(other)} at {other.place}"),
    )
    if conflict.kind == "message-size":
        text = f"{pair[0]} does not fit {pair[1]}: {conflict.text}."
        if one.dtype != other.dtype:
            because = "because " if one.shape == other.shape else ""
            text = f"{text[:-1]}, {because}one is {one.dtype} and the other {other.dtype}."
    elif conflict.kind == "order":
        shortened = any(record.shortened for record in ledger.records)
        which = "next" if shortened else ordinal(conflict.place + 1)
        text = f"{pair[0]} meets {pair[1]}: each is the {which} collective its rank calls "
        text += f"{of_group(ledger, conflict.group)}."
    elif conflict.kind == "new_group" and one.group != other.group:
        text = f"{pair[0]} and {pair[1]} make two groups, but each is {conflict.text}: torch "
        text += "matches groups by the order in which a rank makes them."
    elif conflict.kind == "new_group":
        text = f"{pair[0]} and {pair[1]} make one group, but are {conflict.text}: torch matches "
        text += "groups by the order in which a rank makes them."
    else:
        text = f"{pair[0]} and {pair[1]} are one collective, but have {conflict.text}."
    waits = (
        Wait(one.rank, one, (other.rank,), conflict.text),
        Wait(other.rank, other, (one.rank,), conflict.text),
    )
    hint = HINTS["splits" if conflict.text.startswith("splits") else conflict.kind]
    if conflict.kind == "message-size" and one.dtype != other.dtype and one.shape == other.shape:
        hint = HINTS["message-dtype"]
    elif conflict.kind == "message-size" and (other.flags & ANY_SOURCE or other.chosen is not None):
        hint = HINTS["any-size"]  # messages have their receive as the second of the pair
    if ahead := _past_its_gradients(one, other):
        text, hint = f"{text} {ahead}", HINTS["batches"]
    return Deadlock(conflict.kind, text, hint, waits, (one.rank, other.rank))


def _past_its_gradients(one: Event, other: Event) -> str:
    """What it means that one of DDP's gradient all-reduces meets a call of the student's. Why the
    other rank has no gradient is not on record: a batch less, `no_sync`, an unused parameter.
    """
    waits = [e for e in (one, other) if e.internal and e.api in BACKWARD]
    calls = [e for e in (one, other) if not e.internal]
    if len(waits) != 1 or len(calls) != 1:
        return ""
    return (
        f"Rank {waits[0].rank}'s backward() waits for gradients of rank {calls[0].rank}, which "
        f"has not given as many and went on to {calls[0]}."
    )


def _end(record: RankRecord, died: bool) -> str:
    if record.progress in (ELSEWHERE, UNKNOWN):
        last = next((e for e in reversed(record.events) if e.op != "new_group"), None)
        return f"went no further than {last} at {last.place}" if last else "left nothing on record"
    if record.ended:
        return "has already returned" if record.progress == RETURNED else "stopped with an error"
    return "has died" if died else "is still busy"


def _elsewhere(record: RankRecord) -> str:
    """What a dump says of a rank that others wait for and that sits in no operation."""
    if record.progress == UNKNOWN:
        return f"and there is no dump of rank {record.rank}, which may not have called it"
    if all(event.op == "new_group" for event in record.events):
        return f"but rank {record.rank} has not called it, nor any before it that is on record"
    return f"but rank {record.rank} has not called it: it {_end(record, died=False)}"


def _never(events: list[Event]) -> str:
    if len(events) == 1:
        return "it waits for itself"
    if len(events) > 2:
        return "each waits for the next, so none can ever go on"
    ops = {event.op for event in events}
    if len(ops) == 2:
        return "neither can ever go on"
    return "neither can ever send" if ops == {"recv"} else "neither can ever receive"
