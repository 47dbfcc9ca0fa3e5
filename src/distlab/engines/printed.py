"""What ranks have printed, as far as it is shown below a verdict or a failure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from distlab.engines.outcomes import Run

MOST = 20  # lines of a rank
LONGEST = 200  # characters of a line


def printed(run: Run) -> str:
    """What each rank printed, in order of the ranks, each line with its rank's number where there
    are several. Of many lines the first and the last ones are there.
    """
    return "\n".join(
        f"[rank {outcome.rank}] {line}" if run.size > 1 else line
        for outcome in run.outcomes
        for line in _shortened(outcome.printed.splitlines())
    )


def _shortened(lines: list[str]) -> Iterator[str]:
    left_out = len(lines) - MOST
    for line in lines if left_out <= 0 else lines[: MOST // 2]:
        yield _cut(line)
    if left_out > 0:
        yield f"… {left_out:,} line{'s' if left_out > 1 else ''} left out"
        yield from map(_cut, lines[-(MOST // 2) :])


def _cut(line: str) -> str:
    return line if len(line) <= LONGEST else f"{line[:LONGEST]} …"
