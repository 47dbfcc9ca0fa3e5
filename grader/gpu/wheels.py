"""Packages for a machine without a network: fetched elsewhere as wheels, and put beside its own.

What the machine has stays as it is, its PyTorch above all: pip says which of the needed packages
are missing (`--dry-run --report`), and only these are installed into a folder of their own
(`--target`), which PYTHONPATH names. No environment is made or changed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

NEEDED = Path(__file__).with_name("needed.txt")
#: not 3.10: pip judges the markers of another Python's packages by the Python that it runs on,
#: which is as good for these two
PYTHONS = ("3.11", "3.12")
#: tags of x86-64 Linux that wheels carry; pip takes each by its name alone
PLATFORMS = tuple(
    f"manylinux_2_{minor}_x86_64" for minor in (34, 31, 28, 27, 24, 17, 12, 5)
) + ("manylinux2014_x86_64", "manylinux2010_x86_64", "manylinux1_x86_64")  # fmt: skip
#: large packages that are there wherever torchvision is
WITH_TORCHVISION = {"numpy", "pillow", "torch", "torchvision"}
MOST = 60_000_000  # bytes of project, images and wheels together


class CannotRun(RuntimeError):
    """What is here cannot do it. The message is a sentence that says what to do."""


def missing(python: str, wheels: Path) -> list[str]:
    """The wheels that hold what this Python lacks, as pip resolves it.

    Raises:
        CannotRun: neither the machine nor the folder has something, or pip is not there.
    """
    wheels.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        done = _pip(
            python, "install", "--dry-run", "--report", str(report), "--no-index",
            "--find-links", str(wheels), "--requirement", str(NEEDED),
        )  # fmt: skip
        if done.returncode:
            raise CannotRun(_told(done.stderr, wheels))
        found = json.loads(report.read_text("utf-8"))["install"]
    return [one["download_info"]["url"] for one in found]


def _told(errors: str, wheels: Path) -> str:
    if "No module named pip" in errors:
        return "this Python has no pip: install it, or name another with GPU_PYTHON=…"
    lines = [line.strip() for line in errors.splitlines() if line.startswith("ERROR")]
    why = (lines or ["pip said nothing"])[-1].removeprefix("ERROR: ")
    return (
        f"something is missing here and in {wheels} ({why}): run `make gpu-wheels` on a machine "
        "with a network, and bring that folder along"
    )


def gather(python: str, wheels: Path, target: Path) -> list[str]:
    """Install what is missing into `target`; returns the names of the wheels.

    Raises:
        CannotRun: as `missing`, or a wheel cannot be installed.
    """
    urls = missing(python, wheels)
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    if urls:
        done = _pip(
            python, "install", "--quiet", "--no-index", "--no-deps", "--no-compile",
            "--target", str(target), *urls,
        )  # fmt: skip
        if done.returncode:
            raise CannotRun(_told(done.stderr, wheels))
    return sorted(url.rpartition("/")[2] for url in urls)


def fill(wheels: Path, constraints: Path, pythons: Sequence[str] = PYTHONS) -> None:
    """Fetch everything that is needed, for each of these Pythons on x86-64 Linux.

    Raises:
        CannotRun: a package cannot be had.
    """
    shutil.rmtree(wheels, ignore_errors=True)
    wheels.mkdir(parents=True)
    for version in pythons:
        kind = ["--only-binary=:all:", "--python-version", version, "--implementation", "cp"]
        for platform in PLATFORMS:
            kind += ["--platform", platform]
        pins = _resolved(kind, constraints)
        done = _pip(sys.executable, "download", "--quiet", "--no-deps", *kind,
                    "--dest", str(wheels), *pins)  # fmt: skip
        if done.returncode:
            raise CannotRun(f"for Python {version}: {_last_line(done.stderr)}")


def _resolved(kind: Sequence[str], constraints: Path) -> list[str]:
    """name==version of the needed packages and of what these need."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        done = _pip(
            sys.executable, "install", "--quiet", "--dry-run", "--ignore-installed", "--report",
            str(report), "--target", folder, "--requirement", str(NEEDED),
            "--constraint", str(constraints), *kind,
        )  # fmt: skip
        if done.returncode:
            raise CannotRun(f"pip finds no way: {_last_line(done.stderr)}")
        found = [one["metadata"] for one in json.loads(report.read_text("utf-8"))["install"]]
    return [
        f"{one['name']}=={one['version']}" for one in found
        if one["name"].lower() not in WITH_TORCHVISION
    ]  # fmt: skip


def _last_line(errors: str) -> str:
    return (errors.strip().splitlines() or ["pip said nothing"])[-1]


def _pip(python: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = [python, "-m", "pip", "--disable-pip-version-check", "--no-input", *words]
    env = dict(os.environ)
    if "--no-index" in words:  # nor any other place that this machine's settings name
        env = {name: value for name, value in env.items() if not name.startswith("PIP_")}
        env["PIP_CONFIG_FILE"] = os.devnull
    return subprocess.run(command, capture_output=True, text=True, env=env)


def sizes(root: Path, carry: Path) -> dict[str, int]:
    """Bytes of the project (what git tracks), of the images and of the wheels that travel."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=False
    )
    paths = [root / name for name in listed.stdout.split("\0") if name]
    return {
        "project": sum(path.stat().st_size for path in paths if path.is_file()),
        "images": sum(path.stat().st_size for path in carry.glob("*.tar.xz")),
        "wheels": sum(path.stat().st_size for path in (carry / "wheels").glob("*.whl")),
    }
