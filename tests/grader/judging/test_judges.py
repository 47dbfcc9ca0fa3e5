"""Who judges, and with which GPUs."""

import concurrent.futures
import contextlib
import dataclasses
import errno
import fcntl
import itertools
import os
import signal
import tempfile
import threading
from pathlib import Path

import pytest

from distlab import course
from distlab.checking import submission
from distlab.checking.session import Session
from distlab.processes import temporary
from grader import collected, coursedir
from grader.coursedir import NotGraded
from grader.judging import demo, lending
from grader.judging import local as judging
from grader.judging.lending import Devices, Turns, Users, devices
from grader.judging.local import LocalJudges
from grader.sandbox import configured

LAB, SHARDING = "01-message-passing", "10-sharding-and-overlap"


def test_a_host_lends_each_device_to_one_submission_at_a_time():
    host = Devices({"a": ["0", "1", "2", "3", "4", "5"]})
    with host.lent("a", 2) as first, host.lent("a", 3) as second:
        assert len(first) == 2 and len(second) == 3 and not set(first) & set(second)


def test_one_that_needs_more_than_there_are_gets_all():
    with Devices({"a": ["0", "1"], "b": []}).lent("a", 5) as mine:
        assert mine == ["0", "1"]
    with Devices({"b": []}).lent("b", 5) as mine:
        assert mine == []


def test_one_that_finds_too_few_waits_until_they_are_given_back():
    host = Devices({"a": ["0", "1", "2"]})
    got: list[list[str]] = []

    def take():
        with host.lent("a", 2) as mine:
            got.append(mine)

    with host.lent("a", 2):
        waiting = threading.Thread(target=take)
        waiting.start()
        waiting.join(0.2)
        assert waiting.is_alive() and not got
    waiting.join(10)
    assert len(got) == 1


@pytest.mark.parametrize(
    ("visible", "expected"), [("", []), ("-1", []), ("2,5", ["2", "5"]), ("GPU-1a", ["GPU-1a"])]
)
def test_devices_are_those_that_the_job_was_given(monkeypatch, visible, expected):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert devices() == expected


def right():
    return submission.plan(
        coursedir.released(LAB), demo.handed_in("ada", LAB), course.exercises(LAB)
    )


def statuses(lines):
    return {line.name: line.status for line in lines}


PASSED = dict.fromkeys(course.exercises(LAB), "passed")
ANSWERED = {"run_blocking", "relay", "exchange"}
SOME = {name: "passed" if name in ANSWERED else "unanswered" for name in PASSED}


def some():
    return dataclasses.replace(right(), answered=ANSWERED)


@contextlib.contextmanager
def begun():
    made = LocalJudges(configured(), 3)
    made.ready()
    with contextlib.closing(made):
        yield made


@pytest.fixture
def judges():
    with begun() as made:
        yield made


@pytest.fixture(scope="module")
def kept():
    """Judges whose forkserver nobody ends."""
    with begun() as made:
        yield made


def ends_the_forkserver(monkeypatch, exercise, times):
    """Whoever runs this exercise finds the forkserver gone, so often."""
    run, left = Session.run, itertools.chain([True] * times, itertools.repeat(False))

    def runs(self, name, *args):
        if name == f"{LAB}/{exercise}" and next(left):
            source = getattr(self._source, "_zygote", self._source)
            source.process.kill()
            source.process.wait()
        return run(self, name, *args)

    monkeypatch.setattr(Session, "run", runs)


@pytest.mark.slow  # forkservers are started anew
def test_a_forkserver_lost_under_three_submissions_costs_none_of_them_a_point(judges, monkeypatch):
    ends_the_forkserver(monkeypatch, "relay", 1)
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        told = list(pool.map(lambda _: judges.lines(LAB, some()), range(3)))
    assert [statuses(lines) for lines in told] == [SOME] * 3


def test_a_forkserver_that_is_lost_to_somebody_alone_as_well_costs_no_point(judges, monkeypatch):
    """The kernel ended it, say, for want of memory; the answer may have been what took it."""
    ends_the_forkserver(monkeypatch, "relay", 2)  # beside others, then alone
    assert statuses(judges.lines(LAB, some())) == SOME


@pytest.mark.slow  # forkservers are started anew
def test_whoever_ends_its_forkserver_again_and_alone_has_crashed_there(judges, monkeypatch):
    ends_the_forkserver(monkeypatch, "relay", 3)  # beside others, then twice alone
    assert statuses(judges.lines(LAB, some())) == {**SOME, "relay": "crashed"}


def not_passed(judges, lab, answers):
    """Right answers that have no points in the sandbox."""

    def status(answer):
        handed_in = collected.handed_in(lab, **{answer.exercise: answer.source})
        return judges.again(lab, coursedir.lab(lab).plan(handed_in), answer.exercise).status

    with concurrent.futures.ThreadPoolExecutor(judges.slots) as pool:
        told = zip(answers, pool.map(status, answers), strict=True)
        return [f"{one.path.name}: {status}" for one, status in told if status != "passed"]


@pytest.mark.slow  # eleven cases each
def test_answers_whose_groups_stay_have_room_for_their_threads(judges):
    keep = {"right_dtensor.py", "right_group_of_its_own.py"}
    answers = [one for one in collected.answers(SHARDING) if one.path.name in keep]
    assert {one.path.name for one in answers} == keep
    assert not_passed(judges, SHARDING, answers) == []


@pytest.mark.long
@pytest.mark.slow  # all labs take five minutes
@pytest.mark.parametrize("lab", [lab for lab in course.LABS if not course.needs(lab)])
def test_right_answers_are_right_within_the_limits_too(judges, lab):
    assert not_passed(judges, lab, [one for one in collected.answers(lab) if one.right]) == []


def test_in_lanes_each_exercise_is_judged_once_and_told_in_its_place(kept, monkeypatch):
    sessions, run = {}, Session.run

    def runs(self, name, *args):
        sessions.setdefault(name.partition("/")[2], set()).add(id(self))
        return run(self, name, *args)

    monkeypatch.setattr(Session, "run", runs)
    lines = kept.lines(LAB, some(), lanes=3)
    assert [(line.name, line.status) for line in lines] == list(SOME.items())
    assert sessions.keys() == ANSWERED and all(len(one) == 1 for one in sessions.values())
    assert len(set.union(*sessions.values())) == 3


def test_a_forkserver_lost_under_lanes_costs_no_point(judges, monkeypatch):
    ends_the_forkserver(monkeypatch, "relay", 1)
    assert statuses(judges.lines(LAB, some(), lanes=2)) == SOME


@pytest.mark.slow  # forkservers are started anew
def test_whoever_ends_its_forkserver_in_a_lane_and_alone_has_crashed_there(judges, monkeypatch):
    ends_the_forkserver(monkeypatch, "relay", 3)
    assert statuses(judges.lines(LAB, some(), lanes=2)) == {**SOME, "relay": "crashed"}


def relayed(raises_with_dynamo):
    """A right `relay` that raises where what trains has been imported, or where it has not."""
    right = next(one.source for one in collected.answers(LAB, "relay") if one.right)
    source = f"""{right}

def unless(relay):
    def relays(*args):
        import sys
        if ("torch._dynamo" in sys.modules) is {raises_with_dynamo}:
            raise RuntimeError
        return relay(*args)
    return relays

relay = unless(relay)
"""
    return submission.plan(
        coursedir.released(LAB), collected.handed_in(LAB, relay=source), course.exercises(LAB)
    )


def test_a_single_submission_does_not_wait_for_what_trains(judges):
    assert statuses(judges.lines(LAB, relayed(True), lanes=2))["relay"] == "passed"


@pytest.mark.parametrize("lanes", [1, 2])
def test_what_fails_for_want_of_what_trains_is_judged_again_with_it(judges, lanes):
    assert statuses(judges.lines(LAB, relayed(False), lanes=lanes))["relay"] == "passed"


@pytest.mark.parametrize(("lab", "more"), [(LAB, "\nimport torch.optim"), (SHARDING, "")])
def test_whoever_trains_waits_for_it(judges, monkeypatch, lab, more):
    exercise = next(iter(course.exercises(lab)))
    right = next(one.source for one in collected.answers(lab, exercise) if one.right)
    plan = submission.plan(
        coursedir.released(lab), collected.handed_in(lab, **{exercise: right + more}),
        course.exercises(lab),
    )  # fmt: skip
    monkeypatch.setattr(judging, "_Early", None)  # nobody makes one
    assert statuses(judges.lines(lab, plan, lanes=2))[exercise] == "passed"


@pytest.mark.parametrize(
    "code",
    [
        "torch.distributed._functional_collectives.all_reduce(tensor, 'sum', group)",
        "from torch.distributed.tensor import Shard",
        "from torch.distributed import tensor",
        "from torch.distributed import _functional_collectives",
        "from torch.distributed.fsdp import FullyShardedDataParallel",
        "from torch.distributed import fsdp",
        "from torch.distributed.pipelining import SplitPoint",
    ],
)
def test_what_imports_for_seconds_is_known_by_its_name(code):
    relay = next(one.source for one in collected.answers(LAB, "relay") if one.right)
    for more, waits in ((code, True), ("import torch.distributed as dist", False)):
        plan = submission.plan(
            coursedir.released(LAB), collected.handed_in(LAB, relay=f"{relay}\n{more}"),
            course.exercises(LAB),
        )  # fmt: skip
        assert judging._trains(plan) is waits


def test_there_are_no_more_lanes_than_answers():
    lab, names = coursedir.lab(LAB), list(PASSED)
    parts = judging._parts(lab, some(), 8)
    assert {next(iter(part.exercises)) for part in parts} == ANSWERED and len(parts) == 3
    assert sorted(name for part in parts for name in part.exercises) == sorted(names)
    nothing = dataclasses.replace(some(), answered=set())
    assert [list(part.exercises) for part in judging._parts(lab, nothing, 8)] == [names]


def test_a_sandbox_that_does_not_start_is_nobodys_zero(judges):
    judges.sandbox = dataclasses.replace(judges.sandbox, prefix=("false",))
    with pytest.raises(NotGraded, match="grade it again"):
        judges.lines(LAB, right())


def test_whoever_wants_the_machine_alone_waits_for_the_others_and_goes_before_later_ones():
    turns, order = Turns(), []
    first_in, first_may_go = threading.Event(), threading.Event()

    def first():
        with turns.shared():
            first_in.set()
            first_may_go.wait(10)
            order.append("first")

    def alone():
        with turns.alone():
            order.append("alone")

    def later():
        with turns.shared():
            order.append("later")

    threads = [threading.Thread(target=first), threading.Thread(target=alone)]
    threads[0].start()
    assert first_in.wait(10)
    threads[1].start()
    with turns._changed:
        assert turns._changed.wait_for(lambda: turns._waiting or order, 10) and not order
    threads.append(threading.Thread(target=later))
    threads[2].start()
    first_may_go.set()
    for thread in threads:
        thread.join(10)
    assert order == ["first", "alone", "later"]


def test_who_waits_for_a_turn_that_was_never_given_back_goes_on_once_grading_has_ended():
    turns, order = Turns(), []
    kept = turns.shared()
    kept.__enter__()  # by somebody who was interrupted

    def alone():
        with turns.alone():
            order.append("alone")

    waiting = threading.Thread(target=alone)
    waiting.start()
    with turns._changed:
        assert turns._changed.wait_for(lambda: turns._waiting, 10) and not order
    turns.end()
    waiting.join(10)
    assert order == ["alone"]
    with turns.shared():  # nor does anybody who comes later wait
        pass


def test_no_two_submissions_in_work_are_the_same_user(tmp_path):
    users, of_another_grader = Users(range(7, 10), tmp_path), Users(range(7, 10), tmp_path)
    with users.lent() as one, of_another_grader.lent() as other, users.lent() as third:
        assert [one, other, third] == [7, 8, 9]
        with pytest.raises(NotGraded, match="all 3 users"), of_another_grader.lent():
            pass
    with users.lent() as again, Users(None).lent() as nobody:
        assert again == 7 and nobody is None


def test_a_session_that_cannot_begin_is_nobodys_zero(judges, tmp_path):
    judges.ready()
    judges._users = Users(range(1 << 32, 1 << 33), tmp_path)  # no user has such a number
    for lanes in (1, 2):
        with pytest.raises(NotGraded, match="grade it again"):
            judges.lines(LAB, right(), lanes=lanes)


def test_code_that_is_trusted_has_no_lanes(monkeypatch):
    monkeypatch.setattr(judging, "_parts", lambda lab, plan, lanes: [lab] * lanes)
    monkeypatch.setattr(LocalJudges, "_in_lanes", lambda *_: pytest.fail("in lanes, without walls"))
    with contextlib.closing(LocalJudges(configured(trust=True), 2)) as judges:
        assert statuses(judges.lines(LAB, some(), lanes=2)) == SOME


def test_cells_that_end_their_process_are_run_again_once_and_not_in_each_lane(kept, monkeypatch):
    ran, cells = [], Session.cells

    def runs(self, *args):
        ran.append(self)
        return cells(self, *args)

    monkeypatch.setattr(Session, "cells", runs)
    ends = {"relay": "import os\nos._exit(1)\n"}
    given = [
        dataclasses.replace(cell, source=ends.get(cell.name, cell.source)) for cell in some().cells
    ]
    plan = dataclasses.replace(some(), cells=given)
    assert statuses(kept.lines(LAB, plan, lanes=3)) == {**SOME, "relay": "crashed"}
    assert len(ran) == 3 + 2  # in the lanes, in the one session, and there once more alone


#: of two answers, one that tells by locks on files that both can read what it has seen, and one
#: that waits for that and says it where it is told in full
TELLS = """
def broadcast_from(rank, size, tensor, src):
    import fcntl, glob, os, struct, time
    mine = tensor.flatten().tolist()
    dist.broadcast(tensor, src)
    if size == 3 and rank == src:
        first = mine[0]
        files = sorted(glob.glob(os.path.dirname(os.__file__) + "/*.py"))
        seen = struct.unpack("<I", struct.pack("<f", first))[0] | 1 << 32
        held = [open(files[bit]) for bit in range(33) if seen >> bit & 1]
        for one in held:
            fcntl.flock(one, fcntl.LOCK_EX | fcntl.LOCK_NB)
        time.sleep(2)
    return tensor
"""
HEARS = """
def scatter_rows(rank, size, matrix, src, width):
    import fcntl, glob, os, time
    files = sorted(glob.glob(os.path.dirname(os.__file__) + "/*.py"))

    def is_locked(bit):
        with open(files[bit]) as one:
            try:
                fcntl.flock(one, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return 1
        return 0

    if rank == src:
        end = time.monotonic() + 4
        while time.monotonic() < end and not is_locked(32):
            time.sleep(0.05)
        raise ValueError(f"heard {[is_locked(bit) for bit in range(33)]}")
    dist.scatter(torch.empty(width))
"""


@pytest.mark.slow  # one waits for what the other one would tell
def test_one_lane_cannot_tell_another_what_a_hidden_input_is(judges):
    content = collected.handed_in(LAB, broadcast_from=TELLS, scatter_rows=HEARS)
    plan = submission.plan(coursedir.released(LAB), content, course.exercises(LAB))
    lines = {line.name: line for line in judges.lines(LAB, plan, lanes=2)}
    assert lines["broadcast_from"].status == "passed", lines["broadcast_from"].message
    assert f"heard {[0] * 33}"[:60] in lines["scatter_rows"].message


def test_a_user_is_free_again_whatever_was_forked_while_it_was_lent(tmp_path):
    """Whoever was forked meanwhile has the lock's file open as well."""
    users, (reading, writing) = Users(range(7, 8), tmp_path), os.pipe()
    with users.lent():
        forked = os.fork()
        if not forked:
            os.close(writing)
            os.read(reading, 1)  # until the test closes its end
            os._exit(0)
    os.close(reading)
    try:
        with users.lent() as user:
            assert user == 7
    finally:
        os.close(writing)
        os.waitpid(forked, 0)


def test_a_folder_that_notes_who_is_lent_is_not_left_behind(tmp_path, monkeypatch):
    """Where none beside the secret can be written to, it is this process's own."""
    monkeypatch.setattr(lending.os, "access", lambda *_: False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    users = Users(range(7, 8))
    with users.lent() as user:
        assert user == 7 and len(list(tmp_path.iterdir())) == 1
        # of a killed process the next removes it
        assert list(tmp_path.glob(f"{temporary.PREFIX}*/{temporary._MARK}"))
    del users
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.ENOLCK])
def test_users_are_lent_where_the_home_folder_is_on_a_file_system_without_locks(
    tmp_path, monkeypatch, number
):
    """As a cluster's often is: the machine's own disk has locks."""
    home, flock = tmp_path / "home" / "secret", fcntl.flock

    def refuse(file, operation):
        if home.parent in Path(file.name).parents:
            raise OSError(number, os.strerror(number))
        flock(file, operation)

    monkeypatch.setattr(lending.secret, "default_path", lambda: home)
    monkeypatch.setattr(lending.os, "getuid", lambda: 1000)
    monkeypatch.setattr(lending.fcntl, "flock", refuse)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    users = Users(range(7, 9))
    with users.lent() as one, users.lent() as other:
        assert (one, other) == (7, 8)


def test_a_zygote_that_was_lost_leaves_no_folder_behind():
    local = LocalJudges(configured(trust=True))
    with contextlib.closing(local):
        lost = local._shared(local.ready(), ())
        os.killpg(lost.process.pid, signal.SIGKILL)
        lost.process.wait()
        assert lost.folder.is_dir()
        assert local._shared(local.ready(), ()) is not lost
        assert not lost.folder.exists()


def test_one_user_of_the_kernels_is_enough_for_one_submission(kept, tmp_path, monkeypatch):
    """An account with few subordinate users judges as many at once, and none that waits for two."""
    if kept.sandbox.users is None:
        pytest.skip("submissions have no users of their own here")
    first = kept.sandbox.users[-1]
    monkeypatch.setattr(kept, "_users", Users(range(first, first + 1), tmp_path))
    assert kept.again(LAB, some(), "relay").status == "passed"
