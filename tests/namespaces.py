"""Run a function of a test module in user and network namespaces of its own, as root of these."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

_NEWUSER, _NEWNET = 0x10000000, 0x40000000
_REFUSED = 77


def run(function: Callable[[], None]) -> None:
    """The function may import what it likes, but there is no thread and no torch yet.

    Skips the test where the kernel allows no namespaces.
    """
    code = f"import namespaces; namespaces._enter(); import {function.__module__} as m; " \
           f"m.{function.__name__}()"  # fmt: skip
    paths = [str(Path(__file__).parent), *filter(None, sys.path)]
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    if done.returncode == _REFUSED:
        pytest.skip("this kernel allows no namespaces")
    assert done.returncode == 0, done.stderr


def _enter() -> None:
    user, group = os.getuid(), os.getgid()
    if ctypes.CDLL(None).unshare(_NEWUSER | _NEWNET) != 0:
        os._exit(_REFUSED)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"0 {user} 1")
    Path("/proc/self/gid_map").write_text(f"0 {group} 1")
