"""A message that arrives in pieces is waited for by nobody."""

import socket

import pytest

from distlab.processes.framing import Incoming, write


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
