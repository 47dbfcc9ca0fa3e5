"""The service's request handlers. A body is read only when it is known who sends it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
from io import FileIO
from typing import Any

from tornado import iostream, web

from distlab.exchange import manifest as manifests
from distlab.exchange import names
from distlab.exchange.limits import CHUNK
from distlab.exchange.names import Refused
from distlab.exchange.people import Away, Person, Unknown
from distlab.exchange.staging import Elsewhere, Full
from distlab.exchange.state import State
from distlab.exchange.store import Missing, NotThere, Store, Submission, own_files

JSON_LIMIT = 2 * 1024 * 1024  # bytes of a body that is no content
_LOOK = 64 * 1024  # bytes of a request for a second look: a character may take six
_WEIGHT = 20_000  # bytes of JSON in a request that count as one request more
_PIECE = 256 * 1024  # bytes of a file that are read at once


class Forbidden(Exception):
    """This is for those who teach the course."""


class Later(Exception):
    """There were too many requests; come back after so many seconds."""

    def __init__(self, seconds: float, said: str) -> None:
        super().__init__(said)
        self.seconds = seconds


#: HTTP's status, and what is said; `NotThere` also where it is not for somebody to know
_STATUS: dict[type[BaseException], tuple[int, str]] = {
    Refused: (400, ""),
    Unknown: (401, "the exchange does not know this token: start your server again"),
    Forbidden: (403, "this is for those who teach the course"),
    NotThere: (404, "there is no such thing in the exchange"),
    Elsewhere: (409, ""),
    Later: (429, ""),
    Away: (503, "the Hub does not say who you are: try again in a minute"),
    Full: (507, ""),
}


@web.stream_request_body
class Handler(web.RequestHandler):
    """A request by somebody whom the Hub knows, within their limits."""

    person: Person
    longest = JSON_LIMIT
    weight = _WEIGHT

    def initialize(self, state: State) -> None:
        self.state = state
        self._body = bytearray()
        self._counted = self._turn = False
        self._stream = getattr(self.request.connection, "stream", None)

    @property
    def store(self) -> Store:
        return self.state.store

    async def prepare(self) -> None:
        limits = self.state.limits
        self.state.active += 1
        self._counted = True
        if self.state.active > limits.requests:
            raise Later(2.0, "the exchange is busy: try again in a moment")
        self.person = await self.state.people.who(self.request.headers.get("Authorization", ""))
        self.state.answered.add(self._stream)
        if not self.person.teaches:  # a grader asks for all submissions of a class in a row
            if wait := self.state.turns_of(self.person.name).take():
                raise Later(wait, "these are too many requests: try again in a moment")
            self._turn = True
        if self.length > self.longest:
            raise Refused(f"a request may have {self.longest:,} bytes")
        if self._turn:
            self.state.turns_of(self.person.name).pay(self.length // self.weight)

    @property
    def length(self) -> int:
        """The length of the body, which a request has to tell."""
        said = self.request.headers.get("Content-Length")
        if said is None:
            if self.request.headers.get("Transfer-Encoding"):
                raise Refused("a request has to tell its length")
            return 0
        return int(said) if re.fullmatch("[0-9]{1,15}", said) else self.longest + 1

    def data_received(self, chunk: bytes) -> None:
        self._body += chunk

    def on_finish(self) -> None:
        self._done()

    def on_connection_close(self) -> None:
        super().on_connection_close()  # ends the request, which waits for the rest of its body
        self._done()

    def _done(self) -> None:
        if self._counted:
            self.state.active -= 1
            self._counted = False
        self.state.answered.discard(self._stream)
        if self._turn:
            self.state.turns_of(self.person.name).active -= 1
            self._turn = False

    # what is asked for

    def course(self, name: str) -> str:
        """A course that this person takes or teaches.

        Raises:
            NotThere: they do neither.
        """
        if name not in self.person.courses:
            raise NotThere
        return name

    def taught(self, name: str) -> str:
        if self.course(name) not in self.person.teaches:
            raise Forbidden
        return name

    def submission(self, course: str, name: str) -> Submission:
        """A submission of this person's own, or in a course that they teach. Nobody learns whether
        any other one exists.
        """
        parts = names.parts(name)
        mine = parts is not None and parts[0] == self.person.name
        if parts is None or not (mine or course in self.person.teaches):
            raise NotThere
        if not names.is_submission(parts):
            raise NotThere
        return Submission(self.course(course), *parts)

    async def content(self) -> dict[str, Any]:
        """The body, a JSON object; parsed in a thread, because it may take a second."""
        return await asyncio.to_thread(self._content)

    async def listed(self) -> tuple[dict[str, Any], manifests.Manifest]:
        """The body, and the files that it lists."""
        return await asyncio.to_thread(self._listed)

    def _listed(self) -> tuple[dict[str, Any], manifests.Manifest]:
        content = self._content()
        return content, manifests.parse(content.get("files"), self.state.limits)

    def _content(self) -> dict[str, Any]:
        try:
            content = json.loads(self._body.decode("utf-8"))
        except (ValueError, RecursionError):
            raise Refused("the request is no JSON") from None
        if not isinstance(content, dict):
            raise Refused("the request is no JSON object")
        return content

    # what is answered

    async def send(self, file: FileIO, digest: str) -> None:
        """Send a file, or the part of it that a Range header asks for."""
        with file:
            size = os.fstat(file.fileno()).st_size
            begin = 0
            if found := re.fullmatch(r"bytes=(\d{1,15})-", self.request.headers.get("Range", "")):
                begin = int(found[1])
                if begin > size:
                    raise Refused(f"this has {size:,} bytes")
                self.set_status(206)
                self.set_header("Content-Range", f"bytes {begin}-{size - 1}/{size}")
                file.seek(begin)
            self.set_header("Content-Type", "application/octet-stream")
            self.set_header("Content-Length", str(size - begin))
            self.set_header("ETag", f'"{digest}"')
            with contextlib.suppress(iostream.StreamClosedError):
                while data := file.read(_PIECE):
                    self.write(data)
                    await asyncio.wait_for(self.flush(), self.state.limits.slowest)

    def check_etag_header(self) -> bool:
        return False

    def check_xsrf_cookie(self) -> None:
        """Not needed: nobody is known by a cookie here."""

    def set_default_headers(self) -> None:
        self.set_header("Cache-Control", "no-store")
        self.set_header("X-Content-Type-Options", "nosniff")
        self.set_header("Content-Security-Policy", "default-src 'none'; sandbox")
        self.clear_header("Server")

    def log_exception(self, kind: Any, value: Any, trace: Any) -> None:
        if not isinstance(value, (*_STATUS, Missing)):
            super().log_exception(kind, value, trace)

    def send_error(self, status_code: int = 500, **kwargs: Any) -> None:
        error = kwargs.get("exc_info", (None, None, None))[1]
        for kind, (status, _) in _STATUS.items():
            if isinstance(error, kind):
                status_code = status
        if isinstance(error, Missing):
            status_code = 202
        super().send_error(status_code, **kwargs)

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        error = kwargs.get("exc_info", (None, None, None))[1]
        if isinstance(error, Missing):
            self.finish({"missing": error.have})
            return
        said = "the exchange could not do this: the Hub's administrators find why in its log"
        if isinstance(error, web.HTTPError):
            said = self._reason
        for kind, (_, sentence) in _STATUS.items():
            if isinstance(error, kind):
                said = sentence or str(error)
        if isinstance(error, Later):
            self.set_header("Retry-After", str(max(1, round(error.seconds))))
        more = {"offset": error.offset} if isinstance(error, Elsewhere) else {}
        self.finish({"message": said, **more})


class Health(web.RequestHandler):
    """Does the service run?"""

    def get(self) -> None:
        self.finish({"running": True})


class NoPage(Handler):
    """Any other address."""

    async def prepare(self) -> None:
        await super().prepare()
        raise NotThere


class Labs(Handler):
    """All labs that are handed out in a person's courses."""

    async def get(self) -> None:
        self.finish({"labs": await asyncio.to_thread(self._labs)})

    def _labs(self) -> list[dict[str, Any]]:
        found = []
        for course in sorted(self.person.courses):
            for lab in self.store.labs(course):
                with contextlib.suppress(NotThere):
                    notebooks = self.store.lab(course, lab).notebooks
                    found.append({"course": course, "lab": lab, "notebooks": notebooks})
        return found


class Lab(Handler):
    """A lab that is handed out."""

    async def get(self, course: str, lab: str) -> None:
        found = await asyncio.to_thread(self.store.lab, self.course(course), names.lab(lab))
        self.finish({"files": found.as_json()})

    async def put(self, course: str, lab: str) -> None:
        self.taught(course)
        who, (content, files) = self.person.name, await self.listed()
        replace = content.get("replace") is True
        async with self.state.alone(course, who):
            await asyncio.to_thread(
                self.store.release, course, who, names.lab(lab), files, replace
            )  # fmt: skip
        self.finish({"released": lab})

    async def delete(self, course: str, lab: str) -> None:
        await asyncio.to_thread(self.store.withdraw, self.taught(course), names.lab(lab))
        self.finish({"withdrawn": lab})


class LabContent(Handler):
    async def get(self, course: str, lab: str, digest: str) -> None:
        file = await asyncio.to_thread(
            self.store.open_lab, self.course(course), names.lab(lab), names.digest(digest)
        )
        await self.send(file, digest)


class Submissions(Handler):
    """A person's own submissions, or all of a course that they teach."""

    async def get(self) -> None:
        course, everybody = self.get_query_argument("course", ""), self.get_query_argument("of", "")
        if everybody:
            found = await asyncio.to_thread(self.store.submissions, self.taught(course))
            self.finish({"submissions": [_told(one) for one in found]})
            return
        courses = [self.course(course)] if course else sorted(self.person.courses)
        self.finish({"submissions": await asyncio.to_thread(self._own, courses)})

    def _own(self, courses: list[str]) -> list[dict[str, Any]]:
        return [
            _told(one) | {
                "notebooks": self.store.files(one).notebooks,
                "feedback": {
                    notebook: {"sha256": page.sha256, "size": page.size}
                    for notebook, page in self.store.feedback(one).items()
                },
            }
            for course in courses for one in self.store.submissions(course, self.person.name)
        ]  # fmt: skip


class HandIn(Handler):
    """A submission, once all its contents were sent."""

    async def post(self, course: str, lab: str) -> None:
        self.course(course)
        who, (content, files) = self.person.name, await self.listed()
        key = names.key(content.get("key"))
        if both := [file.path for file in files.files if names.is_reserved(file.path)]:
            raise Refused(f"{names.shown(both[0])} is a name that the exchange uses itself")
        async with self.state.alone(course, who):
            made = await asyncio.to_thread(
                self.store.hand_in, course, who, names.lab(lab), files, key
            )
        secret = await asyncio.to_thread(self.store.secret, made)
        self.finish({"submission": _told(made) | {"secret": secret}})


class OneSubmission(Handler):
    async def get(self, course: str, name: str) -> None:
        found = self.submission(course, name)
        files = await asyncio.to_thread(self.store.files, found)
        content: dict[str, Any] = {"files": own_files(files).as_json()}
        if course in self.person.teaches:  # whose feedback it names
            content["secret"] = await asyncio.to_thread(self.store.secret, found)
        self.finish(content)


class SubmissionContent(Handler):
    async def get(self, course: str, name: str, digest: str) -> None:
        found = self.submission(course, name)
        file = await asyncio.to_thread(self.store.open_file, found, names.digest(digest))
        await self.send(file, digest)


class SubmissionFeedback(Handler):
    """A feedback page, for the student whose submission it is about, and nobody else."""

    async def get(self, course: str, name: str, digest: str) -> None:
        found = self.submission(course, name)
        if found.student != self.person.name:
            raise NotThere
        file = await asyncio.to_thread(self.store.open_feedback, found, names.digest(digest))
        await self.send(file, digest)


class Feedback(Handler):
    """Feedback pages, from those who teach."""

    async def put(self, course: str) -> None:
        self.taught(course)
        who, (_, files) = self.person.name, await self.listed()
        async with self.state.alone(course, who):
            await asyncio.to_thread(self.store.release_feedback, course, who, files)
        self.finish({"released": len(files.files)})


class SecondLooks(Handler):
    """Requests for second looks: whoever takes a course adds one, and those who teach it see all.
    Nobody else is told anything of them, not even of their own.
    """

    longest = _LOOK

    async def get(self, course: str) -> None:
        found = await asyncio.to_thread(self.store.requests.waiting, self.taught(course))
        self.finish({"requests": [
            {"name": one.name, "student": one.student, "when": one.when} for one in found
        ]})  # fmt: skip

    async def post(self, course: str) -> None:
        content = await self.content()
        said = content.get("content")
        if not isinstance(said, str):
            raise Refused("there is no content in the request")
        made = await asyncio.to_thread(
            self.store.requests.add, self.course(course), self.person.name,
            said.encode("utf-8", "surrogatepass"), names.key(content.get("key")),
        )  # fmt: skip
        self.finish({"when": made.when})


class SecondLook(Handler):
    """A request for a second look, for those who teach; they delete it once they have it."""

    async def get(self, course: str, name: str) -> None:
        found = await asyncio.to_thread(self.store.requests.content, self.taught(course), name)
        if found is None:
            raise NotThere
        self.finish({"content": found.decode("utf-8", "replace")})

    async def delete(self, course: str, name: str) -> None:
        await asyncio.to_thread(self.store.requests.remove, self.taught(course), name)
        self.finish({"taken": name})


class OwnInputs(Handler):
    """A list of a person's own inputs in a course; those who teach may ask for everybody's."""

    async def get(self, course: str) -> None:
        store, everybody = self.store.own_inputs, self.get_query_argument("of", "")
        if everybody:
            found = await asyncio.to_thread(store.all, self.taught(course))
        else:
            found = await asyncio.to_thread(store.of, self.course(course), self.person.name)
        self.finish({"own_inputs": [
            {"student": one.student, "lab": one.lab, "sha256": one.file.sha256,
             "size": one.file.size} for one in found
        ]})  # fmt: skip


class OneOwnInputs(Handler):
    """A student's own inputs, from those who teach."""

    async def put(self, course: str, student: str, lab: str) -> None:
        self.taught(course)
        who, (_, files) = self.person.name, await self.listed()
        about = names.person(student), names.lab(lab)
        async with self.state.alone(course, who):
            await asyncio.to_thread(self.store.own_inputs.put, course, who, *about, files)
        self.finish({"handed_out": lab})


class OwnInputsContent(Handler):
    """A person's own inputs. The token alone says whose, so that nobody can ask for another's."""

    async def get(self, course: str, lab: str, digest: str) -> None:
        file = await asyncio.to_thread(
            self.store.own_inputs.open, self.course(course), self.person.name, names.lab(lab),
            names.digest(digest),
        )  # fmt: skip
        if file is None:
            raise NotThere
        await self.send(file, digest)


class Content(Handler):
    """More bytes of an upload. They are written as they arrive, so that they are kept when the
    connection is lost.
    """

    longest = CHUNK
    weight = CHUNK + 1

    def initialize(self, state: State) -> None:
        super().initialize(state)
        self._file, self._problem = -1, ""

    async def prepare(self) -> None:
        await super().prepare()
        course, digest = self.path_args
        said = self.request.headers.get("Upload-Offset", "")
        if not re.fullmatch(r"\d{1,15}", said):
            raise Refused("an upload has to say where it goes on")
        self._begun = self.store.staging(self.course(course), self.person.name)
        self._key = (course, self.person.name, names.digest(digest))
        async with self.state.alone(course, self.person.name, self._key):
            self._file = self._begun.open(digest, int(said), self.length)
            self.state.writers[self._key] = self

    def data_received(self, chunk: bytes) -> None:
        if self._file < 0:  # another request has taken over, or all was handed in
            return
        try:
            while chunk:
                chunk = chunk[os.write(self._file, chunk) :]
        except OSError as error:
            self._problem = str(error)
            self.end()

    async def patch(self, course: str, digest: str) -> None:
        if self._problem:
            raise Full
        if self._file < 0:
            raise Elsewhere(self._begun.size(digest))  # another request has taken over
        offset = os.fstat(self._file).st_size
        self.end()
        self.finish({"offset": offset})

    def end(self) -> None:
        """Stop writing."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
            if self.state.writers.get(self._key) is self:
                del self.state.writers[self._key]

    def _done(self) -> None:
        super()._done()
        self.end()


def _told(one: Submission) -> dict[str, Any]:
    return {
        "course": one.course, "student": one.student, "lab": one.lab, "when": one.when,
        "name": one.name,
    }  # fmt: skip
