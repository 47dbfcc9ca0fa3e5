"""The process that others are forked from lives as long as whoever started it, and no longer."""

import concurrent.futures
import json
import os
import select
import signal
import socket
import subprocess
import sys

import pytest

from distlab.processes import forkserver
from distlab.processes.zygote import NoFork, Zygote


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


def test_it_forks_for_a_program_with_many_open_files(many_files):
    with Zygote(("json",)) as zygote:
        early = zygote.forks(1, "os:getpid", after="json")
        assert early.pids() and zygote.forks(1, "os:getpid").pids()


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


def test_the_children_have_its_processor_until_it_is_asked_again(tmp_path, monkeypatch):
    (tmp_path / "imported_late.py").write_text("")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}")
    source = (
        "import json, sys, pathlib\n"
        "def tell(connection, of):\n"
        "    connection.sendall(str('imported_late' in sys.modules).encode())\n"
        "def stay(connection):\n"
        "    connection.recv(1)\n"
    )
    (tmp_path / "telling.py").write_text(source)
    with Zygote(("json", "imported_late")) as zygote:
        first = zygote.connect("telling:tell", after="json", hold=60.0, of=1)[1]
        assert first.recv(5) == b"False"
        second = zygote.connect("telling:tell", after="json", hold=60.0, of=2)[1]
        assert second.recv(5) == b"False"
        endless = zygote.connect("telling:stay", after="json", hold=60.0)
        zygote.kill(endless[0].pids()[0])
        assert endless[1].recv(5) == b"" and not zygote.complete  # what comes next is early, too
        third = zygote.connect("telling:tell", after="json", hold=60.0, of=3)[1]
        assert third.recv(5) == b"False"
        complete, whole = zygote.connect("telling:tell", of=4)
        assert whole.recv(5) == b"True" and complete.pids() and zygote.complete
        for connection in (first, second, endless[1], third, whole):
            connection.close()


def test_what_it_has_forked_lives_on_where_no_other_process_may_be_started(tmp_path, monkeypatch):
    source = (
        "import errno, itertools, os\n"
        "fork, calls = os.fork, itertools.count(1)\n"
        "def the_third_fails():\n"
        "    def limited():\n"
        "        if next(calls) == 3:\n"
        "            raise BlockingIOError(errno.EAGAIN, 'no more processes')\n"
        "        return fork()\n"
        "    os.fork = limited\n"
        "def answer(connection):\n"
        "    while told := connection.recv(5):\n"
        "        connection.sendall(told)\n"
    )
    (tmp_path / "scarce.py").write_text(source)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}")
    with Zygote(("scarce:the_third_fails",)) as zygote:
        first, before = zygote.connect("scarce:answer")
        assert first.pids()
        with pytest.raises(NoFork, match="no more processes"):
            zygote.forks(2, "scarce:answer").pids()  # the first of both is there, the second not
        later, after = zygote.connect("scarce:answer")
        assert later.pids()
        for connection in (before, after):
            with connection:
                connection.sendall(b"still")
                assert connection.recv(5) == b"still"


def test_a_child_with_the_number_of_one_that_ended_is_not_taken_for_it(monkeypatch):
    ours, theirs = socket.socketpair()
    listening = socket.socket(socket.AF_UNIX)
    server = forkserver._Server(theirs.detach(), listening.detach())
    server._statuses[4242] = 9  # nobody has asked how that one ended
    killed = []
    monkeypatch.setattr(forkserver, "spawn", lambda *_: 4242)
    monkeypatch.setattr(os, "kill", lambda pid, number: killed.append(pid))
    monkeypatch.setattr(forkserver, "reap", lambda statuses: None)
    with ours:
        asked = {"entry": "os:getpid", "arguments": {}, "times": 1, "after": None}
        for request in (asked, {"kill": 4242}, {"status": 4242}):
            ours.sendall(json.dumps(request).encode() + b"\n")
        server._receive()
        for _ in range(3):
            server._answer_next()
        told = [json.loads(line) for line in ours.recv(1000).splitlines()]
    assert killed == [4242] and told[0]["pids"] == [4242] and told[1] == {"status": None}


def test_its_number_is_given_to_no_other_process_before_it_is_closed():
    with Zygote(()) as zygote:
        assert zygote.alive
        os.kill(zygote.process.pid, signal.SIGKILL)
        while zygote.alive:
            pass
        os.kill(zygote.process.pid, 0)  # `close` signals to its group: it must still be there
    assert not zygote.alive


def test_one_that_cannot_be_started_leaves_nothing_behind(tmp_path):
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(FileNotFoundError):
        Zygote((), prefix=["/no/such/sandbox"], within=tmp_path)
    assert not list(tmp_path.iterdir()) and len(os.listdir("/proc/self/fd")) <= before


def test_it_ends_in_silence_with_who_has_not_read_its_answers(tmp_path):
    ours, theirs = socket.socketpair()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "fork"))
        listening.listen()
        numbers = [str(one.fileno()) for one in (theirs, listening)]
        process = subprocess.Popen(
            [sys.executable, "-m", "distlab.processes.forkserver", *numbers, str(tmp_path)],
            pass_fds=[theirs.fileno(), listening.fileno()], stderr=subprocess.PIPE,
        )  # fmt: skip
    theirs.close()
    ours.sendall(b'{"status": 0}\n')
    assert select.select([ours], [], [], 60)[0]  # the answer has come
    ours.close()
    assert process.communicate(timeout=60)[1] == b""
