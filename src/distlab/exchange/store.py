"""The exchange on the service's own disk, in nbgrader's layout.

    COURSE/outbound/LAB/…                         labs that are handed out
    COURSE/inbound/STUDENT+LAB+WHEN+KEY/…         what was handed in
    COURSE/feedback/HASH.html                     pages, named by a submission's secret
    COURSE/second-looks/…                         what students ask about these (`requests`)
    .begun/COURSE/PERSON/…                        what is still on its way (`staging`)

Everything is complete on the disk before it gets its name, so that at every moment, even after a
power failure, a submission is there as a whole or not at all. Only one process writes here.
"""

from __future__ import annotations

import contextlib
import datetime
import fcntl
import hashlib
import os
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

from distlab.exchange import manifest as manifests
from distlab.exchange import names, staging
from distlab.exchange.limits import Limits
from distlab.exchange.manifest import File, Manifest
from distlab.exchange.names import RESERVED, Refused
from distlab.exchange.own_inputs import OwnInputs
from distlab.exchange.requests import Asked, Requests
from distlab.exchange.staging import Spoilt, Staging
from distlab.processes import untrusted

FORMAT = "%Y-%m-%d %H:%M:%S.%f UTC"
_OLD = ".old-"  # begins the name of a lab while its new form takes its place
_GONE = ".gone-"  # and of one that is handed out no longer
_REMEMBERED = 100_000  # digests


class Missing(Exception):
    """Contents are still to be sent: {digest: bytes that are there}."""

    def __init__(self, have: dict[str, int]) -> None:
        super().__init__("contents are missing")
        self.have = have


class NotThere(Exception):
    """There is no such thing, or not for whoever asks."""


class Busy(RuntimeError):
    """Another service has this exchange."""


@dataclass(frozen=True)
class Submission:
    """A folder of inbound."""

    course: str
    student: str
    lab: str
    when: str
    key: str

    @property
    def name(self) -> str:
        return names.submission(self.student, self.lab, self.when, self.key)


class Store:
    """An exchange.

    Args:
        root: its folder, which this process alone writes to.
        clock: seconds since 1970.

    Raises:
        Busy: another process has it.
    """

    def __init__(
        self, root: Path, limits: Limits | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        self.root, self.limits, self._clock = root, limits or Limits(), clock
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = (root / ".lock").open("a")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Busy(f"another service has {root}: an exchange has one") from error
        except OSError as error:
            raise Busy(
                f"{root} cannot be locked ({error.strerror}): keep the exchange on a disk of the "
                "service's own machine"
            ) from error
        self._swapping = threading.Lock()  # of labs, and looking at them
        self._digests: dict[tuple[int, ...], str] = {}
        self._recover()
        self.requests = Requests(root, self.limits, self._now)
        self.own_inputs = OwnInputs(
            root, self._file, lambda course, who, files: self._assembled(
                self.staging(course, who), files, {}
            ),
        )  # fmt: skip

    def _recover(self) -> None:
        """Finish or undo what a service that was killed was doing."""
        staging.sweep(self.root, self.limits.forgotten, assembled=True)
        for old in self.root.glob(f"*/outbound/{_OLD}*"):
            lab = old.with_name(old.name.removeprefix(_OLD))
            if lab.exists():
                shutil.rmtree(old)
            else:
                os.rename(old, lab)
        for gone in self.root.glob(f"*/outbound/{_GONE}*"):
            shutil.rmtree(gone, ignore_errors=True)

    def sweep(self) -> None:
        """Remove uploads that nobody goes on with."""
        staging.sweep(self.root, self.limits.forgotten)

    def close(self) -> None:
        self._lock.close()

    def staging(self, course: str, who: str) -> Staging:
        return Staging(self.root, course, who, self.limits)

    # labs

    def labs(self, course: str) -> list[str]:
        """The labs that are handed out."""
        with self._swapping, contextlib.suppress(FileNotFoundError):
            return sorted(
                entry.name for entry in os.scandir(self._outbound(course))
                if entry.is_dir(follow_symlinks=False) and not entry.name.startswith(".")
            )  # fmt: skip
        return []

    def lab(self, course: str, lab: str) -> Manifest:
        """Raises:
        NotThere: it is not handed out.
        """
        with self._swapping:
            return self._manifest(self._outbound(course) / lab)

    def open_lab(self, course: str, lab: str, digest: str) -> FileIO:
        with self._swapping:
            return self._open(self._outbound(course) / lab, digest)

    def release(
        self, course: str, who: str, lab: str, manifest: Manifest, replace: bool = False
    ) -> None:
        """Hand out a lab, once all its contents are there.

        Raises:
            Missing: they are not.
            Refused: it is handed out already, and is not to be replaced.
        """
        place = self._outbound(course) / lab
        if place.exists() and not replace:
            if self._manifest(place) == manifest:  # asked again, because the answer was lost
                return
            raise Refused(f"{lab} is handed out already: --force hands it out anew")
        new = self._assembled(self.staging(course, who), manifest, {})
        old = place.with_name(f"{_OLD}{lab}")
        with staging.filled(), staging.whole_or_gone(new), self._swapping:
            self._inbound(course).mkdir(parents=True, exist_ok=True)
            place.parent.mkdir(parents=True, exist_ok=True)
            if place.exists():
                os.rename(place, old)
            try:
                os.rename(new, place)
            except OSError:
                with contextlib.suppress(FileNotFoundError):
                    os.rename(old, place)
                raise
            staging.sync_names(place.parent)
            shutil.rmtree(old, ignore_errors=True)  # before anybody else needs its name

    def withdraw(self, course: str, lab: str) -> None:
        """Hand a lab out no longer; what was handed in stays."""
        place = self._outbound(course) / lab
        gone = place.with_name(f"{_GONE}{lab}-{secrets.token_hex(4)}")
        with self._swapping:
            try:
                os.rename(place, gone)
            except FileNotFoundError:
                raise NotThere from None
            staging.sync_names(place.parent)
        shutil.rmtree(gone, ignore_errors=True)

    # submissions

    def hand_in(
        self, course: str, student: str, lab: str, manifest: Manifest, key: str
    ) -> Submission:
        """Take a submission, once all its contents are there. The same key twice is one
        submission, at the time of the first.

        Raises:
            Missing: they are not.
            NotThere: the lab is not handed out.
            Refused: it is too much.
        """
        earlier = [one for one in self.submissions(course, student) if one.lab == lab]
        for one in earlier:
            if one.key == key:
                return one
        if lab not in self.labs(course):
            raise NotThere
        if len(earlier) >= self.limits.submissions:
            raise Refused(
                f"{lab} was handed in {len(earlier)} times: more is not taken; the last one counts"
            )
        self._need_room(self.submissions(course, student), manifest)
        # whether everything was sent, and is undamaged, is known before the time is noted
        new = self._assembled(
            self.staging(course, student), manifest,
            {"submission_secret.txt": secrets.token_hex(64).encode()},
        )  # fmt: skip
        made = Submission(course, student, lab, self._now(earlier), key)
        with staging.filled(), staging.whole_or_gone(new):
            (new / "timestamp.txt").write_text(made.when, "ascii")
            staging.sync(new)
            inbound = self._inbound(course)
            inbound.mkdir(parents=True, exist_ok=True)
            os.rename(new, inbound / made.name)
            staging.sync_names(inbound)
        return made

    def submissions(self, course: str, student: str | None = None) -> list[Submission]:
        """What everybody, or one student, has handed in; each lab's in the order of the times."""
        found = []
        with contextlib.suppress(FileNotFoundError):
            for entry in os.scandir(self._inbound(course)):
                parts = names.parts(entry.name)
                if parts and student in (None, parts[0]):
                    found.append(Submission(course, *parts))
        return sorted(found, key=lambda one: (one.student, one.lab, one.when))

    def files(self, submission: Submission) -> Manifest:
        return self._manifest(self.folder(submission))

    def open_file(self, submission: Submission, digest: str) -> FileIO:
        return self._open(self.folder(submission), digest)

    def folder(self, submission: Submission) -> Path:
        return self._inbound(submission.course) / submission.name

    def secret(self, submission: Submission) -> str:
        """The secret from which the names of its feedback pages are made; empty without one."""
        path = self.folder(submission) / "submission_secret.txt"
        try:
            return untrusted.read(path, 1000).decode("ascii").strip()
        except (OSError, ValueError):
            return ""

    # feedback

    def release_feedback(self, course: str, who: str, manifest: Manifest) -> None:
        """Hand out feedback pages, once all are there.

        Raises:
            Missing: they are not.
        """
        for file in manifest.files:
            names.page(file.path)
        new = self._assembled(self.staging(course, who), manifest, {})
        place = self._feedback(course)
        with staging.filled(), staging.whole_or_gone(new):
            place.mkdir(parents=True, exist_ok=True)
            for file in manifest.files:
                os.replace(new / file.path, place / file.path)
            staging.sync_names(place)
            new.rmdir()

    def feedback(self, submission: Submission) -> dict[str, File]:
        """{notebook: its page} of a submission, for the pages that there are; the path of each is
        its name in the folder of feedback.
        """
        secret, found = self.secret(submission), {}
        if not secret:
            return {}
        with contextlib.suppress(FileNotFoundError):
            for path in sorted(self.folder(submission).glob("*.ipynb")):
                page = page_of(secret, path.stem)
                with contextlib.suppress(OSError):
                    found[path.stem] = self._file(self._feedback(submission.course) / page, page)
        return found

    def open_feedback(self, submission: Submission, digest: str) -> FileIO:
        for file in self.feedback(submission).values():
            if file.sha256 == digest:
                return untrusted.plain_file(self._feedback(submission.course) / file.path)
        raise NotThere

    # what they have in common

    def _outbound(self, course: str) -> Path:
        return self.root / course / "outbound"

    def _inbound(self, course: str) -> Path:
        return self.root / course / "inbound"

    def _feedback(self, course: str) -> Path:
        return self.root / course / "feedback"

    def _assembled(self, begun: Staging, manifest: Manifest, more: dict[str, bytes]) -> Path:
        if have := begun.have(manifest):
            for digest, there in list(have.items()):
                if there > manifest.sizes[digest]:  # never what its name says
                    begun.drop(digest)
                    have[digest] = 0
            raise Missing(have)
        with contextlib.suppress(Spoilt, FileNotFoundError):
            return begun.assemble(manifest, more)
        raise Missing(begun.have(manifest))

    def _now(self, earlier: Iterable[Submission | Asked]) -> str:
        """The time now; later than those of `earlier`, even if the clock was set back meanwhile."""
        now = datetime.datetime.fromtimestamp(self._clock(), datetime.timezone.utc)
        for one in earlier:
            with contextlib.suppress(ValueError):
                last = datetime.datetime.strptime(one.when, FORMAT)
                after = last.replace(tzinfo=now.tzinfo) + datetime.timedelta(microseconds=1)
                now = max(now, after)
        return now.strftime(FORMAT)

    def _need_room(self, kept: list[Submission], manifest: Manifest) -> None:
        """Raises:
        Refused: with these files, more would be kept of a student than the limits allow.
        """
        sizes = [
            path.stat().st_size
            for one in kept for path in manifests.plain_files(self.folder(one))
        ]  # fmt: skip
        for there, more, most, what in (
            (sum(sizes), manifest.size, self.limits.kept, "bytes"),
            (len(sizes), len(manifest.files), self.limits.kept_files, "files"),
        ):
            if there + more > most:
                raise Refused(
                    f"{there:,} {what} were handed in already, and {most:,} are kept of a "
                    "student: hand in smaller folders, or ask your instructor"
                )

    def _manifest(self, folder: Path) -> Manifest:
        try:
            found = [
                self._file(path, path.relative_to(folder).as_posix())
                for path in manifests.plain_files(folder)
            ]
        except FileNotFoundError:
            raise NotThere from None
        return Manifest(tuple(found))

    def _file(self, path: Path, name: str) -> File:
        """A file with its digest, which is remembered until the file changes."""
        about = os.stat(path, follow_symlinks=False)
        known = (about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)
        if (digest := self._digests.get(known)) is None:
            digest = manifests.sha256(path)
            if len(self._digests) >= _REMEMBERED:
                self._digests.clear()
            self._digests[known] = digest
        return File(name, about.st_size, digest)

    def _open(self, folder: Path, digest: str) -> FileIO:
        for file in self._manifest(folder).files:
            if file.sha256 == digest:
                return untrusted.plain_file(folder / file.path)
        raise NotThere


def page_of(secret: str, notebook: str) -> str:
    """The name of a notebook's feedback page: `nbgrader.utils.notebook_hash`, without nbgrader, so
    that the service's image needs none.
    """
    return f"{hashlib.md5(f'{secret}{notebook}'.encode()).hexdigest()}.html"


def own_files(manifest: Manifest) -> Manifest:
    """A submission's files without those that the exchange adds itself."""
    return Manifest(tuple(file for file in manifest.files if file.path not in RESERVED))
