"""The processor time of all that a process starts, told by kind."""

import subprocess
import sys

import pytest

from bench.parts import Parts, kind_of

_BURNS = """
import os, time
for _ in range(2):
    if not os.fork():
        while time.process_time() < 0.3:
            pass
        os.kill(os.getpid(), 9)
for _ in range(2):
    os.wait()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="what it looks at is /proc")
def test_what_processes_took_is_seen_though_a_signal_ends_them():
    with Parts() as parts:
        subprocess.run([sys.executable, "-c", _BURNS], check=True)
    assert parts.found["other"].count == 3
    assert 0.4 < parts.found["other"].seconds < 2.0
    assert parts.found["main"].count == 1
    assert parts.seconds >= parts.found["other"].seconds


@pytest.mark.parametrize(
    ("parent", "command", "kind"),
    [
        (
            "main",
            "/usr/bin/bwrap --unshare-pid python -m distlab.processes.forkserver 3",
            "sandbox",
        ),
        ("sandbox", "python -m distlab.processes.forkserver 3", "zygote"),
        ("main", "python -m distlab.processes.forkserver 3", "zygote"),
        ("zygote", "python -m distlab.processes.forkserver 3", "session"),
        ("session", "python -m distlab.processes.forkserver 3", "room"),
        ("room", "python -m distlab.processes.forkserver 3", "rank"),
        ("rank", "sh -c true", "rank"),
        ("main", "python -m grader.reports.rendering 4", "pages"),
        ("main", "alembic upgrade head", "other"),
    ],
)
def test_kinds_follow_from_what_starts_a_process(parent, command, kind):
    assert kind_of(parent, command) == kind
