"""A message that arrives in pieces is waited for by nobody; one that is handed on ends with its
source or its target, and takes neither along.
"""

import ast
import contextlib
import socket
import threading
from pathlib import Path

import pytest

import distlab
import grader
from distlab.processes import framing, payload
from distlab.processes.framing import Incoming, write


def of_package(folder):
    """The files of a package and of those in it. Submissions lie in the grader's folder as well."""
    inner = (one for one in folder.iterdir() if (one / "__init__.py").is_file())
    return [*folder.glob("*.py"), *(path for one in inner for path in of_package(one))]


def test_what_students_hand_in_is_of_no_package(tmp_path):
    for name in ("__init__.py", "own.py", "part/__init__.py", "submitted/ada/lab/theirs.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert {path.name for path in of_package(tmp_path)} == {"__init__.py", "own.py"}


@pytest.mark.parametrize("package", [distlab.__path__[0], *grader.__path__], ids=["src", "grader"])
def test_nobody_waits_by_what_refuses_files_above_1023(package):
    calls = [
        f"{path}:{node.lineno}"
        for path in of_package(Path(package))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "select.select"
    ]
    assert not calls


def test_half_a_message_is_none_yet_and_nobody_waits_for_the_rest():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        incoming = Incoming()
        theirs.sendall((6).to_bytes(8, "little") + b"abc")
        assert incoming.receive(ours) is None
        theirs.sendall(b"def" + b"next")
        assert incoming.receive(ours) == b"abcdef"
        assert ours.recv(10) == b"next"


@pytest.mark.parametrize("timeout", [None, 5.0])
def test_nothing_there_is_none_whatever_timeout_the_socket_has(timeout):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.settimeout(timeout)
        assert Incoming().receive(ours) is None
        assert ours.gettimeout() == timeout


def test_a_message_that_is_too_long_is_refused_by_its_head_alone():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall((1 << 60).to_bytes(8, "little"))
        with pytest.raises(ValueError, match="at most 100 are allowed"):
            Incoming(100).receive(ours)


def test_the_end_of_the_other_side_is_told_from_silence():
    ours, theirs = socket.socketpair()
    with ours:
        write(theirs, b"last")
        theirs.close()
        assert Incoming().receive(ours) == b"last"
        with pytest.raises(EOFError):
            Incoming().receive(ours)


SIZE = 5_000_000  # more than sockets hold


@contextlib.contextmanager
def joined():
    """A source, both ends of what stands between, and a target; the outer ones have timeouts."""
    source, incoming = socket.socketpair()
    outgoing, target = socket.socketpair()
    source.settimeout(10)
    target.settimeout(10)
    with source, incoming, outgoing, target:
        yield source, incoming, outgoing, target


def beside(function, *arguments):
    thread = threading.Thread(target=function, args=arguments)
    thread.start()
    return thread


def test_blocks_of_a_message_are_handed_on_while_they_come():
    blocks = [bytes(range(250)) * (SIZE // 250), b"", b"end"]
    with joined() as (source, incoming, outgoing, target):
        beside(lambda: write(source, *payload.parts({"a": 1}, *blocks)))

        def between():
            tree, lengths = payload.receive_head(incoming)
            head = payload.head({**tree, "b": 2}, [3, *lengths])
            framing.announce(outgoing, len(head) + 3 + sum(lengths))
            outgoing.sendall(head + b"new")
            framing.relay(incoming, outgoing, sum(lengths))

        beside(between)
        assert payload.receive(target) == ({"a": 1, "b": 2}, b"new", *blocks)


@pytest.mark.parametrize("blocking", [True, False])
def test_a_message_is_received_whole_whether_or_not_its_socket_has_a_timeout(blocking):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.settimeout(None if blocking else 10)
        sending = beside(lambda: write(theirs, *payload.parts([1], b"x" * SIZE, b"")))
        assert payload.receive(ours) == ([1], b"x" * SIZE, b"")
        sending.join()
        theirs.close()
        assert payload.receive(ours) is None


def test_the_target_gets_zeros_for_what_a_source_that_ended_has_not_sent():
    with joined() as (source, incoming, outgoing, target):
        source.sendall(b"abc")
        source.close()
        got = []
        reading = beside(lambda: got.append(framing.exactly(target, SIZE)))
        with pytest.raises(EOFError):
            framing.relay(incoming, outgoing, SIZE)
        reading.join()
        assert got[0] == b"abc".ljust(SIZE, b"\0")


def test_what_a_target_that_is_gone_does_not_take_is_read_all_the_same():
    with joined() as (source, incoming, outgoing, target):
        target.close()
        sending = beside(lambda: source.sendall(b"x" * SIZE + b"next"))
        framing.relay(incoming, outgoing, SIZE)
        assert incoming.recv(10) == b"next"
        sending.join()


@pytest.mark.parametrize(
    "message", [b"", b"x", b"\xff" * 8, b"\4\0\0\0\0\0\0\0[[7]", payload.pack({}, b"ab") + b"c",
                payload.head({}, [-1, 1]), payload.head({}, [1 << 70]),
                payload.head({}, [float("inf")])]
)  # fmt: skip
def test_after_a_message_that_is_none_the_next_one_can_be_read(message):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        write(theirs, message)
        write(theirs, *payload.parts("next"))
        with pytest.raises(ValueError, match="not a payload"):
            payload.receive(ours)
        assert payload.receive(ours) == ("next",)
