"""What a rank looks at between two runs."""

import os
import resource
import socket

import cloudpickle
import pytest

from distlab.processes import payload
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


def counting():
    """A function that counts its calls, as it is sent."""
    calls = []

    def function():
        calls.append(None)
        return len(calls)

    return cloudpickle.dumps(function)


def test_what_a_function_keeps_shows_on_as_many_ranks_and_begins_anew_on_others():
    functions, sent = execute._Functions(), counting()
    assert [functions.get(sent, size)() for size in (2, 3, 3, 2, 4)] == [1, 1, 2, 2, 1]
    functions.get(cloudpickle.dumps(len), 2)
    assert functions.get(sent, 2)() == 1


def test_what_a_call_returned_is_compared_with_after_the_next_on_as_many_ranks():
    kept, returned = execute._Kept(), {2: [0], 3: [0]}
    changed = []
    for size, value in [(2, 1), (3, 2), (3, 3), (2, 4), (2, 4)]:
        returned[size][0] = value
        tree = {"harness": "swap_halves", "size": size}
        changed.append(kept.changed_by(tree, returned[size], payload.encode(returned[size])))
    assert changed == [False, False, True, True, False]
