"""Which messages the receives of a rank from any source have taken, as far as counting can tell."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from distlab.records.events import BUFFERED, DONE, Event


class Sender(NamedTuple):
    """What there is between one sender and the receiver, in the same group and with the same tag.

    Attributes:
        sends: what it has sent.
        named: the positions of the receives that name it among the receiver's events, in order.
    """

    sends: Sequence[Event]
    named: Sequence[int]


class Shares:
    """How the any-source receives of one receiver, group and tag are shared by the senders.

    Args:
        receives: their positions among the receiver's events, in order.
        events: the receiver's.
        senders: by rank.

    Attributes:
        taken: for each sender, how many messages are known to have been taken that way.
        certain: for each sender, how many more must have been: their sends have ended, and no
            receive that names the sender took them.
        free: how many receives are left for any sender.
    """

    def __init__(
        self, receives: Sequence[int], events: Sequence[Event], senders: Mapping[int, Sender]
    ) -> None:
        self.taken: dict[int, int] = defaultdict(int)
        self.certain: dict[int, int] = defaultdict(int)
        pending = 0
        for at in receives:
            event = events[at]
            if event.state == DONE and event.peer is not None:
                self.taken[event.peer] += 1
            else:
                pending += 1
        for src, (sends, named) in senders.items():
            arrived = sum(one.state == DONE and not one.flags & BUFFERED for one in sends)
            self.certain[src] = max(0, arrived - len(named) - self.taken[src])
        self.free = max(0, pending - sum(self.certain.values()))
        self._unended = [at for at in receives if events[at].state != DONE]
        self._senders = senders
        self._ended = {src: _from_each_on(one.named, events) for src, one in senders.items()}

    def met(self, at: int) -> bool:
        """Is there a posted message for the any-source receive at this position, one that no
        earlier receive takes?
        """
        there = 0
        for src, (sends, row) in self._senders.items():
            before = bisect_left(row, at)
            named = before + self._ended[src][before]
            gone = self.taken[src] + self.certain[src] + named
            there += self.certain[src] + max(0, len(sends) - gone)
        return there > bisect_left(self._unended, at)


def _from_each_on(row: Sequence[int], events: Sequence[Event]) -> list[int]:
    """How many of these have ended, counted from each of them to the last; and 0 behind that."""
    counts = [0] * (len(row) + 1)
    for place in range(len(row) - 1, -1, -1):
        counts[place] = counts[place + 1] + (events[row[place]].state == DONE)
    return counts
