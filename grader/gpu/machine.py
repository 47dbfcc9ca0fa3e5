"""What this machine is, and whether the steps can run on it."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from grader.gpu.wheels import PYTHONS, CannotRun
from grader.paths import ROOT

TORCH = (2, 11)  # the oldest PyTorch that distlab runs with
PATIENCE = 180.0  # seconds until PyTorch is imported and has found the GPUs
#: what outcomes depend on: the course's and the library's sources
SOURCES = ("src", "grader", "solutions", "labs", "bench", "constraints.txt")
#: what grading, and programs that are run, write among them
MADE = {
    "submitted", "autograded", "feedback", "ledger", "out", "attempts", "own-references",
    "own-inputs", "solution", "roster.json", "__pycache__", ".ipynb_checkpoints",
}  # fmt: skip
_ASK = """
import json, os, platform, torch
from distlab.training.vision import torchvision
cuda = torch.cuda.is_available()
gpus = range(torch.cuda.device_count() if cuda else 0)
print(json.dumps({
    "gpus": [torch.cuda.get_device_name(n) for n in gpus],
    "memory": [torch.cuda.get_device_properties(n).total_memory for n in gpus],
    "torch": torch.__version__, "torchvision": torchvision.__version__, "cuda": torch.version.cuda,
    "nccl": ".".join(map(str, torch.cuda.nccl.version())) if cuda else None,
    "python": platform.python_version(), "machine": platform.machine(),
}))
"""


def check_python(version: tuple[int, int] | None = None) -> None:
    """Refuse a Python that distlab's packages are not made for.

    Raises:
        CannotRun: this is one.
    """
    version = version or (sys.version_info[0], sys.version_info[1])
    if ".".join(map(str, version)) not in PYTHONS:
        raise CannotRun(
            f"Python {'.'.join(map(str, version))} is none of {', '.join(PYTHONS)}: name another "
            "one that has PyTorch with GPU_PYTHON=…"
        )
    if platform.system() != "Linux":
        raise CannotRun("this needs Linux, where NCCL is")


def environment(site: Path) -> dict[str, str]:
    """The environment of the steps: the library's sources, and what was taken from the wheels."""
    env = dict(os.environ)
    own = [str(ROOT / "src"), str(ROOT), str(site)]
    env["PYTHONPATH"] = os.pathsep.join([*own, *filter(None, [env.get("PYTHONPATH")])])
    env |= {
        "PYTHONUNBUFFERED": "1", "GLOO_SOCKET_IFNAME": "lo",
        "DISTLAB_SECRET": "public",  # the committed references hold for it
        "PYTORCH_NVML_BASED_CUDA_CHECK": "1",  # what forks ranks counts GPUs without a context
        # NCCL's monitor looks into the store of a run once a second, and waits where that is gone
        "TORCH_NCCL_ENABLE_MONITORING": "0",
    }  # fmt: skip
    env.pop("DISTLAB_DATA", None)
    return env


def found(env: Mapping[str, str], pretend: bool) -> dict[str, Any]:
    """The machine's GPUs and versions.

    Raises:
        CannotRun: there is no PyTorch, an old one, no GPU that it can use, or no answer.
    """
    try:
        done = subprocess.run(
            [sys.executable, "-c", _ASK], env=dict(env), capture_output=True, text=True, cwd=ROOT,
            timeout=PATIENCE,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise CannotRun(
            f"PyTorch has not said within {PATIENCE:g} s which GPUs there are: see whether "
            "nvidia-smi answers"
        ) from None
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise CannotRun(
            f"PyTorch and torchvision do not work with {sys.executable} ({last}): name a Python "
            "that has them with GPU_PYTHON=…"
        )
    here: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    check(here, pretend)
    return {**here, "driver": driver(), "cores": os.cpu_count(), "commit": commit()}


def check(here: Mapping[str, Any], pretend: bool) -> None:
    """Refuse a PyTorch that is too old, and a machine without a GPU.

    Raises:
        CannotRun: it is one of these.
    """
    numbers = tuple(int(part) for part in here["torch"].split("+")[0].split(".")[:2])
    if numbers < TORCH:
        raise CannotRun(f"PyTorch {here['torch']} is too old: distlab needs 2.11 or newer")
    if not here["gpus"] and not pretend:
        raise CannotRun(
            "PyTorch finds no GPU here: say `make gpu PRETEND=1` to run the same steps on the CPU"
        )


def driver() -> str | None:
    """The version of NVIDIA's driver, where nvidia-smi tells it."""
    try:
        return subprocess.run(
            ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"],
            capture_output=True, text=True, timeout=20, check=True,
        ).stdout.split()[0]  # fmt: skip
    except (OSError, subprocess.SubprocessError, IndexError):
        return None


def commit() -> str | None:
    """The commit of this tree, from git or, in a copy without git, from COMMIT."""
    if os.environ.get("COMMIT"):
        return os.environ["COMMIT"]
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"],
            cwd=ROOT, capture_output=True, text=True, check=False,
        )  # fmt: skip
    except OSError:
        return None
    return done.stdout.strip() or None


def digest() -> str:
    """A digest of all sources that outcomes depend on, the same in a clone and a copy of it."""
    sha = hashlib.sha256()
    for name in SOURCES:
        top = ROOT / name
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            if MADE & set(path.relative_to(ROOT).parts):
                continue
            if path.is_file() and path.suffix in (".py", ".ipynb", ".safetensors", ".json", ".txt"):
                sha.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    return sha.hexdigest()[:12]


def key(here: Mapping[str, Any], pretend: bool) -> str:
    """The key of outcomes, which differ with the sources, with PyTorch and with the GPU."""
    words = [digest(), here["torch"], *here["gpus"], "pretend" if pretend else "real"]
    return "".join(letter if letter.isalnum() else "-" for letter in "_".join(words))
