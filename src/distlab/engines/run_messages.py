"""A run as a message from a room to the judge. It comes from behind the sandbox wall, so the judge
trusts nothing in it.
"""

from __future__ import annotations

from typing import Any

from distlab.engines.outcomes import Finding, Outcome, Run, cause, checked, finite
from distlab.network.seen import Seen
from distlab.processes import payload
from distlab.records import events, reading

RAW_EVENTS = 5_000  # events of each rank that are handed on
LONGEST = 10_000  # characters of what a finding says, or advises
_ENDINGS = ("returned", "raised", "killed", "crashed")


def parts(run: Run) -> list[payload.Block]:
    """The parts of a message that tells a run. Of each rank's record no more than the first few
    thousand events are sent.
    """
    tree = {
        "outcomes": [
            [o.rank, o.status, o.error, o.seconds, o.printed] for o in run.outcomes
        ],
        "seconds": run.seconds, "deadline": run.deadline,
        "finding": _told(run.finding), "hindsight": _told(run.hindsight),
        "timed_out": run.timed_out, "queued": run.queued, "stopped": run.stopped,
        "overwritten": run.overwritten,
        "records": len(run.raw), "seen": run.seen and run.seen.tree(), "causes": run.causes,
    }  # fmt: skip
    raw = [data[: events.HEADER_BYTES + RAW_EVENTS * events.ENTRY.itemsize] for data in run.raw]
    return payload.parts(tree, *(o.output for o in run.outcomes), *raw)


def _told(finding: Any) -> dict[str, str] | None:
    if not finding:
        return None
    return vars(Finding(finding.kind, finding.message[:LONGEST], finding.hint))


def unpack(parts: tuple[Any, ...]) -> Run:
    """The run that a received message tells; everything in it is checked.

    Raises:
        ValueError: it tells no run.
    """
    tree, *blocks = parts
    try:
        outcomes = [
            Outcome(
                i, _ending(status, error), bytes(blocks[i]), checked(error), finite(seconds),
                payload.text(printed),
            )
            for i, (_, status, error, seconds, printed) in enumerate(tree["outcomes"])
        ]  # fmt: skip
        size = len(outcomes)
        raw = [bytes(block) for block in blocks[size:]] or [b""] * size
        read = [reading.checked(raw[rank], rank, size) for rank in range(size)]
        finding, hindsight = map(_finding, (tree["finding"], tree["hindsight"]))
        return Run(
            outcomes, read, finite(tree["seconds"]), finite(tree["deadline"]), finding, hindsight,
            bool(tree["timed_out"]), finite(tree["queued"]), finite(tree["stopped"]),
            bool(tree["overwritten"]), raw,
            _seen(tree["seen"]),
            [[cause(one) for one in some] for some in tree["causes"]],
        )  # fmt: skip
    except (KeyError, TypeError, IndexError, AttributeError, OverflowError) as error:
        raise ValueError(f"not a run: {error}") from error


def _finding(told: Any) -> Finding | None:
    if not told:
        return None
    return Finding(**{name: _said(text) for name, text in told.items()})


def _seen(told: Any) -> Seen | None:
    if not told:
        return None
    seen = Seen.of(told)
    seen.doubts = [_said(doubt) for doubt in seen.doubts]
    return seen


def _said(text: Any) -> str:
    return payload.text(text)[:LONGEST]


def _ending(status: str, error: dict[str, Any] | None) -> str:
    """The status of an outcome; "raised" and what was raised belong together."""
    if status not in _ENDINGS or (status == "raised") != (error is not None):
        raise ValueError(f"not the end of a rank: {status!r}")
    return status
