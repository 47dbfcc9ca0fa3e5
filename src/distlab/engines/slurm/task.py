"""One rank of a job that `distlab submit` wrote: srun starts it, and it runs the program.

The program finds torchrun's environment variables, as it does under `distlab run`, made from those
of Slurm (https://slurm.schedmd.com/srun.html, "Output environment variables").
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import MutableMapping
from pathlib import Path

SLURM = {"RANK": "SLURM_PROCID", "WORLD_SIZE": "SLURM_NTASKS", "LOCAL_RANK": "SLURM_LOCALID"}


def say_who(env: MutableMapping[str, str]) -> None:
    """Set torchrun's variables from Slurm's.

    Raises:
        KeyError: this is no task that srun started.
    """
    env.update({name: env[theirs] for name, theirs in SLURM.items()})
    env["LOCAL_WORLD_SIZE"] = _tasks(env["SLURM_STEP_TASKS_PER_NODE"], int(env["SLURM_NODEID"]))


def _tasks(by_node: str, node: int) -> str:
    """The tasks of a node, of which Slurm says `2(x3),1`: three with 2, one with 1."""
    counts: list[str] = []
    for part in by_node.split(","):
        count, _, times = part.partition("(x")
        counts += [count] * int(times.rstrip(")") or 1)
    return counts[node]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--function", help="of a notebook: call NAME(rank, size)")
    parser.add_argument("program", type=Path)
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    chosen = parser.parse_args()
    try:
        say_who(os.environ)
    except KeyError as missing:
        raise SystemExit(
            f"{missing.args[0]} is not set: start this with `distlab submit`"
        ) from None
    assert isinstance(sys.stdout, io.TextIOWrapper)  # nobody has replaced it yet
    sys.stdout.reconfigure(line_buffering=True)
    from distlab.engines import launch, notebook_function

    program = chosen.program.resolve()
    if chosen.function:
        notebook_function.call(program, chosen.function, *_place())
    else:
        launch.run_script(str(program), chosen.arguments)


def _place() -> tuple[int, int]:
    return int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])


if __name__ == "__main__":
    main()
