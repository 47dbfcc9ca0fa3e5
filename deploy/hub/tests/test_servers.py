"""What the Hub's machinery does for its users, asked without a browser."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import json
import re
import secrets
import subprocess
from pathlib import Path

import pytest
from browser import pause_until

from grader.judging import demo

LAB = "01-message-passing"
NOTEBOOK = f"{LAB}/message_passing.ipynb"
STUDENT = "ada"


@pytest.fixture(scope="module")
def lab(hub):
    """The student's folder of the lab, everything done; one answer deadlocks."""
    words = [hub.python("nbgrader"), "fetch_assignment", LAB, "--course", "distlab"]
    hub.run_as(STUDENT, words, hub.home(STUDENT), JUPYTER_CONFIG_PATH=hub.jupyter("course"))
    notebook = hub.home(STUDENT) / NOTEBOOK
    notebook.write_text(json.dumps(demo.handed_in("dora", LAB)))
    return notebook.parent


@pytest.fixture
def limited(hub):
    """`limited(memory, cores, processes)`: a control group with these limits, as a server has."""
    limits = pytest.importorskip("limits")
    group = limits.ControlGroup(hub.settings.control_group, "tried")

    def make(*allowed):
        try:
            group.make(*allowed)
        except OSError as error:
            pytest.skip(f"control groups cannot be written here: {error}")
        return group

    yield make
    list(group.end())


def test_two_notebooks_at_once_do_not_disturb_each_other(hub, lab):
    words = [hub.python("distlab"), "check", NOTEBOOK]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        both = [pool.submit(hub.run_as, STUDENT, words, hub.home(STUDENT)) for _ in range(2)]
        said = [re.sub(r"\s+", " ", one.result().stdout) for one in both]
    verdicts = [re.findall(r"(\w+) [\d.]+/\d+ (\w+)", one) for one in said]
    assert verdicts[0] == verdicts[1] and ("exchange", "deadlock") in verdicts[0]


def test_a_notebook_learns_what_its_server_may_use(hub, limited):
    """As a server's kernel does: in the control group that the Hub makes for it."""
    group = limited(1 << 30, 1, 100)
    asked = "from distlab import machine; print(machine.told(), machine.ranks())"
    words = [hub.python("python"), "-c", asked]
    told = subprocess.run(words, preexec_fn=group.enter, capture_output=True, text=True, check=True)
    assert told.stdout.split("\n")[0] == "1 core and 1 GiB of memory 5"


def test_a_server_cannot_use_more_memory_than_it_has(hub, limited):
    group = limited(1 << 28, 1, 100)
    words = [hub.python("python"), "-c", "held = bytearray(1 << 30); print(len(held))"]
    done = subprocess.run(words, preexec_fn=group.enter, capture_output=True, text=True)
    assert done.returncode and not done.stdout


def test_pam_takes_a_user_of_this_machine_by_their_password_alone(hub):
    from jupyterhub.auth import PAMAuthenticator

    password = secrets.token_urlsafe(12)
    subprocess.run(["chpasswd"], input=f"{STUDENT}:{password}", text=True, check=True)
    asks = PAMAuthenticator()

    async def admitted(said):
        return await asks.authenticate(None, {"username": STUDENT, "password": said})

    assert asyncio.run(admitted(password)) == STUDENT
    assert asyncio.run(admitted(password + "x")) is None


def test_nothing_of_a_server_is_left_when_its_group_ends(limited):
    group = limited(None, None, None)
    stubborn = subprocess.Popen(["setsid", "sleep", "600"], preexec_fn=group.enter)
    pause_until(group.members, "the process")
    with contextlib.suppress(StopIteration):
        ending = group.end()
        next(ending)
        stubborn.wait(20)  # whoever started it collects it: it counts until then
        next(ending)
    assert not any(folder.exists() for folder in group.folders)
    assert not Path(f"/proc/{stubborn.pid}").exists()
