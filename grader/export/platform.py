"""A learning platform as LTI 1.3 shows it to a tool: Assignment and Grade Services, and Names and
Role Provisioning Services.

Tokens, JWTs and signatures are Authlib's. This module limits the time and size of every answer,
follows no redirect with the token, and says in one sentence what went wrong.

Sources: https://www.imsglobal.org/spec/lti-ags/v2p0, https://www.imsglobal.org/spec/lti-nrps/v2p0
and https://www.imsglobal.org/spec/security/v1p0 (the token is asked for as RFC 7523 has it).
"""

from __future__ import annotations

import contextlib
import json
import queue
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urljoin, urlsplit, urlunsplit

import requests
from authlib.integrations.base_client import OAuthError
from authlib.integrations.requests_client import OAuth2Session
from authlib.oauth2.rfc7523 import PrivateKeyJWT
from joserfc.errors import JoseError
from requests.adapters import HTTPAdapter

from grader.export.sheet import shown

_AGS = "https://purl.imsglobal.org/spec/lti-ags/scope"
_NRPS = "https://purl.imsglobal.org/spec/lti-nrps/scope/contextmembership.readonly"
SCOPES = (f"{_AGS}/lineitem", f"{_AGS}/score")
LINE_ITEMS = "application/vnd.ims.lis.v2.lineitemcontainer+json"
LINE_ITEM = "application/vnd.ims.lis.v2.lineitem+json"
SCORE = "application/vnd.ims.lis.v1.score+json"
MEMBERS = "application/vnd.ims.lti-nrps.v2.membershipcontainer+json"

SECONDS = 30.0  # that an answer may take, from the first byte asked to the last one read
LARGEST = 10_000_000  # bytes of an answer
PAGES = 200  # of a list
PAUSES = (1.0, 3.0)  # seconds before each further try of what may succeed then
_FOR_PEOPLE = ("text/html", "application/xhtml+xml")
_AGAIN = {429, 500, 502, 503, 504}


class PlatformFailed(RuntimeError):
    """The platform did not do what it was asked for; the message says what to do."""


class Refused(PlatformFailed):
    """The platform understood one request, and refused it."""


class Platform:
    """A platform, for one tool. A context manager.

    Args:
        key: the tool's private key, PEM.
        kid: its id in the key set that the platform knows, where it has one.
        audience: of the request for a token, if not `token_url`.
        members: names will be asked for too.
    """

    def __init__(
        self, token_url: str, client_id: str, key: str, kid: str = "", audience: str = "",
        members: bool = True,
    ) -> None:  # fmt: skip
        self._token_url = token_url
        self._session = OAuth2Session(
            client_id, key, token_endpoint_auth_method="private_key_jwt",
            scope=" ".join((*SCOPES, _NRPS) if members else SCOPES),
        )  # fmt: skip
        self._session.register_client_auth_method(
            PrivateKeyJWT(audience or token_url, headers={"kid": kid} if kid else {})
        )
        for scheme in ("https://", "http://"):
            self._session.mount(scheme, _Bounded())

    def __enter__(self) -> Platform:
        return self

    def __exit__(self, *exc: object) -> None:
        self._session.close()

    def members(self, url: str) -> list[dict[str, Any]]:
        """The members of the course.

        Raises:
            PlatformFailed.
        """
        found: list[dict[str, Any]] = []
        for page in self._pages(url, MEMBERS):
            some = page.get("members") if isinstance(page, dict) else None
            if not isinstance(some, list) or not all(isinstance(one, dict) for one in some):
                raise PlatformFailed(f"{_place(url)} sends no list of members: look at its address")
            found += some
        return found

    def line_items(self, url: str) -> list[dict[str, Any]]:
        """The columns of the platform's gradebook that this tool may see.

        Raises:
            PlatformFailed.
        """
        found: list[dict[str, Any]] = []
        for page in self._pages(url, LINE_ITEMS):
            if not isinstance(page, list) or not all(map(_is_line_item, page)):
                raise PlatformFailed(
                    f"{_place(url)} sends no list of line items: look at its address"
                )
            found += page
        return found

    def create(self, url: str, line_item: Mapping[str, Any]) -> dict[str, Any]:
        """Make a column.

        Raises:
            PlatformFailed.
        """
        # not tried again by itself: the platform may have made it all the same
        answer = self._asked("POST", url, LINE_ITEM, LINE_ITEM, line_item, pauses=())
        made = _json(answer, url)
        if not _is_line_item(made):
            raise PlatformFailed(f"{_place(url)} does not say which line item it has made")
        result: dict[str, Any] = made
        return result

    def score(self, line_item: str, score: Mapping[str, Any]) -> None:
        """Give a student a score.

        The specification leaves open what a platform says once it has taken one: Moodle sends
        nothing, Canvas an address as JSON. So whatever it says counts, except a web page (a login,
        a proxy's, one on maintenance) and JSON that names an error.

        Raises:
            Refused: not this one.
            PlatformFailed.
        """
        parts = urlsplit(line_item)  # Moodle's have a query, which stays behind
        url = urlunsplit(parts._replace(path=parts.path.rstrip("/") + "/scores"))
        answer = self._asked("POST", url, "*/*", SCORE, score)
        if _is_page(answer):
            raise PlatformFailed(
                f"{_place(url)} answers with a web page, so that nobody knows whether it has taken "
                "the score: see whether somebody has to log in there, or it is being maintained, "
                "then run the same command again, which goes on where it stopped"
            )
        if why := _error(answer):
            raise Refused(f"{_place(url)} answers {answer.status_code} with an error ({why})")

    def _pages(self, url: str, kind: str) -> Iterator[Any]:
        """The pages of a list, as its Link headers lead from one to the next."""
        first = urlsplit(url)
        for _ in range(PAGES):
            answer = self._asked("GET", url, kind)
            yield _json(answer, url)
            following = answer.links.get("next", {}).get("url", "")
            if not following:
                return
            url = _joined(url, following)
            if not same_host(url, urlunsplit(first)):  # the token is for this platform alone
                raise PlatformFailed(f"{_place(urlunsplit(first))} leads to another host")
        raise PlatformFailed(f"{_place(url)} has more than {PAGES} pages")

    def _asked(
        self, method: str, url: str, accept: str, kind: str = "", content: Any = None,
        pauses: tuple[float, ...] | None = None,
    ) -> requests.Response:  # fmt: skip
        """A successful answer, if need be after several tries."""
        fresh = self._token()
        pauses = PAUSES if pauses is None else pauses
        for pause in (*pauses, None):
            answer = self._sent(method, url, accept, kind, content, last=pause is None)
            if answer is not None and answer.status_code == 401 and not fresh:
                self._session.token = None  # it has expired before its time
                fresh = self._token()
                answer = self._sent(method, url, accept, kind, content, last=pause is None)
            if answer is not None and 200 <= answer.status_code < 300:
                return answer
            if answer is not None and (answer.status_code not in _AGAIN or pause is None):
                raise _said(answer, url)
            if pause is not None:
                time.sleep(pause)
        raise AssertionError("the last answer is returned or raised")

    def _sent(
        self, method: str, url: str, accept: str, kind: str, content: Any, last: bool
    ) -> requests.Response | None:
        """An answer, whatever it says; `None` where none came and there is another try."""
        headers = {"Accept": accept, **({"Content-Type": kind} if kind else {})}
        try:
            answer: requests.Response = self._session.request(
                method, url, json=content, headers=headers, allow_redirects=False
            )
        except requests.RequestException as error:
            if last:
                raise _unreachable(url, error) from error
            return None
        return answer

    def _token(self) -> bool:
        """Make sure that there is a valid token; returns whether it is a new one."""
        if self._session.token and not self._session.token.is_expired(leeway=60):
            return False
        try:
            token = self._session.fetch_token(
                self._token_url, grant_type="client_credentials", allow_redirects=False
            )
        except OAuthError as error:
            raise PlatformFailed(
                f"{_place(self._token_url)} gives no token ({shown(str(error))}): look at "
                "client_id, key and kid, and whether the platform knows this key and these services"
            ) from error
        except requests.RequestException as error:
            raise _unreachable(self._token_url, error) from error
        except (JoseError, ValueError, TypeError, KeyError, RecursionError) as error:
            raise PlatformFailed(
                f"{_place(self._token_url)} sends no token ({shown(str(error))}): look at "
                "token_url and key"
            ) from error
        if not isinstance(token, dict) or not isinstance(token.get("access_token"), str):
            self._session.token = None
            raise PlatformFailed(f"{_place(self._token_url)} sends no token: look at token_url")
        return True


class _Bounded(HTTPAdapter):
    """Reads an answer whole, within limits of time and size, however slowly it arrives."""

    def send(
        self, request: requests.PreparedRequest, *arguments: Any, **keywords: Any
    ) -> requests.Response:
        done: queue.Queue[requests.Response | BaseException] = queue.Queue()
        keywords.update(stream=True, timeout=SECONDS)
        request.headers["Accept-Encoding"] = "identity"

        def read() -> None:
            try:
                answer = super(_Bounded, self).send(request, *arguments, **keywords)
                content = b""
                for part in answer.iter_content(1 << 16):
                    content += part
                    if len(content) > LARGEST:
                        raise requests.ConnectionError(f"it sends more than {LARGEST} bytes")
                answer._content = content
                done.put(answer)
            except BaseException as error:
                done.put(error)

        threading.Thread(target=read, daemon=True).start()
        try:
            found = done.get(timeout=SECONDS)
        except queue.Empty:
            raise requests.Timeout(f"no whole answer within {SECONDS:g} s") from None
        if isinstance(found, BaseException):
            raise found
        return found


def same_host(url: str, known: str) -> bool:
    """Is this an address on the host of a known one?"""
    try:
        return urlsplit(url)[:2] == urlsplit(known)[:2]
    except ValueError:  # it is no address
        return False


def _joined(url: str, link: str) -> str:
    """Where a link leads; the link itself if it is not an address."""
    try:
        return urljoin(url, link)
    except ValueError:
        return link


def _json(answer: requests.Response, url: str) -> Any:
    try:
        return json.loads(answer.content)  # which encoding it names is no matter
    except (ValueError, RecursionError) as error:
        raise PlatformFailed(
            f"{_place(url)} sends something that is not JSON: look at its address"
        ) from error


def _is_page(answer: requests.Response) -> bool:
    """Is this a web page? Some servers call an empty answer one too."""
    begin = answer.content[:1000].lstrip(b"\xef\xbb\xbf \t\r\n")
    kind = answer.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    return bool(begin) and (kind in _FOR_PEOPLE or begin.startswith(b"<"))


def _error(answer: requests.Response) -> str:
    """The error that an answer names although its status says success; otherwise empty."""
    with contextlib.suppress(ValueError, RecursionError):
        said = json.loads(answer.content)
        if isinstance(said, dict) and (why := said.get("error") or said.get("errors")):
            return shown(json.dumps(why, ensure_ascii=False)[:200])
    return ""


def _is_line_item(found: Any) -> bool:
    return isinstance(found, dict) and isinstance(found.get("id"), str)


def _said(answer: requests.Response, url: str) -> PlatformFailed:
    """The exception for an answer that is no success."""
    status, where = answer.status_code, _place(url)
    if 300 <= status < 400:
        return PlatformFailed(f"{where} leads elsewhere ({status}): write the address it leads to")
    if status in (401, 403):
        return PlatformFailed(
            f"{where} refuses ({status}): see that the platform lets this tool use its grade and "
            "name services in this course"
        )
    if status in _AGAIN:
        return PlatformFailed(
            f"{where} answers {status} again and again: run the same command later, which goes on "
            "where it stopped"
        )
    why = shown(answer.content[:800].decode("utf-8", "replace")[:200]) or "no reason given"
    return Refused(
        f"{where} answers {status} ({why}): look at the address, or at who and what is named"
    )


def _unreachable(url: str, error: Exception) -> PlatformFailed:
    said = "takes too long" if isinstance(error, requests.Timeout) else "cannot be reached"
    return PlatformFailed(
        f"{_place(url)} {said} ({type(error).__name__}): look at the address, then run the same "
        "command again, which goes on where it stopped"
    )


def _place(url: str) -> str:
    """An address in a sentence, without what may be secret in it."""
    parts = urlsplit(url)
    return shown(f"{parts.hostname or ''}{parts.path}")
