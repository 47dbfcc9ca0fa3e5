"""Kill workers of lab 09's training at random moments: is every sample trained on exactly once?

    python -m bench.failures [--kills 30] [--workers 4] [--seed 1]

`survive.py` of lab 09 runs on loopback, under torchrun, and a random worker is killed with SIGKILL
after a random time: while it imports, while it meets the others, in the middle of a step or of a
save. Two kinds of runs take turns. In one torchrun starts the workers again, always as many; what
it ends with has to equal the undisturbed run's to the last bit. In the other every death ends the
job, and it is started again with another number of workers. In both the state itself tells how
often each sample was trained on.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT)]

from distlab import notebook  # noqa: E402
from distlab.course.lab09_when_it_breaks.job import Job  # noqa: E402
from grader import coursedir  # noqa: E402

LAB = "09-when-it-breaks"
SAMPLES, BATCH, EVERY, PAUSE = 1200, 20, 5, 0.05
STEPS = SAMPLES // BATCH
STARTING, TRAINING = 8.0, 5.0  # seconds in which a life starts, and trains, as kills are drawn
ENDING = 900.0  # seconds that a run may take from the last kill on
OTHER_SIZES = (2, 3, 4)


@dataclass
class Life:
    """What a kill hit: the job's state when it came."""

    phase: str  # "starting", "training" or "saving"
    lost: int = 0  # steps that had to be repeated


@dataclass
class Run:
    """One epoch: its deaths, and what came of it."""

    name: str
    lives: list[Life] = field(default_factory=list)
    state: torch.Tensor | None = None


def command(folder: Path, workers: int, restarts: int) -> str:
    return (
        f"torchrun --standalone --nproc-per-node={workers} --max-restarts={restarts} "
        f"survive.py --folder {folder} --samples {SAMPLES} --batch-size {BATCH} --every {EVERY} "
        f"--pause {PAUSE}"
    )


def start(folder: Path, workers: int, restarts: int) -> Job:
    return Job(command(folder, workers, restarts), TORCH_DISABLE_SHARE_RDZV_TCP_STORE="1")


def children(pid: int) -> list[int]:
    try:
        return [int(p) for p in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def last_step(folder: Path) -> int:
    """The step that was taken last, 0 before the first."""
    try:
        lines = (folder / "losses.csv").read_text().splitlines()
    except OSError:
        return 0
    return int(lines[-1].split(",")[1]) if lines else 0


def unfinished(folder: Path) -> set[str]:
    """Steps whose folder is there and whose index is not."""
    return {p.name for p in folder.glob("step-*") if not (p / "index.json").exists()}


def kill_one(job: Job, folder: Path, draw: random.Random, known: set[str]) -> Life | None:
    """Kill a worker at a random moment of the life that begins now; `None` if it outlived that.

    `known`: steps that earlier deaths have left unfinished.
    """
    lives = job.output.count("go on after step")
    while not (workers := children(job.process.pid)) and job.process.poll() is None:
        time.sleep(0.01)
    if draw.random() < 0.3:  # at any moment of its start
        moment = time.monotonic() + draw.uniform(0, STARTING)
        begun = False
    else:  # at any moment after it has found its checkpoint
        while job.output.count("go on after step") == lives and job.process.poll() is None:
            time.sleep(0.01)
        moment = time.monotonic() + draw.uniform(0, TRAINING)
        begun = True
    while time.monotonic() < moment and job.process.poll() is None:
        time.sleep(0.005)
    workers = children(job.process.pid)
    if job.process.poll() is not None or not workers or "are done" in job.output:
        return None
    os.kill(draw.choice(workers), signal.SIGKILL)
    time.sleep(0.5)  # what the others were about to write is written now
    begun |= job.output.count("go on after step") > lives
    saving = bool(unfinished(folder) - known)
    return Life("saving" if saving else "training" if begun else "starting")


def wait_for_death(job: Job, old: list[int]) -> None:
    """Until torchrun has ended the workers of this life."""
    while set(children(job.process.pid)) & set(old) and job.process.poll() is None:
        time.sleep(0.02)


def count_lost(folder: Path) -> list[int]:
    """The steps that each new life had to repeat."""
    steps = [int(line.split(",")[1]) for line in (folder / "losses.csv").read_text().splitlines()]
    pairs = zip(steps, steps[1:], strict=False)
    return [before - after + 1 for before, after in pairs if after <= before]


def one_run(
    folder: Path, workers: int, most: int, same_size: bool, draw: random.Random
) -> tuple[Run, int]:
    """Train one epoch while at most `most` workers are killed; (what came of it, last size)."""
    folder.mkdir()
    run = Run("restarted by torchrun" if same_size else "started again with other numbers")
    size = workers
    job = start(folder, size, 1000 if same_size else 0)
    known: set[str] = set()
    while len(run.lives) < most:
        old = children(job.process.pid)
        life = kill_one(job, folder, draw, known)
        if life is None:
            break
        run.lives.append(life)
        known = unfinished(folder)
        if same_size:
            wait_for_death(job, old)
        else:
            job.wait(ENDING)
            size = draw.choice([n for n in OTHER_SIZES if n != size])
            job = start(folder, size, 0)
    if job.wait(ENDING) != 0:
        raise RuntimeError(f"a run that nobody disturbed any more failed:\n{job.output[-3000:]}")
    return run, size


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    draw = random.Random(options.seed)
    base = Path(tempfile.mkdtemp(prefix="failures-"))
    lab = notebook.load(coursedir.SOLUTIONS / LAB / "when_it_breaks.ipynb")
    for path in (coursedir.SOLUTIONS / LAB).glob("[sw]*"):
        shutil.copy(path, base)
    os.chdir(base)

    def state_of(folder: Path) -> torch.Tensor:
        step = lab.latest_whole(str(folder))
        if step != STEPS:
            raise RuntimeError(f"{folder} ends with step {step}, not {STEPS}")
        return lab.load_resharded(0, 1, str(folder), step)

    (base / "calm").mkdir()
    start(base / "calm", options.workers, 0).wait(ENDING)
    calm = state_of(base / "calm")
    phases: dict[str, int] = {}
    lost: list[int] = []
    bad = kills = number = 0
    while kills < options.kills:
        same_size = number % 2 == 0
        folder = base / f"run-{number}"
        run, _ = one_run(folder, options.workers, options.kills - kills, same_size, draw)
        state = state_of(folder)
        once = bool((state[-SAMPLES:] == 1).all())
        equal = torch.equal(state, calm)
        apart = (state - calm).abs().max().item()
        lost += count_lost(folder)
        for life in run.lives:
            phases[life.phase] = phases.get(life.phase, 0) + 1
        kills, number = kills + len(run.lives), number + 1
        right = once and (equal if same_size else apart < 1e-4)
        bad += not right
        compared = "equal to the last bit" if equal else f"apart by {apart:.1e} at most"
        print(
            f"{'ok ' if right else 'BAD'} {run.name}: {len(run.lives)} kills, every sample "
            f"{'exactly once' if once else 'NOT exactly once'}, {compared}", flush=True,
        )  # fmt: skip
    told = ", ".join(f"{count} while {phase}" for phase, count in sorted(phases.items()))
    print(f"{kills} kills in {number} runs ({told}); {bad} runs came out wrong")
    mean = sum(lost) / max(len(lost), 1)
    print(f"a death in training cost {mean:.1f} steps on average; every {EVERY} steps it is saved")
    os.chdir(ROOT)
    shutil.rmtree(base)
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
