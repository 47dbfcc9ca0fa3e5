"""The course's secret, from which the random numbers of hidden cases are made.

The repository ships with a public one, so that a fresh clone grades and its committed references
hold. Whoever has the repository can then compute every hidden input. `distlab secret new` makes a
secret of a course's own, outside of the repository, and records hidden references for it beside it.

No secret enters a sandbox: ranks get inputs, and those tell nothing of what they were made of.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import hmac
import json
import os
import secrets
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from grader.paths import REFERENCE, ROOT
from grader.sandbox import bubblewrap, configured

VARIABLE = "DISTLAB_SECRET"
PUBLIC = "public"  # what the variable says for the public secret
BYTES = 32
_PUBLIC_KEY = b"distlab's public secret: every hidden case made with it can be computed"


class SecretUnusable(RuntimeError):
    """The secret that was asked for cannot be read, or must not be used; the message says why."""


@dataclass(frozen=True)
class Secret:
    """A secret and where it lies.

    Args:
        path: the file that holds it; `None` for the public one.
    """

    key: bytes = field(repr=False)
    path: Path | None = None

    @property
    def is_public(self) -> bool:
        return self.path is None

    @property
    def fingerprint(self) -> str:
        """Eight hexadecimal digits that tell secrets apart and say nothing of them."""
        return hashlib.sha256(b"fingerprint of a distlab secret: " + self.key).hexdigest()[:8]

    @property
    def references(self) -> Path:
        """The folder with the reference outputs of the hidden cases that it makes."""
        if self.path is None:
            return REFERENCE
        return self.path.parent / f"reference-{self.fingerprint}"

    def entropy(self, lab: str, exercise: str, case: str) -> bytes:
        """128 bits for one hidden case, from which nothing of another case's can be inferred.

        Args:
            case: the key of the case (`Case.key`), as the repository has it.
        """
        return hmac.digest(self.key, json.dumps([lab, exercise, case]).encode(), "sha256")[:16]

    def derive(self, *purpose: str) -> bytes:
        """A key for a purpose of four words or more, from which nothing of another key, or of the
        entropy of any case, can be inferred.
        """
        if len(purpose) < 4:
            raise ValueError("three words could be those of a case")
        return hmac.digest(self.key, json.dumps(purpose).encode(), "sha256")

    def told(self) -> str:
        """One line for people: which secret is in use."""
        if self.is_public:
            return (
                f"the public secret ({self.fingerprint}), with which anybody can compute their "
                "inputs: make the course's own with `distlab secret new`"
            )
        return f"the course's own secret ({self.fingerprint})"


PUBLIC_SECRET = Secret(_PUBLIC_KEY)
_used: Secret | None = None


def default_path() -> Path:
    """Where a course's own secret lies if nothing else is said."""
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "distlab" / "secret"


def chosen_path() -> Path | None:
    """The file of the course's own secret; `None` where the public one was asked for.

    The environment's DISTLAB_SECRET comes before `c.Grading.secret` in nbgrader_config.py, and both
    before the usual place.
    """
    said = os.environ.get(VARIABLE) or configured().secret
    if said == PUBLIC:
        return None
    return Path(said).expanduser() if said else default_path()


def current() -> Secret:
    """The secret in use. A process keeps to the one that it began with.

    Raises:
        SecretUnusable: one was named that cannot be used.
    """
    return _used if _used is not None else _chosen()


@functools.cache
def _chosen() -> Secret:
    path = chosen_path()
    if path is None or (path == default_path() and not path.exists()):
        return PUBLIC_SECRET
    return read(path)


def read(path: Path) -> Secret:
    """A course's own secret.

    Raises:
        SecretUnusable: there is none, or others than its owner can read it.
    """
    refuse_exposed(path)
    try:
        mode, text = path.stat().st_mode, path.read_text("ascii")
    except (OSError, UnicodeDecodeError) as error:
        raise SecretUnusable(
            f"the course's secret {path} cannot be read ({type(error).__name__}): make it with "
            f"`distlab secret new`, or set {VARIABLE}={PUBLIC} to grade with the public one"
        ) from error
    if stat.S_IMODE(mode) & 0o077:
        raise SecretUnusable(
            f"others can read the course's secret {path}: say `chmod 600 {path}`, and if students "
            "had access to it `distlab secret new --force`"
        )
    try:
        key = bytes.fromhex(text)
    except ValueError:
        key = b""
    if len(key) != BYTES:
        raise SecretUnusable(
            f"{path} does not hold a secret: make one with `distlab secret new --force`"
        )
    return Secret(key, path)


def refuse_exposed(path: Path) -> None:
    """Refuse a place for a secret where student code could read it, or somebody would commit it.

    Raises:
        SecretUnusable
    """
    if not path.is_absolute():
        raise SecretUnusable(f"{path} is no place for a secret: give its whole path, from / on")
    real = path.resolve()
    if real.is_relative_to(ROOT):
        raise SecretUnusable(
            f"{path} is no place for a secret, since it lies in the course's repository: name a "
            f"file elsewhere in {VARIABLE}"
        )
    for folder in bubblewrap.shown():
        if real.is_relative_to(folder.resolve()):
            raise SecretUnusable(
                f"{path} is no place for a secret, since student code can read {folder}: name a "
                f"file elsewhere in {VARIABLE}"
            )


@contextlib.contextmanager
def using(chosen: Secret) -> Iterator[None]:
    """Use this secret in this process, as long as the block lasts."""
    global _used
    before, _used = _used, chosen
    try:
        yield
    finally:
        _used = before


def adopt(path: Path | None, fingerprint: str) -> None:
    """Use the secret in this file, on an engine that judges for another process.

    Raises:
        SecretUnusable: it is not there on this machine, or it is another one.
    """
    global _used
    found = PUBLIC_SECRET if path is None else read(path)
    if found.fingerprint != fingerprint:
        raise SecretUnusable(f"{path} holds another secret here than where grading was started")
    _used = found


def draw(path: Path, force: bool = False) -> Secret:
    """A new secret for this file, which `keep` will write.

    Raises:
        SecretUnusable: there is one already, or its place will not do.
    """
    refuse_exposed(path)
    if path.is_dir():
        raise SecretUnusable(f"{path} is a folder: name a file in it")
    if path.exists() and not force:
        raise SecretUnusable(
            f"{path} holds a secret already: with another one, all verdicts reached with it are "
            "stale and every submission is judged again; if that is what you want, add --force"
        )
    return Secret(secrets.token_bytes(BYTES), path)


def keep(new: Secret) -> Path | None:
    """Write a new secret to its file, readable by its owner alone; returns where the one that was
    there before lies now, if there was one.

    Raises:
        SecretUnusable: it cannot be written; the one that was there is there still.
    """
    path, before = new.path, None
    assert path is not None  # `draw` was told where it goes
    with contextlib.suppress(SecretUnusable):  # what is no secret is not kept
        before = path.with_name(f"{path.name}-{read(path).fingerprint}")
    fresh = path.with_name(f"{path.name}.{new.fingerprint}.new")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _write(fresh, new.key.hex() + "\n")
        if before is not None:  # a second name for the old one: at no moment is there none
            before.unlink(missing_ok=True)
            try:
                os.link(path, before)
            except OSError:  # some file systems have no hard links
                _write(before, path.read_text("ascii"))
        fresh.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            fresh.unlink()
        raise SecretUnusable(
            f"{path} cannot be written ({error.strerror}), and the secret that was there is there "
            "still: make room, then run the same command again"
        ) from error
    return before


def _write(path: Path, text: str) -> None:
    """Write a new file that its owner alone can read."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(file, "w", encoding="ascii") as opened:
        opened.write(text)
        opened.flush()
        os.fsync(opened.fileno())
