"""The process that others are forked from lives as long as whoever started it, and no longer."""

import concurrent.futures
import os
import subprocess

import pytest

from distlab.processes.forkserver import Zygote


def test_it_outlives_the_thread_that_asked_for_it():
    def started():
        zygote = Zygote(())
        zygote.status(0)  # it answers: it is up
        return zygote

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        zygote = pool.submit(started).result()
    with zygote:  # the thread has ended
        with pytest.raises(subprocess.TimeoutExpired):
            zygote.process.wait(1.0)
        assert zygote.status(0) is None


def test_what_can_wait_for_less_is_forked_before_the_rest_is_imported(tmp_path, monkeypatch):
    module = tmp_path / "slow_to_import.py"
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    module.write_text(f"open({str(gate)!r}).read()")  # until somebody opens the other end
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}")
    with Zygote(("json", "slow_to_import")) as zygote:
        early = zygote.forks(2, "os:getpid", after="json")
        later = zygote.forks(2, "os:getpid")
        assert len(set(early.pids())) == 2 and not later.there
        open(gate, "w").close()
        assert len(set(later.pids())) == 2
