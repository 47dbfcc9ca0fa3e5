"""What a training script needs besides training: flags, a process group, a progress bar."""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sized
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
import torch.distributed as dist

from distlab.processes import machine
from distlab.rank import world
from distlab.rank.world import World


def flag(parser: argparse._ActionsContainer, name: str, **options: Any) -> None:
    """Add `--some-name`; `--some_name` is accepted too."""
    other = "--" + name[2:].replace("-", "_")
    parser.add_argument(*dict.fromkeys((name, other)), **options)


class Refused(ValueError):
    """What a script was asked for cannot be done. The message is a sentence that says why."""


def positive(kind: type) -> Callable[[str], float]:
    """A flag's type: a number of this kind above 0."""

    def number(text: str) -> float:
        value: float = kind(text)
        if not 0 < value < math.inf:
            raise argparse.ArgumentTypeError(f"{text} is no finite number above 0")
        return value

    number.__name__ = kind.__name__  # what argparse says of words
    return number


def training_flags(parser: argparse.ArgumentParser) -> None:
    """The flags that the scripts of several labs share."""
    flag(parser, "--num-epochs", type=int, default=5, help="epochs in all")
    flag(parser, "--batch-size", type=positive(int), default=256, help="images per rank and step")
    flag(parser, "--learning-rate", type=float, default=0.1)
    flag(parser, "--random-seed", type=int, default=0)
    flag(parser, "--model-dir", type=Path, default=Path("saved_models"))
    flag(parser, "--model-filename", default="resnet_distributed.pth")
    flag(parser, "--resume", action="store_true", help="go on from the checkpoint, if there is one")
    flag(parser, "--data-dir", type=Path, help="folder of the images; DISTLAB_DATA by default")
    flag(parser, "--synthetic", action="store_true", help="generated images")
    flag(parser, "--threads", type=positive(int), help="CPU threads of each rank; by default ranks "
         "divide the cores")  # fmt: skip
    flag(parser, "--limit", type=positive(int),
         help="take only so many images, a fifth of that to test")  # fmt: skip
    # torch.distributed.launch hands this to the script; the environment says the same
    parser.add_argument("--local_rank", "--local-rank", type=int, help=argparse.SUPPRESS)


def threads(size: int, asked: int | None = None) -> int:
    """CPU threads for each of `size` ranks: `asked`, else as many as its share of the cores.

    Raises:
        Refused: ranks with `asked` threads each would have more threads than there are cores.
    """
    ranks = int(os.environ.get("LOCAL_WORLD_SIZE", size))  # on this machine
    share = max(1, machine.cores() // ranks)
    if asked and asked > share:
        raise Refused(
            f"--threads {asked} on {ranks} rank(s) is more than the {machine.cores()} core(s) that "
            f"they share: take {share} or fewer"
        )
    return asked or share


def epoch_seed(seed: int, epoch: int, rank: int) -> int:
    """A seed for a rank's random numbers in an epoch: unrelated to those of other ranks and epochs,
    and the same when training resumes.

    Returns:
        An int from 0 to 2**32 − 1.
    """
    return int(np.random.SeedSequence((seed, epoch, rank)).generate_state(1)[0])


def triangle(step: float, steps: float, peak: float, rising: float = 0.2) -> float:
    """A learning rate that rises on a straight line to its peak, and falls on one to zero.

    Args:
        step: number of the update, from 0; the rate is that of its middle, so that none is 0.
        steps: how many updates there are in all.
        rising: the part of them in which it rises.
    """
    at = (step + 0.5) / steps
    return peak * min(at / rising, (1 - at) / (1 - rising))


def falling(step: float, steps: float, peak: float) -> float:
    """A learning rate that falls on a straight line from its peak to zero; `step` from 0."""
    return peak * (1 - (step + 0.5) / steps)


class Goals:
    """When a training first reaches some accuracies, in seconds of training.

    Args:
        accuracies: the goals, from 0 to 1.
        first: the epoch that this run begins with; how long those before it took is not known.
    """

    def __init__(self, accuracies: Iterable[float], first: int = 0) -> None:
        self._open = sorted(accuracies)
        self._seconds, self._best = 0.0, 0.0
        self._since = f" since epoch {first + 1}, where this run resumed" if first else ""

    def after(self, seconds: float, accuracy: float) -> list[str]:
        """Note an epoch that trained for so long; returns a line for each goal that it reached."""
        self._seconds += seconds
        self._best = max(self._best, accuracy)
        reached = [goal for goal in self._open if accuracy >= goal]
        self._open = self._open[len(reached) :]
        took = f"{self._seconds:.1f} s of training{self._since} (evaluation not counted)"
        return [f"{goal:.0%} test accuracy reached after {took}\n" for goal in reached]

    def missed(self) -> list[str]:
        """A line about the goals that were not reached; no line if all were."""
        if not self._open:
            return []
        *others, last = (f"{goal:.0%}" for goal in self._open)
        goals = f"{', '.join(others)} and {last}" if others else last
        took = f"{self._seconds:.1f} s of training{self._since}"
        return [f"{goals} test accuracy not reached in {took}: the best was {self._best:.2%}\n"]


@contextlib.contextmanager
def started() -> Iterator[World]:
    """Join the default process group that a launcher prepared, and leave it at the end.

    torchrun and torch.distributed.launch set the variables; under srun they are made from Slurm's;
    without a launcher this is a world of one.
    """
    env = os.environ
    if "RANK" not in env and "SLURM_PROCID" in env:
        env["RANK"], env["WORLD_SIZE"] = env["SLURM_PROCID"], env["SLURM_NTASKS"]
        env["LOCAL_RANK"] = env["SLURM_LOCALID"]
        env["LOCAL_WORLD_SIZE"] = str(_most_on_a_node(env["SLURM_TASKS_PER_NODE"]))
        if env.get("SLURM_NNODES", "1") == "1":
            env.setdefault("MASTER_ADDR", "127.0.0.1")
        env.setdefault("MASTER_PORT", str(20_000 + int(env.get("SLURM_JOB_ID", 0)) % 20_000))
    names = ("RANK", "WORLD_SIZE", "LOCAL_RANK")
    here = World(*(int(env.get(name, other)) for name, other in zip(names, (0, 1, 0), strict=True)))
    local_size = int(env.get("LOCAL_WORLD_SIZE", here.size))
    torch.set_num_threads(threads(here.size))
    device = here.device
    if device.type == "cuda":
        torch.cuda.set_device(device)
    where: dict[str, Any] = (
        {} if "RANK" in env else {"store": dist.HashStore(), "rank": 0, "world_size": 1}
    )
    dist.init_process_group(world.backend_for(local_size), **where)
    try:
        yield here
    finally:
        dist.destroy_process_group()


def _most_on_a_node(told: str) -> int:
    """The tasks of the fullest node, of a list such as "1,3(x2)": by these all ranks choose the
    same back end.
    """
    return max(int(part.split("(")[0]) for part in told.split(","))


class Bar:
    """A loader that shows a progress bar on rank 0, and otherwise behaves as it does."""

    def __init__(self, loader: Iterable[Any], rank: int, title: str) -> None:
        self._loader, self._rank, self._title = loader, rank, title

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def __len__(self) -> int:
        return len(cast(Sized, self._loader))  # as far as loaders have one

    def __iter__(self) -> Iterator[Any]:
        from tqdm import tqdm

        quiet = self._rank != 0
        return iter(tqdm(self._loader, desc=self._title, disable=quiet, leave=False, mininterval=1))


def topology() -> str:
    """How the parts of this machine are connected: nvidia-smi's table of GPUs, else its cores."""
    if world.gpu_count():
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            return subprocess.run(
                ["nvidia-smi", "topo", "-m"], capture_output=True, text=True, timeout=20, check=True
            ).stdout
    lines = [f"no GPU; {machine.cores()} CPU cores for this process, {os.cpu_count()} in all"]
    for node in sorted(Path("/sys/devices/system/node").glob("node[0-9]*")):
        with contextlib.suppress(OSError):
            cpus = (node / "cpulist").read_text().strip()
            lines.append(f"NUMA {node.name}: cores {cpus}")
    return "\n".join(lines)
