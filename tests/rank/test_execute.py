"""What a rank looks at between two runs."""

import os
import resource
import socket

import pytest

from distlab.rank import execute


@pytest.fixture
def connection():
    """One end of a rank's connection, in a process that may have few more files open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        resource.setrlimit(resource.RLIMIT_NOFILE, (ours.fileno() + 200, hard))
        yield ours
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.fixture
def opened(connection):
    """All that may be open besides."""
    held = []
    try:
        while True:
            held.append(os.dup(connection.fileno()))
    except OSError:
        pass
    yield held
    for one in held:
        os.close(one)


def test_a_rank_without_descriptors_takes_no_further_run(connection, opened):
    assert not execute._can_open(connection)
    for one in opened[-execute._DESCRIPTORS + 1 :]:
        os.close(one)
        opened.remove(one)
    assert not execute._can_open(connection)


@pytest.mark.parametrize("first", [True, False])
def test_a_rank_with_as_many_as_a_run_needs_goes_on_wherever_they_lie(connection, opened, first):
    needed = execute._DESCRIPTORS
    for one in opened[:needed] if first else opened[-needed:]:
        os.close(one)
        opened.remove(one)
    assert execute._can_open(connection)
    assert execute._can_open(connection)  # which has left none open
