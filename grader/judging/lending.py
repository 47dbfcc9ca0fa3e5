"""What submissions judged at once share: GPUs, turns at the machine, the kernel's users."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import os
import shutil
import subprocess
import threading
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path

from distlab import course
from distlab.processes import temporary
from grader import coursedir, secret
from grader.coursedir import NotGraded
from grader.writing import NO_LOCKS


class Devices:
    """The GPUs of each host, lent to one submission at a time.

    Args:
        hosts: {host, or a part of one: its devices as `CUDA_VISIBLE_DEVICES` names them}.
    """

    def __init__(self, hosts: dict[str, Sequence[str]]) -> None:
        self._all = {host: len(devices) for host, devices in hosts.items()}
        self._free = {host: list(devices) for host, devices in hosts.items()}
        self._changed = threading.Condition()

    @contextlib.contextmanager
    def lent(self, host: str, wanted: int) -> Iterator[list[str]]:
        """Wait for `wanted` devices of a host, for all of them where it has fewer."""
        wanted = min(wanted, self._all[host])
        with self._changed:
            self._changed.wait_for(lambda: len(self._free[host]) >= wanted)
            mine = [self._free[host].pop(0) for _ in range(wanted)]
        try:
            yield mine
        finally:
            with self._changed:
                self._free[host] += mine
                self._changed.notify_all()


class Turns:
    """Who may use the machine: many at once, or one alone.

    Whoever wants it alone waits for those who have it, and goes before those who come later.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._sharing = self._waiting = 0
        self._taken = self._over = False

    @contextlib.contextmanager
    def shared(self) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: self._over or not (self._taken or self._waiting))
            self._sharing += 1
        try:
            yield
        finally:
            with self._changed:
                self._sharing -= 1
                self._changed.notify_all()

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        with self._changed:
            self._waiting += 1
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._over or not (self._taken or self._sharing))
            self._waiting -= 1
            self._taken = True
        try:
            yield
        finally:
            with self._changed:
                self._taken = False
                self._changed.notify_all()

    def end(self) -> None:
        """Let nobody wait any more: whoever was interrupted may have kept a turn."""
        with self._changed:
            self._over = True
            self._changed.notify_all()


class Users:
    """The kernel's users, each lent to one submission at a time, because the kernel counts the
    processes of each. Graders of one account lend no user twice: each lent one has a file locked.

    Args:
        users: their numbers; `None` where there are none to lend.
        folder: where these files lie; only this account may write to it.
    """

    def __init__(self, users: range | None, folder: Path | None = None) -> None:
        self._users = users
        if users is not None:
            self._folder = folder or _common_folder() or self._own_folder()

    @contextlib.contextmanager
    def lent(self) -> Iterator[int | None]:
        """A user that no other submission is; `None` where there are none to lend.

        Raises:
            NotGraded: all are lent.
        """
        if self._users is None:
            yield None
            return
        for user in self._users:
            with open(self._folder / str(user), "wb") as lock:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    continue
                try:
                    yield user
                finally:  # closing does not unlock it while a process forked meanwhile has it open
                    fcntl.flock(lock, fcntl.LOCK_UN)
                return
        raise NotGraded(
            f"all {len(self._users)} users that submissions can be are lent: grade fewer at once "
            "(--jobs), then grade it again"
        )

    def _own_folder(self) -> Path:
        """A folder of this process alone, which ends with it."""
        made = temporary.Folder("users-")
        weakref.finalize(self, made.remove)
        return made.path


def _common_folder() -> Path | None:
    """The folder that all graders of this account share: beside the course's secret, and for root
    the same whoever has become root. `None` where it cannot be written to, or has no locks.
    """
    beside = secret.default_path().with_name("users")
    folder = Path("/run/distlab/users") if os.getuid() == 0 else beside
    with contextlib.suppress(OSError):
        folder.mkdir(0o700, parents=True, exist_ok=True)
        if os.access(folder, os.W_OK) and _has_locks(folder):
            return folder
    return None


def _has_locks(folder: Path) -> bool:
    """Some file systems have none, as those of clusters that many machines share."""
    with open(folder / "locks", "wb") as tried:
        try:
            fcntl.flock(tried, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError as error:
            return error.errno not in NO_LOCKS
        fcntl.flock(tried, fcntl.LOCK_UN)
    return True


@functools.cache
def ranks(lab: str) -> int:
    """Ranks that the largest case of a lab needs."""
    return max(
        (
            case.size
            for exercise in course.exercises(lab).values()
            for case in coursedir.cases(exercise)
        ),
        default=1,
    )


def devices() -> list[str]:
    """The GPUs of this process: those it was given, else all of the machine."""
    given = os.environ.get("CUDA_VISIBLE_DEVICES")
    if given is not None:
        return [name for name in given.split(",") if name and name != "-1"]
    if not shutil.which("nvidia-smi"):
        return []
    told = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=False)
    return [str(n) for n, said in enumerate(told.stdout.splitlines()) if said.startswith("GPU ")]
