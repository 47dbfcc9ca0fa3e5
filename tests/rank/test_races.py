"""A buffer that two have in hand at once, the function or operations that are under way."""

import ctypes
import random
import sys
import threading

import cloudpickle
import pytest
import torch
import torch.distributed as dist

from distlab import Ranks
from distlab.rank import races
from distlab.records import events

cloudpickle.register_pickle_by_value(sys.modules[__name__])


@pytest.fixture(scope="module")
def two():
    return Ranks(2, deadline=30)


def raced(two, program):
    """How buffers were touched on any rank, and on which line of the program, counted from it."""
    first = program.__code__.co_firstlineno
    found = []
    for record in two.run(program, strict=True).records:
        for event in record.events:
            if event.race:
                how, where = event.race
                found.append((how, event.line - first, int(where.rpartition(":")[2]) - first))
    return found


def test_tensors_without_strides_are_computed_with_while_a_request_is_open(two):
    def program(rank, size):
        tensor = torch.zeros(4)
        request = dist.irecv(tensor, 0) if rank else dist.isend(tensor, 1)
        nested = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(1, 3)])
        total = (nested * 2).to_padded_tensor(0.0).sum().item()
        request.wait()
        return total

    assert list(two.run(program, strict=True)) == [18.0, 18.0]


def test_a_buffer_that_is_touched_before_its_wait_is_named_with_both_lines(two):
    def changes_a_send(rank, size):
        tensor = torch.zeros(4)
        request = dist.isend(tensor, 1 - rank)
        tensor[2:] += 0
        dist.irecv(torch.zeros(4), 1 - rank).wait()
        request.wait()

    def reads_a_receive(rank, size):
        tensor = torch.zeros(4)
        if rank:
            request = dist.irecv(tensor, 0)
            tensor.tolist()
            request.wait()
        else:
            dist.send(tensor, 1)

    def prints_a_receive(rank, size):
        tensor = torch.zeros(4)
        if rank:
            request = dist.irecv(tensor, 0)
            print(tensor[1:])
            request.wait()
        else:
            request = dist.isend(tensor, 1)
            print(tensor)  # which may be read
            request.wait()

    def reads_a_row(rank, size):
        rows = torch.zeros(2, 3)
        work = dist.all_reduce(rows[1], async_op=True)
        total = rows.sum()
        work.wait()
        return total

    assert raced(two, changes_a_send) == [("changed", 2, 3)] * 2
    assert raced(two, reads_a_receive) == [("read", 3, 4)]
    assert raced(two, prints_a_receive) == [("read", 3, 4)]
    assert raced(two, reads_a_row) == [("read", 2, 3)] * 2


def test_a_tensor_without_memory_of_its_own_is_printed_while_a_buffer_is_open(two):
    def program(rank, size):
        def shown(x):
            return (print(x), x.sum())[1]

        work = dist.all_reduce(torch.ones(2), async_op=True)
        torch.vmap(shown)(torch.ones(3, 2))
        torch.func.grad(shown)(torch.ones(3))
        print(torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]))
        work.wait()

    assert raced(two, program) == []


def test_what_touches_no_buffer_that_is_under_way_is_no_race(two):
    def program(rank, size):
        rows, mine = torch.zeros(3, 4), torch.ones(4)
        requests = [dist.irecv(rows[0], 1 - rank), dist.isend(mine, 1 - rank)]
        rows[1] = mine * 2  # another row; and a send may be read
        like, view = torch.empty_like(rows[0]), rows[0].view(2, 2)
        column = rows.t().shape, view.numel(), like.new_zeros(2), rows[0].numpy()
        for request in requests:
            request.wait()
        mine += 1
        work = dist.all_gather(list(rows[1:].unbind()), mine, async_op=True)
        (mine + rows[0]).sum().item()
        work.wait()
        return rows, column[0]

    def received_after_all(rank, size):
        buffer, copies = torch.zeros(4), []
        for _ in range(3):
            request = dist.irecv(buffer, 1 - rank)
            dist.isend(torch.ones(4), 1 - rank).wait() if rank else None
            if rank == 0:
                dist.isend(torch.ones(4), 1).wait()
            request.wait()
            copies.append(buffer.clone())
        return copies

    assert raced(two, received_after_all) == []
    assert raced(two, program) == []


def test_two_operations_on_one_buffer_are_a_race_if_one_of_them_writes_there(two):
    def twice(rank, size):
        tensor = torch.ones(4)
        works = [dist.all_reduce(tensor, async_op=True)]
        works.append(dist.all_reduce(tensor, async_op=True))
        [work.wait() for work in works]

    def overlapping(rank, size):
        rows = torch.ones(3, 4)
        first = dist.all_reduce(rows[:2], async_op=True)
        second = dist.all_gather(list(rows[1:]), torch.ones(4), async_op=True)
        first.wait()
        second.wait()

    def gives_what_another_fills(rank, size):
        flat = torch.ones(6)
        first = dist.broadcast(flat[:4], 0, async_op=True)
        second = dist.all_gather_into_tensor(torch.ones(8), flat[2:], async_op=True)
        first.wait()
        second.wait()

    def message_of_what_is_reduced(rank, size):
        tensor = torch.ones(2)
        work = dist.reduce(tensor, 0, async_op=True)
        request = (dist.irecv if rank else dist.isend)(tensor, 1 - rank)
        request.wait()
        work.wait()

    def two_receives(rank, size):
        tensor = torch.ones(2)
        requests = [dist.P2POp(dist.irecv, tensor, 1 - rank, tag=tag) for tag in (0, 1)]
        requests += [dist.P2POp(dist.isend, torch.ones(2), 1 - rank, tag=tag) for tag in (0, 1)]
        [request.wait() for request in dist.batch_isend_irecv(requests)]

    assert raced(two, twice) == [("changed", 2, 3)] * 2
    assert raced(two, overlapping) == [("changed", 2, 3)] * 2
    assert raced(two, gives_what_another_fills) == [("read", 2, 3)]  # the root of both only reads
    assert sorted(raced(two, message_of_what_is_reduced)) == [("changed", 2, 3), ("read", 2, 3)]
    assert raced(two, two_receives) == [("changed", 4, 4)] * 2


def test_a_call_that_blocks_is_a_race_with_what_is_under_way_too(two):
    def reduced_meanwhile(rank, size):
        tensor = torch.ones(4)
        work = dist.all_gather([torch.ones(4) for _ in range(size)], tensor, async_op=True)
        dist.all_reduce(tensor)
        work.wait()

    def sent_meanwhile(rank, size):
        tensor = torch.ones(4)
        work = dist.all_reduce(tensor, async_op=True)
        dist.send(tensor, 1) if rank == 0 else dist.recv(torch.ones(4), 0)
        work.wait()

    def by_another_thread(rank, size):
        group, tensor = dist.new_group([0, 1]), torch.ones(4)
        work = dist.all_reduce(tensor, async_op=True)
        thread = threading.Thread(target=lambda: dist.all_reduce(tensor, group=group))
        thread.start()
        thread.join()
        work.wait()

    assert raced(two, reduced_meanwhile) == [("changed", 2, 3)] * 2
    assert raced(two, sent_meanwhile) == [("read", 2, 3)]
    assert raced(two, by_another_thread) == [("changed", 2, 3)] * 2


def test_an_input_that_is_changed_before_its_wait_is_named(two):
    def program(rank, size):
        mine, row = torch.ones(4), torch.zeros(4)
        work = dist.reduce_scatter(row, [mine, mine * 2], async_op=True)
        total = mine.sum()
        mine += 1
        work.wait()
        return total

    assert raced(two, program) == [("changed", 2, 4)] * 2


def test_operations_that_only_read_a_buffer_are_no_race(two):
    def program(rank, size):
        mine, rows = torch.ones(4), torch.zeros(8, 4)
        works = [dist.isend(mine, 1 - rank, tag=tag) for tag in (0, 1)]
        works += [dist.irecv(rows[tag], 1 - rank, tag=tag) for tag in (0, 1)]
        works.append(dist.all_gather(list(rows[2:4]), mine, async_op=True))
        works.append(dist.all_gather_into_tensor(rows[4:6].view(-1), mine, async_op=True))
        works.append(dist.broadcast(mine if rank == 0 else rows[6], 0, async_op=True))
        works.append(dist.gather(mine, None if rank else list(rows[6:]), 0, async_op=True))
        [work.wait() for work in works[:-2]]
        works[-2].wait()
        works[-1].wait()
        dist.all_gather_into_tensor(rows[:2].view(-1), rows[rank], async_op=True).wait()  # in place
        return rows

    assert raced(two, program) == []


def test_buckets_of_ddp_hooks_and_functional_collectives_are_no_race(two):
    from torch.distributed import _functional_collectives as functional

    def hook(state, bucket):
        future = dist.all_reduce(bucket.buffer(), async_op=True).get_future()
        return future.then(lambda done: done.value()[0] / 2)

    def program(rank, size):
        layers = [torch.nn.Linear(16, 16) for _ in range(3)]
        for own in (False, True):
            model = torch.nn.parallel.DistributedDataParallel(
                torch.nn.Sequential(*layers), bucket_cap_mb=0.001
            )
            if own:
                model.register_comm_hook(None, hook)
            for _ in range(3):
                model(torch.ones(2, 16)).sum().backward()
        tensor = torch.ones(4)
        every = [functional.all_reduce(tensor, "sum", dist.group.WORLD) for _ in range(2)]
        return sum(every).tolist()

    assert raced(two, program) == []


def test_a_buffer_that_is_used_again_after_its_future_has_ended_is_no_race(two):
    def program(rank, size):
        tensor = torch.ones(4)
        for _ in range(3):
            dist.all_reduce(tensor, async_op=True).get_future().wait()
            request = dist.isend(tensor, 1 - rank)
            dist.recv(torch.ones(4), 1 - rank)
            request.wait()
            work = dist.broadcast(tensor, 0, async_op=True)
            if not work.is_completed():
                work.wait()
        return tensor.sum().item()

    assert raced(two, program) == []


def test_a_view_with_gaps_is_seen_where_it_has_a_part_of_the_buffer(two):
    def changes_a_column(rank, size):
        rows = torch.zeros(4, 6)
        request = dist.isend(rows[2], 1 - rank)
        rows[:, 3] += 1
        dist.irecv(torch.zeros(6), 1 - rank).wait()
        request.wait()

    def reads_every_other(rank, size):
        tensor = torch.zeros(8)
        request = dist.irecv(tensor, 1 - rank)
        total = tensor[1::2].sum()
        dist.isend(torch.ones(8), 1 - rank).wait()
        request.wait()
        return total

    def transposed(rank, size):
        rows = torch.zeros(3, 4)
        work = dist.all_reduce(rows, async_op=True)
        rows.t().mul_(2)
        work.wait()

    assert raced(two, changes_a_column) == [("changed", 2, 3)] * 2
    assert raced(two, reads_every_other) == [("read", 2, 3)] * 2
    assert raced(two, transposed) == [("changed", 2, 3)] * 2


def test_a_view_whose_gaps_hold_the_buffer_is_no_race(two):
    def program(rank, size):
        rows, turned = torch.zeros(4, 6), torch.zeros(6, 4).t()
        requests = [dist.isend(rows[2], 1 - rank), dist.irecv(rows[3], 1 - rank)]
        rows[::4] += 1
        rows[:2, 3:5].mul_(2)
        turned[0].add_(1).sum().item()
        rows[2:, 5:0].add_(1)  # nothing
        for request in requests:
            request.wait()
        pairs = torch.zeros(8)
        work = dist.all_reduce(pairs[2:4], async_op=True)
        pairs.view(4, 2)[::2] += 1
        pairs.as_strided((2, 2), (4, 1), 0).sum()
        work.wait()

    assert raced(two, program) == []


@pytest.mark.parametrize("dims", range(1, 4))
def test_a_view_meets_a_buffer_if_and_only_if_they_share_a_byte(dims):
    draw = random.Random(dims)
    base = torch.zeros(60, dtype=torch.int16)
    for _ in range(300):
        shape = [draw.randint(1, 4) for _ in range(dims)]
        strides = [draw.randint(0, 12) for _ in range(dims)]
        offset = draw.randint(0, 10)
        if offset + sum(s * (n - 1) for s, n in zip(strides, shape, strict=True)) >= 60:
            continue
        view = base.as_strided(shape, strides, offset)
        first = draw.randint(0, 50)
        there = range(first, draw.randint(first + 1, 60))
        marked = torch.zeros(60, dtype=torch.bool)
        marked.as_strided(shape, strides, offset).fill_(True)
        begin, end = (base.data_ptr() + 2 * place for place in (there.start, there.stop))
        met = races._meets(*races._laid(view), begin, end)
        assert met == bool(marked[there.start : there.stop].any())


def changed(two, program):
    """The lines of requests whose buffer was changed, nobody knows where, from the program's."""
    first = program.__code__.co_firstlineno
    return [
        event.line - first
        for record in two.run(program, strict=True).records
        for event in record.events
        if event.flags & events.CHANGED and not event.race
    ]


def test_a_change_that_torch_does_not_see_is_known_by_what_the_buffer_holds(two):
    def middle_of_a_large_send(rank, size):
        tensor = torch.zeros(1 << 20)
        array = tensor.numpy()
        request = dist.isend(tensor, 1 - rank)
        array[1 << 19] = 1
        dist.irecv(torch.zeros(1 << 20), 1 - rank).wait()
        request.wait()

    def receive_by_numpy(rank, size):
        tensor = torch.zeros(4)
        requests = [dist.irecv(tensor, 1 - rank), dist.isend(torch.ones(4), 1 - rank)]
        tensor.numpy()[0] = 3
        [request.wait() for request in requests]

    def bytes_by_memoryview(rank, size):
        tensor = torch.zeros(4, dtype=torch.uint8)
        ones = torch.ones(4, dtype=torch.uint8)
        requests = [dist.irecv(tensor, 1 - rank), dist.isend(ones, 1 - rank)]
        memoryview(tensor.numpy())[2] = 9
        [request.wait() for request in requests]

    def by_pointer(rank, size):
        tensor = torch.ones(4)
        work = dist.all_reduce(tensor, async_op=True)
        ctypes.c_float.from_address(tensor.data_ptr() + 8).value = 5.0
        work.wait()

    def input_of_a_collective(rank, size):
        mine, rows = torch.ones(4), torch.zeros(size, 4)
        work = dist.all_gather(list(rows), mine, async_op=True)
        mine.numpy()[1] = 7
        work.wait()

    assert changed(two, middle_of_a_large_send) == [3, 3]
    assert changed(two, receive_by_numpy) == [2, 2]
    assert changed(two, bytes_by_memoryview) == [3, 3]
    assert changed(two, by_pointer) == [2, 2]
    assert changed(two, input_of_a_collective) == [2, 2]


def test_what_an_operation_does_to_its_own_buffers_is_no_change(two):
    def program(rank, size):
        one, rows, flat = torch.ones(2), torch.zeros(4, 2), torch.ones(4)
        for start in (
            lambda: dist.all_reduce(one, async_op=True),
            lambda: dist.reduce(one, 0, async_op=True),
            lambda: dist.broadcast(one, 0, async_op=True),
            lambda: dist.all_gather(list(rows[:2]), one, async_op=True),
            lambda: dist.all_gather_into_tensor(flat, flat[2 * rank : 2 * rank + 2], async_op=True),
            lambda: dist.reduce_scatter(one, [flat[:2], flat[2:]], async_op=True),
            lambda: dist.reduce_scatter_tensor(one, flat, async_op=True),
            lambda: dist.reduce_scatter_tensor(flat[:2], flat, async_op=True),
            lambda: dist.gather(one, None if rank else list(rows[:2]), 0, async_op=True),
            lambda: dist.scatter(one, None if rank else list(rows[2:]), 0, async_op=True),
            lambda: dist.all_to_all_single(flat, torch.ones(4), async_op=True),
            lambda: (
                torch.__version__ >= "2.13"  # gloo had none before
                and dist.all_to_all(list(rows[:2]), list(rows[2:]), async_op=True)
            ),
            lambda: dist.isend(one, 1 - rank) if rank else dist.irecv(one, 1),
        ):
            if work := start():
                work.wait()
        future = dist.all_reduce(one, async_op=True).get_future().then(lambda f: one.add_(1))
        future.wait()
        return one

    assert changed(two, program) == [] == raced(two, program)
