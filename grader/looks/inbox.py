"""Requests as they arrive; whose they are is never taken from the request itself.

In nbgrader's exchange on disk a request is a file beside the submissions, and belongs to the file's
owner. The exchange's service knows from the Hub who handed a request over.
"""

from __future__ import annotations

import contextlib
import datetime
import os
import pwd
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any, Protocol

from distlab.checking.second_look import LARGEST, PREFIX, Mistaken, Request, parsed
from distlab.exchange.client import Client, ExchangeFailed
from distlab.exchange.store import FORMAT
from distlab.processes import untrusted
from grader.coursedir import GradingFailed
from grader.looks.diary import MOST, MOST_ASKED, Diary, State, about
from grader.policy.lateness import UTC

MOST_FILES = 200  # of one account that are opened, the newest ones


@dataclass(frozen=True)
class Received:
    """A request as it came.

    Args:
        id: unique to this request.
        student: the account that handed it over.
    """

    id: str
    student: str
    when: datetime.datetime
    content: bytes


class Inbox(Protocol):
    """Where requests arrive."""

    def found(self) -> Iterator[Received]: ...
    def done(self, one: Received) -> None: ...  # it is kept elsewhere now


class ExchangeInbox:
    """The folder of nbgrader's exchange that students hand in to.

    Students can write any file there, and change or replace it at any moment. What they cannot
    choose is its owner, and its ctime, which counts as the time of asking.
    """

    def __init__(self, inbound: Path) -> None:
        self._inbound = inbound

    def found(self) -> Iterator[Received]:
        """The requests, the oldest first."""
        try:
            with untrusted.Folder.at(self._inbound) as folder:
                for name in self._names(folder):
                    with contextlib.suppress(OSError, KeyError):
                        yield self._read(folder, name)
        except OSError:
            return  # nothing was released yet

    def _names(self, folder: untrusted.Folder) -> list[str]:
        """The newest of each account, so that whoever writes thousands is in nobody's way."""
        by_owner: dict[int, list[tuple[float, str]]] = {}
        for name in folder.names():
            if name.startswith(PREFIX):
                with contextlib.suppress(OSError):
                    about_it = os.stat(name, dir_fd=folder.handle, follow_symlinks=False)
                    by_owner.setdefault(about_it.st_uid, []).append((about_it.st_ctime, name))
        return [
            name for _, name in sorted(
                one for some in by_owner.values() for one in sorted(some)[-MOST_FILES:]
            )
        ]  # fmt: skip

    @staticmethod
    def _read(folder: untrusted.Folder, name: str) -> Received:
        with untrusted.plain_file(name, folder=folder.handle) as file:
            found = os.fstat(file.fileno())
            if found.st_nlink > 1:  # a hard link, perhaps to somebody else's file
                raise untrusted.NotPlain(f"{name} has several names")
            student = pwd.getpwuid(found.st_uid).pw_name
            when = datetime.datetime.fromtimestamp(found.st_ctime, UTC)
            content = file.read(LARGEST + 1) or b""
        return Received(f"{found.st_uid}/{name}", student, when, content)

    def done(self, one: Received) -> None:
        """Delete the file, if this account may; otherwise its id shows that it was taken."""
        with contextlib.suppress(OSError):
            (self._inbound / one.id.partition("/")[2]).unlink()


class ServiceInbox:
    """The requests that an exchange's service has for a course.

    Args:
        service: opens it, for an account that teaches the course.
    """

    def __init__(
        self, service: Callable[[], contextlib.AbstractContextManager[Client]], course: str
    ) -> None:
        self._service, self._course = service, course
        self._names: dict[str, str] = {}  # by a request's id
        self._away = False

    def found(self) -> Iterator[Received]:
        """The requests, the oldest first.

        Raises:
            GradingFailed: the service does not give them.
        """
        try:
            with self._service() as client:
                for one in client.second_looks(self._course):
                    with contextlib.suppress(_Gone):
                        yield self._fetched(client, one["name"], one["student"], one["when"])
        except ExchangeFailed as error:
            raise GradingFailed(f"requests for second looks are not seen: {error}") from error

    def _fetched(self, client: Client, name: str, student: str, when: str) -> Received:
        # by the student's own key for it: a request that was sent again, because the service's
        # answer was lost, is the same one
        id = f"{student}/{name.rpartition('+')[2]}"
        self._names[id] = name
        try:
            content = client.second_look(self._course, name).encode()
        except ExchangeFailed as error:
            if error.status == HTTPStatus.NOT_FOUND:  # another program of the grader's has it
                raise _Gone from error
            raise
        asked = datetime.datetime.strptime(when, FORMAT).replace(tzinfo=UTC)
        return Received(id, student, asked, content)

    def done(self, one: Received) -> None:
        """Have the service delete it. A service that does not answer is not waited for again; the
        next command tells it.
        """
        if self._away:
            return
        try:
            with self._service() as client:
                client.take_second_look(self._course, self._names[one.id])
        except ExchangeFailed:
            self._away = True


class _Gone(Exception):
    """Somebody else has taken the request."""


def take_in(inbox: Inbox, diary: Diary, graded: Known) -> list[str]:
    """Enter what has arrived; returns a sentence on each request that is refused.

    Args:
        graded: has this lab of a student's been graded?

    Raises:
        Mistaken, NotWritten: the diary takes no more; what was not entered stays in the inbox.
    """
    refused = []
    arrived = list(inbox.found())
    if not arrived:
        return []
    with diary.adding() as adding:
        for one in arrived:
            if one.id not in adding.state.taken:
                try:
                    event = _asked(one, adding.state, graded)
                except Mistaken as reason:
                    refused.append(f"A request of {one.student}'s is left out: {reason}.")
                else:
                    adding.add(event)
            inbox.done(one)
    return refused


class Known(Protocol):
    def __call__(self, lab: str, student: str) -> bool: ...


def _asked(one: Received, state: State, graded: Known) -> dict[str, Any]:
    """The event of a request.

    Raises:
        Mistaken: it is none, or nothing more can be asked.
    """
    wanted: Request = parsed(one.content)
    if not graded(wanted.lab, one.student):
        raise Mistaken(f"nothing of theirs was graded in {wanted.lab}")
    look = state.look(one.student, wanted.lab, wanted.exercise)
    if len(look.asked) >= MOST:
        raise Mistaken(f"they have asked about {wanted.exercise} {MOST} times already")
    asked = (other for other in state.looks.values() if other.student == one.student)
    if sum(len(other.asked) for other in asked) >= MOST_ASKED:
        raise Mistaken(f"they have asked {MOST_ASKED} times already")
    event = about(look, "asked", said=wanted.said, request=one.id)
    return {**event, "when": one.when.isoformat(timespec="seconds")}
