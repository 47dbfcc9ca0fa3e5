"""Does what went over the network agree with what ranks recorded of their communication?

A record says more than a network can show (which line called what, and whether anybody waited), so
rules look at the record. Where both can tell, they must agree: an operation in the record must have
been on the network with its bytes, and what was on the network must be in the record. Of a
collective no more is asked than every algorithm must send, and where packets were not captured,
nobody is blamed for what may have been in them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from distlab.network.seen import Seen
from distlab.records.events import Event, RankRecord

#: operation of a record → what gloo may do for it on the network
_AS = {
    "broadcast": {"broadcast"}, "reduce": {"reduce"}, "gather": {"gather"}, "scatter": {"scatter"},
    "all_gather": {"all_gather"}, "all_to_all": {"all_to_all"}, "barrier": {"barrier"},
    # of sparse tensors gloo gathers indices and values; it reduces all and then scatters
    "all_reduce": {"all_reduce", "all_gather"}, "reduce_scatter": {"all_reduce"},
}  # fmt: skip
_SMALL = 8  # bytes of a message of monitored_barrier's
_STAMP = 16  # bytes of the largest element
_ALONG = 1 << 12  # bytes of headers, of confirmations and of packets that were sent again
_SPARE, _MOST_TIMES = 1 << 20, 4
_MANY = 20_000  # messages of a rank that may have noted more than its record can hold


def doubts(
    records: Sequence[RankRecord], seen: Seen, unrecorded: bool = False, stamped: bool = False
) -> list[str]:
    """What is wrong with the records of a run, one clause each. They name ranks and operations, but
    no sizes, which could be those of hidden inputs.

    Args:
        records: the whole records of all ranks.
        seen: what went over the network meanwhile.
        unrecorded: the course runs collectives of its own that are in no record.
        stamped: messages are one element longer than their records say.
    """
    found = [
        f"{_ranks(src, dst)} exchanged data over a connection that is none of torch.distributed's"
        for (src, dst), count in seen.foreign.items()
        if count
    ]
    if seen.lost:  # what was seen was there, but what was not seen can have been there too
        found += _less_sent(records, seen)
        found += [] if unrecorded else _far_more_sent(records, seen)
    else:
        found += _messages_not_sent(records, seen)
        found += _collectives_not_run(records, seen)
        found += _cut(records, seen)
    if not any(record.dropped for record in records):
        found += _messages_not_recorded(records, seen, _STAMP if stamped else 0)
        found += [] if unrecorded else _collectives_not_recorded(records, seen)
    return list(dict.fromkeys(found))


def _ranks(src: int, dst: int) -> str:
    return f"ranks {min(src, dst)} and {max(src, dst)}"


def _messages_not_sent(records: Sequence[RankRecord], seen: Seen) -> list[str]:
    sent, received = defaultdict(list), defaultdict(list)
    for event in _events(records):
        if event.peer is not None and event.done:
            if event.op == "send":
                sent[event.rank, event.peer].append(event.nbytes)
            elif event.op == "recv":
                received[event.peer, event.rank].append(event.nbytes)
    there = _sizes(seen)
    found = [
        f"the record of rank {src} has a message to rank {dst} that was not sent"
        for (src, dst), sizes in sent.items()
        if not _hold(there[src, dst], sizes)
    ]
    return found + [
        f"the record of rank {dst} has a message from rank {src} that was not sent"
        for (src, dst), sizes in received.items()
        if len(sizes) > len(there[src, dst])  # a buffer may be larger than what came
    ]


def _messages_not_recorded(records: Sequence[RankRecord], seen: Seen, longer: int) -> list[str]:
    recorded: dict[tuple[int, int], list[int]] = defaultdict(list)
    small: Counter[tuple[int, int]] = Counter()
    for event in _events(records):
        if event.op == "send" and event.peer is not None:
            recorded[event.rank, event.peer].append(event.nbytes + longer)
        elif event.op == "barrier" and event.api == "monitored_barrier":
            for peer in event.group:
                small[event.rank, peer] += 1
    found = []
    for (src, dst), sizes in _sizes(seen).items():
        left = list(sizes)
        for _ in range(small[src, dst]):
            least = min(left, default=_SMALL + 1)
            if least <= _SMALL and len(left) > len(recorded[src, dst]):
                left.remove(least)
        if not _hold(recorded[src, dst], left):
            found.append(f"rank {src} sent rank {dst} a message that its record does not have")
    return found


def _hold(large: Sequence[int], small: Sequence[int]) -> bool:
    """Can each number of `small` be paired with a number of `large` that is not smaller?"""
    pairs = zip(sorted(large, reverse=True), sorted(small, reverse=True), strict=False)
    return len(large) >= len(small) and all(has >= asked for has, asked in pairs)


def _sizes(seen: Seen) -> dict[tuple[int, int], list[int]]:
    sizes: dict[tuple[int, int], list[int]] = defaultdict(list)
    for (src, dst, size), times in seen.messages.items():
        sizes[src, dst] += [size] * times
    return sizes


def _collectives_not_run(records: Sequence[RankRecord], seen: Seen) -> list[str]:
    """A rank that takes part in a collective must send or receive at least its own part."""
    found = []
    for record in records:
        sends: Counter[str] = Counter()
        receives: Counter[str] = Counter()
        for event in record.collectives():
            if event.done and len(set(event.group)) > 1:
                name = "all_reduce" if event.op == "reduce_scatter" else event.op
                least = _least(event)
                sends[name] += least * _must_send(event)
                receives[name] += least * _must_receive(event)
        out, back = _volumes(seen, record.rank)
        found += [
            f"the record of rank {record.rank} has {_a(name)} that did not take place"
            for name in sorted({*sends, *receives})
            if _carried(out, name) < sends[name] or _carried(back, name) < receives[name]
        ]
    return found


def _least(event: Event) -> int:
    """Bytes that every rank's part has at least; of several tensors, those of an average one."""
    if event.op in ("barrier", "all_to_all"):
        return 0
    pieces = max(event.pieces, 1) * (len(event.group) if event.op == "reduce_scatter" else 1)
    return event.nbytes // pieces


def _must_send(event: Event) -> bool:
    roots = event.op in ("broadcast", "scatter")
    return (event.peer == event.rank) if roots else (event.peer != event.rank)


def _must_receive(event: Event) -> bool:
    if event.op == "all_gather":  # the others may have had nothing to give
        return False
    leaves = event.op in ("broadcast", "scatter")
    return (event.peer != event.rank) if leaves else event.op != "gather" and event.peer is None


def _volumes(seen: Seen, rank: int) -> tuple[Counter[str], Counter[str]]:
    """Bytes that a rank sent and received in collectives, by operation."""
    out: Counter[str] = Counter()
    back: Counter[str] = Counter()
    for (src, dst, name), count in seen.volumes.items():
        out[name] += count * (src == rank)
        back[name] += count * (dst == rank)
    return out, back


def _carried(volumes: Counter[str], name: str) -> int:
    return sum(volumes[kind] for kind in _AS[name])


def _collectives_not_recorded(records: Sequence[RankRecord], seen: Seen) -> list[str]:
    """A record must have at least as many calls as those in which its rank sent to another."""
    allowed: Counter[tuple[int, int, str]] = Counter()
    for event in _events(records):
        # of a list, each tensor may be a call; to reduce and scatter is to reduce all for each rank
        calls = max(event.pieces, 1) * (len(event.group) if event.op == "reduce_scatter" else 1)
        for kind in _AS.get(event.op, ()):
            for peer in set(event.group) or range(len(records)):
                allowed[event.rank, peer, kind] += calls
    return [
        f"{_ranks(src, dst)} took part in {_a(kind)} that their records do not have"
        for (src, dst, kind), calls in seen.calls.items()
        if calls > allowed[src, dst, kind]
    ]


def _less_sent(records: Sequence[RankRecord], seen: Seen) -> list[str]:
    """By the kernel's own count, which misses nothing."""
    return [
        f"rank {record.rank} sent less than its record has"
        for record, sent in zip(records, seen.sent, strict=False)
        if sent < sum(event.nbytes for event in record.sends() if event.done)
    ]


def _far_more_sent(records: Sequence[RankRecord], seen: Seen) -> list[str]:
    """For ranks that flood the network so that packets are lost: the flood itself is counted."""
    return [
        f"rank {record.rank} sent far more than its record has"
        for record, sent in zip(records, seen.sent, strict=False)
        if not record.dropped and sent > _MOST_TIMES * sum(map(_most, record.events)) + _SPARE
    ]


def _most(event: Event) -> int:
    """Bytes that no algorithm exceeds, those that come with each packet included."""
    ranks = 1 if event.peer is not None and event.is_message else max(len(set(event.group)), 1)
    return ranks * (event.nbytes + _ALONG * max(event.pieces, 1))


def _cut(records: Sequence[RankRecord], seen: Seen) -> list[str]:
    """A rank whose record overflowed must have sent or received as much as that."""
    frames: Counter[int] = Counter()
    for (src, dst, _), times in [*seen.messages.items(), *seen.calls.items()]:
        frames[src] += times
        frames[dst] += times
    return [
        f"the record of rank {record.rank} counts operations that did not take place"
        for record in records
        if record.dropped and frames[record.rank] < _MANY
    ]


def _events(records: Sequence[RankRecord]) -> Iterable[Event]:
    return (event for record in records for event in record.events)


def _a(operation: str) -> str:
    return f"{'an' if operation[0] == 'a' else 'a'} {operation}"
