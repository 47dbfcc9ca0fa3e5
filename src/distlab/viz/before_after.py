"""What a collective does, as a table: what each rank held before it and after it."""

from __future__ import annotations

from typing import Any, Protocol

COLOURS = ("#56B4E9", "#E69F00", "#009E73", "#CC79A7", "#F0E442")
_SEVERAL = "#BBBBBB"


class _Result(Protocol):
    """What is needed of `distlab.engines.results.Result`, which lies above."""

    def __len__(self) -> int: ...
    def __getitem__(self, rank: int, /) -> tuple[Any, Any]: ...
    def timeline(self) -> Any: ...


class BeforeAfter:
    """A run whose ranks returned (before, after), as a table above the run's timeline.

    A number has the colour of the rank that it belonged to, which is the power of ten in it: rank r
    begins with 10^r and 2·10^r. A number that was computed from several is grey.

    Args:
        result: what `Ranks.run` returned: a sequence of pairs, each a tensor or `None`, with a
            `timeline()`.
    """

    def __init__(self, result: _Result) -> None:
        self.result = result

    def _box(self, number: float) -> str:
        colour = _SEVERAL
        for rank in range(len(self.result)):
            if number in (10**rank, 2 * 10**rank):
                colour = COLOURS[rank % len(COLOURS)]
        style = f"background:{colour};color:#000;padding:.15em .5em;margin:.1em;border-radius:.3em"
        return f"<span style='{style}'>{number:g}</span>"

    def _repr_html_(self) -> str:
        rows = ["<tr><td></td><th scope='col'>before</th><th scope='col'>after</th></tr>"]
        for rank in range(len(self.result)):
            held = self.result[rank]
            cells = [f"<th scope='row'>rank {rank}</th>"]
            for tensor in held:
                numbers = [] if tensor is None else tensor.flatten().tolist()
                told = " ".join(map(self._box, numbers)) or "nothing"
                cells.append(f"<td style='text-align:left'>{told}</td>")
            rows.append("<tr>" + "".join(cells) + "</tr>")
        timeline: str = self.result.timeline()._repr_html_()
        return f"<table>{''.join(rows)}</table>{timeline}"
