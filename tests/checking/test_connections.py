"""Ranks of a shared room keep their connections, where a run has left nothing on them."""

import numpy as np
import pytest

from distlab.notebook import Cell
from distlab.processes import payload
from distlab.rank import connections

EXCHANGE = "01-message-passing/exchange"
GIVEN = Cell(
    "cell 1",
    """
import datetime, gc, os, threading
import torch
import torch.distributed as dist
from distlab.rank import connections
SOON = datetime.timedelta(milliseconds=50)
LATER = datetime.timedelta(minutes=5)
""",
    "given",
)

NOTHING_LEFT = {
    "nothing": "pass",
    "messages": """
mine, theirs = torch.ones(3), torch.empty(3)
for one in [dist.isend(mine, rank ^ 1), dist.irecv(theirs, rank ^ 1)]:
    one.wait()
""",
    "a batch": """
theirs = torch.empty(3)
ops = [dist.P2POp(dist.isend, torch.ones(3), rank ^ 1), dist.P2POp(dist.irecv, theirs, rank ^ 1)]
for one in dist.batch_isend_irecv(ops):
    one.wait()
""",
    "from anybody": """
if rank % 2:
    dist.send(torch.ones(2), rank - 1)
else:
    dist.recv(torch.empty(2))
""",
    "collectives": """
dist.all_reduce(torch.ones(4))
dist.all_gather_object([None] * size, rank)
dist.barrier()
""",
    "a group of some": """
some = dist.new_group([0, 1])
if rank < 2:
    dist.all_reduce(torch.ones(2), group=some)
dist.broadcast(torch.ones(2), 0)
""",
    "a mistake that torch has told of": """
try:
    dist.send(torch.ones(2), 99)
except ValueError:
    pass
dist.barrier()
""",
    "autograd": """
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 2))
model(torch.ones(5, 3)).sum().backward()
""",
}

LEFT = {
    "a message that nobody takes": "kept = dist.isend(torch.ones(2), rank ^ 1, tag=rank)",
    "a message that is not waited for": """
kept = dist.isend(torch.ones(2), rank ^ 1)
dist.recv(torch.empty(2), rank ^ 1)
""",
    "a receive that gave up": """
try:
    dist.irecv(torch.empty(2), rank ^ 1).wait(SOON)
except RuntimeError:
    pass
""",
    "a receive that gave up on one rank": """
if rank == 0:
    try:
        dist.irecv(torch.empty(2), 1).wait(SOON)
    except RuntimeError:
        pass
""",
    "a collective that is not waited for": "kept = dist.all_reduce(torch.ones(2), async_op=True)",
    "a barrier that tags its messages by calls": "dist.monitored_barrier()",
    "another timeout": "dist.distributed_c10d._set_pg_timeout(LATER)",
    "the back end": "dist.group.WORLD._get_backend(torch.device('cpu'))",
    "another group": """
dist.barrier()
dist.destroy_process_group()
where = "file://" + os.environ["DISTLAB_RUN"] + "/mine"
dist.init_process_group("gloo", init_method=where, rank=rank, world_size=size)
dist.barrier()
""",
    "no group": "dist.barrier()\ndist.destroy_process_group()",
    "checks of torch's": "dist.set_debug_level(dist.DebugLevel.DETAIL)",
    "something in torch's place": "dist.get_debug_level = None",
}


def answer(program):
    """Do that, and say how many sizes had kept connections before."""
    body = "\n".join(f"    {line}" for line in program.strip().splitlines())
    source = (
        "def exchange(rank, size, tensor):\n"
        "    before = torch.tensor([float(len(connections._kept)), float(os.getpid())])\n"
        f"    global kept\n{body}\n    return before\n"
    )
    return Cell("exchange", source, "solution")


def ran(session, size, number=0.0, reuses=True):
    """How many sizes each rank had kept, and its process."""
    session.reuses = reuses
    sent = [payload.encode({"tensor": np.full(3, number, "float32")}) for _ in range(size)]
    run = session.run(EXCHANGE, sent, 20)
    assert run.ok, [one.error or one.status for one in run.outcomes]
    told = [payload.decode(one.output)["returned"].tolist() for one in run.outcomes]
    return [int(kept) for kept, _ in told], [int(process) for _, process in told]


@pytest.mark.parametrize("program", NOTHING_LEFT.values(), ids=NOTHING_LEFT)
def test_they_are_used_again_for_as_many_ranks(session, program):
    session.cells([GIVEN, answer(program)], 5)
    found = [ran(session, size) for size in (2, 4, 2, 4, 2)]
    assert [kept for kept, _ in found] == [[0] * 2, [1, 1, 0, 0], [2] * 2, [2, 2, 1, 1], [2] * 2]
    assert found[0][1] == found[4][1] and found[1][1] == found[3][1]


#: a thread of gloo's notes ends only while its rank waits for that, or once the record was read
NOTES_LATE = """
from distlab.rank import leaving, recorder, work
if not hasattr(recorder, "late"):
    recorder.late, real = threading.Event(), recorder.Recorder.finish
    def finish(*args, late=recorder.late, real=real, threading=threading, **how):
        if threading.current_thread() is not threading.main_thread():
            late.wait()
        real(*args, **how)
    recorder.Recorder.finish = finish
    for place, name in (work.RecordedWork, "settle"), (leaving, "end_group"):
        def then(*args, late=recorder.late, real=getattr(place, name)):
            late.set()
            real(*args)
        setattr(place, name, then)
recorder.late.clear()
"""


def test_they_are_used_again_where_the_end_of_a_collective_is_noted_late(session):
    """DDP goes on as soon as a bucket is there, which another thread notes at the same moment."""
    session.cells([GIVEN, answer(NOTES_LATE + NOTHING_LEFT["autograd"])], 5)
    assert [ran(session, 2)[0] for _ in range(3)] == [[0, 0], [1, 1], [1, 1]]


@pytest.mark.parametrize("program", LEFT.values(), ids=LEFT)
def test_what_may_be_left_on_them_ends_with_the_run(session, program):
    session.cells([GIVEN, answer(program)], 5)
    assert [ran(session, 2)[0] for _ in range(3)] == [[0, 0]] * 3


def test_those_that_were_used_again_go_when_something_is_left(session):
    sometimes = "if tensor[0]:\n    kept = dist.isend(torch.ones(2), rank ^ 1)"
    session.cells([GIVEN, answer(sometimes)], 5)
    kept = [ran(session, 2, number)[0][0] for number in (0.0, 1.0, 0.0, 0.0)]
    assert kept == [0, 1, 0, 1]


def test_they_are_not_kept_for_an_exercise_that_has_its_room_to_itself(session):
    session.cells([GIVEN, answer("dist.barrier()")], 5)
    assert [ran(session, 2, reuses=False)[0] for _ in range(2)] == [[0, 0]] * 2


def test_they_go_with_the_rank_that_is_replaced(session):
    """All others let go of theirs to it, but not of those among themselves."""
    dies = "dist.barrier()\nif tensor[0] and rank == 2:\n    os._exit(1)"
    session.cells([GIVEN, answer(dies)], 5)
    before = [ran(session, size)[1] for size in (2, 4)][1]
    sent = [payload.encode({"tensor": np.ones(3, "float32")}) for _ in range(3)]
    assert not session.run(EXCHANGE, sent, 20).ok
    kept, after = ran(session, 4)
    assert kept == [1, 1, 0, 0] and after[2] != before[2]
    assert [ran(session, size)[0][0] for size in (4, 2, 4)] == [2, 2, 2]


def test_a_thread_that_goes_on_takes_its_rank_and_its_connections_along(session):
    goes_on = "threading.Thread(target=threading.Event().wait, daemon=True).start()"
    session.cells([GIVEN, answer(goes_on)], 5)
    first, second = ran(session, 2), ran(session, 2)
    assert first[0] == second[0] == [0, 0] and not set(first[1]) & set(second[1])


def test_neither_threads_nor_descriptors_grow_from_run_to_run(session):
    count = "gc.collect()\nbefore = torch.tensor([float(len(os.listdir('/proc/self/' + what))) "
    count += "for what in ('task', 'fd')])\ndist.barrier()"
    session.cells([GIVEN, answer(count)], 5)
    found = [ran(session, size) for size in (2, 3, 2, 3, 2, 3, 2, 3)]
    assert len({str(one) for one in found[2::2]}) == 1
    assert len({str(one) for one in found[3::2]}) == 1


def test_those_that_go_after_they_were_used_again_go_at_once(session):
    """Not when Python next looks for cycles of references, on each rank at another time."""
    count = "before = torch.tensor([float(len(os.listdir('/proc/self/task'))), 0.0])\ngc.disable()"
    lost = "\ndist.barrier()\nif tensor[0]:\n    dist.distributed_c10d._set_pg_timeout(LATER)"
    session.cells([GIVEN, answer(count + lost)], 5)
    found = [ran(session, 4, number)[0] for number in (0.0, 1.0) * 8]
    assert len({str(one) for one in found[2::2]}) == 1


def test_what_is_under_way_on_them_holds_up_no_later_run(session):
    under_way = """
if not tensor[0]:
    dist.barrier()
elif rank == 1:
    dist.broadcast(torch.ones(1), src=1, async_op=True)
"""
    session.cells([GIVEN, answer(under_way)], 5)
    for _ in range(20):
        ran(session, 3)
        ran(session, 2)
        ran(session, 2, 1.0)
        ran(session, 3)


@pytest.mark.parametrize("asked", ["monitored_barrier(SOON)", "set_timeout(SOON)", "abort()",
                                   "_get_backend(torch.device('cpu'))", "barrier()"])  # fmt: skip
def test_a_group_of_an_earlier_run_does_not_reach_them(session, asked):
    program = f"""
if not tensor[0]:
    globals()["old"] = dist.group.WORLD
elif rank == 1:
    try:
        old.{asked}
    except RuntimeError as error:
        assert "of an earlier call" in str(error)
    else:
        raise AssertionError("it was let")
dist.all_reduce(torch.ones(1))
"""
    session.cells([GIVEN, answer(program)], 5)
    assert [ran(session, 2, number)[0][0] for number in (0.0, 1.0, 1.0)] == [0, 1, 1]


def test_no_more_are_kept_than_a_submission_has_threads_for(session):
    session.cells([GIVEN, answer("dist.barrier()")], 5)
    sizes = (6, 5, 4, 3, 6, 5, 3)  # four of them have 18 ranks, for which there is no room
    assert [ran(session, size)[0][0] for size in sizes] == [0, 1, 2, 3, 3, 3, 3]


def test_a_rank_that_has_kept_none_says_so():
    """Rather than wait for others who use theirs."""
    with pytest.raises(RuntimeError, match="kept no connections to 6 others"):  # noqa: SIM117
        with connections.used_again(7):
            pass
