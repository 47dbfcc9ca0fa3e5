"""A ring algorithm step by step: which chunk is summed over how many ranks, where and when.

Drawn from the recorded messages: a rank's step ends with its receive. Records do not say which
chunk a message holds, so that is taken from the order of a ring (Patarasuk and Yuan, "Bandwidth
optimal all-reduce algorithms for clusters of workstations", 2009): in step t, counted from 0, rank
r receives chunk r − t − 1. A program that sends other chunks in the right number is drawn as if it
were right; a message that is missing or from the wrong rank is seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from distlab.records.events import Event, RankRecord
from distlab.records.pairing import match_messages
from distlab.records.wording import call_text, payload_text, value_text
from distlab.viz.picture import Picture
from distlab.viz.svg import GREEN, ORANGE, VERMILLION, hover, tag, text

Held = list[list[frozenset[int]]]  # [rank][chunk] -> the ranks whose part is in it


@dataclass
class Arrival:
    """What a rank received in one step: into which chunk, and whether it could be added."""

    chunk: int
    receive: Event
    wrong: bool  # not from a neighbour in the ring


class Steps(Picture):
    """The chunks of every rank after each step. Made by `ring_steps`.

    Attributes:
        held: for each step, the start included, what every rank holds: `held[step][rank][chunk]` is
            the set of ranks whose part is in it.
        arrivals: for each step but the start, what each rank received, None for nothing.
    """

    def __init__(
        self,
        records: Sequence[RankRecord],
        chunks: int,
        reduced: bool,
        title: str | None,
        width: float,
    ) -> None:
        self.records, self.chunks, self.title, self.width = list(records), chunks, title, width
        self.size = len(self.records)
        # only messages that arrived; a rank's k-th is its step k
        self._received: list[list[tuple[Event, Event]]] = [[] for _ in self.records]
        for send, receive in match_messages(self.records):
            if receive is not None and receive.done:
                self._received[receive.rank].append((send, receive))
        for row in self._received:
            row.sort(key=lambda both: both[1].index)
        self._shift = self.size - 1 if reduced else 0
        self.held: list[Held] = [self._start(reduced)]
        self.arrivals: list[list[Arrival | None]] = []
        for step in range(max((len(row) for row in self._received), default=0)):
            self._step(step)

    def _start(self, reduced: bool) -> Held:
        def held(rank: int, chunk: int) -> frozenset[int]:
            if not reduced:
                return frozenset([rank])
            return frozenset(range(self.size) if chunk == (rank + 1) % self.chunks else ())

        return [[held(rank, chunk) for chunk in range(self.chunks)] for rank in range(self.size)]

    def _step(self, step: int) -> None:
        before = self.held[-1]
        after, arrived = [list(row) for row in before], []
        for rank, row in enumerate(self._received):
            if step >= len(row):
                arrived.append(None)
                continue
            send, receive = row[step]
            way = -1 if (rank - send.rank) % self.size > self.size / 2 else 1
            chunk = (rank - way * (step + self._shift + 1)) % self.chunks
            wrong = (rank - send.rank) % self.size not in (1, self.size - 1)
            if not wrong:
                after[rank][chunk] = before[rank][chunk] | before[send.rank][chunk]
            arrived.append(Arrival(chunk, receive, wrong))
        self.held.append(after)
        self.arrivals.append(arrived)

    @property
    def complete(self) -> bool:
        """Does every rank hold every chunk, summed over all ranks, in the end?"""
        return all(len(ranks) == self.size for row in self.held[-1] for ranks in row)

    @property
    def summary(self) -> str:
        """The run in a sentence or two."""
        if self.complete:
            end = "In the end every rank holds all chunks, summed over all ranks."
        else:
            full = [sum(len(ranks) == self.size for ranks in row) for row in self.held[-1]]
            end = (
                f"In the end the ranks hold {', '.join(map(str, full))} of {self.chunks} chunks "
                "summed over all ranks."
            )
        return f"{self.size} ranks, {self.chunks} chunks, {len(self.arrivals)} steps. {end}"

    def _content(self) -> str:
        return f"{self.held} {[[a and a.receive.end for a in row] for row in self.arrivals]}"

    def text(self, width: int = 80) -> str:
        """For each rank, step after step, over how many ranks each chunk is summed."""
        step_width = max(8, self.chunks * (2 if self.size < 10 else 3) + 2)
        per_line = max(1, (width - 8) // step_width)
        lines = [self.title] if self.title else []
        lines.append(self.summary)
        for first in range(0, len(self.held), per_line):
            steps = range(first, min(first + per_line, len(self.held)))
            lines += [
                "",
                " " * 8 + "".join(_step_name(s).ljust(step_width) for s in steps).rstrip(),
            ]
            for rank in range(self.size):
                row = ""
                for step in steps:
                    counts = " ".join(str(len(ranks)) for ranks in self.held[step][rank])
                    row += counts.ljust(step_width)
                lines.append(f"rank {rank:<3}" + row.rstrip())
        return "\n".join(lines)

    def _draw(self, name: str) -> tuple[str, float]:
        left, top, gap = 58.0, 24.0 if self.title else 6.0, 22.0
        cell = max(9.0, min(22.0, (self.width - left) / 7 / self.chunks - gap / self.chunks))
        panel = cell * self.chunks + gap
        per_line = max(1, int((self.width - left) / panel))
        line_height = self.size * (cell + 5) + 34
        parts = [text(8, 15, self.title, 13, font_weight="bold")] if self.title else []
        for step in range(len(self.held)):
            x = left + panel * (step % per_line)
            y = top + line_height * (step // per_line)
            parts.append(text(x, y + 12, _step_name(step)))
            for rank in range(self.size):
                row_y = y + 20 + rank * (cell + 5)
                if step % per_line == 0:
                    parts.append(text(8, row_y + cell * 0.7, f"rank {rank}", 12))
                for chunk in range(self.chunks):
                    parts.append(self._cell(step, rank, chunk, x + chunk * cell, row_y, cell))
        bottom = top + line_height * -(-len(self.held) // per_line)
        parts.append(self._legend(bottom + 4))
        return "".join(parts), bottom + 18

    def _cell(self, step: int, rank: int, chunk: int, x: float, y: float, cell: float) -> str:
        ranks = self.held[step][rank][chunk]
        arrival = self.arrivals[step - 1][rank] if step else None
        new = arrival is not None and arrival.chunk == chunk
        full, high = len(ranks) == self.size, (cell - 2) * len(ranks) / self.size
        edge = (VERMILLION if arrival.wrong else ORANGE) if new else "currentColor"
        parts = [
            hover(self._note(step, rank, chunk, arrival if new else None)),
            tag("rect", x=x, y=y + cell - 2 - high, width=cell - 2, height=high, fill=GREEN,
                fill_opacity=0.85 if full else 0.4),
            tag("rect", x=x, y=y, width=cell - 2, height=cell - 2, fill_opacity=0, stroke=edge,
                stroke_width=2.5 if new else 1, stroke_opacity=None if new else 0.5),
        ]  # fmt: skip
        if cell >= 13 and ranks:
            parts.append(
                text(x + cell / 2 - 1, y + cell * 0.68, str(len(ranks)), 10, text_anchor="middle")
            )
        return tag("g", *parts)

    def _note(self, step: int, rank: int, chunk: int, arrival: Arrival | None) -> str:
        ranks = sorted(self.held[step][rank][chunk])
        what = "nothing yet"
        if len(ranks) == 1:
            what = f"the part of rank {ranks[0]}"
        elif ranks:
            what = f"the sum of ranks {', '.join(map(str, ranks))}"
        lines = [f"rank {rank}, chunk {chunk}: {what}"]
        if arrival is not None:
            event = arrival.receive
            carried = " ".join(t for t in (value_text(event), payload_text(event)) if t)
            lines.append(f"received {carried}: {call_text(event)} at {event.place}")
            if arrival.wrong:
                lines.append("which is not a neighbour in the ring")
        return "\n".join(lines)

    def _legend(self, y: float) -> str:
        mark = tag(
            "rect", x=8, y=y - 5, width=11, height=11, fill="none", stroke=ORANGE, stroke_width=2.5
        )
        words = "number and height: over how many ranks a chunk is summed"
        return mark + text(26, y + 5, "received in this step", 10) + text(160, y + 5, words, 10)


def _step_name(step: int) -> str:
    return f"step {step}" if step else "start"


def ring_steps(
    records: Sequence[RankRecord],
    chunks: int,
    *,
    reduced: bool = False,
    title: str | None = None,
    width: float = 900,
) -> Steps:
    """Draw a ring algorithm step by step, from the records of all ranks.

    Args:
        records: one for each rank, in order, or what has them: `Result.records`, or the result.
        chunks: into how many chunks each rank has cut its tensor; a ring has one a rank.
        reduced: the run begins where a reduce-scatter ended: rank r holds the sum of chunk r + 1
            and nothing else. Say so for an all-gather alone.
        width: in pixels.

    Raises:
        ValueError: no chunks.
    """
    if chunks < 1:
        raise ValueError(f"a tensor has at least 1 chunk, not {chunks}")
    return Steps(getattr(records, "records", records), chunks, reduced, title, width)
