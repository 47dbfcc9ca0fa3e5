"""Everything that torch.distributed can be asked for is written down, and it outlives its rank."""

import contextlib
import errno
import os
import socket
import sys
import threading

import cloudpickle
import numpy
import pytest
import torch
import torch.distributed as dist
from torch.distributed import all_reduce as imported_by_name

from distlab import Ranks
from distlab.rank import buffers
from distlab.rank.recorder import Recorder
from distlab.records.events import CHANGED, LOCAL
from distlab.records.reading import Follower, read

cloudpickle.register_pickle_by_value(sys.modules[__name__])


#: gloo's all-to-all of lists
of_lists = pytest.mark.skipif(torch.__version__ < "2.13", reason="gloo has it since torch 2.13")


@pytest.fixture(scope="module")
def two():
    return Ranks(2, deadline=30)


def events(two, function, rank=0, **options):
    return two.run(function, **options).records[rank].events


CALLS = {
    "broadcast": lambda t, o: dist.broadcast(t, 0),
    "all_reduce": lambda t, o: dist.all_reduce(t),
    "reduce": lambda t, o: dist.reduce(t, 1),
    "all_gather": lambda t, o: dist.all_gather(o, t),
    "all_gather_into_tensor": lambda t, o: dist.all_gather_into_tensor(torch.empty(8), t),
    "all_gather_object": lambda t, o: dist.all_gather_object([None, None], {"a": 1}),
    "broadcast_object_list": lambda t, o: dist.broadcast_object_list([1, 2], 0),
    "gather": lambda t, o: dist.gather(t, o if dist.get_rank() == 0 else None, 0),
    "scatter": lambda t, o: dist.scatter(t, o if dist.get_rank() == 0 else None, 0),
    "reduce_scatter": lambda t, o: dist.reduce_scatter(t, o),
    "reduce_scatter_tensor": lambda t, o: dist.reduce_scatter_tensor(t, torch.ones(8)),
    "all_to_all": lambda t, o: dist.all_to_all(o, [x.clone() for x in o]),
    "all_to_all_single": lambda t, o: dist.all_to_all_single(torch.empty(4), t),
    "barrier": lambda t, o: dist.barrier(),
    "monitored_barrier": lambda t, o: dist.monitored_barrier(),
}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=of_lists) if n == "all_to_all" else n for n in CALLS]
)
def test_each_collective_is_recorded_under_the_name_that_was_called(two, name):
    call = CALLS[name]

    def program(rank, size):
        call(torch.ones(4), [torch.ones(4), torch.ones(4)])

    for record in two.run(program).records:
        assert record.events and {e.api for e in record.events} == {name}
        assert all(e.done and e.blocking and not e.internal for e in record.events)
        assert all(e.end >= e.begin > 0 and e.group == (0, 1) for e in record.events)


#: both names of each operation, its forms, and what a rank of two gives to it in bytes
GIVEN = {
    "all_gather": (lambda t: dist.all_gather([torch.empty(6), torch.empty(6)], t), 24),
    "_allgather_base": (lambda t: dist.all_gather_into_tensor(torch.empty(12), t), 24),
    "all_gather_single": (lambda t: dist.all_gather_single(torch.empty(12), t), 24),
    "reduce_scatter": (lambda t: dist.reduce_scatter(torch.empty(3), list(t.chunk(2))), 24),
    "_reduce_scatter_base": (lambda t: dist.reduce_scatter_tensor(torch.empty(3), t), 24),
    "reduce_scatter_single": (lambda t: dist.reduce_scatter_single(torch.empty(3), t), 24),
    "alltoall": (lambda t: dist.all_to_all([torch.empty(3), torch.empty(3)], list(t.chunk(2))), 24),
    "alltoall_base": (lambda t: dist.all_to_all_single(torch.empty(6), t), 24),
    "allreduce_coalesced": (lambda t: dist.all_reduce_coalesced([t, torch.ones(1)]), 28),
}


@pytest.mark.parametrize(
    "method", [pytest.param(m, marks=of_lists) if m == "alltoall" else m for m in GIVEN]
)
def test_the_forms_of_a_collective_are_one_operation_and_count_the_bytes_that_a_rank_gives(
    two, method
):
    call, nbytes = GIVEN[method]
    if method.endswith("_single") and not hasattr(dist, method):
        pytest.skip("a name that torch has had since 2.13")

    def program(rank, size):
        call(torch.ones(6))

    for record in two.run(program).records:
        (event,) = record.events
        assert event.nbytes == nbytes
        assert event.op == next(
            op for op in ("all_gather", "reduce_scatter", "all_to_all", "all_reduce")
            if op.replace("_", "") in method.replace("_", "")
        )  # fmt: skip


def test_an_all_to_all_of_unequal_pieces_counts_what_each_of_them_holds(two):
    """Only gloo refuses them."""

    def program(rank, size):
        pieces = [torch.ones(1), torch.ones(5)]
        with contextlib.suppress(RuntimeError):
            dist.all_to_all([torch.empty(1), torch.empty(5)], pieces)

    for record in two.run(program).records:
        assert (record.events[0].nbytes, record.events[0].elements) == (24, 6)


def test_functional_collectives_are_recorded_and_do_not_take_seconds_the_first_time(two):
    def program(rank, size):
        before = set(sys.modules)
        from torch.distributed import _functional_collectives as funcol

        own = torch.full((2,), float(rank))
        gathered = funcol.all_gather_tensor(own, 0, dist.group.WORLD) + 0
        return gathered, set(sys.modules) - before

    assert two.client  # those that were forked before all was imported have been replaced
    result = two.run(program)
    gathered, imported = result[1]
    assert gathered.tolist() == [0, 0, 1, 1]
    (event,) = result.records[0].events
    assert event.op == "all_gather" and event.nbytes == 8 and event.waited
    assert not imported  # torch._dynamo and what it imports take seconds


def test_a_message_has_peer_tag_bytes_dtype_shape_value_and_place(two):
    def program(rank, size):
        tensor = torch.full((2, 3), 7, dtype=torch.int64)
        if rank == 0:
            dist.send(tensor, dst=1, tag=5)
        else:
            dist.recv(tensor, src=0, tag=5)

    sent, received = (record.events[0] for record in two.run(program).records)
    assert (sent.op, sent.peer, received.op, received.peer) == ("send", 1, "recv", 0)
    for event in (sent, received):
        assert (event.tag, event.nbytes, event.dtype, event.shape) == (5, 48, "int64", (2, 3))
        assert event.value == 7.0 and event.blocking
        assert event.function == "program"
    assert received.line == sent.line + 2


def test_requests_are_told_from_blocking_calls_and_forgotten_waits_show(two):
    def program(rank, size):
        request = dist.isend(torch.ones(1), 1 - rank)
        dist.irecv(torch.zeros(1), 1 - rank).wait()
        if rank == 0:
            request.wait()
        dist.barrier()

    first, second = (record.events for record in two.run(program).records)
    assert [e.api for e in first] == ["isend", "irecv", "barrier"]
    assert [e.blocking for e in first] == [False, False, True]
    assert [e.waited for e in first] == [True, True, True]
    assert [e.waited for e in second] == [False, True, True]


def test_nothing_bypasses_the_recorder(two):
    def program(rank, size):
        tensor = torch.ones(1)
        imported_by_name(tensor)
        dist.group.WORLD.allreduce([tensor]).wait()
        group = dist.new_group([0, 1], backend="gloo")
        dist.all_reduce(tensor, group=group)
        ops = [dist.P2POp(dist.isend, tensor, 1 - rank), dist.P2POp(dist.irecv, tensor, 1 - rank)]
        for request in dist.batch_isend_irecv(ops):
            request.wait()
        dist.all_reduce(tensor, async_op=True).wait()
        return tensor.item()

    found = events(two, program)
    assert [e.op for e in found] == [
        "all_reduce", "all_reduce", "new_group", "all_reduce", "send", "recv", "all_reduce",
    ]  # fmt: skip
    assert found[3].group_index == found[2].group_index == 1
    assert found[4].api == "batch_isend_irecv"


def test_ddp_is_recorded_as_torchs_own_and_its_gradients_are_right(two):
    def program(rank, size):
        torch.manual_seed(rank)
        model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 1, bias=False))
        model(torch.full((1, 3), float(rank + 1))).sum().backward()
        return model.module.weight.grad

    result = two.run(program)
    assert [g.tolist() for g in result] == [[[1.5] * 3]] * 2
    found = [e for e in result.records[0].events if e.op == "all_reduce"]
    assert len(found) == 1 and found[0].internal and found[0].done
    assert found[0].nbytes == 12


def test_what_is_called_in_torchs_place_is_recorded_as_torchs_own(two):
    def program(rank, size):
        from distlab.rank import recording

        with recording.as_internal():
            with recording.as_internal():
                dist.all_reduce(torch.ones(1))
            dist.all_reduce(torch.ones(1))
        dist.all_reduce(torch.ones(1))

    found = two.run(program).records[0].events
    assert [event.internal for event in found] == [True, True, False]


def test_a_member_of_no_group_still_has_its_call_of_new_group_recorded(two):
    def program(rank, size):
        dist.new_group([0])

    for record in two.run(program).records:
        (event,) = record.events
        assert event.op == "new_group" and event.group == (0,)


def test_in_strict_mode_a_receive_buffer_holds_poison_until_it_is_waited_for(two):
    def program(rank, size):
        buffer = torch.zeros(1)
        requests = [dist.isend(torch.ones(1), 1 - rank), dist.irecv(buffer, 1 - rank)]
        dist.barrier()
        early = buffer.clone()
        for request in requests:
            request.wait()
        return early.isnan().item(), buffer.item()

    assert list(two.run(program, strict=True)) == [(True, 1.0)] * 2


def test_a_send_buffer_that_changes_before_its_wait_is_flagged(two):
    def program(rank, size):
        tensor = torch.zeros(1)
        request = dist.isend(tensor, 1 - rank)
        tensor += 1
        dist.irecv(torch.zeros(1), 1 - rank).wait()
        request.wait()

    assert events(two, program)[0].flags & CHANGED


def test_the_source_of_a_receive_from_anybody_is_filled_in(two):
    def program(rank, size):
        if rank == 0:
            dist.recv(torch.zeros(1))
        else:
            dist.send(torch.ones(1), 0)

    (event,) = events(two, program)
    assert event.peer == 1


def test_an_empty_tensor_can_come_from_anybody(two):
    """gloo alone raises here: `offset < this->size`."""

    def program(rank, size):
        received = torch.zeros(0, 3)
        if rank:
            dist.send(torch.zeros(0, 3), 0)
            return None
        return dist.recv(received), received.shape

    assert two.run(program)[0] == (1, torch.Size([0, 3]))


def test_a_group_that_members_make_alone_is_noted_on_ranks_that_asked_for_it_too(two):
    def program(rank, size):
        group = dist.new_group([0], use_local_synchronization=True)
        return isinstance(group, dist.ProcessGroup)  # None, or since torch 2.14 NON_GROUP_MEMBER

    result = two.run(program)
    assert list(result) == [True, False]
    for record in result.records:
        (event,) = record.events
        assert event.op == "new_group" and event.group == (0,) and event.flags & LOCAL
        assert event.place.startswith("program:")


def test_records_outlive_a_rank_that_is_killed(two):
    def program(rank, size):
        import os
        import signal

        dist.barrier()
        if rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)

    result = two.run(program, may_fail=True)
    assert [e.op for e in result.records[1].events] == ["barrier"]
    assert result.run.outcomes[1].status == "crashed"


ASYNCHRONOUS = {
    "all_reduce": lambda t, o: (dist.all_reduce(t, async_op=True), t, 2.0),
    "broadcast": lambda t, o: (dist.broadcast(t, 0, async_op=True), t, 1.0),
    "reduce": lambda t, o: (dist.reduce(t, 1, async_op=True), t, 2.0),
    "all_gather": lambda t, o: (dist.all_gather(o, t, async_op=True), o[0], 1.0),
    "all_gather_into_tensor": lambda t, o: (
        dist.all_gather_into_tensor(o[0], t[:2], async_op=True), o[0], 1.0
    ),
    "gather": lambda t, o: (
        dist.gather(t, o if dist.get_rank() == 1 else None, 1, async_op=True), o[0], 1.0
    ),
    "scatter": lambda t, o: (
        dist.scatter(t, o if dist.get_rank() == 0 else None, 0, async_op=True), t, 5.0
    ),
    "reduce_scatter_tensor": lambda t, o: (
        dist.reduce_scatter_tensor(t, torch.ones(8), async_op=True), t, 2.0
    ),
    "all_to_all_single": lambda t, o: (
        dist.all_to_all_single(o[0], t, async_op=True), o[0], 1.0
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ASYNCHRONOUS)
def test_in_strict_mode_a_collectives_result_holds_poison_until_it_is_waited_for(two, name):
    call = ASYNCHRONOUS[name]

    def program(rank, size):
        request, result, right = call(torch.ones(4), [torch.full((4,), 5.0) for _ in range(2)])
        if rank == 1:
            # gloo may be done: only the wait may show it
            early = result.clone()
            request.wait()
            return early.isnan().all().item(), result.tolist() == [right] * 4
        request.wait()

    assert two.run(program, strict=True)[1] == (True, True)
    assert two.run(program)[1][1]


def test_in_strict_mode_what_is_sent_stays_as_it_is(two):
    def program(rank, size):
        everything = torch.full((4,), float(rank))
        mine = everything.view(2, 2)[rank]  # within the result
        gathered = dist.all_gather_into_tensor(everything, mine, async_op=True)
        gathered.wait()
        shared = torch.full((1,), 7.0 if rank == 0 else 0.0)
        request = dist.broadcast(shared, 0, async_op=True)
        root_reads = shared.item()
        request.wait()
        return everything.tolist(), root_reads if rank == 0 else 7.0, shared.item()

    assert list(two.run(program, strict=True)) == [([0.0, 0.0, 1.0, 1.0], 7.0, 7.0)] * 2


def test_in_strict_mode_futures_and_ddp_have_their_results(two):
    def program(rank, size):
        tensor = torch.full((1,), float(rank))
        future = dist.all_reduce(tensor, async_op=True).get_future()
        future.wait()
        model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1, bias=False))
        model(torch.full((1, 1), float(rank))).sum().backward()
        return tensor.item(), model.module.weight.grad.item()

    assert list(two.run(program, strict=True)) == [(1.0, 0.5)] * 2


def test_a_group_shows_its_back_end_rank_and_size(two):
    def program(rank, size):
        group = dist.new_group([1])
        return repr(dist.group.WORLD), repr(group) if rank == 1 else None

    assert list(two.run(program)) == [
        ("<recorded gloo group: rank 0 of 2>", None),
        ("<recorded gloo group: rank 1 of 2>", "<recorded gloo group: rank 0 of 1, ranks [1]>"),
    ]


def test_a_group_that_was_made_while_nothing_is_recorded_has_its_members(two):
    def program(rank, size):
        from distlab.rank import recording

        with recording.paused():
            pair, alone = dist.new_group([0, 1]), dist.new_group([1])
            again = dist.new_group([0, 1])
        if rank:
            dist.all_reduce(torch.ones(1), group=alone)
        dist.all_reduce(torch.ones(1), group=again)
        dist.all_reduce(torch.ones(1), group=pair if rank else again)

    result = two.run(program, may_fail=True)
    assert [e.group for e in result.records[1].events] == [(1,), (0, 1), (0, 1)]
    assert not any(e.op == "new_group" for record in result.records for e in record.events)
    told = result.run.finding.message
    assert "rank 0 waits in all_reduce() in the 2nd given group [0, 1]" in told
    assert "rank 1 waits in all_reduce() in the given group [0, 1]" in told


def test_a_message_to_oneself_is_refused_in_words(two):
    def program(rank, size):
        dist.isend(torch.ones(1), rank)

    result = two.run(program, may_fail=True)
    assert "Invalid destination rank 0: that is this rank itself." in result.story()


def test_threads_that_communicate_at_once_write_entries_of_their_own(two):
    def program(rank, size):
        import threading

        def talk(tag):
            tensor = torch.zeros(1)
            for _ in range(20):
                if rank:
                    dist.send(tensor, 0, tag=tag)
                else:
                    dist.recv(tensor, 1, tag=tag)

        threads = [threading.Thread(target=talk, args=(tag,)) for tag in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    for record in two.run(program).records:
        assert sorted(e.tag for e in record.events) == sorted([0, 1, 2, 3] * 20)
        assert all(e.done for e in record.events)


def test_a_watcher_sees_the_entry_of_a_thread_that_is_slower_than_another(tmp_path, monkeypatch):
    path, looked_at, go_on = tmp_path / "0.rec", threading.Event(), threading.Event()
    record = Recorder(path, 0, 2)
    record.started()
    follower = Follower(path, 0, 2)

    def slow(tensor):
        looked_at.set()
        go_on.wait(30)
        return 0.0, 0

    def send():
        record.begin("send", 0, torch.ones(1), 1, tag=1)

    monkeypatch.setattr(buffers, "sample", slow)
    thread = threading.Thread(target=send)
    thread.start()
    assert looked_at.wait(30)
    record.begin("barrier", 0)
    assert [e.op for e in follower.look().events] == ["barrier"]
    go_on.set()
    thread.join()
    record.ended(raised=False)
    record.closed()
    assert sorted(e.op for e in follower.look().events) == ["barrier", "send"]
    assert {e.thread for e in follower.look().events} == {0, 1}


def test_what_is_paused_within_a_pause_goes_on_being_paused(two):
    def program(rank, size):
        from distlab.rank import recording

        with recording.paused():
            with recording.paused():
                dist.barrier()
            dist.barrier()
        dist.all_reduce(torch.ones(1))

    assert [event.op for event in events(two, program)] == ["all_reduce"]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda t, other: dist.send(t, other / 1), "destination rank 1.0: it has to be an int"),
        (lambda t, other: dist.recv(t, str(other)), "source rank '1': it has to be an int, not"),
        (lambda t, other: dist.isend(t, other, tag=None), "tag None: it has to be an int"),
        (lambda t, other: dist.irecv(t, tag=2**40), "tag 1099511627776: it has to be from 0 to"),
    ],
)  # fmt: skip
def test_a_rank_or_tag_that_cannot_be_is_refused_in_words(two, call, said):
    def program(rank, size):
        if rank == 0:
            call(torch.ones(1), 1)

    assert f"Invalid {said}" in two.run(program, may_fail=True).story()


def test_a_rank_and_a_tag_may_be_whole_numbers_of_any_kind(two):
    def program(rank, size):
        other, tag, tensor = torch.tensor(1 - rank), numpy.int64(3), torch.zeros(1)
        requests = [dist.isend(torch.ones(1), other, tag=tag), dist.irecv(tensor, other, tag=tag)]
        for request in requests:
            request.wait()
        return tensor.item()

    assert list(two.run(program)) == [1.0, 1.0]


@pytest.mark.parametrize("strict", [False, True])
def test_a_request_for_a_column_is_refused_as_gloo_does(two, strict):
    def program(rank, size):
        if rank:
            dist.irecv(torch.zeros(4, 2)[:, 0], 0).wait()

    assert "contiguous" in two.run(program, strict=strict, may_fail=True).story()


def test_a_long_name_in_other_letters_is_cut_behind_a_whole_one(two):
    def передать_тензор_всем_соседям_по_кольцу_и_обратно(rank, size):
        dist.barrier()

    (event,) = events(two, передать_тензор_всем_соседям_по_кольцу_и_обратно)
    assert event.function == "передать_тензор_всем_"


def test_who_listens_is_told_the_bytes_of_each_receive_once(two):
    def program(rank, size):
        from distlab.rank import recording

        heard, tensor = [], torch.zeros(3)
        recording.active().heard = heard.append
        dist.broadcast(tensor, 0)
        if rank == 0:
            dist.send(tensor, 1)
            dist.send(tensor[:1], 1)
        else:
            dist.recv(tensor, 0)
            request = dist.irecv(tensor[:1], 0)
            assert heard == [12]  # the second has not been waited for
            request.wait()
        recording.active().heard = None
        return heard

    assert list(two.run(program)) == [[], [12, 4]]


class Unprintable(Exception):
    def __str__(self):
        raise ValueError


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ValueError("size: ä" + "é" * 200), ("ValueError", "size: ä" + "é" * 116)),
        (Unprintable(), ("Unprintable", "")),
        (RuntimeError("[/pytorch/third_party/gloo/gloo/pair.cc:553] Connection closed"), None),
        (None, None),
    ],
    ids=["cut behind a character", "without a text", "a peer that has gone", "asked for"],
)
def test_what_a_thread_raised_can_be_read_in_the_record(tmp_path, error, told):
    path = tmp_path / "0.rec"
    record = Recorder(path, 0, 2)
    if error is None:
        record._raised(KeyError())
    record._raised(error)
    found = read(path).beside
    assert (found and (found["type"], found["message"])) == told


def test_the_line_at_which_a_thread_raised_is_the_innermost_of_the_student_s(tmp_path):
    record = Recorder(tmp_path / "0.rec", 0, 2)

    def fails():
        torch.zeros(2) @ torch.zeros(3)

    with pytest.raises(RuntimeError) as raised:
        fails()
    record._raised(raised.value)
    (place,) = read(tmp_path / "0.rec").beside["frames"]
    assert (place["function"], place["line"]) == ("fails", fails.__code__.co_firstlineno + 1)


def test_more_groups_than_a_record_has_room_for_are_refused_in_a_sentence(two):
    def program(rank, size):
        from distlab.rank import recording

        recording.active()._groups = 2**15 - 1  # as after that many
        last = dist.new_group([0, 1])
        tensor = torch.ones(1)
        dist.all_reduce(tensor, group=last)
        try:
            dist.new_group([0, 1])
        except RuntimeError as error:
            return tensor.item(), str(error)

    said = "this is group number 32,769 of a run, whose record has room for 32,768: "
    said += "make a group once, and use it again"
    assert list(two.run(program)) == [(2.0, said)] * 2


def test_the_connections_of_a_group_that_a_rank_has_destroyed_stay_for_a_while(two):
    """A rank that is still connecting to that one, in the same group, would raise."""

    def sockets():
        found = set()
        for name in os.listdir("/proc/self/fd"):
            with contextlib.suppress(FileNotFoundError):  # the listing's own
                found.add(os.readlink(f"/proc/self/fd/{name}"))
        return {one for one in found if one.startswith("socket:")}

    def made_and_destroyed():
        before = sockets()
        group = dist.new_group([0, 1])
        dist.all_reduce(torch.ones(1), group=group)
        own = sockets() - before
        dist.destroy_process_group(group)
        return own

    def program(rank, size):
        own = made_and_destroyed()
        stay = own <= sockets()
        for _ in range(3):
            made_and_destroyed()
        return len(own) > 0, stay, own.isdisjoint(sockets())

    assert list(two.run(program)) == [(True, True, True)] * 2


def test_a_default_group_in_which_ranks_have_other_numbers_leaves_its_port_too(two):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

    def program(rank, size):
        dist.destroy_process_group()
        at = f"tcp://127.0.0.1:{port}"
        dist.init_process_group("gloo", init_method=at, rank=1 - rank, world_size=size)
        if rank == 0:
            dist.send(torch.ones(1), 0)
            return None
        dist.recv(torch.ones(1), 1)
        dist.destroy_process_group()  # with the store, which is this rank's
        return socket.socket().connect_ex(("127.0.0.1", port)) == errno.ECONNREFUSED

    assert list(two.run(program)) == [None, True]
