"""Draw a run: a space-time diagram of what every rank computed, sent and waited for.

    timeline(result.records)            # in a notebook
    print(timeline(result.records).text())
    timeline(result.records).save("run.svg")

Ranks are rows, time runs to the right, a message is an arrow from its send to its receive's end
(after Lamport, "Time, Clocks, and the Ordering of Events in a Distributed System", 1978), a
collective a band over its members. Nothing here needs torch or Matplotlib: it takes milliseconds.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from distlab.records import wording
from distlab.records.events import Event, RankRecord
from distlab.records.pairing import pair
from distlab.records.reports import Report
from distlab.viz import terminal, widget
from distlab.viz.diagram import Drawing
from distlab.viz.layout import lay_out
from distlab.viz.picture import Picture, page, target
from distlab.viz.run_model import Model, model
from distlab.viz.widget import kernel

LEAST_WIDTH = 200  # pixels: ranks' names, an axis with two times, and room for what did not end


class Timeline(Picture):
    """A run drawn; in a notebook it shows itself. Made by `timeline`."""

    def __init__(
        self,
        records: Sequence[RankRecord],
        title: str | None,
        highlight: Collection[object],
        width: float,
        verdict: str = "",
        reports: Sequence[Sequence[Report]] = (),
    ) -> None:
        self.records, self.title, self.width = [sound(r) for r in records], title, width
        self.reports = reports
        self.highlight, self.verdict = list(highlight), verdict
        self.pairs = pair(self.records)

    @property
    def summary(self) -> str:
        """The run in a sentence or two."""
        return wording.summary(self.records, self.pairs)

    def _draw(self, name: str) -> tuple[str, float]:
        laid = lay_out(self.records, self.pairs, self.width)
        return Drawing(laid, name, self.title, self.highlight).body()

    def _content(self) -> str:
        times = [
            (r.begin, r.end or r.stopped, [(e.begin, e.end) for e in r.events])
            for r in self.records
        ]
        return f"{self.highlight} {times}"

    def model(self, sources: Mapping[str, str] | None = None) -> Model:
        """The run as data, for whoever draws it otherwise.

        Args:
            sources: the text of files that operations stand in, by their name in the records.
        """
        return model(
            self.records, self.pairs, title=self.title, verdict=self.verdict,
            highlight=self.highlight, sources=sources, reports=self.reports,
        )  # fmt: skip

    def save(self, path: str | Path, sources: Mapping[str, str] | None = None) -> Path:
        """Write the picture to `path`: .svg is a still one, .html can be stepped through.

        Args:
            sources: as for `model`, to be quoted in the page.

        Raises:
            ValueError: another kind of file.
            FileNotFoundError: the folder is not there.
        """
        path = target(path)
        if path.suffix not in (".html", ".htm"):
            return super().save(path)
        run = self.model(sources or kernel.sources(self.records))
        content = widget.embedded(self._name(), self.still(), run)
        path.write_text(page(self.title, content), encoding="utf-8")
        return path

    def still(self) -> str:
        """The still picture, as HTML."""
        return super()._repr_html_()

    def _repr_html_(self) -> str:
        return kernel.picture(
            self.still(),
            lambda: self.model(kernel.sources(self.records)),
            sum(len(record.events) for record in self.records),
        )

    def text(self, width: int = 80) -> str:
        """The picture in characters, `width` a line, with the list of messages."""
        return terminal.draw(self.records, self.pairs, width, self.title, self.summary)


def sound(record: RankRecord) -> RankRecord:
    """The record without impossible operations and times: the program that it was written by may
    have written anything there.
    """
    events = [
        e
        for e in record.events
        if all(map(math.isfinite, (e.begin, e.end, e.wait_begin, e.wait_end)))
        and (e.peer is None or e.peer < record.size)
    ]
    times = {name: getattr(record, name) for name in ("begin", "end", "stopped")}
    times = {name: time if math.isfinite(time) else 0.0 for name, time in times.items()}
    return replace(record, events=events, **times)


def timeline(
    records: Sequence[RankRecord],
    *,
    title: str | None = None,
    highlight: Collection[Event | int] | None = None,
    width: float = 900,
    verdict: str = "",
    reports: Sequence[Sequence[Report]] = (),
) -> Timeline:
    """Draw a run from the records of all its ranks.

    Args:
        records: one for each rank, in order: `Result.records`, `Run.records`, or what has them.
        title: a line over the picture.
        highlight: operations to outline, or ranks to mark.
        width: in pixels, `LEAST_WIDTH` at least.
        verdict: why the run could not end, shown beside the live picture.
        reports: what each rank reported of its training (`distlab.report`), shown there too.

    Raises:
        ValueError: the width is too small.
    """
    if width < LEAST_WIDTH:
        raise ValueError(f"width={width} is too little: a picture needs {LEAST_WIDTH} pixels")
    of_ranks = getattr(records, "records", records)
    return Timeline(of_ranks, title, highlight or (), width, verdict, reports)
