"""The sandbox that strangers' code runs in: choose one, try it out, start a zygote inside it."""

from __future__ import annotations

import compileall
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from traitlets import Bool, Float, Integer, Unicode
from traitlets.config import Config, Configurable
from traitlets.config.loader import PyFileConfigLoader

import distlab
from distlab.processes.entry_points import ROOM_PRELOAD, ROOM_PREPARE, WALLS_TRIAL
from distlab.processes.environment import loopback
from distlab.processes.isolation import Limits
from distlab.processes.zygote import FIRST_PRELOAD, TRAINING_PRELOAD, Zygote
from grader.paths import ROOT
from grader.sandbox import bubblewrap

TRIAL = 30.0  # seconds in which a sandbox has to start
_NO_NETWORKS = "ranks have no network of their own without walls in the sandbox"
_ROOTS = 1 << 16  # users that submissions can be where the grader is root
_FIRST_SUBORDINATE = 1000  # as `unshare --map-auto` numbers them inside, from 1
#: what ranks and rooms need, imported once before they are forked
_PRELOAD = (*FIRST_PRELOAD, *ROOM_PRELOAD, *ROOM_PREPARE, *TRAINING_PRELOAD)
#: the last of these but for what training needs
WITHOUT_TRAINING = ROOM_PREPARE[-1]


class NoSandbox(RuntimeError):
    """No sandbox works here, and nobody has said that the code can be trusted."""


class Grading(Configurable):
    """How strangers' code is run: the lines `c.Grading.… = …` of nbgrader_config.py."""

    sandbox = Unicode(
        "bwrap",
        help="'bwrap', or the command of another sandbox, to which `python -m …` is appended; it "
        "must keep open file descriptors and show Python and distlab under their own paths. "
        "For example 'apptainer exec --containall --net --network none course.sif'.",
    ).tag(config=True)
    trust = Bool(
        os.environ.get("DISTLAB_TRUST") == "1",
        help="run the code without a sandbox: for one's own notebooks, never for strangers'",
    ).tag(config=True)
    memory = Integer(Limits.memory, help="bytes that a submission may use").tag(config=True)
    processes = Integer(
        Limits.processes, help="processes and threads that a submission may have at once"
    ).tag(config=True)
    files = Integer(Limits.files, help="files that a process may have open").tag(config=True)
    secret = Unicode(
        "",
        help="the file of the course's secret, from which hidden inputs are made, where it is not "
        "in the usual place (`distlab secret new` says which that is); 'public' for the "
        "repository's own. DISTLAB_SECRET in the environment comes before it.",
    ).tag(config=True)
    lti = Unicode(
        "",
        help="the file that says to which platform `distlab export --for lti` sends scores, and "
        "with which key. DISTLAB_LTI in the environment comes before it.",
    ).tag(config=True)
    disk = Integer(Limits.disk, help="bytes that a submission may write").tag(config=True)
    seconds = Float(Limits.seconds, help="seconds that judging a submission may take in all").tag(
        config=True
    )
    first_user = Integer(
        1_900_000_000,
        help="where the grader is root, submissions in work are users of the kernel's of their "
        "own: this one and the 65,535 after it, which nobody else may be",
    ).tag(config=True)


def configured(**changes: Any) -> Grading:
    """The settings of nbgrader_config.py, and `changes` to them."""
    config = PyFileConfigLoader("nbgrader_config.py", path=str(ROOT)).load_config()
    return Grading(config=Config(Grading=config.Grading), **changes)


@dataclass(frozen=True)
class Sandbox:
    """A way to run strangers' code.

    Args:
        name: what it is, for people.
        prefix: the command that starts a program inside.
        env: the environment inside; `None` for this process's own.
        limits: of each submission; `None` where the code is trusted.
        walls: submissions put up walls of their own inside, so that one sandbox serves them all.
        users: the kernel's users, as numbered inside, that submissions can be given one each;
            `None` where all are the same user.
        unmeasured: why messages between ranks are not measured in it; empty where they are.
    """

    name: str
    prefix: tuple[str, ...] = ()
    env: dict[str, str] | None = None
    limits: Limits | None = None
    walls: bool = False
    users: range | None = None
    unmeasured: str = _NO_NETWORKS

    @property
    def shared(self) -> bool:
        """May several submissions run in one zygote of it?"""
        return self.walls or self.limits is None

    def zygote(self, more: Sequence[str] = ()) -> Zygote:
        """A new zygote inside, with `more` modules imported."""
        # nothing can be written inside: what only the sandbox imports would be compiled each time
        compileall.compile_dir(Path(distlab.__file__).parent, quiet=2)
        return Zygote((*_PRELOAD, *more, *ROOM_PREPARE), self.prefix, self.env)


TRUSTED = Sandbox("none: the code is trusted")


def choose(settings: Grading) -> Sandbox:
    """The configured sandbox, tried out.

    Raises:
        NoSandbox: it does not work; the message says why and what to do.
    """
    if settings.trust:
        return TRUSTED
    limits = Limits(
        settings.memory, settings.processes, settings.files, settings.disk, settings.seconds
    )
    reasons = []
    for name, command, walls, users in _candidates(settings):
        works, said = _tried(command, users)
        if works and (said[-1] == "isolated" or not walls):
            walls = said[-1] == "isolated"
            unmeasured = "; ".join(said[:-1]) if walls else _NO_NETWORKS
            return Sandbox(name, tuple(command), environment(), limits, walls, users, unmeasured)
        reasons.append(f"{name}: {said[-1]}")
    raise NoSandbox(
        "no sandbox works here (" + ("; ".join(dict.fromkeys(reasons)) or "there is no bwrap")
        + "): allow user namespaces (`sysctl user.max_user_namespaces=15000`, on Ubuntu also "
        "`sysctl kernel.apparmor_restrict_unprivileged_userns=0`), name another sandbox in "
        "nbgrader_config.py, or grade notebooks that you trust with --trust"
    )  # fmt: skip


def environment() -> dict[str, str]:
    """The environment of student code, with nothing of the grader's own."""
    inside = {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), "/usr/bin", "/bin"]),
        "LANG": "C.UTF-8", "USER": "student", "LOGNAME": "student",
        "PYTHONPATH": str(Path(distlab.__file__).parents[1]), "PYTHONDONTWRITEBYTECODE": "1",
        "GLOO_SOCKET_IFNAME": loopback(),
    }  # fmt: skip
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    return inside if visible is None else {**inside, "CUDA_VISIBLE_DEVICES": visible}


def _candidates(settings: Grading) -> Iterator[tuple[str, list[str], bool, range | None]]:
    """(name, command, does it need walls inside?, the users that it offers) of sandboxes, in the
    order in which they are tried.
    """
    if settings.sandbox != "bwrap":
        command = shlex.split(settings.sandbox)
        yield command[0], command, False, None
        return
    whose: list[tuple[str, range | None]] = [("", None)]
    if os.getuid() == 0:
        first = settings.first_user
        whose = [(", a user for each", range(first, first + _ROOTS))]
    elif theirs := range(_FIRST_SUBORDINATE, bubblewrap.subordinates()):
        whose.insert(0, (", a subordinate user for each", theirs))
    for binary in bubblewrap.binaries():
        for walls in (True, False):
            for told, users in whose:
                name = f"bubblewrap ({binary})" + ("" if walls else ", one for each submission")
                command = bubblewrap.command(binary, walls, settings.disk, users is not None)
                yield name + told, command, walls, users


def _tried(command: Sequence[str], users: range | None) -> tuple[bool, list[str]]:
    """Does Python start inside? And the lines that it, or the sandbox, printed."""
    words = [*command, sys.executable, "-m", WALLS_TRIAL]
    words += [] if users is None else [str(users[-1])]  # if the last is possible, so are the others
    try:
        done = subprocess.run(
            words, env=environment(), capture_output=True, text=True, timeout=TRIAL,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        return False, [str(error)]
    if done.stdout.strip():
        return True, done.stdout.strip().splitlines()
    return False, done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
