"""What a submission's code does costs that code alone."""

import errno
import itertools
import os
import socket

import numpy as np
import pytest

from distlab.checking import session as sessions
from distlab.checking.room import BEGUN
from distlab.checking.session import NotBegun, RoomLost, Session, SessionLost, _Room
from distlab.course import find
from distlab.engines import run_messages
from distlab.engines.outcomes import Outcome, Run
from distlab.exercises.judge import judge
from distlab.notebook import Cell
from distlab.processes import framing, payload, stopped
from distlab.processes.isolation import IsolationFailed, Limits

GIVEN = Cell("cell 1", "import torch\nimport torch.distributed as dist", "given")
EXCHANGE = "01-message-passing/exchange"


def solution(source, name="exchange"):
    return Cell(name, source, "solution")


def inputs(size=2):
    return [payload.encode({"tensor": np.full(3, float(r), "float32")}) for r in range(size)]


def values(run):
    return [payload.decode(o.output)["returned"].tolist() for o in run.outcomes]


RIGHT = """
def exchange(rank, size, tensor):
    received = torch.empty_like(tensor)
    for request in [dist.isend(tensor, rank ^ 1), dist.irecv(received, rank ^ 1)]:
        request.wait()
    return received
"""


def test_a_function_of_a_cell_runs_on_every_rank(session):
    assert session.cells([GIVEN, solution(RIGHT)], 5) == {}
    run = session.run(EXCHANGE, inputs(4), 10)
    assert values(run) == [[1.0] * 3, [0.0] * 3, [3.0] * 3, [2.0] * 3]
    assert [len(record.sends()) for record in run.records] == [1] * 4


@pytest.mark.parametrize(
    ("ending", "status"),
    [
        ("import os; os._exit(3)", "crashed"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "crashed"),
        ("while True: pass", "timeout"),
        (
            "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
            "timeout",
        ),
    ],
)
def test_a_cell_that_ends_or_hangs_its_process_is_left_out_and_the_others_go_on(
    session, ending, status
):
    bad = solution(ending + "\ndef relay(rank, size, tensor): pass", "relay")
    problems = session.cells([GIVEN, bad, solution(RIGHT)], 1.0)
    assert {name: p["status"] for name, p in problems.items()} == {"relay": status}
    assert session.run(EXCHANGE, inputs(), 10).ok


@pytest.mark.parametrize(
    ("ending", "type"),
    [
        ("print(undefined)", "NameError"),
        ("import asyncio; raise asyncio.CancelledError", "CancelledError"),  # no Exception
        ("raise SystemExit", "SystemExit"),
    ],
)
def test_a_cell_that_raises_keeps_what_it_had_defined(session, ending, type):
    problems = session.cells([GIVEN, solution(f"{RIGHT}\n{ending}")], 5)
    assert problems["exchange"]["status"] == "error"
    assert problems["exchange"]["type"] == type
    assert session.run(EXCHANGE, inputs(), 10).ok


def test_an_answer_that_raises_when_it_is_sent_costs_itself(session):
    odd = """
import asyncio
class Odd:
    def __reduce__(self):
        raise asyncio.CancelledError
odd = Odd()
def exchange(rank, size, tensor):
    return odd
"""
    assert session.cells([GIVEN, solution(odd)], 5) == {}
    (outcome,) = session.run(EXCHANGE, inputs(), 10).outcomes
    assert outcome.error["type"] == "CancelledError"


def test_in_a_cell_of_ones_own_a_statement_that_fails_does_not_stop_the_next(session):
    own = Cell("your cell 2", "undefined\nHALF = 0.5\n%matplotlib inline\n!ls", "added")
    answer = "def exchange(rank, size, tensor):\n    return torch.full((1,), HALF)"
    assert session.cells([GIVEN, own, solution(answer)], 5) == {}
    assert values(session.run(EXCHANGE, inputs(), 10)) == [[0.5], [0.5]]


def test_a_deadlock_is_named_with_ranks_and_lines(session):
    hanging = RIGHT.replace("dist.isend(tensor, rank ^ 1), ", "")
    session.cells([GIVEN, solution(hanging)], 5)
    run = session.run(EXCHANGE, inputs(), 10)
    assert not run.timed_out
    assert "rank 0 waits for its irecv(src=1) at exchange:4" in run.finding.message


def test_an_endless_loop_ends_at_its_deadline_and_the_session_goes_on(session):
    loop = "def relay(rank, size, tensor):\n    while True: pass"
    session.cells([GIVEN, solution(loop, "relay"), solution(RIGHT)], 5)
    run = session.run("01-message-passing/relay", inputs(), 0.5)
    assert run.timed_out and [o.status for o in run.outcomes] == ["killed", "killed"]
    session.end_room()
    assert session.run(EXCHANGE, inputs(), 10).ok


def test_a_rank_that_dies_is_told_from_one_that_waits_for_it(session):
    dying = "import os\n" + RIGHT.replace(
        "    received", "    if rank: os._exit(1)\n    received", 1
    )
    session.cells([GIVEN, solution(dying)], 5)
    assert session.run(EXCHANGE, inputs(), 10).outcomes[1].status == "crashed"


def test_an_exception_comes_with_the_line_of_its_cell(session):
    session.cells(
        [GIVEN, solution("def exchange(rank, size, tensor):\n    return tensor / none")], 5
    )
    error = session.run(EXCHANGE, inputs(), 10).outcomes[0].error
    assert error["type"] == "NameError"
    assert error["frames"][-1] == {
        "function": "exchange", "line": 2, "file": "exchange", "text": "return tensor / none",
    }  # fmt: skip


def test_an_exception_in_a_helper_of_another_cell_comes_with_the_line_that_called_it(session):
    halves = Cell("cell 2", "def halves(tensor):\n    return tensor[0].split(0)[5]", "added")
    answer = "def exchange(rank, size, tensor):\n    def mine():\n        return halves(tensor)\n"
    session.cells([GIVEN, halves, solution(f"{answer}    return mine()")], 5)
    asked = find(EXCHANGE)
    verdict = judge(
        asked, asked.visible, lambda *_: [],
        lambda exercise, case, inputs, left, schedule=None: session.run(EXCHANGE, inputs, left),
    )  # fmt: skip
    assert " at halves:2, called at mine:3." in verdict.happened


def test_what_cannot_be_sent_to_a_rank_is_named_and_no_rank_is_said_to_have_raised(session):
    log = Cell("cell 2", "log = open('log', 'w')", "added")
    session.cells(
        [GIVEN, log, solution("def exchange(rank, size, tensor):\n    print(rank, file=log)")], 5
    )
    asked = find(EXCHANGE)
    verdict = judge(
        asked, asked.visible, lambda *_: [],
        lambda exercise, case, inputs, left, schedule=None: session.run(EXCHANGE, inputs, left),
    )  # fmt: skip
    assert (verdict.status, verdict.happened) == (
        "error",
        "log, which exchange uses, is an open file and cannot be sent to another process: "
        "open it inside exchange.",
    )


def test_a_module_that_a_cell_has_written_is_imported_in_cells_and_ranks(session):
    module = f"from torch import distributed as dist\n{RIGHT}"
    written = [
        Cell("cell 2", "%%writefile helpers.py\nimport torch\n", "added"),
        Cell("cell 3", f"%%writefile -a helpers.py\n{module}", "added"),
    ]
    imported = "import helpers\nfrom helpers import exchange as swapped\n"
    for answer in ("swapped(rank, size, tensor)", "helpers.exchange(rank, size, tensor)"):
        source = f"{imported}def exchange(rank, size, tensor):\n    return {answer}"
        assert session.cells([GIVEN, *written, solution(source)], 5) == {}
        outcomes = session.run(EXCHANGE, inputs(), 10).outcomes
        assert [(one.status, one.error) for one in outcomes] == [("returned", None)] * 2


def test_what_a_script_raised_is_told_where_it_leaves_a_function_undefined(session):
    def problems(script, answer=""):
        written = Cell("cell 2", f"%%writefile mine.py\n{script}", "added")
        cell = Cell("exchange", f"%run mine.py\n{answer}", "solution", takes=("exchange",))
        return session.cells([GIVEN, written, cell], 5)

    (problem,) = problems("import nowhere").values()
    assert (problem["status"], problem["type"]) == ("error", "ModuleNotFoundError")
    assert problems("import nowhere", RIGHT) == {}  # as IPython, which shows it and goes on
    assert problems("raise SystemExit") == {} == problems("x = 1")


def test_a_cell_s_standard_output_is_the_rank_s_own_in_the_function(session):
    kept = Cell("cell 2", "import sys\nout, write = sys.stdout, sys.stderr.write", "added")
    told = (
        "import sys\ndef exchange(rank, size, tensor):\n    print(rank, file=out)\n    write('!')"
    )
    assert session.cells([GIVEN, kept, solution(told)], 5) == {}
    assert [o.printed for o in session.run(EXCHANGE, inputs(), 10).outcomes] == ["0\n!", "1\n!"]


def test_an_output_that_is_too_large_is_refused(session, monkeypatch):
    huge = "def exchange(rank, size, tensor):\n    return torch.zeros(6_000_000)"
    session.cells([GIVEN, solution(huge)], 5)
    error = session.run(EXCHANGE, inputs(), 10).outcomes[0].error
    assert error["type"] == "OutputTooLarge"


def test_what_is_printed_is_cut(session):
    loud = RIGHT.replace("    received", "    print('x' * 10_000_000)\n    received", 1)
    session.cells([GIVEN, solution(loud)], 5)
    assert 60_000 < len(session.run(EXCHANGE, inputs(), 10).outcomes[0].printed) < 70_000


def test_a_session_that_is_gone_says_so(zygote):
    import os
    import signal

    with Session(zygote) as session:
        os.kill(session.pid, signal.SIGKILL)
        with pytest.raises(SessionLost):
            session.cells([GIVEN], 5)


def test_what_a_run_waited_for_until_its_own_timeout_is_told_with_the_error(session):
    impatient = """
def exchange(rank, size, tensor):
    import datetime
    dist.irecv(tensor, rank ^ 1).wait(datetime.timedelta(seconds=0.5))
"""
    session.cells([GIVEN, solution(impatient)], 5)
    run = session.run(EXCHANGE, inputs(), 10)
    assert [outcome.status for outcome in run.outcomes] == ["raised"] * 2
    assert run.finding is None and run.hindsight.kind == "cycle"
    exercise = find(EXCHANGE)
    case = exercise.visible[0]
    verdict = judge(exercise, [case], lambda *_: [], lambda *_: run)
    assert verdict.status == "error" and "neither can ever send" in verdict.happened
    assert "waits for its irecv(src=1) at exchange:4" in verdict.happened


def test_a_buffer_smaller_than_its_message_is_one_finding_however_gloo_ends_it(session):
    small = """
def exchange(rank, size, tensor):
    received = torch.empty(1)
    for request in [dist.isend(tensor, rank ^ 1), dist.irecv(received, rank ^ 1)]:
        request.wait()
"""
    session.cells([GIVEN, solution(small)], 5)
    exercise = find(EXCHANGE)
    for _ in range(5):
        run = session.run(EXCHANGE, inputs(), 10)
        verdict = judge(exercise, exercise.visible[:1], lambda *_: [], lambda *_, run=run: run)
        assert verdict.status == "deadlock"
        assert "the message has 12 bytes and the buffer 4" in verdict.happened
        session.end_room()


class HalfARoom(_Room):
    """A room that ends after half of its reply."""

    _begun = True

    def __init__(self, reply):
        self.socket, theirs = socket.socketpair()
        with theirs:
            framing.announce(theirs, len(reply))
            theirs.sendall(reply[: len(reply) // 2])


@pytest.mark.parametrize("length", [0, 1, 100, 100_000])
def test_a_room_that_ends_in_the_middle_of_its_reply_is_told_as_lost(length):
    """Whatever of it had been handed on: the session goes on with the next request."""
    judged = Session.__new__(Session)
    judged._socket, root = socket.socketpair()
    with judged._socket, root:
        judged._socket.settimeout(10)
        room = HalfARoom(payload.pack({"outcomes": []}, os.urandom(length)))
        whole = room.answer(root, 10, 1 << 20)
        framing.write(root, *payload.parts({} if whole else {"lost": "it ended"}))
        framing.write(root, *payload.parts({"problems": {}}))
        with pytest.raises(RoomLost, match="it ended"):
            judged._ask({"op": "run", "patience": 1}, [b"inputs"], relayed=True)
        assert judged._ask({"op": "cells", "patience": 1}, []) == ({"problems": {}},)


@pytest.mark.parametrize("size", [1, 3])
def test_a_run_of_other_ranks_than_were_asked_for_is_none(size):
    judged = Session.__new__(Session)
    judged._socket, root = socket.socketpair()
    judged.reuses = False
    run = Run([Outcome(rank, "returned") for rank in range(size)], [], 1.0, 8.0)
    with judged._socket, root:
        framing.write(root, *run_messages.parts(run))
        framing.write(root, *payload.parts({}))
        with pytest.raises(RoomLost, match=f"a run of {size} ranks where 2 were asked for"):
            judged.run(EXCHANGE, inputs(), 10)


@pytest.mark.skipif(not hasattr(os, "SCHED_BATCH"), reason="Linux alone has turns of that kind")
def test_whoever_judges_waits_for_its_turn(session):
    """A rank that is interrupted by whom it sends to leaves gloo's own thread spinning."""
    told = "def exchange(rank, size, tensor):\n    return torch.tensor(os.sched_getscheduler(0))"
    session.cells([GIVEN, solution("import os\n" + told)], 5)
    assert values(session.run(EXCHANGE, inputs(), 10)) == [os.SCHED_BATCH] * 2


@pytest.mark.parametrize("asks", ["reply", "answer"])
def test_a_room_that_was_suspended_with_all_others_is_not_lost(monkeypatch, asks):
    """It answers half a second after an hour in which nobody did anything."""
    room = HalfARoom.__new__(HalfARoom)
    room.socket, inside = socket.socketpair()
    judge, judged = socket.socketpair()
    clock, looks = [1000.0], itertools.count(1)

    def readable(connections, timeout):
        look = next(looks)
        clock[0] += 3600.0 if look == 2 else stopped.EACH
        if look == 4:
            framing.write(inside, *payload.parts({"told": 1}))
        return connections if look >= 4 else []

    with room.socket, inside, judge, judged, monkeypatch.context() as patched:
        patched.setattr(stopped.time, "monotonic", lambda: clock[0])
        patched.setattr(framing, "readable", readable)
        if asks == "reply":
            assert room.reply(10.0, 1 << 20) == ({"told": 1},)
        else:
            assert room.answer(judged, 10.0, 1 << 20)
            assert payload.receive(judge) == ({"told": 1},)


@pytest.mark.parametrize("asks", ["reply", "answer"])
def test_a_room_that_begins_late_is_asked_all_the_same(monkeypatch, asks):
    """It says that it has begun when it is no longer waited for: that is no part of its reply."""
    monkeypatch.setattr(sessions, "PATIENCE", 0.05)
    room = HalfARoom.__new__(HalfARoom)
    room._begun = False
    room.socket, inside = socket.socketpair()
    judge, judged = socket.socketpair()
    with room.socket, inside, judge, judged:
        assert not room.began()
        inside.sendall(BEGUN)
        framing.write(inside, *payload.parts({"told": 1}))
        if asks == "reply":
            assert room.reply(10.0, 1 << 20) == ({"told": 1},)
        else:
            assert room.answer(judged, 10.0, 1 << 20)
            assert payload.receive(judge) == ({"told": 1},)


def test_a_session_that_was_suspended_with_the_grader_is_not_lost(session, monkeypatch):
    waits, looks = framing.readable, itertools.count(1)
    clock, now = [0.0], stopped.time.monotonic

    def readable(connections, timeout):
        clock[0] += 3600.0
        return [] if next(looks) < 3 else waits(connections, 60.0)

    with monkeypatch.context() as patched:
        patched.setattr(stopped.time, "monotonic", lambda: now() + clock[0])
        patched.setattr(framing, "readable", readable)
        session.end_room()
    assert clock[0] >= 3 * 3600.0


class NoRoomAhead:
    """In place of rooms: there are processes for one at a time."""

    made = 0

    def __init__(self, *_):
        if NoRoomAhead.made:
            raise IsolationFailed(errno.EAGAIN, "new namespaces")
        NoRoomAhead.made += 1
        self.socket = None

    def began(self):
        return True

    def send(self, *_):
        pass

    def reply(self, *_):
        return {"functions": {}, "problems": {}}, b"belongings"

    def close(self):
        NoRoomAhead.made -= 1


def test_cells_that_take_all_processes_do_not_end_their_session(monkeypatch):
    monkeypatch.setattr(sessions, "_Room", NoRoomAhead)
    judge, ours = socket.socketpair()
    with judge, ours:
        root = sessions._Root(ours, None, Limits(), walls=True)
        root.answer({"op": "cells", "cells": [], "patience": 1.0}, [])
        assert payload.receive(judge) == ({"problems": {}},)
        assert root._entered().reply() is not None and NoRoomAhead.made == 1
        root.close()


class NoRoom(NoRoomAhead):
    """In place of rooms: the machine grants so little that they end before they begin."""

    def __init__(self, *_):
        pass

    def began(self):
        return False

    def close(self):
        pass


class NoProcess(NoRoom):
    """In place of rooms: not even a process can be made."""

    def __init__(self, *_):
        raise IsolationFailed(errno.EAGAIN, "new namespaces")


@pytest.mark.parametrize("kind", [NoRoom, NoProcess])
def test_a_first_room_that_does_not_begin_is_not_the_submission_s(monkeypatch, kind):
    monkeypatch.setattr(sessions, "_Room", kind)
    judged = Session.__new__(Session)
    judged._socket, ours = socket.socketpair()
    with judged._socket, ours:
        root = sessions._Root(ours, None, Limits(), walls=True)
        tree = {"op": "cells", "cells": [], "patience": 1.0}
        root.answer(tree, [])
        with pytest.raises(NotBegun, match="did not begin"):
            judged._ask(tree, [])


def test_a_room_says_that_it_has_begun_and_one_that_ends_before_does_not(monkeypatch):
    def began():
        room = _Room(None, False, None, [])
        try:
            return room.began()
        finally:
            room.close()

    assert began()
    monkeypatch.setattr(sessions, "serve_room", lambda *_: os._exit(1))
    assert not began()
