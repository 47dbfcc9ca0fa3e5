"""SimGrid as a second opinion: the same programs on a simulator that others wrote.

SimGrid (Casanova and others, "Versatile, scalable, and accurate simulation of distributed
applications and platforms", 2014) shares links among flows, a fluid model, where ours lets messages
through a port one after the other. `bench/simgrid.cpp` holds the ranks as S4U actors; it is
compiled with what `apt-get install libsimgrid-dev` brings.

The two say the same of the same network only where they mean the same one:

- `network/model:CM02` with its factors at 1 (`bandwidth-factor`, `latency-factor`), `weight-S` and
  `TCP-gamma` at 0: SimGrid's own default is fitted to TCP, which gets 97% of a link's bandwidth,
  13 times its latency, and less where latencies are long.
- `crosstraffic` 0: by default acknowledgements of the other direction take 5% of a link.
- A route is the sender's port, a wire with the latency that any number may share, and the
  receiver's port.
- Mailboxes have their receiver from the beginning, so that messages leave when they are sent.
- A send ends when its bytes have left the port and the receiver has asked for it: SimGrid's ends
  when the message has arrived, so the actor sends detached and waits for the port and a semaphore.
"""

from __future__ import annotations

import functools
import itertools
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from distlab.simulation import Cluster, Step
from distlab.simulation.programs import Compute, Post, Program
from distlab.simulation.steps import in_a_row

SETTINGS = (
    "network/model:CM02", "network/bandwidth-factor:1", "network/latency-factor:1",
    "network/weight-S:0", "network/TCP-gamma:0", "network/crosstraffic:0",
)  # fmt: skip
_HEADER = Path("/usr/include/simgrid/s4u.hpp")

#: of a rank: (times, operations) in their order
Blocks = list[tuple[int, list[str]]]


def missing() -> str:
    """Why SimGrid cannot be asked here; empty where it can."""
    if shutil.which("g++") is None:
        return "no C++ compiler (apt-get install g++)"
    if not _HEADER.exists():
        return "SimGrid is not installed (apt-get install libsimgrid-dev)"
    return ""


def of_steps(steps: Iterable[Step], cluster: Cluster) -> list[Blocks]:
    """Steps, as each rank takes them."""
    blocks: list[Blocks] = [[] for _ in range(cluster.size)]
    slowness = cluster.slowness()
    for step, times in in_a_row(steps):
        operations: list[list[str]] = [[] for _ in range(cluster.size)]
        seconds = np.broadcast_to(step.seconds, cluster.size) * slowness
        for rank in np.flatnonzero(seconds).tolist():
            operations[rank].append(f"compute {seconds[rank]}")
        if step.pattern is not None:
            pairs = list(zip(step.pattern.src.tolist(), step.pattern.dst.tolist(), strict=True))
            sizes = np.broadcast_to(step.n_bytes, len(pairs)).tolist()
            for (src, dst), n_bytes in zip(pairs, sizes, strict=True):
                operations[src].append(f"send {dst} {n_bytes}")
            for src, dst in pairs:
                operations[dst].append(f"receive {src}")
            for rank in {rank for pair in pairs for rank in pair}:
                operations[rank].append("wait")
        for rank, listed in enumerate(operations):
            if listed:
                blocks[rank].append((times, listed))
    return blocks


def of_pipeline(programs: Sequence[Program], cluster: Cluster) -> list[Blocks]:
    """Programs that wait for each receive at once, and for all sends at their end."""
    slowness = cluster.slowness()
    blocks: list[Blocks] = []
    for rank, program in enumerate(programs):
        operations = []
        for what in program:
            if isinstance(what, Compute):
                operations.append(f"compute {what.seconds * slowness[rank]}")
            elif isinstance(what, Post):
                event = what.event
                sent = f"send {event.peer} {event.nbytes}"
                operations.append(sent if event.op == "send" else f"take {event.peer}")
        blocks.append([(1, [*operations, "wait"])])
    return blocks


def ends(blocks: Sequence[Blocks], cluster: Cluster, timeout: float = 600.0) -> list[float]:
    """When each rank is done, as SimGrid says.

    Raises:
        RuntimeError: SimGrid is not here, or ends with an error.
    """
    if why := missing():
        raise RuntimeError(why)
    arguments = [str(_program()), "--log=root.thres:error", *(f"--cfg={one}" for one in SETTINGS)]
    arguments += ["--cfg=contexts/stack-size:64"]
    done = subprocess.run(
        arguments, input="\n".join(_lines(blocks, cluster)), capture_output=True, text=True,
        timeout=timeout,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"SimGrid: {done.stderr.strip()[-500:]}")
    return [float(line) for line in done.stdout.split()]


def _lines(blocks: Sequence[Blocks], cluster: Cluster) -> Iterator[str]:
    yield f"ranks {cluster.size}"
    pairs = sorted(
        {
            (rank, int(operation.split()[1]))
            for rank, own in enumerate(blocks)
            for operation in itertools.chain.from_iterable(listed for _, listed in own)
            if operation.startswith("send")
        }
    )
    src, dst = np.array(pairs).reshape(-1, 2).T
    for pair, latency, per_byte, out, into in zip(pairs, *cluster.links(src, dst), strict=True):
        yield f"route {pair[0]} {pair[1]} {latency} {1 / per_byte} {out} {into}"
    for rank, own in enumerate(blocks):
        yield f"rank {rank}"
        for times, listed in own:
            yield f"block {times}"
            yield from listed
            yield "end"


@functools.cache
def _program() -> Path:
    """The compiled actors, which end with this process."""
    folder = tempfile.TemporaryDirectory(prefix="distlab-simgrid-")
    _kept.append(folder)
    made = Path(folder.name, "ranks")
    source = Path(__file__).with_suffix(".cpp")
    command = ["g++", "-O2", "-std=c++17", "-o", str(made), str(source), "-lsimgrid"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise RuntimeError(f"{source.name} does not compile: {done.stderr.strip()[-500:]}")
    return made


_kept: list[tempfile.TemporaryDirectory[str]] = []
