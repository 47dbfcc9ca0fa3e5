"""Programs under Pyodide in Node, with the library's sources and what tests need mounted."""

from __future__ import annotations

import importlib.metadata
import json
import shutil
import subprocess
import zipfile
from collections.abc import Sequence
from pathlib import Path

import fetch

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
#: of this environment, copied there: Python alone, without compiled parts
PACKAGES = ("pytest", "pluggy", "iniconfig", "packaging", "pygments", "sortedcontainers")


def missing() -> str:
    """What these tests need and this machine does not have; empty where it has all."""
    if not shutil.which("node"):
        return "node is not here: apt-get install nodejs npm"
    if not fetch.PYODIDE.exists():
        return "Pyodide is not here: npm ci --prefix tests/pyodide"
    if fetch.numpy_wheel() is None or fetch.hypothesis_wheel() is None:
        return "NumPy for Pyodide is not here: python tests/pyodide/fetch.py"
    return ""


def packages(folder: Path) -> Path:
    """Copy what tests are run with into a folder."""
    for name in PACKAGES:
        for file in importlib.metadata.distribution(name).files or []:
            if ".." not in file.parts:  # a program's own file, in another folder
                (folder / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file.locate(), folder / file)
    wheel = fetch.hypothesis_wheel()
    assert wheel is not None  # `missing` has said so
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(folder)
    return folder


def run(
    program: str, folder: Path, mounts: dict[str, Path], timeout: float = 900
) -> subprocess.CompletedProcess[str]:
    """Run a program there; NumPy can be imported, and what is mounted below /packages and /src."""
    task = folder / "task.json"
    given = {at: str(path) for at, path in {"/src": ROOT / "src", **mounts}.items()}
    task.write_text(
        json.dumps({"mounts": given, "wheels": [str(fetch.numpy_wheel())], "program": program})
    )
    return subprocess.run(
        ["node", str(HERE / "run.mjs"), str(task)],
        capture_output=True, text=True, timeout=timeout, check=False,
    )  # fmt: skip


_OPTIONS = ("-p", "no:cacheprovider", "-p", "no:faulthandler", "--capture=sys", "--noconftest")


def pytest_run(
    paths: Sequence[str], folder: Path, *options: str, mounts: dict[str, Path] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run tests of this repository there."""
    (folder / "packages").mkdir()
    arguments = ["-q", *_OPTIONS, *options, *paths]
    program = f"""
import sys
sys.path[:0] = ["/src", "/tests", "/tests/viz", "/packages"]
sys.dont_write_bytecode = True
import pytest
sys.exit(pytest.main({arguments!r}))
"""
    given = {"/tests": ROOT / "tests", "/packages": packages(folder / "packages")}
    return run(program, folder, {**given, **(mounts or {})})
