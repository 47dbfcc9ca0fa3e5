"""Three students and a lecturer who share no disk: each in a mount namespace of their own, by
nbgrader's own commands; programs and service are killed in the middle of what they do.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from served import COURSE, LAB, Hub, Service

from distlab.exchange import manifest as manifests

pytest.importorskip("jupyterhub", reason="the Hub is not installed: pip install jupyterhub")
pytestmark = [
    pytest.mark.slow,  # nbgrader's commands take seconds to start
    pytest.mark.long,
    pytest.mark.skipif(
        os.geteuid() != 0 or not shutil.which("nsenter"),
        reason="mounting in a namespace of one's own needs root",
    ),
]
LARGE = 60_000_000  # bytes
SECONDS = 120.0
USERS = {"lecturer": 60001, "ada": 60002, "ben": 60003, "cleo": 60004}
CONFIG = "from distlab import exchange\nc = get_config()\nexchange.use(c)\n"


class Room:
    """A mount namespace in which `place` is a disk that nobody else sees."""

    def __init__(self, place, user=0):
        self.place, self.user = place, user
        mount = f"mount -t tmpfs -o mode=0755,size=500m,uid={user} tmpfs {place}"
        stay = f"{mount} && echo up && exec sleep 600"
        self._holder = subprocess.Popen(
            ["unshare", "--mount", "--propagation", "private", "sh", "-c", stay],
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self._holder.stdout.readline() == "up\n"
        self.into = ["nsenter", "-t", str(self._holder.pid), "-m", "env", "-C", str(place)]

    def path(self, *below):
        """A path of this namespace, as the test sees it."""
        return Path(f"/proc/{self._holder.pid}/root{self.place}", *below)

    def close(self):
        self._holder.kill()
        self._holder.wait()


class Person(Room):
    """Somebody's server: a disk and a token of their own."""

    def __init__(self, name, place, service):
        super().__init__(place, USERS[name])
        self.name = name
        self._environment = {
            **os.environ, "HOME": str(place), "JUPYTERHUB_API_TOKEN": f"of-{name}",
            "JUPYTER_DATA_DIR": str(place / ".local"), "JUPYTER_CONFIG_DIR": str(place),
            "JUPYTER_RUNTIME_DIR": str(place / ".run"), "IPYTHONDIR": str(place / ".ipython"),
            "DISTLAB_EXCHANGE_URL": service.url,
        }  # fmt: skip
        self.write("nbgrader_config.py", CONFIG)

    def write(self, name, content):
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        for one in (path, *path.relative_to(self.path()).parents):
            os.chown(self.path(one) if one != path else path, self.user, self.user)

    def begin(self, *words):
        whose = [f"--reuid={self.user}", f"--regid={self.user}", "--clear-groups"]
        command = [*self.into, "setpriv", *whose, sys.executable, "-m", "nbgrader", *words,
                   f"--course={COURSE}"]  # fmt: skip
        return subprocess.Popen(
            command, env=self._environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip

    def do(self, *words):
        running = self.begin(*words)
        said, _ = running.communicate(timeout=SECONDS)
        assert running.returncode == 0, said
        return said

    def killed(self, found, *words):
        """Begin something, and kill it as soon as `found()` is true; what that gave."""
        running = self.begin(*words)
        deadline = time.monotonic() + SECONDS
        while not (there := found()):
            assert running.poll() is None and time.monotonic() < deadline, running.communicate()
        running.send_signal(signal.SIGKILL)
        running.communicate()
        return there


@pytest.fixture(scope="module")
def rooms():
    """{name: their room}, and the service's under "service"."""
    shared = Path(tempfile.mkdtemp(prefix="distlab-rooms-"))
    shared.chmod(0o755)
    place = shared / "disk"
    place.mkdir()
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, shared)
        hub = stack.enter_context(Hub())
        room = Room(place)
        stack.callback(room.close)
        service = Service(hub, place / "exchange", ["--reserve=0"], into=room.into)
        room.service = stack.enter_context(service)
        made = {"service": room}
        for name in USERS:
            made[name] = Person(name, place, service)
            stack.callback(made[name].close)
        lecturer = made["lecturer"]
        lecturer.write(f"release/{LAB}/a.ipynb", "{}")
        lecturer.write(f"release/{LAB}/large", os.urandom(LARGE))
        lecturer.do("release_assignment", LAB)
        for name in ("ben", "cleo"):
            made[name].do("fetch_assignment", LAB)
        yield made


def partly(folder, pattern):
    """`found` for `killed`: the file that is part of the large one, with its size."""

    def found():
        for path in folder.glob(pattern):
            with contextlib.suppress(FileNotFoundError):
                if (size := path.stat().st_size) > 1000:
                    return path, size, path.stat().st_ino

    return found


def handed_in(rooms, name):
    return sorted(rooms["service"].path("exchange", COURSE, "inbound").glob(f"{name}+*"))


def test_nobody_sees_anothers_disk(rooms):
    seen = {name: {p.name for p in room.path().iterdir()} for name, room in rooms.items()}
    assert "exchange" in seen["service"]
    assert not any("exchange" in found for name, found in seen.items() if name != "service")
    assert LAB in seen["ben"] and LAB not in seen["ada"] and "release" not in seen["ben"]


def test_a_download_that_was_killed_goes_on_where_it_was(rooms):
    ada = rooms["ada"]
    there = partly(ada.path(), ".local/nbgrader_cache/.parts/*.part")
    part, size, inode = ada.killed(there, "fetch_assignment", LAB)
    assert size < LARGE and not ada.path(LAB).exists()
    assert part.stat().st_size < LARGE, "it was to be in the middle"
    ada.do("fetch_assignment", LAB)
    got = ada.path(LAB, "large")
    assert got.stat().st_ino == inode, "the same file was gone on with"
    assert manifests.sha256(got) == manifests.sha256(
        rooms["lecturer"].path("release", LAB, "large")
    )
    assert not list(ada.path().glob(".local/nbgrader_cache/.parts/*"))


def test_an_upload_that_was_killed_goes_on_where_it_was(rooms):
    ada, begun = rooms["ada"], rooms["service"].path("exchange", ".begun", COURSE, "ada")
    ada.write(f"{LAB}/a.ipynb", '{"by": "ada"}')
    _, _, inode = ada.killed(partly(begun, "contents/*"), "submit", LAB)
    (part,) = [p for p in begun.glob("contents/*") if p.stat().st_ino == inode]
    assert part.stat().st_size < LARGE and not handed_in(rooms, "ada")
    ada.do("submit", LAB)
    (made,) = handed_in(rooms, "ada")
    assert (made / "large").stat().st_ino == inode, "the same file was gone on with"
    assert manifests.sha256(made / "large") == manifests.sha256(ada.path(LAB, "large"))
    assert (made / "a.ipynb").read_text() == '{"by": "ada"}'


def test_a_service_that_was_killed_in_the_middle_of_an_upload_costs_nobody_anything(rooms):
    ben, service = rooms["ben"], rooms["service"].service
    begun = rooms["service"].path("exchange", ".begun", COURSE, "ben")
    ben.write(f"{LAB}/a.ipynb", '{"by": "ben"}')
    running = ben.begin("submit", LAB)
    while not (there := partly(begun, "contents/*")()):
        assert running.poll() is None
    service.kill()
    assert there[0].stat().st_size < LARGE and not handed_in(rooms, "ben")
    service.start()
    said, _ = running.communicate(timeout=SECONDS)
    assert running.returncode == 0 and "Submitted as" in said
    (made,) = handed_in(rooms, "ben")
    assert (made / "large").stat().st_ino == there[2]
    assert manifests.sha256(made / "large") == manifests.sha256(ben.path(LAB, "large"))


def test_another_s_submission_that_is_asked_for_is_not_there(rooms):
    service, (made,) = rooms["service"].service, handed_in(rooms, "ada")
    digest = manifests.sha256(made / "a.ipynb")
    for rest in ("", f"/{digest}", f"/feedback/{digest}"):
        asked = [
            service.ask("ben", "GET", f"submissions/{COURSE}/{name}{rest}")
            for name in (made.name, made.name[:-4] + "0000")
        ]
        assert {(a.status_code, a.text) for a in asked} == {(404, asked[0].text)}
    assert service.ask("ada", "GET", f"submissions/{COURSE}/{made.name}/{digest}").is_success


def test_a_tampered_name_is_refused(rooms):
    service = rooms["service"].service
    before = sorted(map(str, rooms["service"].path().rglob("*")))
    for name in ("../../ada+01-lab+x/a.ipynb", "/etc/cron.d/x", "a/../../../x", "..\\x", "a\0"):
        files = [{"path": name, "size": 0, "sha256": manifests._EMPTY}]
        answer = service.ask(
            "ben", "POST", f"hand-in/{COURSE}/{LAB}", json={"key": "0" * 32, "files": files}
        )
        assert answer.status_code == 400
    assert sorted(map(str, rooms["service"].path().rglob("*"))) == before


def test_all_three_at_once_are_collected_and_read_their_own_feedback(rooms):
    names = ("ada", "ben", "cleo")
    for name in names:
        rooms[name].write(f"{LAB}/a.ipynb", f'{{"last": "{name}"}}')
    running = [rooms[name].begin("submit", LAB) for name in names]
    assert ["Submitted as" in one.communicate(timeout=SECONDS)[0] for one in running] == [True] * 3
    lecturer = rooms["lecturer"]
    lecturer.do("collect", LAB)
    for name in names:
        collected = lecturer.path("submitted", name, LAB)
        assert (collected / "a.ipynb").read_text() == f'{{"last": "{name}"}}'
        for file in ("timestamp.txt", "submission_secret.txt"):
            lecturer.write(f"feedback/{name}/{LAB}/{file}", (collected / file).read_text())
        lecturer.write(f"feedback/{name}/{LAB}/a.html", f"for {name}")
    lecturer.do("release_feedback", LAB)
    for name in names:
        rooms[name].do("fetch_feedback", LAB)
        (page,) = rooms[name].path(LAB, "feedback").glob("*/a.html")
        assert page.read_text() == f"for {name}"
