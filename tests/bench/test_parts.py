"""The processor time of all that a process starts, told by kind."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench.parts import kind_of

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
_LOOKED_AT = f"""
import json, subprocess, sys
from bench.parts import Parts
with Parts() as parts:
    subprocess.run([sys.executable, "-c", {_BURNS!r}], check=True)
print(json.dumps([parts.seconds, {{kind: vars(part) for kind, part in parts.found.items()}}]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="what it looks at is /proc")
def test_what_processes_took_is_seen_though_a_signal_ends_them():
    # in a process of its own: the one of the tests has others below it, a resource tracker, say
    ran = subprocess.run(
        [sys.executable, "-c", _LOOKED_AT], cwd=Path(__file__).parents[2],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    seconds, found = json.loads(ran.stdout)
    assert found["other"]["count"] == 3
    assert 0.4 < found["other"]["seconds"] < 2.0
    assert found["main"]["count"] == 1
    assert seconds >= found["other"]["seconds"]


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
