"""A machine that does not reach itself is told as that, and is no verdict on anybody's code."""

import errno
import os
import subprocess
import sys

import namespaces
import pytest
from test_disk_room import CHECKED

from distlab.processes import loopback
from grader.coursedir import LABS

ANSWER = "\n".join(line for line in CHECKED.splitlines() if "RLIMIT" not in line)


def test_a_machine_that_reaches_itself_has_what_is_needed():
    assert loopback.need() is None


def test_a_process_that_can_open_no_more_is_not_told_that_the_loopback_is_down(monkeypatch):
    def full(*arguments):
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(loopback.socket, "socket", full)
    with pytest.raises(loopback.Down, match="close what was left open"):
        loopback.need()


def without_loopback():
    """In a network of its own, whose loopback is down."""
    with pytest.raises(loopback.Down, match="does not reach itself .* bring its loopback up"):
        loopback.need()
    done = subprocess.run(
        [sys.executable, "-B", "-c", ANSWER], cwd=LABS / "01-message-passing",
        capture_output=True, text=True, timeout=100, env=dict(os.environ),
    )  # fmt: skip
    assert done.returncode == 1 and "CheckFailed" not in done.stderr, done.stderr
    assert "expected:" not in done.stdout
    assert done.stderr.splitlines()[-1].startswith("distlab.processes.loopback.Down: this machine")


def test_a_right_answer_on_one_that_does_not_has_no_verdict():
    namespaces.run(without_loopback)
