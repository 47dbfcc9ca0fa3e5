"""Control groups around submissions: made, limited, emptied and removed."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from distlab.checking.session import Session
from distlab.processes.isolation import Limits
from grader.sandbox import cgroup
from grader.sandbox.cgroup import Groups


def tree():
    """Where this process may make groups of version 2, whatever they can limit."""
    own = cgroup._own()
    if own is None or not os.access(own, os.W_OK):
        pytest.skip("no control groups of version 2 that this user may make")
    return own


def test_a_group_has_the_limits_of_its_submission(tmp_path):
    with Groups(tmp_path).made(Limits(memory=1000, processes=64)) as group:
        assert (group.path / "memory.max").read_text() == "1250"
        assert (group.path / "pids.max").read_text() == "80"
        for path in group.path.iterdir():  # of real groups, the kernel's
            path.unlink()
    assert not list(tmp_path.iterdir())


def test_what_a_killed_grader_has_left_is_in_nobodys_way(tmp_path):
    """In a container each grader may have the same number."""
    for number in range(10):
        (tmp_path / f"distlab-{os.getpid()}-{number}").mkdir()
    with Groups(tmp_path).made(Limits()) as group:
        for path in group.path.iterdir():  # of real groups, the kernel's
            path.unlink()
    assert len(list(tmp_path.iterdir())) == 10


def test_what_is_left_in_a_group_is_killed_with_it(monkeypatch):
    own = tree()
    write = Path.write_text

    def known(path, text):  # here there may be no controllers of version 2, and no such files
        return None if path.name in ("memory.max", "pids.max") else write(path, text)

    monkeypatch.setattr(Path, "write_text", known)
    process = subprocess.Popen(["sleep", "100"])
    with Groups(own).made(Limits()) as group:
        group.add(process.pid)
        assert str(process.pid) in (group.path / "cgroup.procs").read_text().split()
    assert process.wait(10) == -signal.SIGKILL and not group.path.exists()


def test_without_the_right_to_limit_memory_there_are_none(monkeypatch, tmp_path):
    monkeypatch.setattr(cgroup, "_own", lambda: None)
    assert cgroup.find() is None
    monkeypatch.setattr(cgroup, "_own", lambda: tmp_path)  # no files of the kernel's
    assert cgroup.find() is None


def test_the_process_that_all_others_come_from_is_admitted_by_its_number_here(zygote):
    admitted = []
    with Session(zygote, admit=admitted.append) as session:
        assert admitted == [session.pid]  # this zygote is in the same namespace
