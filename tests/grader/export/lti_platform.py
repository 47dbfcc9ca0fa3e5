"""A learning platform on loopback, as LTI 1.3 has it: tokens, line items, scores, members.

It checks what a real one checks: the JWT's signature and claims, each used once; the token; kinds
of content; that scores of a student go forward in time.
"""

import contextlib
import datetime
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import RSAKey

from grader.export import platform as ours

ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
LINE_ITEMS, MEMBERS, TOKEN = "/api/7/line_items", "/api/7/members", "/oauth/token"


def learner(user, email="", **more):
    roles = ["http://purl.imsglobal.org/vocab/lis/v2/membership#Learner"]
    return {"user_id": user, "status": "Active", "roles": roles, "email": email, **more}


class Platform:
    """The state of a platform. `answers` (path → function of the request) come before its own."""

    def __init__(self, key):
        self.key, self.client_id, self.kid = key, "tool-1", "k1"
        self.members = [
            learner("u-ada", "ada@example.org", name="Ada"), learner("u-ben", "BEN@example.org"),
            {**learner("u-t", "cleo@example.org"), "roles": ["#Instructor"]},
        ]  # fmt: skip
        self.items, self.scores, self.requests = [], [], []
        self.tokens, self.ids, self.answers = set(), set(), {}
        self.query, self.page_size = "?type_id=3", 1
        self.lock = threading.Lock()
        self.url = ""

    def taken(self):
        """{(line item's label, user): the last score}."""
        labels = {one["id"]: one["label"] for one in self.items}
        return {(labels[item], one["userId"]): one for item, one in self.scores}

    def count(self, path):
        return sum(one[1].startswith(path) for one in self.requests)

    def token(self, request):
        form = {name: some[0] for name, some in parse_qs(request.body.decode()).items()}
        try:
            found = jwt.decode(form["client_assertion"], self.key)
            claims, header = found.claims, found.header
            jwt.JWTClaimsRegistry(
                iss={"essential": True, "value": self.client_id},
                sub={"essential": True, "value": self.client_id},
                aud={"essential": True, "value": self.url + TOKEN}, exp={"essential": True},
            ).validate(claims)  # fmt: skip
        except (JoseError, KeyError, ValueError) as error:
            return 401, {"error": "invalid_client", "error_description": str(error)}
        if claims["jti"] in self.ids or header.get("kid") != self.kid:
            return 401, {"error": "invalid_client", "error_description": "jti or kid"}
        if form["client_assertion_type"] != ASSERTION or form["grant_type"] != "client_credentials":
            return 400, {"error": "invalid_request"}
        self.ids.add(claims["jti"])
        token = f"t{len(self.tokens)}"
        self.tokens.add(token)
        return 200, {"access_token": token, "token_type": "Bearer", "expires_in": 3600,
                     "scope": form["scope"]}  # fmt: skip

    def answer(self, request):
        """(status, what is sent as JSON, headers) of a request."""
        path = urlsplit(request.path).path
        own = self.answers.get(path) or self.answers.get(f"{request.command} {path}")
        if own is not None and (found := own(request)) is not None:
            return found
        if path == TOKEN:
            return self.token(request)
        if request.headers.get("Authorization", "").removeprefix("Bearer ") not in self.tokens:
            return 401, {"error": "no token"}
        if path == MEMBERS:
            return self.page(request, self.members, lambda some: {"members": some})
        if path == LINE_ITEMS and request.command == "GET":
            return self.page(request, self.items, list)
        if path == LINE_ITEMS:
            if request.headers["Content-Type"] != ours.LINE_ITEM:
                return 415, {}
            made = {**json.loads(request.body)}
            made["id"] = f"{self.url}{LINE_ITEMS}/{len(self.items)}/lineitem{self.query}"
            self.items.append(made)
            return 201, made
        item = next((one for one in self.items
                     if request.path == one["id"].removeprefix(self.url).replace(
                         "/lineitem", "/lineitem/scores")), None)  # fmt: skip
        return (404, {"error": "nothing here"}) if item is None else self.score(item, request)

    def page(self, request, everything, wrap):
        """A page, and a link to the next one."""
        at = int(parse_qs(urlsplit(request.path).query).get("at", ["0"])[0])
        some, path = everything[at : at + self.page_size], urlsplit(request.path).path
        more = {}
        if at + self.page_size < len(everything):
            more = {"Link": f'<{self.url}{path}?at={at + self.page_size}>; rel="next"'}
        return 200, wrap(some), more

    def score(self, item, request):
        one = json.loads(request.body)
        if request.headers["Content-Type"] != ours.SCORE:
            return 415, {}
        if one["userId"] not in {str(member["user_id"]) for member in self.members}:
            return 404, {"error": "no such user"}
        when = datetime.datetime.fromisoformat(one["timestamp"].replace("Z", "+00:00"))
        for other, before in self.scores:
            theirs = datetime.datetime.fromisoformat(before["timestamp"].replace("Z", "+00:00"))
            if (other, before["userId"]) == (item["id"], one["userId"]) and theirs >= when:
                return 409, {"error": "older than what there is"}
        self.scores.append((item["id"], one))
        return 200, {}


def slowly(seconds):
    """An answer that drips: bytes all the while, and never an end."""

    def drip(request):
        request.send_response(200)
        request.end_headers()
        end = time.monotonic() + seconds
        with contextlib.suppress(OSError):
            while time.monotonic() < end:
                request.wfile.write(b" ")
                request.wfile.flush()
                time.sleep(0.02)  # the pace of the drip
        return ()

    return drip


@contextlib.contextmanager
def running(platform):
    """Serve it on loopback."""

    class Handler(BaseHTTPRequestHandler):
        def do(self):
            self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            with platform.lock:
                platform.requests.append((self.command, self.path))
            found = platform.answer(self)
            if not found:  # it has answered by itself, or hangs up
                self.close_connection = True
                return
            status, content, headers = (*found, {})[:3]
            data = content if isinstance(content, bytes) else json.dumps(content).encode()
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            with contextlib.suppress(OSError):
                self.wfile.write(data)

        do_GET = do_POST = do

        def log_message(self, *arguments):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    platform.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield platform
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def new_key():
    return RSAKey.generate_key(2048)
