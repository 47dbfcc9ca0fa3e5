"""Processes that are spawned do what was asked, and end with whoever started them."""

import os
import select
import signal
import socket
import subprocess
import sys
import textwrap

import pytest

from distlab.processes.spawned import Spawner

ASKED = """
import os, subprocess, sys

def answer(connection, word):
    connection.sendall(f"{os.getpid()} {word} {'json' in sys.modules}".encode())

def with_child(connection):
    child = subprocess.Popen(["sleep", "600"])
    connection.sendall(str(child.pid).encode())
    child.wait()

def fails(connection):
    raise SystemExit(3)
"""


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """A module with what processes are asked to do."""
    (tmp_path / "asked_here.py").write_text(ASKED)
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    monkeypatch.setenv("PYTHONPATH", path)
    return "asked_here"


def heard(connection: socket.socket) -> str:
    connection.settimeout(120)
    return connection.recv(1000).decode()


def gone(pid: int) -> bool:
    """Is a process gone that is no child of this one? Waits for that."""
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    ended = select.select([watched], [], [], 60)[0]
    os.close(watched)
    return bool(ended)


on_linux = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="Linux tells when one ends")


def test_a_process_has_its_modules_and_does_what_it_is_asked(asked):
    with Spawner(("json", "no_such_module")) as source:
        started, connection = source.connect(f"{asked}:answer", word="hello")
        (pid,) = started.pids()
        assert heard(connection) == f"{pid} hello True"
        assert source.status(pid) == 0 and source.ended(pid)
        connection.close()
    assert not source.folder.exists()


def test_it_starts_them_for_a_program_with_many_open_files(asked, many_files):
    with Spawner(("json",), spares=0) as source:
        _, connection = source.connect(f"{asked}:answer", word="hello")
        with connection:
            assert heard(connection).endswith(" hello True")


def test_how_it_ended_is_told_as_waitpid_does(asked):
    with Spawner((), spares=0) as source:
        started, connection = source.connect(f"{asked}:fails")
        with connection:
            assert heard(connection) == ""
        assert os.waitstatus_to_exitcode(source.status(started.pids()[0])) == 3


def test_one_that_ended_before_it_was_needed_is_replaced(asked):
    with Spawner((), spares=0) as source:
        source.prepare(2)
        ((pid, _), _) = source._ready
        os.kill(pid, signal.SIGKILL)
        assert source.status(pid) == signal.SIGKILL
        for _ in range(2):
            started, connection = source.connect(f"{asked}:answer", word="hello")
            with connection:
                assert heard(connection).startswith(f"{started.pids()[0]} hello")


def test_the_next_one_is_prepared_ahead(asked):
    with Spawner((), spares=1) as source:
        first, connection = source.connect(f"{asked}:answer", word="a")
        connection.close()
        (ahead,) = [pid for pid, _ in source._ready]
        second, connection = source.connect(f"{asked}:answer", word="b")
        connection.close()
        assert second.pids() == [ahead] != first.pids()


@on_linux
def test_what_it_has_started_ends_with_it(asked):
    with Spawner((), spares=0) as source:
        started, connection = source.connect(f"{asked}:with_child")
        child = int(heard(connection))
        source.end(started.pids()[0])
        connection.close()
        assert gone(child)


@on_linux
def test_all_end_with_the_process_that_started_them_even_if_it_is_killed(asked):
    program = textwrap.dedent(f"""
        import signal
        from distlab.processes.spawned import Spawner
        source = Spawner((), spares=1)
        started, connection = source.connect("{asked}:with_child")
        child = connection.recv(100).decode()
        print(*started.pids(), child, *(pid for pid, _ in source._ready), source.folder, flush=True)
        signal.pause()
    """)
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    *pids, folder = parent.stdout.readline().split()
    assert len(pids) == 3
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    assert all(gone(int(pid)) for pid in pids)
    assert not os.path.exists(folder)
