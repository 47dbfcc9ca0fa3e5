"""Kernels of the Hub share what they import, and nothing else."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
from pathlib import Path

import pytest
from browser import pause_until

FIRST, SECOND = "ada", "dora"
TELL = """
import json, os, pathlib, random, sys, multiprocessing
import numpy, torch
told = {
    "torch": "torch" in sys.modules,
    "ids": [os.getresuid(), os.getresgid(), sorted(os.getgroups())],
    "home": os.path.expanduser("~"),
    "pid": os.getpid(),
    "descriptors": len(os.listdir("/proc/self/fd")),
    "drawn": [
        random.random(), numpy.random.rand(), torch.rand(1).item(),
        multiprocessing.current_process().authkey.hex()
    ],
    "capabilities": [line for line in open("/proc/self/status") if line.startswith("Cap")],
}
from distlab import Ranks
told["ranks"] = list(Ranks(2).run(lambda rank, size: os.getresuid()[0]))
pathlib.Path("told.json").write_text(json.dumps(told))
"""


@pytest.fixture(scope="module")
def students(hub):
    visitor = pytest.importorskip("visitor")
    made = {name: visitor.Visitor(hub, name) for name in (FIRST, SECOND)}
    for one in made.values():
        one.start()
    yield made
    for one in made.values():
        one.end()


@pytest.fixture(scope="module")
def told(hub, students):
    """What a kernel of each tells of itself; it stays."""
    return {name: tell(hub, one) for name, one in students.items()}


def tell(hub, student):
    kernel = student.kernel("")
    assert kernel.run(TELL) == ""
    kernel.leave()
    return json.loads((hub.home(student.name) / "told.json").read_text())


def above(pid):
    """This process and those that it comes of, the nearest first."""
    found = []
    with contextlib.suppress(OSError):  # one has just ended
        while pid > 1:
            found.append(pid)
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return found


def nurseries():
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if any(word.endswith(b"/nursery.py") for word in words):
            found.append(int(folder.name))
    return found


def owner(pid):
    try:
        return os.stat(f"/proc/{pid}").st_uid
    except OSError:  # it has just ended
        return None


def roots():
    """The one that all others come of; what it has just forked is root's for a moment, too."""
    all_of_them = nurseries()
    return [
        pid for pid in all_of_them
        if owner(pid) == 0 and not set(above(pid)[1:]) & set(all_of_them)
    ]  # fmt: skip


def test_kernels_of_all_students_come_of_one_process(told):
    (nursery,) = roots()
    assert all(nursery in above(one["pid"]) and one["torch"] for one in told.values())


def test_each_has_the_rights_of_its_user_and_no_others(hub, told):
    for name, one in told.items():
        said = hub.run_as(name, ["id", "-u"], hub.home(name)).stdout
        group = hub.run_as(name, ["id", "-g"], hub.home(name)).stdout
        groups = hub.run_as(name, ["id", "-G"], hub.home(name)).stdout
        user, group = int(said), int(group)
        assert one["ids"] == [[user] * 3, [group] * 3, sorted(map(int, groups.split()))]
        assert one["home"] == str(hub.home(name)) and one["ranks"] == [user] * 2
        assert one["descriptors"] > 3  # /proc/self is its own
        rights = dict(line.split() for line in one["capabilities"])
        assert all(int(rights[f"Cap{kind}:"], 16) == 0 for kind in ("Inh", "Prm", "Eff", "Amb"))


def test_what_is_drawn_by_chance_is_each_ones_own(told):
    drawn = [value for one in told.values() for value in one["drawn"]]
    assert len(set(drawn)) == 8


def test_nothing_of_the_hub_is_in_what_they_come_of(told):
    for pid in nurseries():
        environment = Path(f"/proc/{pid}/environ").read_bytes()
        assert set(re.findall(rb"(?:^|\0)(\w+)=", environment)) <= {b"PATH", b"LANG", b"LC_CTYPE"}


def test_a_kernel_counts_to_its_server(hub, told):
    for one in told.values():
        ours = Path(f"/proc/{one['pid']}/cgroup").read_text()
        (nursery,) = roots()
        limited = hub.settings.control_group in ours
        assert limited != (ours == Path(f"/proc/{nursery}/cgroup").read_text())


def test_nobody_else_can_ask_for_a_kernel_of_theirs(hub, told):
    tried = (
        "import glob, socket, sys\n"
        "for path in sys.argv[1:]:\n"
        "    one = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\n"
        "    try:\n        one.connect(path)\n        print('connected')\n"
        "    except PermissionError:\n        print('refused')\n"
    )
    listening = {p.stat().st_uid: str(p) for p in (hub.root / "kernels").iterdir()}
    user = told[FIRST]["ids"][0][0]
    own = listening.pop(user)
    words = [hub.python("python"), "-c", tried, own, *listening.values()]
    said = hub.run_as(FIRST, words, hub.home(FIRST)).stdout.split()
    assert said == ["connected"] + ["refused"] * len(listening) and listening


def test_a_kernel_imports_for_itself_where_nobody_forks_it(hub, students, told):
    def serving():
        user = told[SECOND]["ids"][0][0]
        return [pid for pid in nurseries() if owner(pid) == user
                and above(pid)[1] in roots()]  # fmt: skip

    for pid in serving():
        os.kill(pid, signal.SIGKILL)
    one = tell(hub, students[SECOND])
    assert one["torch"] and not set(roots()) & set(above(one["pid"]))
    assert Path(f"/proc/{told[SECOND]['pid']}").exists()  # a kernel from before works on


def test_kernels_and_what_forks_them_end_with_their_server(hub, students, told):
    student = students[FIRST]
    before = set(nurseries()) - set(roots())
    student.end()
    pause_until(lambda: not Path(f"/proc/{told[FIRST]['pid']}").exists(), "the kernel's end")
    user = told[FIRST]["ids"][0][0]
    pause_until(
        lambda: not any(owner(pid) == user for pid in nurseries()), "the end of what forks them"
    )
    assert before


def test_a_nursery_that_is_lost_is_begun_anew_with_the_next_server(hub, students, told):
    (nursery,) = roots()
    os.kill(nursery, signal.SIGKILL)
    students[FIRST].end()
    students[FIRST].start()
    (another,) = roots()
    one = tell(hub, students[FIRST])
    assert another != nursery and another in above(one["pid"])
