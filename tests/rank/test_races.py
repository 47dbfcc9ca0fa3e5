"""A buffer that two have in hand at once, the function or operations that are under way."""

import sys
import threading

import cloudpickle
import pytest
import torch
import torch.distributed as dist

from distlab import Ranks

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

    def reads_a_row(rank, size):
        rows = torch.zeros(2, 3)
        work = dist.all_reduce(rows[1], async_op=True)
        total = rows.sum()
        work.wait()
        return total

    assert raced(two, changes_a_send) == [("changed", 2, 3)] * 2
    assert raced(two, reads_a_receive) == [("read", 3, 4)]
    assert raced(two, reads_a_row) == [("read", 2, 3)] * 2


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
