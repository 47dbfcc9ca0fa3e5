"""The exchange as the grader sees it: what has arrived, and which labs are handed out.

nbgrader_config.py says which it is: a folder that everybody writes to, or a service that is asked
over HTTP (`distlab.exchange`).
"""

from __future__ import annotations

import os
import pwd
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from typing import Any, Protocol

from distlab.exchange import manifest as manifests
from distlab.exchange.base import HTTPExchange
from distlab.exchange.client import ExchangeFailed
from distlab.exchange.manifest import File, Manifest
from distlab.processes import temporary
from grader.coursedir import GradingFailed
from grader.looks.inbox import ExchangeInbox, Inbox, ServiceInbox
from grader.plugins.release import put_notice
from grader.policy.rules import Policy

SETTLED = 60.0  # seconds without a change after which a submission counts as complete
MOST_GLANCED = 100  # incomplete submissions that a glance looks at
_SECRET = "submission_secret.txt"  # what nbgrader writes last


class CourseExchange(Protocol):
    """A course's part of an exchange.

    Args:
        folder: where it lies on this machine's disk; `None` if it is a service.
    """

    folder: Path | None

    def arrived(self) -> Iterator[tuple[str, str, str]]:
        """(name, student, lab) of each complete submission. It has another name when it has changed
        since it seemed to be complete.
        """

    def stirs(self) -> bool:
        """May there be more to see than at the last `arrived`? To ask costs far less than that does
        in a large class; what cannot tell it cheaply says no.
        """

    def is_released(self, lab: str) -> bool: ...

    def notice(self, lab: str, policy: Policy) -> None:
        """Bring the notice on due date and rules up to date in a lab that is handed out."""

    def second_looks(self) -> Inbox:
        """The requests for second looks that have arrived."""

    def own_inputs(self) -> Mapping[tuple[str, str], str] | None:
        """{(student, lab): digest} of the own inputs that the exchange has for students; `None`
        where students find the files in `folder` themselves.

        Raises:
            GradingFailed: the exchange does not say.
        """

    def hand_out(self, student: str, lab: str, path: Path) -> None:
        """Give the exchange a file of own inputs for a student.

        Raises:
            GradingFailed: the exchange does not take it.
        """


class SharedFolder:
    """An exchange on this machine's own disk.

    Args:
        folder: the course's, with inbound and outbound.
    """

    def __init__(self, folder: Path) -> None:
        self.folder: Path | None = folder
        self._inbound, self._outbound = folder / "inbound", folder / "outbound"
        # of submissions not marked as complete: {name: (ctime of the folder, by the clock of the
        # machine that it lies on; since when it has been this, by our monotonic clock)}
        self._since: dict[str, tuple[int, float]] = {}
        self._open: set[str] = set()  # that were complete at the last look, and opened to all
        self._changed = 0  # mtime of the folder before the last look

    def __str__(self) -> str:
        return str(self._inbound)

    def arrived(self) -> Iterator[tuple[str, str, str]]:
        try:
            self._changed = self._inbound.stat().st_mtime_ns
            entries = list(os.scandir(self._inbound))
        except FileNotFoundError:  # nothing was released yet
            return
        since, self._since = self._since, {}
        was_open, self._open = self._open, set()
        for entry in entries:
            # STUDENT+LAB+WHEN+RANDOM; a student's name may have a + in it
            student, _, lab = entry.name.rpartition("+")[0].rpartition("+")[0].rpartition("+")
            with suppress(OSError):  # gone, or not to be seen now: there is another look
                found = entry.stat(follow_symlinks=False)
                if not is_accounts(student, found.st_uid):
                    continue  # in another's name: it is never collected
                # nbgrader's last step is to open the folder to all. It can be open from the begin
                # on: where the umask is 0, or when the rights of the student's folder are copied
                name = entry.name
                opened = found.st_mode & 0o777 == 0o777
                if opened and (name in was_open or _whole(self._inbound / name)):
                    self._open.add(name)
                    yield name, student, lab
                elif self._settled(name, found, since):
                    # what was only slow to be copied arrives once more when it goes on
                    yield f"{name} {found.st_ctime_ns}", student, lab

    def _settled(
        self, name: str, found: os.stat_result, since: Mapping[str, tuple[int, float]]
    ) -> bool:
        """Has it long been unchanged? The clock of this machine and that of the one that has the
        folder are not compared, since they may differ by minutes, or be set.
        """
        now = time.monotonic()
        changed, known = since.get(name, (None, now))
        if changed != found.st_ctime_ns:
            known = now
        self._since[name] = found.st_ctime_ns, known
        return now - known > SETTLED

    def stirs(self) -> bool:
        try:
            if self._inbound.stat().st_mtime_ns != self._changed:
                return True
            recent = time.monotonic() - SETTLED
            copied = [
                (name, ctime) for name, (ctime, known) in self._since.items() if known > recent
            ]
            return any(
                (self._inbound / name).stat(follow_symlinks=False).st_ctime_ns != ctime
                for name, ctime in copied[:MOST_GLANCED]
            )
        except OSError:  # the next look tells
            return False

    def is_released(self, lab: str) -> bool:
        return (self._outbound / lab).exists()

    def notice(self, lab: str, policy: Policy) -> None:
        put_notice(self._outbound / lab, lab, policy)

    def second_looks(self) -> Inbox:
        return ExchangeInbox(self._inbound)

    def own_inputs(self) -> Mapping[tuple[str, str], str] | None:
        return None

    def hand_out(self, student: str, lab: str, path: Path) -> None:
        """Nothing to do: the file lies where the student's server finds it."""


def _whole(submission: Path) -> bool:
    """Is the secret there, which nbgrader writes when everything else is?"""
    try:
        return (submission / _SECRET).lstat().st_size > 0
    except OSError:
        return False


def is_accounts(name: str, uid: int) -> bool:
    """Does the account of this name have this user id?"""
    try:
        return pwd.getpwnam(name).pw_uid == uid
    except (KeyError, ValueError):  # the latter for names that are not UTF-8
        return False


class Service:
    """An exchange that is reached over HTTP.

    Args:
        config: nbgrader's, with the service's address.
        course: the course's id.
    """

    def __init__(self, config: Any, course: str) -> None:
        self.folder: Path | None = None
        self._exchange, self._course = HTTPExchange(config=config), course

    def __str__(self) -> str:
        return str(self._exchange.url)

    def arrived(self) -> Iterator[tuple[str, str, str]]:
        try:
            with self._exchange.service() as client:
                found = client.submissions(self._course, everybody=True)
        except ExchangeFailed as error:
            raise GradingFailed(str(error)) from error
        yield from ((one["name"], one["student"], one["lab"]) for one in found)

    def stirs(self) -> bool:
        return False

    def is_released(self, lab: str) -> bool:
        try:
            with self._exchange.service() as client:
                labs = client.labs()
        except ExchangeFailed as error:
            raise GradingFailed(str(error)) from error
        return any((one["course"], one["lab"]) == (self._course, lab) for one in labs)

    def notice(self, lab: str, policy: Policy) -> None:
        """Hand the lab out anew if its notice has changed."""
        try:
            with temporary.folder("notice-") as folder, self._exchange.service() as client:
                copy, where = folder / lab, ("labs", self._course, lab)
                self._exchange.fetched(client, where, client.lab(self._course, lab), copy)
                if put_notice(copy, lab, policy):
                    files = manifests.of_folder(copy)
                    client.release(self._course, lab, copy, files, replace=True)
        except ExchangeFailed as error:
            if error.status != HTTPStatus.NOT_FOUND:  # which means that it is not handed out
                raise GradingFailed(f"{lab} is handed out as before: {error}") from error

    def second_looks(self) -> Inbox:
        return ServiceInbox(self._exchange.service, self._course)

    def own_inputs(self) -> Mapping[tuple[str, str], str] | None:
        try:
            with self._exchange.service() as client:
                found = client.own_inputs(self._course, everybody=True)
            return {(one["student"], one["lab"]): one["sha256"] for one in found}
        except ExchangeFailed as error:
            raise GradingFailed(f"own inputs are not handed out: {error}") from error

    def hand_out(self, student: str, lab: str, path: Path) -> None:
        file = File(path.name, path.stat().st_size, manifests.sha256(path))
        try:
            with self._exchange.service() as client:
                client.hand_out(self._course, student, lab, path.parent, Manifest((file,)))
        except ExchangeFailed as error:
            raise GradingFailed(f"own inputs are not handed out: {error}") from error


def of(config: Any, root: str, course: str) -> CourseExchange:
    """The exchange that nbgrader's configuration names."""
    if "HTTPExchange" in config and config.HTTPExchange.get("url"):
        return Service(config, course)
    return SharedFolder(Path(root, course))
