"""The training script of lab 03, its options as they are named below; what it printed, as data.

python -m grader.gpu.steps.script small|fast|plain RESULT
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from typing import Any

from distlab.rank import world
from distlab.training import speedups
from grader import coursedir
from grader.gpu import settings

SCRIPT = coursedir.SOLUTIONS / "03-cifar10-ddp" / "resnet_ddp.py"
_PLAIN = "--augment --stem cifar --schedule triangle --weight-decay 5e-4"
_QUICK = "--on-device --channels-last --amp --compile --warm-up 3"
_SEEN = "--augment --shift 2 --border reflect --flip alternating --label-smoothing 0.2 --test-flip"
WAYS = {
    "small": "--num-epochs 9 --batch-size 2000 --model small --whiten --optimizer muon "
    f"--schedule falling {_SEEN} {_QUICK}",
    "fast": "--num-epochs 9 --batch-size 1000 --stem cifar --whiten --optimizer muon "
    f"--learning-rate 0.1 --weight-decay 5e-4 --schedule triangle {_SEEN} {_QUICK}",
    "plain": f"--num-epochs 15 --batch-size 512 {_PLAIN}",
}
FEW = 4  # images, where this only pretends
#: in place of the epochs, the batch and the data, where this only pretends
SMALL = {"--num-epochs": "1", "--batch-size": "4", "--warm-up": "1"}
EPOCH = re.compile(r"epoch (\d+)/(\d+)  loss (\S+)  accuracy (\S+)  (\d+) images/s")
GOAL = re.compile(r"^(\d+)% test accuracy reached after ([\d.]+) s", re.M)


def words(way: str) -> list[str]:
    """The script's options on this machine."""
    found = WAYS[way].split()
    if settings.pretend():
        for option, value in SMALL.items():
            if option in found:
                found[found.index(option) + 1] = value
        found = [word for word in found if word != "--amp"]
        if "--compile" in found:  # minutes on two cores: its own tests have it
            found.remove("--compile")
        return [
            *found,
            "--threads",
            "1",
            "--limit",
            str(FEW),
            *(["--synthetic"] if not settings.has_images() else []),
        ]
    if "--compile" in found and not speedups.compiler():
        found.remove("--compile")
    return [*found, *(["--synthetic"] if not settings.has_images() else [])]


def read(text: str) -> dict[str, Any]:
    """What the script has printed so far, as data."""
    epochs = [
        {"epoch": int(n), "loss": float(loss), "accuracy": float(right), "images/s": int(rate)}
        for n, _, loss, right, rate in EPOCH.findall(text)
    ]
    goals = {f"{goal}%": float(seconds) for goal, seconds in GOAL.findall(text)}
    found: dict[str, Any] = {"epochs": epochs, "seconds to": goals}
    if epochs:
        found["best accuracy"] = max(one["accuracy"] for one in epochs)
        found["images/s"] = max(one["images/s"] for one in epochs)
    return found


def main(way: str, out: str) -> None:
    asked = words(way)
    status, found = train(asked, out)
    if status and "--compile" in asked and not found["epochs"]:
        print("it failed before its first epoch: once more without --compile", flush=True)
        asked.remove("--compile")
        status, found = train(asked, out)
    if status:
        raise SystemExit(f"the script ended with status {status}")


def train(asked: list[str], out: str) -> tuple[int, dict[str, Any]]:
    """Run the script with these options; its status, and what it found, which `out` has as well."""
    ranks = max(1, world.gpu_count())
    result = {"options": " ".join(asked), "ranks": ranks, "images": settings.images_told()}
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable, "-m", "torch.distributed.run", "--standalone",
            f"--nproc-per-node={ranks}", str(SCRIPT), "--model-dir", folder, *asked,
        ]  # fmt: skip
        text = ""
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
            assert running.stdout is not None
            for line in running.stdout:
                print(line, end="", flush=True)
                text += line
                settings.write(out, {**result, **read(text)})
    found = {**result, **read(text)}
    settings.write(out, found)
    return running.returncode, found


if __name__ == "__main__":
    main(*sys.argv[1:])
