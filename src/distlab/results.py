"""What a run on ranks came to: per rank what it returned, printed and did. It draws itself."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

import cloudpickle

from distlab import runs
from distlab.describing import gave_up, until_timeout


class RunFailed(RuntimeError):
    """A run in which not every rank returned. `result` is what there is of it."""

    def __init__(self, result: Result) -> None:
        super().__init__(result.story())
        self.result = result

    def _render_traceback_(self) -> list[str]:
        """What Jupyter shows: the ranks' own story, not the machinery's frames."""
        return [f"RunFailed: {self}"]


@dataclass
class Result:
    """What every rank returned, printed and did. Indexed by rank."""

    name: str
    run: runs.Run

    def __len__(self) -> int:
        return self.run.size

    def __getitem__(self, rank: int) -> Any:
        outcome = self.run.outcomes[rank]
        if outcome.status != "returned":
            raise RunFailed(self)
        return cloudpickle.loads(outcome.output)

    def __iter__(self):
        return (self[rank] for rank in range(len(self)))

    @property
    def ok(self) -> bool:
        return self.run.ok

    @property
    def records(self):
        return self.run.records

    @property
    def printed(self) -> list[str]:
        """What each rank printed."""
        return [outcome.printed for outcome in self.run.outcomes]

    def timeline(self, **options):
        """The run as a space-time picture."""
        from distlab.timeline import timeline

        return timeline(self.records, **options)

    def story(self) -> str:
        """What each rank did, in words."""
        lines = []
        if self.run.hindsight:
            lines += [until_timeout(self.run.hindsight), self.run.hindsight.hint]
        if self.run.finding:
            lines += [self.run.finding.message, getattr(self.run.finding, "hint", "")]
        elif self.run.timed_out:
            lines.append(
                f"{self.name} had not ended after {self.run.deadline:g} s, so its ranks were "
                "killed and replaced."
            )
        for outcome, record in zip(self.run.outcomes, self.records, strict=True):
            lines.append(_told(outcome, record))
        return "\n".join(line for line in lines if line)

    def __repr__(self) -> str:
        lines = [self.story()] if not self.ok else []
        for outcome in self.run.outcomes:
            for line in outcome.printed.splitlines():
                lines.append(f"[rank {outcome.rank}] {line}")
            if outcome.status == "returned":
                value = cloudpickle.loads(outcome.output)
                if value is not None:
                    lines.append(f"rank {outcome.rank} returned {_short(value)}")
        return "\n".join(lines) or f"{self.name} returned None on {len(self)} ranks"

    def _repr_html_(self) -> str:
        picture = ""
        if any(record.events for record in self.records):
            picture = self.timeline()._repr_html_()
        style = "white-space:pre-wrap;word-break:normal;overflow-wrap:break-word"
        return f"<pre style='{style}'>{html.escape(repr(self))}</pre>{picture}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 300 else text[:300] + " …"


def _told(outcome: runs.Outcome, record) -> str:
    if outcome.status == "raised":
        error = outcome.error or {}
        lines = [f"rank {outcome.rank} raised {error['type']}: {error['message']}"]
        if event := record.gave_up():
            lines.append(f"    rank {outcome.rank} {gave_up(event)}")
        for frame in error["frames"]:
            lines.append(
                f"    {frame['function']}:{frame['line']}  {(frame['text'] or '').strip()}"
            )
        return "\n".join(lines)
    if outcome.status == "returned":
        return f"rank {outcome.rank} returned"
    if outcome.status == "crashed":
        return f"rank {outcome.rank}: its process ended in the middle of the function"
    event = record.waiting()
    doing = f"was waiting in {event} at {event.place}" if event else "was computing"
    return f"rank {outcome.rank} {doing}"
