"""What a second rank brings: the network of lab 05 under DDP, 32 images a rank.

python -m bench.scaling
"""

from __future__ import annotations

from collections.abc import Iterator

from bench import Row, run_all
from distlab import Ranks, scaling

IMAGES = 32  # on each rank
TURNS = 3  # of a few measurements each, on one rank and on two


def measure() -> Iterator[Row]:
    seconds: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(TURNS):
        for size, found in seconds.items():
            rates = Ranks(size).run(scaling.measure_throughput, IMAGES, deadline=120)[0]
            found += [1 / rate for rate in rates]
    yield Row(
        f"an image trained on by 2 ranks, {IMAGES} each a step", seconds[2], seconds[1],
        "1 rank",
    )  # fmt: skip


if __name__ == "__main__":
    raise SystemExit(run_all(["scaling"]))
