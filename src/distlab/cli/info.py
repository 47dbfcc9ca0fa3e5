"""`distlab info`: what works on this machine, and in one line how to fix what does not."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import subprocess
from collections.abc import Iterator

from distlab.network import gloo
from distlab.processes import frameworks, machine, starting

PACKAGES = ("torch", "torchvision", "ipyparallel", "nbgrader", "jupyterlab")


def lines() -> Iterator[str]:
    """The report, a fact a line. Nothing heavy is imported for it."""
    yield f"Python      {platform.python_version()} on {platform.system()} {platform.machine()}"
    yield f"processor   {os.cpu_count()} cores{_numa()}"
    yield f"for you     {machine.told()}"
    for name in PACKAGES:
        yield f"{name:11} {_version(name)}"
    if said := frameworks.nbgrader_too_old():
        yield f"{'':11} not to be used: {said}"
    for framework in frameworks.FRAMEWORKS.values():
        there = framework.version or f"missing, for its lab alone: {framework.brings}"
        yield f"{framework.title:11} {there}"
    gpus = _gpus()
    for line in gpus or ["none: the labs run on the CPU with gloo"]:
        yield f"GPU         {line}"
    backend = f"nccl up to {len(gpus)} ranks, gloo beyond" if gpus else "gloo"
    yield f"back ends   {backend}"
    yield f"ranks       {_ranks(len(gpus))}"
    yield f"processes   {_processes()}"
    yield f"Slurm       {_command('sbatch', 'no sbatch: lab scripts run with `distlab run` here')}"
    sandbox, messages = _sandbox()
    yield f"sandbox     {sandbox}"
    yield f"messages    {messages}"
    yield f"hidden      {_secret()}"
    yield f"Open MPI    {_command('mpirun', 'no mpirun: only Adasum in lab 07 needs it')}"


def _ranks(gpus: int) -> str:
    """How many ranks may be started here."""
    try:
        return f"up to {max(machine.ranks(), gpus)} (DISTLAB_MAX_RANKS changes that)"
    except ValueError as error:
        return str(error)


def _processes() -> str:
    """How ranks are started here, and why."""
    try:
        return starting.way().told()
    except ValueError as error:
        return str(error)


def _sandbox() -> tuple[str, str]:
    """The sandbox that `distlab grade` would use, tried out, and whether it measures messages."""
    try:
        from grader import sandbox
    except ImportError:
        return (
            "only grading needs one: ask again in the course's folder",
            "measured by grading alone",
        )
    try:
        chosen = sandbox.choose(sandbox.configured())
    except sandbox.NoSandbox as reason:
        return str(reason), "not measured without a sandbox"
    unmeasured = chosen.unmeasured.removeprefix("not measured: ")
    if not unmeasured and not gloo.known(_version("torch")):
        unmeasured = f"what torch {_version('torch')} sends is not known"
    if not unmeasured:
        return chosen.name, "measured between ranks on the CPU, and compared with their records"
    return chosen.name, f"not measured: {unmeasured}; the records of ranks stand alone"


def _secret() -> str:
    """The secret that hidden cases are made with."""
    try:
        from grader import secret
    except ImportError:
        return "cases are in the course's folder: ask again there"
    try:
        return f"cases are made with {secret.current().told()}"
    except secret.SecretUnusable as reason:
        return str(reason)


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        extra = "[grader]" if name in ("nbgrader", "jupyterlab") else ""
        return f"missing: pip install 'distlab{extra}'"


def _gpus() -> list[str]:
    if not shutil.which("nvidia-smi"):
        return []
    asked = ["nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader"]
    try:
        answer = subprocess.run(asked, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return answer.stdout.splitlines() if answer.returncode == 0 else []


def _numa() -> str:
    try:
        nodes = [n for n in os.listdir("/sys/devices/system/node") if n.startswith("node")]
    except OSError:
        return ""
    return f", {len(nodes)} NUMA node{'s' if len(nodes) != 1 else ''}"


def _command(name: str, without: str) -> str:
    return shutil.which(name) or without
