"""Somebody's session on the Hub without a browser: the requests that the pages' buttons send."""

from __future__ import annotations

import contextlib
import json
import time
import uuid

import requests
import websocket
from trial import Trial

PATIENCE = 600.0  # seconds for one cell, or one server to start, on a busy machine
NOT_RUNNING = 424  # what the Hub answers for the page of a server that is not there
MOST = 5  # connections of one page to its kernel that are lost before it gives up


class Visitor:
    """A user of the Hub, logged in.

    Args:
        hub: a Hub on trial.
    """

    def __init__(self, hub: Trial, name: str) -> None:
        self.hub, self.name = hub, name
        self._home = f"/user/{name}/"
        self._web = requests.Session()
        self._web.get(f"{hub.url}/hub/login", timeout=PATIENCE)
        form = {
            "username": name, "password": hub.password,
            "_xsrf": self._web.cookies.get("_xsrf", path="/hub/"),
        }  # fmt: skip
        # the home page, because without a `next` everybody's server is started
        page = f"{hub.url}/hub/login?next=%2Fhub%2Fhome"
        self._web.post(page, data=form, timeout=PATIENCE).raise_for_status()

    def get(self, path: str) -> requests.Response:
        """Fetch a page, logging in at a course's own server on the way where it asks for that."""
        return self._web.get(self.hub.url + path, timeout=PATIENCE)

    def send(self, method: str, path: str, /, **content) -> requests.Response:
        """Send what a button of a page sends; of pages of that server one was fetched before.

        Raises:
            requests.HTTPError: it was refused, or has failed.
        """
        parts = path.split("/")
        server = "/hub/" if parts[1] == "hub" else "/".join(parts[:3]) + "/"
        answer = self._web.request(
            method, self.hub.url + path, json=content, timeout=PATIENCE,
            headers={"X-XSRFToken": self._web.cookies.get("_xsrf", path=server)},
        )  # fmt: skip
        answer.raise_for_status()
        return answer

    def start(self) -> float:
        """Start the server; returns seconds until it shows JupyterLab."""
        begin = time.monotonic()
        self.get(f"/hub/spawn/{self.name}")
        while time.monotonic() < begin + PATIENCE:
            shown = self.get(f"{self._home}lab")
            if shown.ok and f"{self._home}lab" in shown.url:
                return time.monotonic() - begin
            if shown.status_code == NOT_RUNNING:  # the one before was about to be ended as idle
                self.get(f"/hub/spawn/{self.name}")
            time.sleep(0.2)
        raise TimeoutError(f"the server of {self.name} did not start: {self.hub.log} says why")

    def end(self) -> None:
        """End the server, if there is one: the next one is started with the settings of now."""
        about = f"/hub/api/users/{self.name}"
        self.get("/hub/home")
        if self.get(about).json()["servers"]:
            self.send("DELETE", f"{about}/server")
        end = time.monotonic() + PATIENCE
        while self.get(about).json()["servers"]:
            if time.monotonic() > end:
                raise TimeoutError(f"the server of {self.name} did not end: see {self.hub.log}")
            time.sleep(0.2)

    def assignments(self, course: str) -> list[dict]:
        """What the assignment list shows of a course, or why it shows nothing."""
        said = self.get(f"{self._home}assignments?course_id={course}").json()
        if not said["success"]:
            raise RuntimeError(f"{self.name} gets no list of {course}: {said['value']}")
        return said["value"]

    def assignment(self, action: str, course: str, lab: str) -> None:
        """Press a button of the assignment list: `fetch`, `submit`, `fetch_feedback`.

        Raises:
            RuntimeError: nbgrader says that it did not work.
        """
        button = f"{self._home}assignments/{action}"
        said = self.send("POST", button, course_id=course, assignment_id=lab).json()
        if not said["success"]:
            raise RuntimeError(f"{action} of {self.name} failed in {course}: {said['value']}")

    def save(self, path: str, content: dict) -> None:
        """Save a notebook in the home."""
        self.send("PUT", f"{self._home}api/contents/{path}", type="notebook", content=content)

    def kernels(self) -> set[str]:
        return {one["id"] for one in self.get(f"{self._home}api/kernels").json()}

    def kernel(self, folder: str) -> Kernel:
        """A new kernel, as a notebook in this folder of the home has it."""
        page = {"name": "python3", "path": f"{folder}/any.ipynb"}
        made = self.send("POST", f"{self._home}api/kernels", **page)
        cookies = "; ".join(
            f"{one.name}={one.value}" for one in self._web.cookies if one.path in ("/", self._home)
        )
        server = f"{self.hub.url.replace('http', 'ws', 1)}{self._home}"
        return Kernel(f"{server}api/kernels/{made.json()['id']}/channels", cookies, self.hub.url)


class Kernel:
    """A kernel that a page is connected to, and connected to again when the connection is lost: the
    server keeps what was said meanwhile for whoever comes back with the same session.

    Args:
        url: of its channels.
        cookies: of whoever is logged in.
        origin: the Hub that the page is from.
    """

    def __init__(self, url: str, cookies: str, origin: str) -> None:
        self._session = uuid.uuid4().hex
        self._url, self._cookies, self._origin = url, cookies, origin
        self.lost = 0  # connections
        self._connect()

    def _connect(self) -> None:
        while True:
            try:
                self._channel = websocket.create_connection(
                    f"{self._url}?session_id={self._session}", cookie=self._cookies,
                    timeout=PATIENCE, origin=self._origin,
                )  # fmt: skip
                return
            except websocket.WebSocketConnectionClosedException:
                self._count()

    def _count(self) -> None:
        self.lost += 1
        if self.lost > MOST:
            raise ConnectionError(f"the connection to {self._url} was lost {self.lost} times")

    def _answer(self) -> dict:
        while True:
            with contextlib.suppress(websocket.WebSocketConnectionClosedException):
                if said := self._channel.recv():
                    return json.loads(said)
            self._count()
            self._connect()

    def run(self, code: str) -> str:
        """Run a cell; returns the error that it ended with, empty where there is none."""
        request = uuid.uuid4().hex
        header = {"msg_id": request, "msg_type": "execute_request", "session": self._session,
                  "username": "", "version": "5.3", "date": ""}  # fmt: skip
        content = {"code": code, "silent": False, "store_history": True, "user_expressions": {},
                   "allow_stdin": False, "stop_on_error": False}  # fmt: skip
        message = {"header": header, "parent_header": {}, "metadata": {}, "content": content,
                   "channel": "shell", "buffers": []}  # fmt: skip
        self._channel.send(json.dumps(message))
        while True:
            answer = self._answer()
            if answer["parent_header"].get("msg_id") != request:
                continue
            if answer["msg_type"] == "execute_reply":
                said = answer["content"]
                return "" if said["status"] == "ok" else f"{said['ename']}: {said['evalue']}"

    def leave(self) -> None:
        """Close the page; the kernel stays."""
        self._channel.close()
