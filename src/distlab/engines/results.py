"""What `Ranks.run` returns: what each rank returned, printed and did. It draws itself."""

from __future__ import annotations

import functools
import html
import io
import itertools
import operator
import sys
import textwrap
from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import cloudpickle

from distlab.engines.exploring import Exploration, Explored, nearest, parting, told
from distlab.engines.outcomes import Outcome, Run
from distlab.engines.printed import printed
from distlab.processes.told_alone import ToldAlone
from distlab.processes.wrong_argument import WrongArgument, quoted, takes
from distlab.records.deadlock import CONFLICTS
from distlab.records.events import POSTED, RETURNED, Event, RankRecord
from distlab.records.matching import broken_off
from distlab.records.phrases import named, ranks_text
from distlab.records.wording import advice, computing, gave_up, standing, until_timeout

if TYPE_CHECKING:
    from distlab.processes import payload
    from distlab.records.reports import Report
    from distlab.simulation.simulator import Simulator
    from distlab.viz.comparison import Comparison
    from distlab.viz.timeline import Timeline

MOST_SHOWN = 4  # other ways of ending that are told
_OTHER = "compare takes the result of another run, first.compare(second) say"


class RunFailed(RuntimeError):
    """A run in which not every rank returned. `result` is what there is of it."""

    def __init__(self, result: Result) -> None:
        super().__init__(result.story())
        self.result = result

    def _render_traceback_(self) -> list[str]:
        """What Jupyter shows: the ranks' own story and what they printed, to find out why, say;
        not the machinery's frames.
        """
        story = "\n".join(map(_wrapped, f"RunFailed: {self}".splitlines()))
        return [story, *printed(self.result.run).splitlines()]


def _wrapped(line: str) -> str:
    """A sentence in lines that JupyterLab does not break, which it would do within words."""
    if line.startswith(" "):  # of a program
        return line
    return textwrap.fill(line, 80, break_long_words=False, break_on_hyphens=False)


class NoSuchRank(ToldAlone, IndexError):
    """A run has no such rank."""


@dataclass
class Result:
    """What every rank returned, printed and did. Indexed by rank."""

    name: str
    run: Run

    def __len__(self) -> int:
        return self.run.size

    def __getitem__(self, rank: int) -> Any:
        try:
            outcome = self.run.outcomes[operator.index(rank)]
        except (IndexError, TypeError):
            there = f"ranks 0 to {len(self) - 1}" if len(self) > 1 else "rank 0 alone"
            raise NoSuchRank(f"this run has {there}, and none is {rank!r}") from None
        if outcome.status != "returned":
            raise RunFailed(self)
        return cloudpickle.loads(outcome.output)

    def __iter__(self) -> Iterator[Any]:
        return (self[rank] for rank in range(len(self)))

    @property
    def ok(self) -> bool:
        return self.run.ok

    @property
    def records(self) -> list[RankRecord]:
        return self.run.records

    @property
    def reports(self) -> list[list[Report]]:
        """What each rank has told by `distlab.report`, in order."""
        return self.run.reports

    @property
    def printed(self) -> list[str]:
        """What each rank printed."""
        return [outcome.printed for outcome in self.run.outcomes]

    def timeline(self, **options: Any) -> Timeline:
        """The run as a space-time picture."""
        from distlab.viz.timeline import timeline

        finding = self.run.finding or self.run.hindsight
        told = {"verdict": getattr(finding, "message", ""), "reports": self.run.reports}
        return timeline(self.records, **{**told, **options})

    @takes(_OTHER)
    def compare(self, other: Result, names: tuple[str, str] = ("before", "after")) -> Comparison:
        """This run beside another one, aligned by operation: where they part, what became faster,
        what is missing. It draws itself.

        Args:
            other: the run that came after this one.
            names: what to call the two.

        Raises:
            WrongArgument: the other one is no result of a run.
        """
        from distlab.viz.comparison import compare

        if not isinstance(other, Result):
            raise WrongArgument(f"{_OTHER}, and {quoted(other)}")
        return compare(self, other, names)

    def simulator(self, **options: Any) -> Simulator:
        """The run under sliders: timed again with other links, ranks, a slow rank, an algorithm.

        A run of collectives alone is carried over to 1 … 1,000 ranks; one with messages stays on
        its own.

        Args:
            options: `title`, and `n_bytes` of the all-reduce that is shown beside a run with
                messages, as for `distlab.simulation.simulator.simulator`.

        Raises:
            WrongArgument: the run did not end, communicated nothing, or is too long to be timed
                again at every move.

        Example:
            >>> ranks.run(train, 3).simulator()                      # sliders, in a notebook
            >>> ranks.run(train, 3).simulator().seconds(ranks=512)   # in seconds
            0.041
        """
        from distlab.simulation.simulator import simulator

        return simulator(self.records, **options)

    def story(self) -> str:
        """What each rank did, in words."""
        lines = []
        if self.run.hindsight:
            lines += [until_timeout(self.run.hindsight), self.run.hindsight.hint]
        if self.run.finding:
            lines += [self.run.finding.message, getattr(self.run.finding, "hint", "")]
        elif self.run.timed_out:
            lines.append(self._late())
        lines += self._of_each_rank()
        return "\n".join(line for line in lines if line)

    def _of_each_rank(self) -> Iterator[str]:
        """What is told of each rank; of those that raised the same, in one."""
        crashed = self._crashed()
        alike: dict[str, list[int]] = defaultdict(list)
        for outcome, record in zip(self.run.outcomes, self.records, strict=True):
            text = _told(outcome, record, crashed, self._proven(outcome.rank))
            alike[text.removeprefix(f"rank {outcome.rank} raised")].append(outcome.rank)
        for text, ranks in alike.items():
            yield text if text.startswith("rank ") else f"{ranks_text(ranks)} raised{text}"

    def _proven(self, rank: int) -> Event | None:
        """The operation that a rank was proven to wait in. Its record alone may not tell: of an
        operation that `backward` waits for it says only that it was begun.
        """
        waits = getattr(self.run.finding, "waits", ())
        return next((wait.event for wait in waits if wait.rank == rank), None)

    def _crashed(self) -> list[int]:
        return [outcome.rank for outcome in self.run.outcomes if outcome.status == "crashed"]

    def _late(self) -> str:
        """Why ranks were killed though nothing was proven of them."""
        both = list(zip(self.run.outcomes, self.records, strict=True))
        absent = [o.rank for o, record in both if o.status != "killed" and not record.begin]
        if absent and not any(record.begin for o, record in both if o.status == "killed"):
            who = ranks_text([r for r in absent if r in self._crashed()] or absent)
            return f"{self.name} did not begin: {who} ended before all ranks had joined the group."
        if crashed := self._crashed():
            return f"{self.name} was ended, because the process of {ranks_text(crashed)} had ended."
        told = (
            f"{self.name} had not ended after {self.run.deadline:g} s, so its ranks were killed "
            "and replaced."
        )
        return f"{told}\n{advice([record for o, record in both if o.status == 'killed'])}".rstrip()

    def _lucky(self) -> list[str]:
        """What did not fit together in a run that, by luck, ended all the same."""
        found = self.run.finding
        if not self.ok or found is None or found.kind not in CONFLICTS:
            return []
        return [f"All ranks returned, but {found.message}", found.hint]

    def __repr__(self) -> str:
        lines = [self.story()] if not self.ok else self._lucky()
        for outcome in self.run.outcomes:
            for line in outcome.printed.splitlines():
                lines.append(f"[rank {outcome.rank}] {line}")
            if outcome.status == "returned" and (value := _value(outcome)) is not None:
                lines.append(f"rank {outcome.rank} returned {value}")
        return "\n".join(lines) or f"{self.name} returned None on {len(self)} ranks"

    def _repr_html_(self) -> str:
        picture = ""
        if any(record.events for record in self.records):
            picture = self.timeline()._repr_html_()
        return _framed(repr(self)) + picture


@dataclass
class AllSchedules(Result):
    """What a function does in all of its schedules. As a `Result` it is that of the first run."""

    exploration: Exploration

    @property
    def schedules(self) -> dict[str, Result]:
        """The result of each schedule that was run, by its name."""
        return {one.name: Result(self.name, one.run) for one in self.exploration.explored}

    @property
    def ok(self) -> bool:
        return all(one.run.ok for one in self.exploration.explored)

    @property
    def others(self) -> list[Explored]:
        """The schedules that do not end as most do."""
        return self._split[1]

    @functools.cached_property
    def _split(self) -> tuple[list[Explored], list[Explored]]:
        """The schedules that end in the usual way, and all others. The usual way is that of most
        schedules; where any ends without a failure, that of most of those.
        """
        by_outcome: dict[Hashable, list[Explored]] = defaultdict(list)
        for one in self.exploration.explored:
            by_outcome[_outcome(one.run)].append(one)
        usual = max(by_outcome.values(), key=lambda same: (same[0].run.ok, len(same)))
        rest = [one for same in by_outcome.values() if same is not usual for one in same]
        return usual, rest

    def story(self) -> str:
        """How many schedules there are, and how those differ that end in another way."""
        usual, others = self._split
        lines = [self.exploration.coverage()]
        if not others:
            if not usual[0].run.ok:
                lines.insert(0, Result(self.name, usual[0].run).story())
            elif len(usual) > 1:
                lines.append("All end with the same results.")
            return "\n".join(lines)
        count = len(self.exploration.explored)
        alike = f"{len(usual)} of {count} end in the same way (schedule {usual[0].name})."
        lines.append(alike if len(usual) > 1 else "Not all end in the same way.")
        shown: dict[Hashable, Explored] = {}
        for one in others:
            shown.setdefault(_outcome(one.run), one)
        for one in list(shown.values())[:MOST_SHOWN]:
            how = told(one, _nearest(one, usual))
            lines.append(f"When {how} (schedule {one.name}), {_ending(one.run, self.name)}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        first = Result(self.name, self.run)
        return self.story() if not self.ok else f"{self.story()}\n{first!r}"

    def _repr_html_(self) -> str:
        usual, others = self._split
        if not others:
            return super()._repr_html_()
        from distlab.viz.comparison import compare

        wrong = others[0]
        right = _nearest(wrong, usual)
        key = parting(wrong, right)
        at = (right.event(key), wrong.event(key)) if key else (None, None)
        names = f"schedule {right.name}", f"schedule {wrong.name}"
        compared = compare(right.run, wrong.run, names, part=at)
        return _framed(repr(self)) + compared._repr_html_()


def _nearest(wrong: Explored, usual: list[Explored]) -> Explored:
    found = nearest(wrong, usual)
    assert found is not None  # one schedule at least ends as most do
    return found


def _outcome(run: Run) -> Hashable:
    """What runs that end in the same way have in common: what ranks returned, raised or hung in."""
    ranks = tuple(
        (o.status, _content(o.output), (o.error or {}).get("type")) if run.finding is None else ()
        for o in run.outcomes
    )
    return run.finding and (run.finding.kind, run.finding.ranks), run.timed_out, ranks


def _content(output: payload.Block) -> bytes:
    """What a rank returned as bytes that are the same for equal values, as far as that can be."""
    try:
        return _dumped(_ordered(cloudpickle.loads(output)))
    except Exception:  # not everything can be made again here, or may hold itself
        return bytes(output)


def _ordered(value: Any) -> Any:
    """A value whose dicts and sets are lists in one order, whatever was put in first: by rank as
    messages arrived, say. Equal dicts and sets are equal in any order.
    """
    kind = type(value)
    if kind in (list, tuple):
        return kind(map(_ordered, value))
    if kind is dict:
        items = ((_dumped(_ordered(key)), _ordered(one)) for key, one in value.items())
        return kind.__name__, sorted(items, key=operator.itemgetter(0))
    if kind in (set, frozenset):
        return kind.__name__, sorted(_dumped(_ordered(one)) for one in value)
    return value


def _dumped(value: Any) -> bytes:
    with io.BytesIO() as file:
        _Canonical(file).dump(value)
        return file.getvalue()


class _Canonical(cloudpickle.CloudPickler):
    """Leaves out what says nothing of a value: where a tensor lies in memory, which of its equal
    parts are one object, and what its class is made of. Its bytes are compared and never read.
    """

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file)
        self.fast = True  # no references from one part to another

    def reducer_override(self, obj: Any) -> Any:
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(obj, torch.Tensor):
            plain = obj.detach().resolve_conj().resolve_neg().cpu()
            flat = plain.contiguous().reshape(-1).view(torch.uint8)
            about = type(obj).__name__, str(obj.dtype), tuple(obj.shape), obj.requires_grad
            return tuple, ((*about, flat.numpy().tobytes()),)
        reduced = super().reducer_override(obj)
        if isinstance(obj, type) and reduced is not NotImplemented:  # it would go by value
            return tuple, ((obj.__module__, obj.__qualname__),)
        return reduced


def _ending(run: Run, name: str) -> str:
    """How a run ended, after "When …,"."""
    if not run.ok:
        return f"it does not end well: {Result(name, run).story()}"
    values = map(_value, run.outcomes)
    some = [f"rank {r} returns {value}" for r, value in enumerate(values) if value is not None]
    return f"{'; '.join(some) or 'all ranks return None'}."


def _framed(text: str) -> str:
    style = "white-space:pre-wrap;word-break:normal;overflow-wrap:break-word"
    return f"<pre style='{style}'>{html.escape(text)}</pre>"


def _value(outcome: Outcome) -> str | None:
    """What a rank returned, as text; `None` for None. Not everything that can be sent can be made
    again here (a DDP module asks for its process group), or shown.
    """
    try:
        value = cloudpickle.loads(outcome.output)
        text = repr(value)
    except Exception as error:
        return f"what cannot be shown here: {type(error).__name__}: {error}"
    if value is None:
        return None
    return text if len(text) <= 300 else text[:300] + " …"


def _told(
    outcome: Outcome, record: RankRecord, crashed: Sequence[int], proven: Event | None
) -> str:
    event = record.events[-1] if record.events else None
    # a killed one may have been about to tell that its operation had failed
    if (
        crashed
        and event is not None
        and broken_off(event)
        and outcome.status in ("raised", "killed")
    ):
        whose = ranks_text(crashed)
        return (
            f"rank {outcome.rank}'s {event} at {event.place} failed, because the process of "
            f"{whose} had ended"
        )
    if outcome.status == "raised":
        return _raised(outcome, record, crashed)
    if outcome.status == "returned":
        return f"rank {outcome.rank} returned"
    returned = record.progress == RETURNED
    if outcome.status == "crashed" and not record.begin:
        return f"rank {outcome.rank}: its process ended before the function was called"
    if outcome.status == "crashed":
        when = "after the function had returned" if returned else "in the middle of the function"
        return f"rank {outcome.rank}: its process ended {when}"
    if not record.begin:
        return f"rank {outcome.rank} waited for the other ranks to join the group"
    if returned:
        return f"rank {outcome.rank} was handing over what the function had returned"
    event = record.waiting()
    doing = f"was computing{computing(record)}"
    if event is not None:
        doing = f"was waiting in {event} at {event.place}"
    elif proven is not None and proven.internal and proven.state == POSTED:
        doing = f"was waiting in {named(proven)} at {proven.place}"
    elif record.stands:
        doing = f"stood still {standing(record)}: it did not compute"
    return f"rank {outcome.rank} {doing}"


def _raised(outcome: Outcome, record: RankRecord, crashed: Sequence[int]) -> str:
    error = outcome.error or {}
    if crashed and not (record.begin or error["frames"]):
        return f"rank {outcome.rank} lost {ranks_text(crashed)} while they joined the group"
    text = f": {error['message']}" if error["message"] else ""
    lines = [f"rank {outcome.rank} raised {error['type']}{text}"]
    if event := record.gave_up():
        lines.append(f"    rank {outcome.rank} {gave_up(event)}")
    places = (
        f"{frame['function']}:{frame['line']}  {(frame['text'] or '').strip()}"
        for frame in error["frames"]
    )
    for place, same in itertools.groupby(places):  # once of a function that calls itself
        times = len(list(same))
        lines.append(f"    {place}" + (f"  ({times} times)" if times > 1 else ""))
    if causes := error.get("from"):
        lines.append(f"    {causes}")
    if not error["frames"] and "positional argument" in error["message"]:
        lines.append("    (run calls it with rank and size, then with what run was given)")
    return "\n".join(lines)
