"""How many cores and how much memory of this machine this process may use.

A server on JupyterHub, a job or a container has less than the machine: its control groups and the
processors that it is bound to say how much.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator
from pathlib import Path

# bytes: of a kernel with the process that its ranks are forked from; of each rank
NOTEBOOK, RANK = 512 << 20, 96 << 20
SETTING = "DISTLAB_MAX_RANKS"
_GROUPS = Path("/sys/fs/cgroup")
_OWN = Path("/proc/self/cgroup")


def cores(groups: Path = _GROUPS, own: Path = _OWN) -> int:
    """Cores that this process may keep busy, at least 1."""
    bound = getattr(os, "sched_getaffinity", None)
    most = len(bound(0)) if bound else os.cpu_count() or 1
    return max(1, min([most, *(math.ceil(share) for share in _shares(groups, own))]))


def memory(groups: Path = _GROUPS, own: Path = _OWN) -> int | None:
    """Bytes that this process and the others of its control groups may use; `None` where the system
    does not say.
    """
    if sys.platform == "darwin" or not hasattr(os, "sysconf"):
        return None
    said = _said(groups, own, "memory", "memory.max", "memory.limit_in_bytes")
    limits = [int(limit) for limit in said if limit.isdigit()]
    return min([os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"), *limits])


def ranks() -> int:
    """How many ranks without GPUs make sense here: four a core and at least eight, but no more than
    fit into memory; or what DISTLAB_MAX_RANKS says.

    Raises:
        ValueError: it says something other than a number.
    """
    asked = os.environ.get(SETTING, "").strip()
    if asked and not (asked.isdecimal() and int(asked)):
        raise ValueError(f"{SETTING}={asked} is no number of 1 or more: set one, or leave it out")
    if asked:
        return int(asked)
    has = memory()
    room = sys.maxsize if has is None else (has - NOTEBOOK) // RANK
    return max(2, min(max(8, 4 * cores()), room))


def told() -> str:
    """Cores and memory in words."""
    has = memory()
    number = cores()
    words = f"{number} core{'s' if number > 1 else ''}"
    return words if has is None else f"{words} and {has / 2**30:.3g} GiB of memory"


def _shares(groups: Path, own: Path) -> Iterator[float]:
    """The cores that each control group around this process may keep busy."""
    for said in _said(groups, own, "cpu", "cpu.max", ""):
        quota, period = said.split()
        if quota != "max":
            yield int(quota) / int(period)
    quotas = _said(groups, own, "cpu", "", "cpu.cfs_quota_us")
    periods = _said(groups, own, "cpu", "", "cpu.cfs_period_us")
    for quota, period in zip(quotas, periods, strict=True):
        if int(quota) > 0:
            yield int(quota) / int(period)


def _said(groups: Path, own: Path, controller: str, second: str, first: str) -> list[str]:
    """The content of a file in this process's control group and in all groups around it.

    Args:
        second, first: its name in version 2 and in version 1 of control groups; empty if that
            version has no such file.
    """
    try:
        lines = own.read_text().splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers == "" and second:
            root, name = groups, second
        elif controller in controllers.split(",") and first:
            root, name = groups / controllers, first
        else:
            continue
        inner = root / path.lstrip("/")
        for folder in (inner, *inner.parents):
            if (folder / name).is_file():
                found.append((folder / name).read_text().strip())
            if folder == root:
                break
    return found
