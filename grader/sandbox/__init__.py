"""The sandbox that strangers' code runs in: which one, is it there, and a zygote inside it."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from traitlets import Bool, Integer, Unicode
from traitlets.config import Config, Configurable, PyFileConfigLoader

import distlab
from distlab.isolation import Limits
from distlab.zygote import PRELOAD, Zygote, loopback
from grader.places import ROOT
from grader.sandbox import bubblewrap

TRIAL = 30.0  # seconds in which a sandbox has to start


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
    disk = Integer(Limits.disk, help="bytes that a submission may write").tag(config=True)


def configured(**changes) -> Grading:
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
    """

    name: str
    prefix: tuple[str, ...] = ()
    env: dict[str, str] | None = None
    limits: Limits | None = None
    walls: bool = False

    @property
    def shared(self) -> bool:
        """May several submissions run in one zygote of it?"""
        return self.walls or self.limits is None

    def zygote(self, more: Sequence[str] = ()) -> Zygote:
        """A new zygote inside, with `more` modules imported."""
        return Zygote((*PRELOAD, *more), self.prefix, self.env)


TRUSTED = Sandbox("none: the code is trusted")


def choose(settings: Grading) -> Sandbox:
    """The configured sandbox, tried out.

    Raises:
        NoSandbox: it does not work; the message says why and what to do.
    """
    if settings.trust:
        return TRUSTED
    limits = Limits(settings.memory, settings.processes, settings.files, settings.disk)
    reasons = []
    for name, command, walls in _candidates(settings):
        works, said = _tried(command)
        if works and (said == "isolated" or not walls):
            return Sandbox(name, tuple(command), environment(), limits, said == "isolated")
        reasons.append(f"{name}: {said}")
    raise NoSandbox(
        "no sandbox works here (" + ("; ".join(dict.fromkeys(reasons)) or "there is no bwrap")
        + "): allow user namespaces (`sysctl user.max_user_namespaces=15000`, on Ubuntu also "
        "`sysctl kernel.apparmor_restrict_unprivileged_userns=0`), name another sandbox in "
        "nbgrader_config.py, or grade notebooks that you trust with --trust"
    )  # fmt: skip


def environment() -> dict[str, str]:
    """The environment of student code: nothing of the grader's own."""
    inside = {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), "/usr/bin", "/bin"]),
        "LANG": "C.UTF-8", "USER": "student", "LOGNAME": "student",
        "PYTHONPATH": str(Path(distlab.__file__).parents[1]), "PYTHONDONTWRITEBYTECODE": "1",
        "GLOO_SOCKET_IFNAME": loopback(),
    }  # fmt: skip
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    return inside if visible is None else {**inside, "CUDA_VISIBLE_DEVICES": visible}


def _candidates(settings: Grading) -> Iterator[tuple[str, list[str], bool]]:
    """(name, command, must submissions have walls of their own) to be tried in order."""
    if settings.sandbox != "bwrap":
        command = shlex.split(settings.sandbox)
        yield command[0], command, False
        return
    for binary in bubblewrap.binaries():
        for walls in (True, False):
            name = f"bubblewrap ({binary})" + ("" if walls else ", one for each submission")
            yield name, bubblewrap.command(binary, walls, settings.disk), walls


def _tried(command: Sequence[str]) -> tuple[bool, str]:
    """Does Python start inside? And what it, or the sandbox, said."""
    words = [*command, sys.executable, "-m", "distlab.isolation"]
    try:
        done = subprocess.run(
            words, env=environment(), capture_output=True, text=True, timeout=TRIAL,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        return False, str(error)
    if done.stdout.strip():
        return True, done.stdout.strip().splitlines()[-1]
    return False, (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
