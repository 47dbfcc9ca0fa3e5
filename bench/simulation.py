"""Does the simulator say what a run takes, and how large a cluster can it carry?

    python -m bench.simulation [--plot FILE.svg]

A ring and a parameter server run on real ranks whose messages are held back as by a link of 5 ms
and 20 MB/s for each rank. Latency and bandwidth are fitted to a ping-pong of as many ranks, all
pairs at once, and the simulator gets those two numbers alone: once with the algorithm described as
steps, once with the traffic that one of the runs has recorded. Then 10,000 ranks, in a process of
their own.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import cloudpickle

from bench import header
from distlab import Ranks, notebook
from distlab.simulation import (
    Cluster,
    cost_model,
    parameter_server,
    recorded,
    replay,
    ring,
    run_steps,
)
from grader import coursedir

LATENCY, BANDWIDTH = 0.005, 20e6  # of the imitated links, in seconds and bytes a second
SIZES = (2, 4, 8)
TENSORS = (65_536, 524_288, 2_097_152)  # bytes
REPEATS = 4
LARGE = 10_000  # ranks


def measured() -> Iterator[tuple[str, int, int, float, float, float]]:
    """(algorithm, ranks, bytes, seconds measured, by steps, by replay) of each run."""
    lab = notebook.load(coursedir.SOLUTIONS / "04-ring-allreduce" / "ring_allreduce.ipynb")
    cloudpickle.register_pickle_by_value(lab)
    links = {size: _fitted(size) for size in SIZES}
    for name, function, steps in (
        ("ring", lab.ring_all_reduce, ring),
        ("parameter server", _served(lab.sync_parameter_server), parameter_server),
    ):
        for size in SIZES:
            cluster = Cluster(size, 1, between=links[size])
            for n_bytes in TENSORS:
                runs = [
                    Ranks(size).run(_timed, function, n_bytes, deadline=120) for _ in range(REPEATS)
                ]
                seconds = min(max(run) for run in runs)
                by_steps = run_steps(steps(size, n_bytes), cluster).max()
                played = replay(recorded(runs[0].records, computing=0), cluster)
                yield name, size, n_bytes, seconds, by_steps, max(r.end for r in played)


def _served(step: Callable) -> Callable:
    def all_reduce(rank, size, tensor):
        return step(rank, size, [tensor.clone()], [tensor], 1.0)[0]

    return all_reduce


def _timed(rank, size, function, n_bytes) -> float:
    """Seconds of one call on this rank."""
    import torch

    from distlab.rank.recorder import paused
    from distlab.simulation.slow_links import slow_links

    tensor = torch.ones(n_bytes // 4)
    with slow_links(LATENCY, BANDWIDTH):
        with paused():
            torch.distributed.barrier()
        begin = time.perf_counter()
        function(rank, size, tensor)
        return time.perf_counter() - begin


def _fitted(size: int) -> cost_model.Link:
    """What a ping-pong over the imitated links finds; these ranks share the cores of a machine, and
    have to wait for one.
    """
    sizes = [4, 16_384, 262_144]
    link = cost_model.fit(sizes, Ranks(size).run(_ping_pong, sizes)[0])
    print(f"fitted to a ping-pong of {size} ranks: {link}")
    return link


def _ping_pong(rank, size, sizes) -> list[float]:
    import torch
    import torch.distributed as dist

    from distlab.simulation.slow_links import slow_links

    shortest = []
    with slow_links(LATENCY, BANDWIDTH):
        for n_bytes in sizes:
            tensor, seconds = torch.zeros(n_bytes // 4), []
            for _ in range(6):
                dist.barrier()
                begin = time.perf_counter()
                for turn in (0, 1):
                    if rank % 2 == turn:
                        dist.send(tensor, rank ^ 1)
                    else:
                        dist.recv(tensor, rank ^ 1)
                seconds.append((time.perf_counter() - begin) / 2)
            shortest.append(min(seconds))
    return shortest


_AT_SCALE = """
import time
from distlab.simulation import *
cluster = Cluster({nodes}, 8)
begin = time.perf_counter()
seconds = run_steps({steps}, cluster).max()
took = time.perf_counter() - begin
most = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(seconds, took, int(most.split()[1]) / 1024)
"""


def at_scale() -> None:
    """Print what 10,000 ranks take, simulated, and what simulating them takes."""
    print(f"\n{LARGE:,} ranks, 1,250 nodes of 8, 100 MB   simulated   takes here   memory")
    for name, steps in (
        ("one ring", "ring(cluster.size, 1e8)"),
        ("rings in nodes and between", "hierarchical(cluster, 1e8)"),
        ("tree", "tree(cluster.size, 1e8)"),
        ("parameter server", "parameter_server(cluster.size, 1e8)"),
    ):
        program = _AT_SCALE.format(nodes=LARGE // 8, steps=steps)
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=300
        )
        seconds, took, memory = map(float, done.stdout.split())
        print(f"{name:41} {seconds * 1e3:8.1f} ms {took:10.2f} s {memory:6.0f} MiB", flush=True)


def plot(rows: list[tuple], path: str) -> None:
    """Simulated against measured, in one figure."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(5.4, 4.4), layout="constrained")
    ends = [min(row[3] for row in rows) * 800, max(row[3] for row in rows) * 1250]
    axis.fill_between(ends, [0.8 * x for x in ends], [1.2 * x for x in ends], color="#DDDDDD",
                      label="within 20%")  # fmt: skip
    axis.plot(ends, ends, color="#666666", lw=0.8)
    for name, colour in (("ring", "#0072B2"), ("parameter server", "#D55E00")):
        chosen = [row for row in rows if row[0] == name]
        for column, mark, how in ((4, "o", "described as steps"), (5, "x", "its traffic replayed")):
            axis.plot([1e3 * row[3] for row in chosen], [1e3 * row[column] for row in chosen], mark,
                      color=colour, mfc="none", label=f"{name}, {how}")  # fmt: skip
    axis.set(xscale="log", yscale="log", xlabel="measured, ms", ylabel="simulated, ms")
    axis.set_xlim(ends)
    axis.set_ylim(ends)
    axis.legend(fontsize=8)
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plot", metavar="FILE")
    arguments = parser.parse_args()
    print(header())
    rows = []
    print(
        f"{'algorithm':17} {'ranks':>5} {'bytes':>10} {'measured':>10} {'steps':>15} {'replay':>15}"
    )
    for row in measured():
        rows.append(row)
        name, size, n_bytes, seconds, *simulated = row
        found = "".join(f"{1e3 * s:7.1f} ({s / seconds - 1:+4.0%})" for s in simulated)
        print(f"{name:17} {size:5} {n_bytes:10,} {1e3 * seconds:7.1f} ms {found}", flush=True)
    worst = max(abs(s / row[3] - 1) for row in rows for s in row[4:])
    print(f"farthest off: {worst:.0%}")
    at_scale()
    if arguments.plot:
        plot(rows, arguments.plot)


if __name__ == "__main__":
    main()
