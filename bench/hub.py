"""Students at once on the Hub, each running a lab's checks: memory, the slowest check, losses.

    /opt/distlab/bin/python bench/hub.py --students 10

As root, like the Hub's trial. Each student has a server, a kernel and ranks of their own, and runs
the lab with everything right, cell by cell over the proxy, as a browser would.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import re
import statistics
import sys
import tempfile
import time
import uuid
from pathlib import Path

import requests
import websocket

COURSE = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(COURSE), str(COURSE / "deploy" / "hub")]

import trial  # noqa: E402

from grader import demo  # noqa: E402

LAB = "01-message-passing"
PATIENCE = 600.0  # seconds for one cell, or one server to start


class Student:
    """A student's session on the Hub, without the browser."""

    def __init__(self, hub: trial.Trial, name: str) -> None:
        self.hub, self.name = hub, name
        self._web = requests.Session()
        self.log_in()

    def log_in(self) -> None:
        self._web.get(f"{self.hub.url}/hub/login", timeout=PATIENCE)
        form = {
            "username": self.name, "password": self.hub.password,
            "_xsrf": self._web.cookies.get("_xsrf", path="/hub/"),
        }  # fmt: skip
        self._web.post(f"{self.hub.url}/hub/login", data=form, timeout=PATIENCE)

    def start(self) -> float:
        """Start the server; returns seconds until it shows JupyterLab."""
        begin = time.monotonic()
        self._web.get(f"{self.hub.url}/hub/spawn/{self.name}", timeout=PATIENCE)
        while time.monotonic() < begin + PATIENCE:
            shown = self._web.get(f"{self.hub.url}/user/{self.name}/lab", timeout=PATIENCE)
            if shown.ok and f"/user/{self.name}/lab" in shown.url:
                return time.monotonic() - begin
            time.sleep(0.2)
        raise TimeoutError(f"the server of {self.name} did not start: {self.hub.log} says why")

    def _post(self, path: str, **content: str) -> requests.Response:
        token = self._web.cookies.get("_xsrf", path=f"/user/{self.name}/")
        answer = self._web.post(
            f"{self.hub.url}/user/{self.name}/{path}", json=content,
            headers={"X-XSRFToken": token}, timeout=PATIENCE,
        )  # fmt: skip
        answer.raise_for_status()
        return answer

    def fetch(self) -> None:
        """Fetch the lab, as the button of the assignment list does."""
        self._post("assignments/fetch", course_id="distlab", assignment_id=LAB)

    def run(self, cells: list[dict]) -> list[tuple[str, float, str]]:
        """Run cells in a new kernel: (cell's name, seconds, what was wrong) of each."""
        made = self._post("api/kernels", name="python3", path=f"{LAB}/message_passing.ipynb")
        cookies = "; ".join(f"{one.name}={one.value}" for one in self._web.cookies
                            if one.path in ("/", f"/user/{self.name}/"))  # fmt: skip
        channel = websocket.create_connection(
            f"{self.hub.url.replace('http', 'ws', 1)}/user/{self.name}/api/kernels/"
            f"{made.json()['id']}/channels",
            cookie=cookies, timeout=PATIENCE, origin=self.hub.url,
        )  # fmt: skip
        done = []
        for cell in cells:
            begin = time.monotonic()
            wrong = _execute(channel, "".join(cell["source"]))
            name = cell["metadata"].get("nbgrader", {}).get("grade_id", "")
            done.append((name, time.monotonic() - begin, wrong))
        channel.close()
        return done


def _execute(channel: websocket.WebSocket, code: str) -> str:
    """Run code; returns the error that it ended with, empty where there is none."""
    request = uuid.uuid4().hex
    header = {"msg_id": request, "msg_type": "execute_request", "session": "bench",
              "username": "", "version": "5.3", "date": ""}  # fmt: skip
    content = {"code": code, "silent": False, "store_history": True, "user_expressions": {},
               "allow_stdin": False, "stop_on_error": False}  # fmt: skip
    channel.send(json.dumps({"header": header, "parent_header": {}, "metadata": {},
                             "content": content, "channel": "shell", "buffers": []}))  # fmt: skip
    while True:
        message = json.loads(channel.recv())
        if message["parent_header"].get("msg_id") != request:
            continue
        if message["msg_type"] == "execute_reply":
            said = message["content"]
            return "" if said["status"] == "ok" else f"{said['ename']}: {said['evalue']}"


def memory(hub: trial.Trial) -> dict[str, int]:
    """Bytes (proportional set size) of all processes of each user of the trial."""
    used = dict.fromkeys(hub.users(), 0)
    for pid, name in hub.processes().items():
        try:
            rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
        except OSError:
            continue
        used[name] += 1024 * int(re.search(r"^Pss:\s+(\d+)", rollup, re.M)[1])
    return used


def measure(hub: trial.Trial, names: list[str]) -> dict:
    """All students at once: start, then run the lab; returns the figures."""
    cells = [
        cell for cell in demo.handed_in("ada", LAB)["cells"] if cell["cell_type"] == "code"
    ]  # fmt: skip
    students = [Student(hub, name) for name in names]
    with concurrent.futures.ThreadPoolExecutor(len(students)) as pool:
        starts = list(pool.map(Student.start, students))
        list(pool.map(Student.fetch, students))
        idle = [size for name, size in memory(hub).items() if name in names]
        begin = time.monotonic()
        runs = [pool.submit(one.run, cells) for one in students]
        most = dict.fromkeys(names, 0)
        while not all(run.done() for run in runs):
            for name, size in memory(hub).items():
                if name in names:
                    most[name] = max(most[name], size)
            time.sleep(1.0)
        took = time.monotonic() - begin
    lost = [str(run.exception()) for run in runs if run.exception()]
    cells_run = [one for run in runs if not run.exception() for one in run.result()]
    checks = [(seconds, name) for name, seconds, wrong in cells_run if name.startswith("test_")]
    return {
        "students": len(names), "server_starts_s": round(max(starts), 1),
        "idle_MiB": round(statistics.median(idle) / 2**20),
        "working_MiB": round(statistics.median(most.values()) / 2**20),
        "working_most_MiB": round(max(most.values()) / 2**20),
        "lab_s": round(took, 1), "checks": len(checks),
        "check_median_s": round(statistics.median(seconds for seconds, _ in checks), 2),
        "check_slowest_s": round(max(checks)[0], 2), "slowest": max(checks)[1],
        "lost": lost, "wrong": [(name, wrong) for name, _, wrong in cells_run
                                if wrong and name.startswith("test_")],
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--students", type=int, default=10)
    parser.add_argument("--json", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    names = [f"student{number:02}" for number in range(1, arguments.students + 1)]
    folder = Path(tempfile.mkdtemp(prefix="distlab-hub-"))
    folder.chmod(0o755)
    hub = trial.Trial(folder / "hub")
    try:
        hub.up(names)
        found = measure(hub, names)
    finally:
        hub.down()
        folder.rmdir()
    for name, value in found.items():
        print(f"{name:18} {value}")
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
