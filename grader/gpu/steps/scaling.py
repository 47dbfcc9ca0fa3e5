"""Lab 05's script on one GPU, two, and so on to all: images/s, speed-up and efficiency.

python -m grader.gpu.steps.scaling RESULT
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from distlab.rank import world
from grader import coursedir
from grader.gpu import settings

SCRIPT = coursedir.SOLUTIONS / "05-scaling-up" / "scaling.py"


def sizes(gpus: int) -> list[int]:
    """1, 2, 4, … and all of them."""
    powers = [1 << n for n in range(8) if 1 << n <= gpus]
    return sorted({*powers, gpus})


def main(out: str) -> None:
    gpus = 2 if settings.pretend() else world.gpu_count()
    result: dict[str, Any] = {"gpus": gpus, "runs": []}
    if gpus < 2:
        result["told"] = "one GPU: nothing to scale over"
        settings.write(out, result)
        return
    size = ("--batch-size", "4", "--width", "8", "--steps", "1", "--repeats", "1")
    if not settings.pretend():
        size = ("--batch-size", "1024", "--width", "64", "--steps", "20", "--repeats", "5")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.json"
        for ranks in sizes(gpus):
            subprocess.run(
                [sys.executable, "-m", "torch.distributed.run", "--standalone",
                 f"--nproc-per-node={ranks}", str(SCRIPT), "--mode", "weak", *size,
                 "--json", str(path)],
                check=True,
            )  # fmt: skip
            runs = [json.loads(line) for line in path.read_text().splitlines()]
            result["runs"] = with_speedups(runs)
            settings.write(out, result)


def with_speedups(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each run's mean rate, beside what it is against the first one's."""
    means = [(run["ranks"], statistics.mean(run["images/s"])) for run in runs]
    (base, first), *_ = means
    return [
        {"ranks": ranks, "images/s": round(rate), "speed-up": round(rate / first * base, 3),
         "efficiency": round(rate / first * base / ranks, 3)}
        for ranks, rate in means
    ]  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
