"""What was measured, as data that is kept, and what documents say of it.

    distlab bench startup --json docs/performance.json
    python -m bench.page

The first measures anew and leaves what the file has of other benchmarks as it is; the second
writes `docs/performance.md` and the table of the README from it.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bench import BENCHMARKS, Row, spread

ROOT = Path(__file__).resolve().parents[1]
RECORD = ROOT / "docs" / "performance.json"
PAGE, README = ROOT / "docs" / "performance.md", ROOT / "README.md"
#: the rows that the README has, by their places in these benchmarks
SHOWN = {"startup": (0, 1), "alone": (0,), "grading": (0,), "recorder": (0, 2)}
_HEAD = (
    "# Performance\n\n"
    "Written by `python -m bench.page` from `docs/performance.json`, which `distlab bench --json "
    "docs/performance.json` writes. Medians and their range; the two things of a row ran in turn, "
    "in one go. The ratio says how many times as much the other way takes.\n\n"
)
_TABLE = ("| what | distlab | instead | ratio |", "| --- | --- | --- | --- |")


@dataclass(frozen=True)
class Measured:
    """The rows of one benchmark.

    `day`: when they were measured, "2026-11-25". `machine`: on what, as `bench.header` tells it.
    """

    day: str
    machine: str
    rows: Sequence[Row]


def read(file: Path) -> dict[str, Measured]:
    """What a file has, by benchmark; nothing where there is no such file.

    Raises:
        ValueError: the file holds something else.
    """
    if not file.exists():
        return {}
    try:
        return {
            name: Measured(one["day"], one["machine"], [Row(**row) for row in one["rows"]])
            for name, one in json.loads(file.read_text("utf-8")).items()
        }
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{file} holds no measurements: name another file") from error


def keep(file: Path, found: Mapping[str, Measured]) -> None:
    """Write these benchmarks into a file, in which others stay."""
    kept = {**read(file), **found}
    ordered = {name: asdict(kept[name]) for name in BENCHMARKS if name in kept}
    file.write_text(json.dumps(ordered, indent=1, ensure_ascii=False) + "\n", "utf-8")


def as_page(measured: Mapping[str, Measured]) -> str:
    """All rows as a page of Markdown, a table for each machine."""
    lines: list[str] = []
    for machine in dict.fromkeys(one.machine for one in measured.values()):
        lines += [
            f"Machine: {machine}.", "",
            "| benchmark | measured | what | distlab | instead | ratio |",
            "| --- | --- | --- | --- | --- | --- |",
        ]  # fmt: skip
        for name, one in measured.items():
            if one.machine == machine:
                lines += [f"| `{name}` | {one.day} {_line(row, spread)}" for row in one.rows]
        lines.append("")
    return _HEAD + "\n".join(lines)


def as_table(measured: Mapping[str, Measured]) -> str:
    """The rows that the README has, as its table."""
    shown = [measured[name].rows[place] for name, places in SHOWN.items() for place in places]
    return "\n".join((*_TABLE, *(_line(row, _median) for row in shown))) + "\n"


def _line(row: Row, told=spread) -> str:
    what = f"{row.what}. {row.note}" if row.note and told is spread else row.what
    return (
        f"| {what} | {told(row.ours, row.unit)} | {told(row.theirs, row.unit)}, {row.instead} | "
        f"{row.ratio:.3g}× |"
    )


def _median(figures: Sequence[float], unit: str) -> str:
    return spread([statistics.median(figures)], unit)


def main() -> None:
    measured = read(RECORD)
    PAGE.write_text(as_page(measured), "utf-8")
    before, _, rest = README.read_text("utf-8").partition(_TABLE[0])
    after = rest[rest.index("\n\n") + 1 :]
    README.write_text(before + as_table(measured) + after, "utf-8")


if __name__ == "__main__":
    main()
