"""Programs as a system without /proc, /dev/shm, `prctl` and a safe fork would run them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
_HIDING = ROOT / "tests" / "no_linux"
_COVERED = ("/proc", "/sys", "/dev/shm")
_COVER = "; ".join(f"mount -t tmpfs -o ro,size=4k none {path} || exit 77" for path in _COVERED)


def environment(**more: str) -> dict[str, str]:
    """The environment of programs from which Linux is hidden."""
    path = os.pathsep.join(filter(None, [str(_HIDING), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", **more}


def covered(command: Sequence[str]) -> list[str]:
    """The command with empty folders over /proc, /sys and /dev/shm; as root, or as who becomes root
    of a namespace of users.
    """
    unshare = ["unshare", "-m"] if os.getuid() == 0 else ["unshare", "-U", "-r", "-m"]
    return [*unshare, "sh", "-c", f'{_COVER}; exec "$@"', "sh", *command]


def run(
    *command: str, timeout: float = 600, cwd: Path | None = None, **more: str
) -> subprocess.CompletedProcess[str]:
    """Run a Python program there; on a system that is no Linux, as it is.

    Skips the test where the kernel allows no namespaces.
    """
    words, env = [sys.executable, *command], {**os.environ, **more}
    if sys.platform == "linux":
        if not possible():
            import pytest  # a benchmark uses the rest

            pytest.skip("this kernel allows no namespaces of mounts, so /proc cannot be hidden")
        words, env = covered(words), environment(**more)
    return subprocess.run(
        words, env=env, cwd=cwd or ROOT, timeout=timeout, capture_output=True, text=True
    )


def possible() -> bool:
    """Can /proc be hidden here?"""
    try:
        return subprocess.run(covered(["true"]), capture_output=True, timeout=60).returncode == 0
    except OSError:  # no `unshare` here
        return False
