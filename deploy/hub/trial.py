"""A Hub to try out, on this machine alone: `trial.py up`, `trial.py down`.

It needs root, because it makes users: a lecturer, students, and the account that owns the course.
All else lies in one folder. `down` ends every process of theirs and removes users and folder.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import pwd
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import yaml

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import limits  # noqa: E402
import roster  # noqa: E402

COURSE = HERE.parents[1]
#: what the grader needs of a clone
OWNED = ("solutions", "labs", "grader", "nbgrader_config.py", "policy.example.yaml")
LECTURER, STUDENTS, GRADER = "lecturer", ("ada", "dora"), "grader-distlab"
EXCHANGE = "exchange-distlab"  # whose service the exchange is, where a Hub has one
NOBODY = 65534
HANDED_OUT = Path("/proc/sys/net/ipv4/ip_local_port_range")
TOLD = 20  # last lines of the log of a Hub that does not come up
PATIENCE = 300.0  # seconds for the Hub and its formgrader to come up on a busy machine


class Refused(Exception):
    """It cannot be done here; the message says what to do instead."""


class Trial:
    """A Hub on trial.

    Args:
        root: the folder that everything lies in.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.log = root / "state" / "hub.log"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.settings.port}"

    @property
    def password(self) -> str:
        return (self.root / "state" / "password").read_text()

    def home(self, name: str) -> Path:
        return self.root / "homes" / name

    @property
    def settings(self) -> roster.Settings:
        return roster.read(self.root / "hub.yaml")

    def up(self, students: Sequence[str] = STUDENTS, **settings) -> None:
        """Make users, course and Hub, release lab 01, and wait until all of it answers."""
        fits()
        if self.root.exists():
            raise Refused(f"{self.root} is there: `trial.py --root {self.root} down` removes it")
        self._missing(GRADER, LECTURER, *students)
        self.root.mkdir(mode=0o755, parents=True)
        (self.root / "homes").mkdir(mode=0o755)
        course = self.course("distlab", (LECTURER,), students)
        port = _ports(6)  # its own, for two courses, and for the exchange's service
        about = {
            "authenticator": "dummy", "spawner": "local", "port": port,
            "internal_ports": port + 1, "courses": {"distlab": course}, **settings,
        }  # fmt: skip
        self.write(about)
        self.start()
        for words in ("generate_assignment", "release_assignment"):
            self.grader("nbgrader", words, "01-message-passing", "--force")
        self.ready()

    def course(self, name: str, instructors: Sequence[str], students: Sequence[str]) -> dict:
        """Make a course, its account and those of its people that there are not; returns what
        stands in hub.yaml about it.
        """
        account, folder = f"grader-{name}", self.root / "courses" / name
        for one in self._missing(account, *instructors, *students):
            self._user(one)
        self._folder(folder, account)
        return {
            "account": account, "folder": str(folder), "instructors": list(instructors),
            "students": list(students),
        }  # fmt: skip

    def serve_exchange(self) -> None:
        """From the next start on the exchange is a service."""
        for one in self._missing(EXCHANGE):
            self._user(one)
        self.write({"exchange_account": EXCHANGE})

    def write(self, lines: dict) -> None:
        """Write hub.yaml; lines that these do not name stay."""
        path = self.root / "hub.yaml"
        there = yaml.safe_load(path.read_text()) if path.exists() else {}
        path.write_text(yaml.safe_dump({**there, **lines}, sort_keys=False))

    def start(self) -> None:
        """Start the Hub: its folders are there afterwards; `ready` waits for the rest."""
        (self.root / "state").mkdir(mode=0o700, exist_ok=True)
        with self.log.open("a") as log:
            self._begin = log.tell()
            self._hub = subprocess.Popen(
                [sys.executable, "-m", "jupyterhub", "-f", str(HERE / "jupyterhub_config.py")],
                env={**os.environ, "DISTLAB_HUB": str(self.root)}, cwd=self.root / "state",
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                # started from a shell's background it would hand on that this signal is ignored,
                # and it is by it that the Hub ends its services
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            )  # fmt: skip
        (self.root / "state" / "hub.pid").write_text(str(self._hub.pid))
        self._wait("Hub API listening")

    def ready(self) -> None:
        """Wait until the Hub and the formgraders of all courses answer."""
        self._wait("JupyterHub is now running")

    def _wait(self, words: str) -> None:
        """Wait until the Hub's log has these words: to ask for its pages before they are there is
        an error in that log.
        """
        _until(lambda: self._logged(words) or self._hub.poll() is not None, PATIENCE)
        if not self._logged(words):
            last = "\n".join(self._said().splitlines()[-TOLD:])
            raise Refused(f"the Hub does not come up; its log, {self.log}, ends:\n{last}")

    def _logged(self, words: str) -> bool:
        return words in self._said()

    def _said(self) -> str:
        """What the log has had since the Hub was started."""
        with self.log.open("rb") as log:
            log.seek(self._begin)
            return log.read().decode(errors="replace")

    def python(self, program: str) -> str:
        """The path of a program of the Hub's environment."""
        return str(Path(sys.executable).parent / program)

    def grader(self, program: str, *words: str, check: bool = True) -> subprocess.CompletedProcess:
        """Run a program in the course's folder as the account that grades."""
        return self.run_as(
            GRADER, [self.python(program), *words],
            self.root / "courses" / "distlab", check, JUPYTER_CONFIG_PATH=self.jupyter("course"),
        )  # fmt: skip

    def run_as(
        self, name: str, words: Sequence[str], folder: Path, check: bool = True, **more: str
    ) -> subprocess.CompletedProcess:
        done = subprocess.run(
            self._as(name, words), cwd=folder, capture_output=True, text=True,
            stdin=subprocess.DEVNULL, env=self._environment(name, **more),
        )  # fmt: skip
        if check and done.returncode:
            raise Refused(f"{' '.join(words)} as {name} failed: {done.stdout}{done.stderr}")
        return done

    @staticmethod
    def _as(name: str, words: Sequence[str]) -> list[str]:
        about = pwd.getpwnam(name)
        user = [f"--reuid={about.pw_uid}", f"--regid={about.pw_gid}", "--init-groups"]
        return ["setpriv", *user, *words]

    def _environment(self, name: str, **more: str) -> dict[str, str]:
        return {
            "HOME": pwd.getpwnam(name).pw_dir, "USER": name, "LOGNAME": name, "LANG": "C.UTF-8",
            "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
            "DISTLAB_EXCHANGE": str(self.root / "exchange"), **more,
        }  # fmt: skip

    def jupyter(self, whose: str) -> str:
        return str(self.root / "jupyter" / whose)

    def _missing(self, *names: str) -> list[str]:
        """Those of these users that are still to be made.

        Raises:
            Refused: one belongs to this machine already.
        """
        missing = [name for name in names if name not in self.users()]
        for name in missing:
            if _exists(name):
                raise Refused(f"there is a user {name}, not made for this trial: try elsewhere")
        return missing

    def _user(self, name: str) -> None:
        with (self.root / "users").open("a") as file:  # first: `down` knows of it whatever happens
            file.write(f"{name}\n")
        subprocess.run(
            ["useradd", "--no-create-home", "--home-dir", str(self.home(name)), "--shell",
             "/bin/bash", "--user-group", name],
            check=True, capture_output=True,
        )  # fmt: skip
        self.home(name).mkdir(mode=0o700)
        shutil.chown(self.home(name), name, name)

    def _folder(self, folder: Path, account: str) -> None:
        """A course's folder that its account alone can read."""
        folder.mkdir(parents=True)
        graded = shutil.ignore_patterns(
            "submitted", "autograded", "feedback", "ledger", "out", "gradebook.db*", "attempts",
            "roster.json", "roster.lock", "looks.jsonl", "looks.lock", "lti.db*", "lti.lock",
            "own-references", "own-inputs", "__pycache__",
        )  # fmt: skip
        for name in OWNED:
            source = COURSE / name
            if source.is_dir():
                shutil.copytree(source, folder / name, ignore=graded)
            else:
                shutil.copy(source, folder / name)
        subprocess.run(["chown", "-R", f"{account}:{account}", str(folder)], check=True)
        folder.chmod(0o700)

    def users(self) -> list[str]:
        """The users that were made for it."""
        with contextlib.suppress(FileNotFoundError):
            return (self.root / "users").read_text().split()
        return []

    def processes(self) -> dict[int, str]:
        """The processes of its users, with whose they are."""
        owners = {pwd.getpwnam(name).pw_uid: name for name in self.users() if _exists(name)}
        return {pid: owners[uid] for pid, uid in _processes() if uid in owners}

    def end(self, name: str) -> None:
        """End somebody's server and all else that is theirs."""
        mine = {pid for pid, user in self.processes().items() if user == name}
        for pid in mine:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        _until(lambda: not mine & self.processes().keys(), PATIENCE)

    def token(self, name: str) -> str:
        """The Hub's token in the environment of somebody's server."""
        for pid, user in self.processes().items():
            with contextlib.suppress(OSError):
                for line in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                    if user == name and line.startswith(b"JUPYTERHUB_API_TOKEN="):
                        return line.partition(b"=")[2].decode()
        raise Refused(f"{name} has no server")

    def own_processes(self) -> list[int]:
        """The Hub, and what it has started as root: proxy and culler."""
        hub = int((self.root / "state" / "hub.pid").read_text())
        children = Path(f"/proc/{hub}/task/{hub}/children").read_text().split()
        root = {pid for pid, uid in _processes() if not uid}
        return [hub, *(pid for pid in map(int, children) if pid in root)]

    def _pid(self) -> int | None:
        """The Hub's process id; None if it has ended, and the id is another process's by now."""
        state = self.root / "state"
        try:
            pid = int((state / "hub.pid").read_text())
            works_in = Path(f"/proc/{pid}/cwd").readlink()
        except (OSError, ValueError):
            return None
        return pid if works_in == state.resolve() else None

    def stop(self) -> None:
        """End the Hub; servers go on."""
        pid = self._pid()
        if pid is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
            if not _until(lambda: not _alive(pid), 60):
                os.killpg(pid, signal.SIGKILL)

    def down(self) -> None:
        """End everything and remove it."""
        if not (self.root / "users").exists():
            raise Refused(f"there is no trial in {self.root}")
        self.stop()
        for number in (signal.SIGTERM, signal.SIGKILL):
            for pid in self.processes():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)
            if _until(lambda: not self.processes(), 20):
                break
        if (self.root / "hub.yaml").exists():
            group = self.settings.control_group
            _until(lambda: limits.remove(group), 20)
        for name in self.users():
            if _exists(name):
                subprocess.run(["userdel", name], check=True, capture_output=True)
        shutil.rmtree(self.root)


def fits() -> None:
    """Can a Hub be tried out here?

    Raises:
        Refused: no; the message says why.
    """
    if os.geteuid():
        raise Refused("a Hub that starts servers for others needs root: try it in a container")
    if not (HERE / "node_modules/.bin/configurable-http-proxy").exists():
        raise Refused(f"the Hub's proxy is not there: `npm ci` in {HERE} installs it")
    words = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
             sys.executable, "-c", "import distlab, jupyterhub"]  # fmt: skip
    tried = subprocess.run(words, capture_output=True, text=True, cwd="/")
    if tried.returncode:
        raise Refused(
            f"other users cannot run {sys.executable} ({tried.stderr.strip().splitlines()[-1]}): "
            "install into an environment that everybody can read, of a Python that is not below a "
            "private home"
        )


def _exists(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True


def _processes() -> Iterator[tuple[int, int]]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                if (entry / "stat").read_text().rsplit(")", 1)[1].split()[0] != "Z":
                    yield int(entry.name), entry.stat().st_uid


def _alive(pid: int) -> bool:
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
    return any(pid == other for other, _ in _processes())


def _until(holds, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


def _ports(count: int) -> int:
    """The first of so many neighbouring free ports, below those that the system itself hands out: a
    Hub that is started again finds them free, although others have connected meanwhile.
    """
    handed_out = int(HANDED_OUT.read_text().split()[0])
    for _ in range(100):
        first = random.randrange(1024, handed_out - count)
        with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
            for port in range(first, first + count):
                stack.enter_context(socket.socket()).bind(("127.0.0.1", port))
            return first
    raise Refused("there are no free ports on 127.0.0.1")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path("/tmp/distlab-hub"))
    parser.add_argument("action", choices=("up", "down"))
    parser.add_argument("--settings", type=json.loads, default={}, help="more of hub.yaml, as JSON")
    arguments = parser.parse_args()
    trial = Trial(arguments.root)
    try:
        if arguments.action == "down":
            trial.down()
            return 0
        trial.up(**arguments.settings)
    except Refused as reason:
        print(f"hub: {reason}", file=sys.stderr)
        return 1
    print(f"{trial.url}  log in as {LECTURER}, {' or '.join(STUDENTS)}; everybody's password: "
          f"{trial.password}\nlog {trial.log}; `make hub-down` ends and removes it")  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
