"""An exchange's service in a process of its own, and a stand-in for the Hub that it asks."""

from __future__ import annotations

import contextlib
import http.server
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import free_ports
import httpx

from distlab.exchange.client import Client

COURSE, LAB = "course", "01-lab"
PREFIX = "/services/exchange/"
SCOPE = "access:services!service=exchange"
PATIENCE = 60.0
TAKES, TEACHES = [f"nbgrader-{COURSE}"], [f"nbgrader-{COURSE}", f"formgrade-{COURSE}"]


class Hub:
    """Answers /hub/api/user as JupyterHub does, for the tokens in `models`. A context manager."""

    def __init__(self):
        self.models, self.asked, self.answers = {}, 0, True
        hub = self

        class Answers(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                hub.asked += 1
                token = self.headers.get("Authorization", "").split()[-1]
                known = hub.models.get(token)
                status = 500 if not hub.answers else 200 if known else 403
                body = json.dumps(known or {"status": status, "message": "?"}).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *words):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        self.url = f"http://127.0.0.1:{self._server.server_port}/hub/api"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        for name in ("ada", "ben", "cleo", "ada+01-lab"):
            self.add(name, TAKES)
        self.add("lecturer", TEACHES)
        self.add("stranger", ["nbgrader-other"])
        self.models["of-grading"] = {"kind": "service", "name": "course", "scopes": [SCOPE]}

    def add(self, name, groups, scopes=(SCOPE,)):
        model = {"kind": "user", "name": name, "groups": groups, "scopes": list(scopes)}
        self.models[f"of-{name}"] = model

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *exc):
        self._server.shutdown()
        self._server.server_close()


class Service:
    """The service, on a port that stays the same when it is started again. A context manager."""

    def __init__(self, hub, root, words=(), into=()):
        (self.port,) = free_ports.some(1)
        self.hub, self.root, self._words, self._into = hub, Path(root), words, into
        self.url = f"http://127.0.0.1:{self.port}{PREFIX}"
        self.process = None

    def start(self):
        environment = {
            **os.environ, "JUPYTERHUB_API_URL": self.hub.url, "JUPYTERHUB_API_TOKEN": "service's",
            "JUPYTERHUB_SERVICE_NAME": "exchange", "JUPYTERHUB_SERVICE_PREFIX": PREFIX,
            "JUPYTERHUB_SERVICE_URL": f"http://127.0.0.1:{self.port}",
            "DISTLAB_EXCHANGE_GRADERS": json.dumps({COURSE: COURSE}),
        }  # fmt: skip
        command = [*self._into, sys.executable, "-m", "distlab.exchange.service",
                   "--root", str(self.root), *self._words]  # fmt: skip
        self.process = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=(self.root.parent / "service.log").open("a"),
        )  # fmt: skip
        deadline = time.monotonic() + PATIENCE
        while not self._answers():
            assert self.process.poll() is None and time.monotonic() < deadline, self.log
            time.sleep(0.02)

    @property
    def log(self):
        return (self.root.parent / "service.log").read_text()

    def _answers(self):
        with contextlib.suppress(httpx.TransportError):
            return httpx.get(f"{self.url}health", trust_env=False).is_success
        return False

    def kill(self):
        """As a power failure would, but for what the kernel has not written yet."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def ask(self, who, method, path, **more):
        """One request with somebody's token."""
        headers = {"Authorization": f"token of-{who}", **more.pop("headers", {})}
        return httpx.request(method, f"{self.url}api/{path}", headers=headers, trust_env=False,
                             timeout=30, **more)  # fmt: skip

    def client(self, who, patience=30.0, parts=None):
        return Client(self.url, f"of-{who}", patience, parts)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *exc):
        if self.process.poll() is None:
            self.kill()


def folder_of(place, **files):
    """A folder with these files: `a__b` is b in a folder a; names of notebooks end with _ipynb."""
    for name, content in files.items():
        path = place / name.replace("__", "/").replace("_ipynb", ".ipynb")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return place
