"""Does the simulator say what a run takes, and how large a cluster can it carry?

    python -m bench.simulation [--keep FILE.json] [--plot FOLDER]

1. Programs that the simulator was never fitted to (`bench.held_out`), by family, beside real runs
   over imitated links. It gets what a ping-pong has found of these links. With `--keep` what was
   measured is kept in a file, and a later call goes on from there.
2. SimGrid (`bench.simgrid`) beside ours, at 1,024 ranks.
3. A hundred thousand ranks, in a process of their own, and what it costs as ranks grow.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bench import header, held_out, simgrid
from distlab.simulation import (
    Cluster,
    Step,
    halving_doubling,
    hierarchical,
    parameter_server,
    pipeline,
    ring,
    run_pipeline,
    run_steps,
    tree,
)

RING_STEPS = 100  # of 2,046, all alike: SimGrid takes minutes for all
LIMIT = 0.05  # of what was measured, or of what SimGrid says
COLOURS = {"ring": "#0072B2", "tree": "#009E73", "hierarchical": "#D55E00", "pipeline": "#CC79A7"}


@dataclass(frozen=True)
class Row:
    """A program: seconds in a real run and in the simulator.

    `waited`: seconds for a processor in one run, by the rank that waited most. `load`: of the
    machine, as the kernel counts it, over the last minute.
    """

    family: str
    name: str
    measured: float
    simulated: float
    waited: float
    load: float

    @property
    def error(self) -> float:
        return self.simulated / self.measured - 1


def held(keep: Path | None) -> list[Row]:
    """Run and simulate the whole set, and print it."""
    rows = [Row(**one) for one in json.loads(keep.read_text())] if keep and keep.exists() else []
    known = {(row.family, row.name): row for row in rows}
    links = held_out.fitted() if len(known) < len(held_out.all_programs()) else {}
    for real, found in links.items():
        print(f"a ping-pong over {real} finds {found}")
    print(f"\n{'family':20} {'program':50} {'measured':>9} {'simulated':>10}   error  waited  load")
    for one in held_out.all_programs():
        row = known.get((one.family, one.name))
        if row is None:
            simulated = held_out.predicted(one, links)
            run = held_out.measured(one)
            row = Row(one.family, one.name, run.seconds, simulated, run.waited, os.getloadavg()[0])
            rows.append(row)
            if keep:
                keep.write_text(json.dumps([asdict(row) for row in rows], indent=1))
        print(f"{row.family:20} {row.name:50} {row.measured:7.3f} s {row.simulated:8.3f} s "
              f"{row.error:+7.1%} {row.waited:6.2f} s {row.load:5.1f}", flush=True)  # fmt: skip
    return rows


def by_family(rows: Sequence[Row]) -> None:
    """Print the errors of each family, and the largest of all."""
    print(f"\n{'family':20} programs   median   largest error")
    for family in dict.fromkeys(row.family for row in rows):
        errors = sorted(abs(row.error) for row in rows if row.family == family)
        print(f"{family:20} {len(errors):8} {errors[len(errors) // 2]:8.1%} {errors[-1]:8.1%}")
    worst = max(rows, key=lambda row: abs(row.error))
    above = sum(abs(row.error) > LIMIT for row in rows)
    print(f"{len(rows)} programs; largest error {worst.error:+.1%} ({worst.family}: {worst.name}); "
          f"{above} above {LIMIT:.0%}")  # fmt: skip


def oracle(size: int = 1024) -> Iterator[tuple[str, float, float]]:
    """(program, seconds in SimGrid, seconds here)."""
    cluster = Cluster(size // 8, 8)
    slow = Cluster(size // 8, 8, slow={size // 3: 3.0})
    programs = pipeline(size, 4, 1_000_000, 1e-3, 2e-3)
    theirs = simgrid.ends(simgrid.of_pipeline(programs, cluster), cluster)
    ours = float(run_pipeline(cluster, 4, 1_000_000, 1e-3, 2e-3).max())
    yield "pipeline, GPipe, 4 micro-batches of 1 MB", max(theirs), ours
    for name, where, steps in (
        ("tree, 100 MB", cluster, lambda: tree(size, 1e8)),
        ("halving and doubling, 100 MB", cluster, lambda: halving_doubling(size, 1e8)),
        ("hierarchical, 100 MB", cluster, lambda: hierarchical(cluster, 1e8)),
        ("parameter server, 10 MB", cluster, lambda: parameter_server(size, 1e7)),
        (f"ring, 1 GB, {RING_STEPS} of its steps", cluster,
         lambda: itertools.islice(ring(size, 1e9), RING_STEPS)),
        ("hierarchical, a rank 3 times slower", slow,
         lambda: [Step(None, seconds=1e-3), *hierarchical(slow, 1e8)]),
    ):  # fmt: skip
        theirs = simgrid.ends(simgrid.of_steps(steps(), where), where)
        yield name, max(theirs), float(run_steps(steps(), where).max())


def beside_simgrid() -> None:
    """Print ours beside SimGrid's, or why not."""
    print("\nSimGrid, 1,024 ranks, 128 nodes of 8      SimGrid        here    error")
    if why := simgrid.missing():
        print(f"left out: {why}")
        return
    errors = []
    for name, theirs, ours in oracle():
        errors.append(abs(ours / theirs - 1))
        print(f"{name:40} {theirs * 1e3:9.3f} ms {ours * 1e3:8.3f} ms {ours / theirs - 1:+8.2%}",
              flush=True)  # fmt: skip
    print(f"largest error {max(errors):.2%}")


_AT_SCALE = """
import json, time
from distlab.simulation import *
cluster, found = Cluster({nodes}, 8), {{}}
for name, run in dict(
    ring=lambda: run_steps(ring(cluster.size, 1e8), cluster),
    tree=lambda: run_steps(tree(cluster.size, 1e8), cluster),
    hierarchical=lambda: run_steps(hierarchical(cluster, 1e8), cluster),
    pipeline=lambda: run_pipeline(cluster, 16, 1e6, 1e-3, 2e-3),
).items():
    begin = time.perf_counter(), time.process_time()
    simulated = run().max()
    took = time.perf_counter() - begin[0], time.process_time() - begin[1]
    most = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
    found[name] = float(simulated), *took, int(most.split()[1]) / 1024
print(json.dumps(found))
"""


def at_scale(nodes: int) -> dict[str, tuple[float, float, float, float]]:
    """By program: simulated seconds, seconds and processor's seconds that takes, MiB at most."""
    program = [sys.executable, "-c", _AT_SCALE.format(nodes=nodes)]
    done = subprocess.run(program, capture_output=True, text=True, check=True, timeout=600)
    found: dict[str, tuple[float, float, float, float]] = json.loads(done.stdout)
    return found


def as_ranks_grow() -> dict[int, dict[str, tuple[float, float, float, float]]]:
    """Print what clusters of several sizes take to be simulated."""
    found = {8 * nodes: at_scale(nodes) for nodes in (16, 128, 1250, 12_500)}
    print(f"\n{'':20} ranks  simulated    takes here   processor   memory")
    for size, programs in found.items():
        for name, (simulated, took, processor, memory) in programs.items():
            print(f"{name:15} {size:10,} {simulated:8.3f} s {took:10.3f} s {processor:9.3f} s "
                  f"{memory:6.0f} MiB")  # fmt: skip
    largest = found[max(found)].values()
    print(f"{max(found):,} ranks, all four together: {sum(took for _, took, *_ in largest):.1f} s, "
          f"{sum(one[2] for one in largest):.1f} s of the processor, "
          f"{max(one[3] for one in largest):.0f} MiB; load {os.getloadavg()[0]:.1f}")  # fmt: skip
    return found


def plot_errors(rows: Sequence[Row], path: Path) -> None:
    """Simulated against measured, in one figure."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(6.4, 4.8), layout="constrained")
    ends = [min(row.measured for row in rows) * 0.85, max(row.measured for row in rows) * 1.15]
    axis.fill_between(ends, [0.95 * x for x in ends], [1.05 * x for x in ends], color="#DDDDDD",
                      label="within 5%")  # fmt: skip
    axis.plot(ends, ends, color="#666666", lw=0.8)
    families = list(dict.fromkeys(row.family for row in rows))
    for number, family in enumerate(families):
        chosen = [row for row in rows if row.family == family]
        axis.plot([row.measured for row in chosen], [row.simulated for row in chosen],
                  "osD^vP*X<>hd"[number % 12], color=f"C{number % 10}", mfc="none", ms=5,
                  label=f"{family} ({len(chosen)})")  # fmt: skip
    axis.set(xscale="log", yscale="log", xlabel="measured, s", ylabel="simulated, s")
    axis.set_xlim(ends)
    axis.set_ylim(ends)
    axis.legend(fontsize=8, frameon=False)
    figure.savefig(path)


def plot_cost(found: dict[int, dict[str, tuple[float, float, float, float]]], path: Path) -> None:
    """What simulating takes, by ranks."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
    sizes = sorted(found)
    for name, colour in COLOURS.items():
        axis.plot(sizes, [found[size][name][2] for size in sizes], "o-", color=colour, label=name)
    axis.set(xscale="log", yscale="log", xlabel="ranks",
             ylabel="processor time to simulate them, s")  # fmt: skip
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    axis.grid(axis="y", color="#DDDDDD", lw=0.6)
    axis.legend(frameon=False)
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keep", metavar="FILE.json", type=Path)
    parser.add_argument("--plot", metavar="FOLDER", type=Path)
    parser.add_argument("--only", choices=("programs", "simgrid", "scale"))
    arguments = parser.parse_args()
    print(header())
    print(f"load of the machine when this began: {os.getloadavg()[0]:.1f}")
    if arguments.only in (None, "scale"):
        found = as_ranks_grow()
        if arguments.plot:
            plot_cost(found, arguments.plot / "simulation_cost.svg")
    if arguments.only in (None, "simgrid"):
        beside_simgrid()
    if arguments.only in (None, "programs"):
        rows = held(arguments.keep)
        by_family(rows)
        if arguments.plot:
            plot_errors(rows, arguments.plot / "simulation.svg")


if __name__ == "__main__":
    main()
