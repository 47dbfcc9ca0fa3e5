"""Operations and runs in words and short labels, for pictures, their tooltips and the terminal."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from distlab.records.events import (
    CHANGED,
    FAILED,
    NOT_STARTED,
    POSTED,
    RAISED,
    RETURNED,
    RUNNING,
    Event,
    RankRecord,
)
from distlab.records.pairing import Collective, Pairs, either

if TYPE_CHECKING:
    from distlab.records.explain import Deadlock


def size_text(nbytes: int) -> str:
    """Bytes for people: "4 B", "1.5 MB"."""
    value, units = float(nbytes), ["GB", "MB", "kB", "B"]
    while value >= 999.5 and len(units) > 1:  # three digits of it would be 1000
        value /= 1000
        units.pop()
    return f"{value:.3g} {units[-1]}" if value < 999.5 else f"{value:.0f} {units[-1]}"


def payload_text(event: Event) -> str:
    """What an operation carries: "1 element · 4 B"; empty for a barrier."""
    if not event.nbytes and not event.shape:
        return ""
    elements = "1 element" if event.elements == 1 else f"{event.elements} elements"
    return f"{elements} · {size_text(event.nbytes)}"


def value_text(event: Event) -> str:
    """The first element and that there are more: "[10]", "[10, …]"; empty where it is not known."""
    if math.isnan(event.value):
        return ""
    more = "" if math.prod(event.shape) == 1 else ", …"
    return f"[{event.value:.4g}{more}]"


def name_of(event: Event) -> str:
    """The operation's name; torch's own are marked with who called them."""
    if event.is_named:
        return f"{event.op} ({event.note})" if event.note else event.op
    if not event.internal:
        return event.op
    if event.op == "all_reduce" and event.api == "backward":
        return "all_reduce (DDP bucket)"
    by_ddp = event.op in ("broadcast", "all_gather") and event.api in (
        "__init__",
        "_wrapped_call_impl",
    )
    return f"{event.op} ({'DDP' if by_ddp else 'in torch'})"


def call_text(event: Event) -> str:
    """The call as its author wrote it: "recv(src=1)", "all_reduce"."""
    if event.internal:
        return name_of(event)
    return str(event).removesuffix("()")


def collective_text(call: Collective, world: int) -> str:
    """A collective's label: its name and, where they are not all, the members of its group."""
    name = " ≠ ".join(dict.fromkeys(name_of(call.calls[r]) for r in sorted(call.calls)))
    if len(call.members) < world:
        name += f" {list(call.members)}"
    if call.missing and not call.conflict:
        who = "rank" if len(call.missing) == 1 else "ranks"
        name += f": {who} {', '.join(map(str, call.missing))} missing"
    return name


def event_text(event: Event, start: float) -> str:
    """Several lines on one operation; times count from `start`, the run's begin."""
    lines = [f"rank {event.rank}: {call_text(event)} at {event.place}"]
    carried = " · ".join(t for t in (value_text(event), payload_text(event), event.dtype) if t)
    if carried:
        lines.append(carried)
    lines.append(f"begins at {duration(event.begin - start)}{_ending(event)}")
    if event.flags & CHANGED:
        lines.append("its buffer was changed before it had finished")
    return "\n".join(lines)


def _ending(event: Event) -> str:
    if event.state == FAILED:
        return " and failed"
    if not event.done:
        return " and never finished" if event.waited or event.blocking else "; nobody waited for it"
    text = f", takes {duration(event.end - event.begin)}"
    if event.wait_begin and event.wait_end and not event.blocking:
        text += f", waited for during {duration(event.wait_end - event.wait_begin)} of it"
    return text


def message_text(send: Event | None, receive: Event | None, start: float) -> str:
    """Several lines on a message; one side may be missing."""
    one = either(send, receive)
    if send is not None and receive is not None:
        lines = [f"rank {send.rank} → rank {receive.rank}"]
    elif send is not None:
        lines = [f"rank {send.rank} → rank {send.peer}: nobody received it"]
    else:
        source = "any rank" if one.peer is None else f"rank {one.peer}"
        lines = [f"{source} → rank {one.rank}: nothing was sent"]
    carried = " · ".join(t for t in (value_text(one), payload_text(one), one.dtype) if t)
    lines.append(carried + (f" · tag {one.tag}" if one.tag else ""))
    for event in (send, receive):
        if event is not None:
            what = "sent" if event is send else "received"
            lines.append(f"{what} at {event.place}, {call_text(event)}{_moment(event, start)}")
    return "\n".join(lines)


def _moment(event: Event, start: float) -> str:
    if event.op == "send":
        return f", at {duration(event.begin - start)}"
    return f", by {duration(event.end - start)}" if event.done else ", never finished"


def gave_up(event: Event) -> str:
    """How an operation ended whose own timeout had passed: "waited 2 s in recv(src=1) at …"."""
    waited = duration(event.end - (event.wait_begin or event.begin))
    return f"waited {waited} in {event} at {event.place}, until its own timeout had passed"


def until_timeout(hindsight: Deadlock) -> str:
    """Why ranks could not go on before their own timeouts ended them."""
    return f"Until the timeout had passed, {hindsight.message}"


def stuck(record: RankRecord) -> str:
    """What a rank that did not end was doing: "waits in recv(src=1) at f:3"."""
    event = record.waiting()
    if event is None and record.stands:
        return f"stands still {standing(record)}"
    if event is None:
        return f"was computing{computing(record)}"
    return f"waits in {call_text(event)} at {event.place}"


def computing(record: RankRecord) -> str:
    """Where a rank was seen computing, a second or so ago: " at f:3"; empty if it never was."""
    return f" at {record.computes}" if record.computes else ""


def standing(record: RankRecord) -> str:
    """Where a rank stands still outside of recorded operations."""
    called = f"in {record.stands_in} " if record.stands_in else ""
    return f"{called}at {record.stands}"


_POLLS = 5  # so many calls of `is_completed` that answered False are a loop
_LONG = 2.0  # seconds in one operation in which no loop goes round


def contended(records: Sequence[RankRecord]) -> str:
    """Where to look when two threads of a rank stood in collectives of one group at the same time,
    and one of these has not ended; empty where there is nothing of the kind.
    """
    for record in records:
        called = [event for event in record.events if _takes_its_turn(event)]
        for event in called:
            beside = (
                one
                for one in called
                if one.group_index == event.group_index and one.thread != event.thread
            )
            if not event.done and any(_overlap(one, event) for one in beside):
                return (
                    f"Two threads of rank {record.rank} are in a collective of one group at the "
                    "same time. Which of them comes first is the machine's choice on each rank, "
                    "and ranks match the calls of a group in their order: give each thread a group "
                    "of its own, made by dist.new_group before the threads are started."
                )
    return ""


def _takes_its_turn(event: Event) -> bool:
    """Is it a collective that a thread waits in, and that meets others by its place among them?
    Those of a name (Horovod's) meet by that.
    """
    return event.is_collective and event.blocking and not event.is_named


def _overlap(one: Event, other: Event) -> bool:
    """Was there a moment at which both had begun, and neither had ended?"""
    ends = [math.inf if event.state == POSTED else event.end for event in (one, other)]
    return max(one.begin, other.begin) < min(ends)


def advice(records: Sequence[RankRecord]) -> str:
    """Where to look when these ranks have not returned in time; empty if no record tells."""
    if records and all(record.progress == RETURNED for record in records):
        return (
            "The function came to its end, but what it returned did not arrive: it may be too "
            "large to be handed over in that time. Return less of it."
        )
    if any(record.stands_in == "init_process_group" for record in records):
        return (
            "init_process_group returns on no rank before world_size ranks have called it with one "
            "address, each with a number of its own from 0 to world_size - 1."
        )
    if said := contended(records):
        return said
    events = [event for record in records for event in record.events]
    if any(e.is_message and e.polls >= _POLLS and not e.seen and not e.done for e in events):
        return (
            "A loop asks a request again and again whether it is completed. With gloo, "
            "is_completed() of an isend or irecv stays False until wait() has been called on it: "
            "it is wait() that lets the request end."
        )
    if records and all(map(_waits_long, records)):
        all_of_them = "All of these ranks wait, for one another perhaps. " * (len(records) > 1)
        return (
            f"{all_of_them}What a rank waits for another one has to call: does that call stand "
            "behind a wait of its own, in the same thread, or in a pool of threads that has too "
            "few of them?"
        )
    unknown = [record for record in records if record.waiting() is None]
    if unknown and all(record.stands for record in unknown):
        return (
            "Whoever stands still there waits for something that does not come: a key that nobody "
            "sets in the store (a HashStore that a rank makes is that rank's alone), another "
            "thread, a lock, a queue or a process."
        )
    return ""


def _waits_long(record: RankRecord) -> bool:
    """Had it waited for one operation for long when it was ended?"""
    event = record.waiting()
    return event is not None and record.stopped - (event.wait_begin or event.begin) > _LONG


def summary(records: Sequence[RankRecord], pairs: Pairs) -> str:
    """The run in a sentence or two: for screen readers, and over the terminal's picture."""
    parts = []
    messages = sum(1 for send, receive in pairs.messages if send and receive)
    if messages:
        parts.append(f"{messages} message{'s' * (messages != 1)}")
    names = Counter(name_of(call.first) for call in pairs.collectives if call.done)
    parts += [f"{count} {name}" for name, count in names.most_common(6)]
    begin = min((r.begin for r in records if r.begin), default=0.0)
    times = [
        t for r in records for t in (r.end or r.stopped, *(e.end or e.begin for e in r.events))
    ]  # fmt: skip
    seconds = max(begin, *times) - begin if times else 0.0
    some = any(record.events for record in records)
    done = ", ".join(parts) or ("nothing was completed" if some else "no communication")
    ranks = "1 rank" if len(records) == 1 else f"{len(records)} ranks"
    ended = all(r.end or r.stopped or r.progress == NOT_STARTED for r in records)
    lines = [f"{ranks}{f' in {duration(seconds)}' if ended else ''}: {done}."]
    lines += problems(records, pairs)
    return " ".join(lines)


def problems(records: Sequence[RankRecord], pairs: Pairs) -> list[str]:
    """A sentence on each thing that went wrong, at most eight."""
    lines = []
    for record in records:
        if record.progress == RUNNING:
            lines.append(f"Rank {record.rank} did not end: it {stuck(record)}.")
        elif record.progress == RAISED:
            lines.append(f"Rank {record.rank} raised an exception.")
        elif record.progress == NOT_STARTED:
            lines.append(f"Rank {record.rank} never started.")
    for call in pairs.collectives:
        if call.conflict or call.missing:
            label = collective_text(call, len(records))
            lines.append(f"The collective {label}{_why(call)}.")
    lost = sum(1 for send, receive in pairs.messages if receive is None)
    if lost:
        lines.append(f"{lost} message{'s were' if lost > 1 else ' was'} never received.")
    dropped = sum(record.dropped for record in records)
    if dropped:
        lines.append(f"{dropped} operations more were not recorded.")
    return lines[:8]


def _why(call: Collective) -> str:
    return f" does not fit together: {call.conflict}" if call.conflict else ""


def unit_of(seconds: float) -> tuple[float, str]:
    """(how many of the unit a second has, the unit) that suits a duration: µs, ms or s."""
    if seconds < 1e-3:
        return 1e6, "µs"
    return (1e3, "ms") if seconds < 1 else (1.0, "s")


def duration(seconds: float) -> str:
    """A duration for people, three digits: "85.1 µs", "10.3 ms", "1.20 s"."""
    if seconds <= 0:
        return "0 s"
    factor, unit = unit_of(seconds)
    value = seconds * factor
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:.{digits}f} {unit}"
