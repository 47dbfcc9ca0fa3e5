"""What went over the network between ranks in one run, as data."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Seen:
    """What went over the network in one run.

    Attributes:
        messages: (src, dst, bytes) → how many such messages there were between two ranks.
        calls: (src, dst, operation) → in how many calls of that collective src sent to dst.
        volumes: (src, dst, operation) → bytes of all their payloads.
        foreign: (src, dst) → bytes that gloo did not send.
        sent: bytes that each rank has sent, headers included, as the kernel counts them.
        lost: packets that are missing in everything but `sent`.
        doubts: how the records differ from all this, if they have been compared.
    """

    messages: Counter[tuple[int, int, int]] = field(default_factory=Counter)
    calls: Counter[tuple[int, int, str]] = field(default_factory=Counter)
    volumes: Counter[tuple[int, int, str]] = field(default_factory=Counter)
    foreign: Counter[tuple[int, int]] = field(default_factory=Counter)
    sent: list[int] = field(default_factory=list)
    lost: int = 0
    doubts: list[str] = field(default_factory=list)

    def tree(self) -> dict[str, Any]:
        """As JSON values."""
        counters = ("messages", "calls", "volumes", "foreign")
        told = {
            name: [[*key, n] for key, n in sorted(getattr(self, name).items())] for name in counters
        }
        return {**told, "sent": self.sent, "lost": self.lost, "doubts": self.doubts}

    @classmethod
    def of(cls, tree: dict[str, Any]) -> Seen:
        """From what `tree()` gave.

        Raises:
            KeyError, TypeError, ValueError: from something else.
        """
        made = cls(sent=[int(n) for n in tree["sent"]], lost=int(tree["lost"]))
        made.doubts = [str(said) for said in tree["doubts"]]
        for src, dst, size, n in tree["messages"]:
            made.messages[int(src), int(dst), int(size)] = int(n)
        for name in ("calls", "volumes"):
            for src, dst, operation, n in tree[name]:
                getattr(made, name)[int(src), int(dst), str(operation)] = int(n)
        for src, dst, n in tree["foreign"]:
            made.foreign[int(src), int(dst)] = int(n)
        return made
