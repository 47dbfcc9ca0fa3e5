"""What became of a run, as data: an outcome for each rank, and why the run was ended.

Ranks and rooms that are not trusted tell it. What they say is checked here before it is believed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from distlab.network.seen import Seen
from distlab.processes import payload
from distlab.records import events
from distlab.records import reports as reporting


@dataclass
class Outcome:
    """What became of one rank.

    `status`: "returned", "raised", "killed" (it was still busy when the run was ended) or "crashed"
    (its process died by itself).
    """

    rank: int
    status: str = "killed"
    output: payload.Block = b""
    error: dict[str, Any] | None = None
    seconds: float = 0.0
    printed: str = ""


@dataclass
class Run:
    """What became of a run: an outcome and a record for each rank."""

    outcomes: list[Outcome]
    records: list[events.RankRecord]
    seconds: float
    deadline: float
    finding: Any = None  # what the watcher found, if it ended the run
    hindsight: Any = None  # what it found about ranks that timeouts of their own ended
    timed_out: bool = False
    queued: float = 0.0  # of `seconds`, those in which ranks waited for a processor
    stopped: float = 0.0  # seconds, left out of `seconds`, in which this process was stopped itself
    overwritten: bool = False  # this call changed what an earlier one had returned
    raw: list[bytes] = field(default_factory=list)  # the records as they were read
    seen: Seen | None = None  # what went over the network, where that was measured
    #: by rank, what it did with its store
    causes: list[list[tuple[float, str, str]]] = field(default_factory=list)
    reports: list[list[reporting.Report]] = field(default_factory=list)  # by rank, where kept
    usable: bool = True  # do all ranks say that their connections can be used again?
    interrupt: KeyboardInterrupt | None = None  # that ended the run

    @property
    def size(self) -> int:
        return len(self.outcomes)

    @property
    def ok(self) -> bool:
        return all(outcome.status == "returned" for outcome in self.outcomes)


@dataclass(frozen=True)
class Finding:
    """Why a run was ended, as data that can cross the sandbox wall: what a watcher found."""

    kind: str
    message: str
    hint: str = ""


def noted(run: Run, rank: int, reply: payload.Block) -> bool:
    """Put a rank's reply into its outcome. False where it is no reply: student code can have
    written it.
    """
    outcome = run.outcomes[rank]
    try:
        tree, output = payload.unpack(reply)
        overwritten, seconds = bool(tree["overwritten"]), finite(tree["seconds"])
        usable = bool(tree.get("usable"))
        status, error = tree["status"], checked(tree["error"])
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        return False
    if status not in ("returned", "raised") or (status == "raised") != (error is not None):
        return False
    run.overwritten |= overwritten
    run.usable &= usable
    outcome.status, outcome.error = status, error
    outcome.seconds, outcome.output = seconds, output
    return True


def refusal(reason: str) -> bytes:
    """What takes the place of a rank's reply that is too large."""
    error = {"type": "OutputTooLarge", "message": reason, "frames": []}
    return payload.pack(
        {"status": "raised", "error": error, "seconds": 0, "overwritten": False, "usable": False},
        b"",
    )


def cause(told: Any) -> tuple[float, str, str]:
    """What a rank says it did with its store: (when, what, which key).

    Raises:
        ValueError, TypeError, OverflowError: nothing of the kind.
    """
    moment, kind, key = told
    return finite(moment), str(kind), str(key)


def finite(number: Any) -> float:
    """A number as told by an untrusted process. A deadline that is computed with NaN never passes.

    Raises:
        ValueError, TypeError, OverflowError: it is no finite number.
    """
    if not math.isfinite(found := float(number)):
        raise ValueError(f"{found} where a finite number belongs")
    return found


def checked(error: dict[str, Any] | None) -> dict[str, Any] | None:
    """An exception as told by an untrusted process.

    Raises:
        ValueError, TypeError, KeyError, AttributeError, OverflowError: it is no such thing.
    """
    if error is None:
        return None
    frames = [
        {"function": payload.text(f["function"])[:80], "line": int(f["line"] or 0),
         "file": payload.text(f["file"])[:80], "text": payload.text(f["text"] or "")[:200]}
        for f in error["frames"][:12]
    ]  # fmt: skip
    causes = {"from": payload.text(error["from"])[:2000]} if "from" in error else {}
    return {
        "type": payload.text(error["type"])[:80],
        "message": payload.text(error["message"])[:2000],
        "frames": frames,
        **causes,
    }
