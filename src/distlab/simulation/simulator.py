"""The simulator to play with: a recorded run, with sliders that time it again.

    result.simulator()                          # in a notebook
    result.simulator().seconds(ranks=512)       # the same, for a program

Each move times the run again (`retiming`) and draws it (`drawing`). The page has no model of its
own: in a notebook the kernel answers, and on the documentation's page Python in the page does.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from distlab.processes.wrong_argument import WrongArgument, takes
from distlab.records.events import RankRecord
from distlab.records.wording import duration, size_text
from distlab.simulation import drawing
from distlab.simulation.collectives import ALL_REDUCES
from distlab.simulation.cost_model import Link
from distlab.simulation.programs import Post, Program, recorded
from distlab.simulation.retiming import (
    COMPUTES,
    MOVES,
    WAITS,
    Carried,
    Fixed,
    Row,
    Setting,
    collective_seconds,
)
from distlab.viz import widget
from distlab.viz.widget import kernel

MOST_RANKS = 1000
MOST_CALLS, MOST_MESSAGES = 2_000, 1_000  # of a rank's collectives; of all ranks' operations
_POWERS = [2**power for power in range(10)] + [MOST_RANKS]
RANKS = sorted({*range(1, 9), *_POWERS, *(3 * 2**power for power in range(9))})
LATENCIES = [digit * 10.0**power for power in range(-6, -2) for digit in (1, 2, 5)] + [0.01]
BANDWIDTHS = [digit * 10.0**power for power in range(7, 12) for digit in (1, 2, 5)]
SLOWNESS = [1.0, 1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0]
#: latency and bandwidth that a simulator begins with: those of lab 04's data centre
_LATENCY, _BANDWIDTH = 1e-5, 1e10
_CHOSEN = ' aria-current="true"'  # the row of a table


class Simulator:
    """A run that is timed again as its ranks, links, slowest rank and algorithm change.

    In a notebook it shows itself, with a slider for each. Made by `simulator`.
    """

    def __init__(
        self, records: Sequence[RankRecord], title: str | None = None, n_bytes: float | None = None
    ) -> None:
        programs = recorded(records)
        self.size, self.title = len(programs), title or "the run, simulated"
        self.model = _model(programs)
        self.n_bytes = float(_sent(programs) if n_bytes is None else n_bytes)
        self._ranks = sorted({*RANKS, min(self.size, MOST_RANKS)})
        self._choices: dict[str, Sequence[Any]] = {
            "ranks": self._ranks,
            "latency": LATENCIES,
            "bandwidth": BANDWIDTHS,
            "slowness": SLOWNESS,
            "algorithm": list(ALL_REDUCES),
        }

    @takes("seconds takes a number of ranks, and by name what else is changed: latency=1e-6, say")
    def seconds(
        self,
        ranks: int | None = None,
        *,
        latency: float = _LATENCY,
        bandwidth: float = _BANDWIDTH,
        slowness: float = 1.0,
        algorithm: str = "ring",
    ) -> float:
        """How long the run takes, simulated: until its last rank is done, in seconds.

        Args:
            ranks: how many there are, 1 or more; as many as were recorded where it is left out.
            latency: seconds that a message takes, whatever its size.
            bandwidth: bytes a second of each rank's link, in either direction.
            slowness: how many times as long one rank computes as it did, 1 or more.
            algorithm: of all-reduces: "ring", "tree", "halving and doubling", "parameter server".

        Raises:
            WrongArgument: there is no such network, the algorithm cannot be run on so many ranks,
                or a run with messages is asked for on other ranks than its own.

        Example:
            >>> result.simulator().seconds(ranks=512, latency=30e-6, bandwidth=12.5e9)
            0.041
        """
        ranks = self.size if ranks is None else ranks
        setting = self._checked(ranks, latency, bandwidth, slowness, algorithm)
        if isinstance(self.model, Carried):
            found = self.model.seconds([setting.ranks], setting)[0]
            if found != found:
                raise WrongArgument(_refusal(setting))
            return found
        if setting.ranks != self.size:
            raise WrongArgument(
                f"{self._stays(self.model)}: run it on {setting.ranks} and simulate that"
            )
        return _end(self.model.rows(setting))

    def _checked(
        self, ranks: int, latency: float, bandwidth: float, slowness: float, algorithm: str
    ) -> Setting:
        given = (ranks, latency, bandwidth, slowness)
        if not all(hasattr(one, "__float__") for one in given) or not (
            1 <= ranks < sys.maxsize
            and ranks == int(ranks)
            and 0 <= latency < math.inf
            and bandwidth > 0
            and 0 < slowness < math.inf
        ):
            raise WrongArgument(
                f"there is no such network: {ranks} ranks, a latency of {latency} s, "
                f"{bandwidth} bytes a second, one rank {slowness} times as slow"
            )
        if algorithm not in ALL_REDUCES:
            raise WrongArgument(
                f"an all-reduce is done by {_either(ALL_REDUCES)}, not {algorithm!r}"
            )
        return Setting(int(ranks), Link(latency, bandwidth), float(slowness), algorithm)

    # what the page asks for

    def sliders(self) -> list[dict[str, Any]]:
        """Each slider: its name, its label, what its positions are called, and where it begins."""
        begin = self.start()
        texts = {
            "ranks": [f"{ranks:,} rank{'s' * (ranks > 1)}" for ranks in self._ranks],
            "latency": [duration(seconds) for seconds in LATENCIES],
            "bandwidth": [f"{size_text(round(rate))}/s" for rate in BANDWIDTHS],
            "slowness": ["all alike", *(f"{factor:g} × as long" for factor in SLOWNESS[1:])],
            "algorithm": list(ALL_REDUCES),
        }
        labels = {
            "ranks": "ranks",
            "latency": "latency",
            "bandwidth": "bandwidth",
            "slowness": "one rank computes",
            "algorithm": "all-reduce by",
        }
        return [
            {"name": name, "label": labels[name], "texts": told, "value": begin[name]}
            for name, told in texts.items()
        ]

    def start(self) -> dict[str, int]:
        """The positions that the sliders begin at."""
        values = {
            "ranks": min(self.size, MOST_RANKS), "latency": _LATENCY, "bandwidth": _BANDWIDTH,
            "slowness": 1.0, "algorithm": "ring",
        }  # fmt: skip
        return {name: self._choices[name].index(value) for name, value in values.items()}

    def answer(self, positions: Mapping[str, object] | None = None) -> dict[str, Any]:
        """What a page shows for positions of the sliders: `html`, and `said` in words.

        A position that is left out, or that does not exist, is that of the start.
        """
        at = self.start()
        for name, value in (positions or {}).items():
            if name in at and isinstance(value, int) and 0 <= value < len(self._choices[name]):
                at[name] = value
        chosen = {name: self._choices[name][place] for name, place in at.items()}
        setting = Setting(
            chosen["ranks"], Link(chosen["latency"], chosen["bandwidth"]), chosen["slowness"],
            chosen["algorithm"],
        )  # fmt: skip
        sizes = sorted({*_POWERS, setting.ranks})
        if isinstance(self.model, Carried):
            said, pictures, tables = self._carried(self.model, sizes, setting)
        else:
            said, pictures, tables = self._fixed(self.model, sizes, setting)
        flex = "display:flex;flex-wrap:wrap;gap:8px 24px;align-items:flex-start"
        html = "".join(
            f'<div style="{flex}">{"".join(parts)}</div>' for parts in (pictures, tables)
        )
        return {"html": html, "said": said, "at": at}

    def _carried(
        self, model: Carried, sizes: list[int], setting: Setting
    ) -> tuple[str, list[str], list[str]]:
        alone, (seconds, rows) = model.alone(), model.timed(sizes, setting)
        shares = [alone / one if one else 1.0 for one in seconds]
        here = seconds[sizes.index(setting.ranks)]
        if rows:
            quick = " and not slowed down" if setting.slowness > 1 else ""
            efficiency = _percent(alone / here if here else 1)
            said = (
                f"On {_ranks(setting.ranks)} the run takes {duration(here)}. One rank alone{quick} "
                f"takes {duration(alone)}, so the efficiency is {efficiency}. "
                f"{_shares(rows[0])}"
            )
        else:
            said = f"{_refusal(setting)[0].upper()}{_refusal(setting)[1:]}."
        curve = drawing.curve_picture(
            list(zip(sizes, shares, strict=True)), setting.ranks,
            "efficiency, as much work on each rank", share=True,
        )  # fmt: skip
        pictures = [drawing.rows_picture(rows, f"on {_ranks(setting.ranks)}")] if rows else []
        body = [
            [f"{size:,}", _time(one), _percent(share)]
            for size, one, share in zip(sizes, seconds, shares, strict=True)
        ]
        curve_table = _table(
            "On other numbers of ranks", ["ranks", "the run takes", "efficiency"], body,
            sizes.index(setting.ranks),
        )  # fmt: skip
        return said, [*pictures, curve], [*_rows_table(rows), curve_table]

    def _fixed(
        self, model: Fixed, sizes: list[int], setting: Setting
    ) -> tuple[str, list[str], list[str]]:
        try:
            rows = model.rows(setting)
            shares = _shares(rows[0], "communicating or waiting")
            told = f"Your {_ranks(self.size)} take {duration(_end(rows))}. {shares} "
        except ValueError as wrong:  # a collective among them that the algorithm cannot do
            rows, told = [], f"Your {_ranks(self.size)}: {wrong}. "
        seconds = [
            collective_seconds("all_reduce", round(self.n_bytes), None, size, setting)
            for size in sizes
        ]
        here = seconds[sizes.index(setting.ranks)]
        what = f"an all-reduce of {size_text(round(self.n_bytes))}"
        done = f"takes {duration(here)}" if here == here else f"cannot be done: {_refusal(setting)}"
        said = (
            f"{told}{self._stays(model)}. "
            f"{what[0].upper()}{what[1:]} by {_by(setting.algorithm)} among "
            f"{_ranks(setting.ranks)} {done}."
        )
        curve = drawing.curve_picture(
            list(zip(sizes, seconds, strict=True)), setting.ranks, f"{what}: {setting.algorithm}",
            share=False,
        )  # fmt: skip
        pictures = (
            [drawing.rows_picture(rows, f"your {_ranks(self.size)}", drawing.WORDS_OF_MESSAGES)]
            if rows
            else []
        )
        body = [[f"{size:,}", _time(one)] for size, one in zip(sizes, seconds, strict=True)]
        curve_table = _table(
            f"{what[0].upper()}{what[1:]}", ["ranks", "takes"], body, sizes.index(setting.ranks)
        )
        words = drawing.WORDS_OF_MESSAGES
        return said, [*pictures, curve], [*_rows_table(rows, words), curve_table]

    def _stays(self, model: Fixed) -> str:
        why = (
            "Messages name their partners" if model.has_messages
            else "Its ranks do not all call the same collectives of all ranks"
        )  # fmt: skip
        return f"{why}, so that this run stays on its {_ranks(self.size)}"

    # how it shows itself

    def still(self) -> str:
        """The run at the start as HTML without sliders, for where no script runs."""
        told = self.answer()
        where = "; ".join(f"{s['label']}: {s['texts'][s['value']]}" for s in self.sliders())
        return (
            f"<div><p><b>{escape(self.title)}</b></p><p>{escape(told['said'])}</p>{told['html']}"
            f"<p><small>{escape(where)}. In JupyterLab and Notebook 7 these are sliders.</small>"
            "</p></div>"
        )

    def spec(self) -> dict[str, Any]:
        """All that a page needs to begin: title, sliders and the first answer."""
        return {"title": self.title, "sliders": self.sliders(), "answer": self.answer()}

    def text(self) -> str:
        """The run at the start, in words."""
        return f"{self.title}: {self.answer()['said']}"

    def _repr_html_(self) -> str:
        name = kernel.offer_simulator(self)
        return widget.framed_simulator(name, self.still()) if name else self.still()

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/html": self._repr_html_(), "text/plain": self.text()}

    def __repr__(self) -> str:
        return self.text()


@takes('a run\'s simulator takes nothing, or by name title="…" and n_bytes=4e6, say')
def simulator(
    records: Sequence[RankRecord], *, title: str | None = None, n_bytes: float | None = None
) -> Simulator:
    """Time a recorded run again: with other links, more ranks, a slow rank, another algorithm.

    A run of collectives alone (training, say) is carried over to 1 … 1,000 ranks: each computes for
    as long as one of the recorded ranks did and hands in as many bytes. A run with messages stays
    on its own ranks, and the curve beside it is of an all-reduce.

    Args:
        records: of all ranks, in order: `result.records`.
        title: a line over it.
        n_bytes: of the all-reduce beside a run with messages; where it is left out, as
            many bytes as a rank sends at most.

    Raises:
        WrongArgument: the run did not end, communicated nothing, or is too long to be timed again
            at every move.

    Example:
        >>> result = ranks.run(train, 3)
        >>> result.simulator()                      # sliders, in a notebook
        >>> result.simulator().seconds(ranks=512)   # in seconds
        0.041
    """
    return Simulator(records, title, n_bytes)


def _model(programs: Sequence[Program]) -> Carried | Fixed:
    posts = [sum(isinstance(one, Post) for one in program) for program in programs]
    if not sum(posts):
        raise WrongArgument("nothing was sent in this run: there is nothing to simulate")
    try:
        carried = Carried(programs)
    except ValueError:
        carried = None
    if carried and posts[0] > MOST_CALLS:
        raise WrongArgument(
            f"each rank of this run called {posts[0]:,} collectives, and at most {MOST_CALLS:,} "
            "are timed again at every move: simulate a run of fewer steps"
        )
    if not carried and sum(posts) > MOST_MESSAGES:
        raise WrongArgument(
            f"the ranks of this run began {sum(posts):,} operations, and at most {MOST_MESSAGES:,} "
            "are timed again at every move: simulate a shorter run, or `replay` it once"
        )
    return carried or Fixed(programs)


def _sent(programs: Sequence[Program]) -> int:
    """The bytes that a rank sends in messages at most, or else of the largest collective."""
    posts = [[one.event for one in program if isinstance(one, Post)] for program in programs]
    sent = max(sum(event.nbytes for event in some if event.op == "send") for some in posts)
    return sent or max(event.nbytes for some in posts for event in some)


def _end(rows: Sequence[Row]) -> float:
    return max((row.end for row in rows), default=0.0)


def _ranks(count: int) -> str:
    return f"{count:,} rank{'s' * (count > 1)}"


def _percent(share: float) -> str:
    return f"{share:.1%}" if share == share else "–"


def _time(seconds: float) -> str:
    return duration(seconds) if seconds == seconds else "–"


def _either(names: Mapping[str, object]) -> str:
    *first, last = map(repr, names)
    return f"{', '.join(first)} or {last}"


def _by(algorithm: str) -> str:
    return algorithm if " and " in algorithm else f"a {algorithm}"


def _refusal(setting: Setting) -> str:
    return f"{setting.algorithm} wants a power of two ranks, not {setting.ranks:,}"


def _shares(row: Row, moving: str = "communicating") -> str:
    """What a rank's time goes into."""
    if not row.end:
        return ""
    parts = [
        f"{_percent(row.seconds(kind) / row.end)} {words}"
        for kind, words in ((COMPUTES, "computing"), (MOVES, moving), (WAITS, "waiting"))
        if row.seconds(kind)
    ]
    return f"Rank {row.rank} spends {', '.join(parts)}."


def _rows_table(rows: Sequence[Row], words: Mapping[str, str] = drawing.WORDS) -> list[str]:
    """Every number of the ranks' picture, but its single spans."""
    if not rows:
        return []
    body = [
        [drawing.label(row), *(duration(row.seconds(kind)) if row.seconds(kind) else "0"
                               for kind in words),
         duration(row.end) if row.end else "0"]
        for row in rows
    ]  # fmt: skip
    heads = ["rank", *words.values(), "done after"]
    return [_table("Each rank", heads, body)]


def _table(caption: str, heads: list[str], body: list[list[str]], marked: int = -1) -> str:
    """A table that a screen reader reads; the row `marked` is the chosen one."""
    head = "".join(f'<th scope="col">{escape(one)}</th>' for one in heads)
    rows = [
        f"<tr{_CHOSEN if place == marked else ''}>"
        f'<th scope="row">{escape(first)}</th>'
        + "".join(f"<td>{escape(one)}</td>" for one in rest)
        + "</tr>"
        for place, (first, *rest) in enumerate(body)
    ]
    return (
        f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table>"
    )
