"""The client of the exchange's service, which retries requests and resumes transfers.

A request that fails for a reason that may pass (no connection, a service that is being restarted,
too many requests) is made again until `patience` is over. Uploads and downloads go on where the
last attempt stopped, even that of a program that was killed.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

import httpx

from distlab.exchange import manifest as manifests
from distlab.exchange.limits import CHUNK, MB, Limits
from distlab.exchange.manifest import Manifest
from distlab.exchange.names import Refused

PATIENCE = 120.0  # seconds
#: limits on what a service says: its sizes are believed, its names are checked as strictly as there
_ANY_SIZE = Limits(file=10_000_000 * MB, submission=10_000_000 * MB, files=100_000)
_PASSING = {429, 500, 502, 503, 504}
_ROUNDS = 5  # how often files are sent before they are said to change meanwhile
#: errors of file systems without locks, as homes on clusters may be
_NO_LOCKS = {errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK}
_OLD = 7 * 86400.0  # seconds after which a download that was cut off is not resumed


class ExchangeFailed(Exception):
    """The exchange did not do what was asked; the message says why. `status` is HTTP's, 0 without
    an answer.
    """

    def __init__(self, said: str, status: int = 0) -> None:
        super().__init__(said)
        self.status = status

    @property
    def exit_status(self) -> int:
        """The exit status of a command that this ends: 2 where what was asked for is impossible."""
        return 2 if 400 <= self.status < 500 and self.status not in (401, 429) else 1


class Client:
    """The exchange's service. A context manager.

    Args:
        url: its address, .../services/exchange.
        token: the Hub's token of whoever asks.
        patience: seconds for which a request that fails is made again.
        parts: the folder for downloads that are not complete.
        transport: stands in for the network in tests.
    """

    def __init__(
        self,
        url: str,
        token: str,
        patience: float = PATIENCE,
        parts: Path | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._patience, self._parts, self._url = patience, parts, url
        self._http = httpx.Client(
            base_url=f"{url.rstrip('/')}/api/", headers={"Authorization": f"token {token}"},
            timeout=httpx.Timeout(60.0, connect=10.0), trust_env=False, transport=transport,
        )  # fmt: skip

    def labs(self) -> list[dict[str, Any]]:
        """The labs that are handed out: `course`, `lab` and `notebooks` of each."""
        return self._listed("labs", "labs")

    def lab(self, course: str, lab: str) -> Manifest:
        return _manifest(self._ask("GET", _path("labs", course, lab)))

    def submissions(self, course: str = "", everybody: bool = False) -> list[dict[str, Any]]:
        """The user's own submissions, or everybody's in a course that they teach: `course`,
        `student`, `lab`, `when` and `name` of each; of their own also `notebooks` and `feedback`.
        """
        query = {"course": course, **({"of": "everybody"} if everybody else {})}
        return self._listed("submissions", "submissions", params=query)

    def submission(self, course: str, name: str) -> tuple[Manifest, str]:
        """A submission's files, and what its feedback pages are named by (empty for students)."""
        said = self._ask("GET", _path("submissions", course, name))
        return _manifest(said), str(said.get("secret", ""))

    def hand_in(self, course: str, lab: str, folder: Path, files: Manifest, key: str) -> Any:
        """Hand in files of a folder; returns what the service says of the submission, its `secret`
        included. With the same `key` again it is the same submission.
        """
        content = {"files": files.as_json(), "key": key}
        return self._send("POST", _path("hand-in", course, lab), course, folder, files, content)[
            "submission"
        ]

    def release(
        self, course: str, lab: str, folder: Path, files: Manifest, replace: bool = False
    ) -> None:
        """Hand out a lab."""
        content = {"files": files.as_json(), "replace": replace}
        self._send("PUT", _path("labs", course, lab), course, folder, files, content)

    def withdraw(self, course: str, lab: str) -> None:
        """Hand a lab out no longer."""
        self._ask("DELETE", _path("labs", course, lab))

    def release_feedback(self, course: str, folder: Path, files: Manifest) -> None:
        """Hand out feedback pages."""
        content = {"files": files.as_json()}
        self._send("PUT", _path("feedback", course), course, folder, files, content)

    def ask_second_look(self, course: str, content: str, key: str) -> None:
        """Hand over a request for a second look. The same `key` again is the same request."""
        self._ask("POST", _path("second-looks", course), json={"content": content, "key": key})

    def second_looks(self, course: str) -> list[dict[str, Any]]:
        """The requests that wait in a course that the user teaches: `name`, `student` and `when` of
        each, the oldest first.
        """
        return self._listed(_path("second-looks", course), "requests")

    def second_look(self, course: str, name: str) -> str:
        """The content of a request."""
        return str(self._ask("GET", _path("second-looks", course, name))["content"])

    def take_second_look(self, course: str, name: str) -> None:
        """Take a request away, once it is kept elsewhere."""
        self._ask("DELETE", _path("second-looks", course, name))

    def own_inputs(self, course: str, everybody: bool = False) -> list[dict[str, Any]]:
        """The user's own inputs in a course, or everybody's in one that they teach: `student`,
        `lab`, `sha256` and `size` of each.
        """
        query = {"of": "everybody"} if everybody else {}
        return self._listed(_path("own-inputs", course), "own_inputs", params=query)

    def hand_out(self, course: str, student: str, lab: str, folder: Path, files: Manifest) -> None:
        """Give the exchange a student's own inputs, which are in a folder."""
        content = {"files": files.as_json()}
        path = _path("own-inputs", course, "of", student, lab)
        self._send("PUT", path, course, folder, files, content)

    def fetch(self, where: tuple[str, ...], digest: str, size: int, to: Path) -> None:
        """Fetch a file. It is complete when it gets its name.

        Args:
            where: ("labs", COURSE, LAB), ("submissions", COURSE, NAME), the same with "feedback"
                behind it, or ("own-inputs", COURSE, LAB).
        """
        parts = self._parts or to.parent
        parts.mkdir(parents=True, exist_ok=True)
        _tidy(parts)
        with _part(parts, digest) as (file, path):
            for _ in range(_ROUNDS):
                while self._again(lambda: self._more(where, digest, size, file)):
                    pass
                if manifests.sha256(path) == digest:
                    os.fsync(file.fileno())
                    _put(path, to)
                    return
                file.truncate(0)
        raise ExchangeFailed(f"{to.name} cannot be fetched: it is another each time")

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _send(
        self, method: str, path: str, course: str, folder: Path, files: Manifest, content: Any
    ) -> Any:
        """Make a request that names files, and send the contents that the service says are missing,
        until none is.
        """
        paths = {file.sha256: folder / file.path for file in files.files}
        for _ in range(_ROUNDS):
            said = self._ask(method, path, json=content)
            if "missing" not in said:
                return said
            for digest, have in said["missing"].items():
                self._upload(course, digest, paths[digest], int(have))
        raise ExchangeFailed("the files change while they are sent: save them and try again")

    def _upload(self, course: str, digest: str, path: Path, have: int) -> None:
        """Send a file, from byte `have` on, a piece at a time."""
        size = path.stat().st_size
        with path.open("rb") as file:
            while have < size:
                file.seek(have)
                if not (piece := file.read(CHUNK)):
                    return  # it was cut meanwhile: its digest is another
                try:
                    have = int(self._piece(course, digest, piece, have)["offset"])
                except _Elsewhere as other:
                    have = other.offset

    def _piece(self, course: str, digest: str, piece: bytes, offset: int) -> Any:
        said = {"Upload-Offset": str(offset)}

        def sent() -> Any:
            return self._once("PATCH", _path("contents", course, digest), content=piece,
                              headers=said)  # fmt: skip

        return self._again(sent)

    def _more(self, where: tuple[str, ...], digest: str, size: int, file: IO[bytes]) -> bool:
        """Fetch what is missing at the end of a partly downloaded file; returns whether something
        still is. A connection that is lost after some bytes has not failed: a slow one would be
        given up although it goes on.
        """
        have = file.seek(0, os.SEEK_END)
        if have > size:
            have = file.truncate(0)
        if have == size:
            return False
        begin, headers = have, {"Range": f"bytes={have}-"}
        try:
            with self._http.stream("GET", _path(*where, digest), headers=headers) as answer:
                if answer.status_code != 206:
                    answer.read()
                    raise _failure(answer)
                for data in answer.iter_raw():  # as it comes: what is collected would be lost
                    have += file.write(data)
                    file.flush()
                    if have > size:
                        return False  # its digest will not fit
        except httpx.TransportError:
            if have == begin:
                raise
        if have == begin:
            raise httpx.ReadError("the connection was lost")
        return have < size

    def _listed(self, path: str, what: str, **more: Any) -> list[dict[str, Any]]:
        """Ask for a list, which the answer has under the name `what`."""
        found = self._ask("GET", path, **more).get(what)
        if not isinstance(found, list):
            raise self._no_exchange()
        return found

    def _ask(self, method: str, path: str, **more: Any) -> Any:
        return self._again(lambda: self._once(method, path, **more))

    def _once(self, method: str, path: str, **more: Any) -> Any:
        answer = self._http.request(method, path, **more)
        if answer.status_code == 409:
            raise _Elsewhere(int(answer.json()["offset"]))
        if not answer.is_success:
            raise _failure(answer)
        said = answer.json()
        if not isinstance(said, dict):
            raise self._no_exchange()
        return said

    def _no_exchange(self) -> ExchangeFailed:
        return ExchangeFailed(f"{self._url} is no exchange: its answer is not that of one")

    def _again(self, ask: Callable[[], Any]) -> Any:
        """Call `ask` until it succeeds, fails for good, or `patience` is over."""
        deadline, pause = time.monotonic() + self._patience, 0.2
        while True:
            try:
                return ask()
            except _Passing as error:
                failed, pause = error.failed, max(pause, error.wait)
            except httpx.TransportError as error:
                failed = ExchangeFailed(
                    f"the exchange at {self._url} does not answer ({type(error).__name__}): try "
                    "again later, and tell your instructor if it stays so"
                )
            except (ValueError, KeyError):
                raise self._no_exchange() from None
            if time.monotonic() + pause > deadline:
                raise failed
            time.sleep(pause)
            pause = min(2 * pause, 5.0)


class _Elsewhere(Exception):
    """An upload has to go on at another `offset`."""

    def __init__(self, offset: int) -> None:
        super().__init__(offset)
        self.offset = offset


class _Passing(Exception):
    """A failure that may pass, after at least `wait` seconds."""

    def __init__(self, failed: ExchangeFailed, wait: float) -> None:
        super().__init__(failed)
        self.failed, self.wait = failed, wait


def _failure(answer: httpx.Response) -> Exception:
    try:
        said = str(answer.json()["message"])
    except (ValueError, KeyError, TypeError):
        said = f"the exchange answers with status {answer.status_code}"
    failed = ExchangeFailed(said, answer.status_code)
    if answer.status_code not in _PASSING:
        return failed
    wait = answer.headers.get("Retry-After", "0")
    return _Passing(failed, min(30.0, float(wait)) if wait.isdigit() else 0.0)


def _manifest(said: Any) -> Manifest:
    try:
        return manifests.parse(said["files"], _ANY_SIZE)
    except (Refused, KeyError, TypeError) as error:
        raise ExchangeFailed(f"the exchange says what cannot be: {error}") from error


def _path(*parts: str) -> str:
    return "/".join(quote(part, safe="") for part in parts)


def _put(path: Path, to: Path) -> None:
    """Move a complete file to its place, which may be on another disk."""
    to.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.replace(path, to)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        new = to.with_name(f".{path.name}")
        shutil.copyfile(path, new)
        os.replace(new, to)
        path.unlink()


def locked(file: IO[Any]) -> bool:
    """Lock a file, unless another program has it locked. Where the file system has no locks, nobody
    is kept out: who runs one program at a time, as people do, needs none.
    """
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
    return True


@contextlib.contextmanager
def _part(parts: Path, digest: str) -> Iterator[tuple[IO[bytes], Path]]:
    """The file of a download that is not complete, locked; another one where a program has that."""
    for path in (parts / f"{digest}.part", parts / f"{digest}-{os.getpid()}.part"):
        with path.open("ab") as file:
            if not locked(file):
                continue
            if path.exists() and path.stat().st_ino == os.fstat(file.fileno()).st_ino:
                yield file, path
                return
    raise ExchangeFailed("this is being fetched already: wait until it is there")


def _tidy(parts: Path) -> None:
    """Remove downloads that nobody has resumed for long."""
    for path in parts.glob("*.part"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > _OLD:
                path.unlink()
