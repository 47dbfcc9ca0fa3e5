"""The choices that a run leaves open, and schedules, which fix them.

A program without a receive from anybody and without polling has one run, however fast its ranks
are. Otherwise a *schedule* decides each choice: from whom a receive takes its message, and which
call of `is_completed` is the first to answer True. It may also let sends return before they are
received, as back ends with buffers do.

A schedule has a name: for each rank `RANK:`, left out for rank 0, and what it chooses in order, a
rank for each receive from anybody, then `pN` for each polled request (N = 0: no call says True).
"2-1" lets rank 0 receive from rank 2 and then from rank 1; "b3:1x4-0" lets sends be buffered, and
rank 3 receive four times from rank 1 and then from rank 0. What lies beyond a name is left open.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, NamedTuple

SOURCE, POLL = "source", "poll"
_RANK = re.compile(r"(?:(\d+):)?(.+)")
_CHOICE = re.compile(r"(p?)(\d+)(?:x(\d+))?")
_LONGEST = 10_000  # choices that a name may spell out


class Key(NamedTuple):
    """The number-th choice of its kind on a rank."""

    rank: int
    kind: str
    number: int


@dataclass(frozen=True)
class Schedule:
    """The values of choices: a rank for a receive, the number of a call for a poll."""

    values: Mapping[Key, int] = field(default_factory=dict)
    buffered: bool = False

    @property
    def name(self) -> str:
        """The name under which `Schedule.named` knows it; "-" where nothing is chosen."""
        parts = []
        for rank in sorted({key.rank for key in self.values}):
            words = [f"{self.values[key]}" for key in self._of(rank, SOURCE)]
            words += [f"p{self.values[key]}" for key in self._of(rank, POLL)]
            text = "-".join(_repeated(words))
            parts.append(f"{rank}:{text}" if rank else text)
        return "b" * self.buffered + (",".join(parts) or "-")

    def _of(self, rank: int, kind: str) -> list[Key]:
        return sorted(key for key in self.values if (key.rank, key.kind) == (rank, kind))

    @classmethod
    def named(cls, name: str) -> Schedule:
        """The schedule of this name.

        Raises:
            ValueError: no schedule has such a name.
        """
        values: dict[Key, int] = {}
        text = name.removeprefix("b")
        for part in text.split(",") if text not in ("", "-") else ():
            found = _RANK.fullmatch(part)
            rank, words = found.groups() if found else (None, "")
            for key, value in _choices(int(rank or 0), words, name):
                values[key] = value
        return cls(values, name.startswith("b"))

    def of_rank(self, rank: int) -> dict[str, Any]:
        """What this rank has to know, as JSON."""
        return {
            "sources": {str(key.number): self.values[key] for key in self._of(rank, SOURCE)},
            "polls": {str(key.number): self.values[key] for key in self._of(rank, POLL)},
            "buffered": self.buffered,
        }


def _repeated(words: Iterable[str]) -> list[str]:
    """ "1", "1", "1", "2" as "1x3", "2"."""
    found = []
    for word, same in groupby(words):
        times = len(list(same))
        found += [word] * times if times < 3 else [f"{word}x{times}"]
    return found


def _choices(rank: int, words: str, name: str) -> Iterable[tuple[Key, int]]:
    counts = {SOURCE: 0, POLL: 0}
    for word in words.split("-"):
        found = _CHOICE.fullmatch(word)
        times = int(found[3] or 1) if found else 0
        if found is None or not 0 < times <= _LONGEST:
            raise ValueError(
                f"no schedule has the name {name!r}: write one as a check or a run does"
            )
        kind = POLL if found[1] else SOURCE
        for _ in range(times):
            yield Key(rank, kind, counts[kind]), int(found[2])
            counts[kind] += 1


class Plan:
    """A schedule as one rank follows it, and its counts of choices."""

    def __init__(self, told: dict[str, Any] | None = None) -> None:
        told = told or {}
        self._sources = {int(k): int(v) for k, v in told.get("sources", {}).items()}
        self._polls = {int(k): int(v) for k, v in told.get("polls", {}).items()}
        self.buffered = bool(told.get("buffered"))
        self._receives = self._polled = 0

    def source(self) -> int | None:
        """The rank from which the next receive from anybody takes its message; None: from any."""
        self._receives += 1
        return self._sources.get(self._receives - 1)

    def poll(self) -> int | None:
        """For a request that is polled for the first time: which call answers True; None: any."""
        self._polled += 1
        return self._polls.get(self._polled - 1)
