"""Programs that are right, however slow their ranks are: no verdict may ever fall on them.

Each gets a `pause`, which a rank calls where it may be late. Its length is random.
"""

from __future__ import annotations

import concurrent.futures
import datetime
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as funcol


@dataclass(frozen=True)
class Program:
    name: str
    body: Callable
    size: int

    def run(self, rank: int, size: int, longest: float, seed: int) -> object:
        """Run it with pauses of at most `longest` seconds."""
        chance = random.Random(f"{seed}-{rank}")

        def pause() -> None:
            # mostly short, sometimes as long as it gets: both orders of arrival occur
            threading.Event().wait(longest * chance.random() ** 3)

        return self.body(rank, size, pause)


PROGRAMS: list[Program] = []
KEPT: list = []  # requests that outlive the function that made them


def right(size: int):
    def register(body):
        PROGRAMS.append(Program(body.__name__, body, size))
        return body

    return register


def one(value: float = 1.0) -> torch.Tensor:
    return torch.tensor([value])


@right(2)
def one_late_message(rank, size, pause):
    x = one()
    pause()
    if rank == 0:
        dist.send(x, 1)
    else:
        dist.recv(x, 0)


@right(2)
def ping_pong(rank, size, pause):
    x = one()
    for _ in range(5):
        pause()
        if rank == 0:
            dist.send(x, 1)
            dist.recv(x, 1)
        else:
            dist.recv(x, 0)
            dist.send(x, 0)


@right(4)
def even_ranks_send_first(rank, size, pause):
    x, y = one(), one()
    for _ in range(3):
        pause()
        if rank % 2 == 0:
            dist.send(x, (rank + 1) % size)
            dist.recv(y, (rank - 1) % size)
        else:
            dist.recv(y, (rank - 1) % size)
            dist.send(x, (rank + 1) % size)


@right(3)
def ring_of_requests(rank, size, pause):
    x, y = one(), one()
    for _ in range(3):
        send = dist.isend(x, (rank + 1) % size)
        pause()
        receive = dist.irecv(y, (rank - 1) % size)
        receive.wait()
        pause()
        send.wait()


@right(2)
def requests_waited_for_backwards(rank, size, pause):
    xs = [one(i) for i in range(4)]
    if rank == 0:
        works = [dist.isend(x, 1, tag=i) for i, x in enumerate(xs)]
    else:
        works = [dist.irecv(x, 0, tag=i) for i, x in enumerate(xs)]
    for work in reversed(works):
        pause()
        work.wait()


@right(2)
def tags_out_of_order(rank, size, pause):
    x, y = one(), one()
    if rank == 0:
        first, second = dist.isend(x, 1, tag=1), dist.isend(y, 1, tag=2)
        pause()
        first.wait()
        second.wait()
    else:
        dist.recv(y, 0, tag=2)
        pause()
        dist.recv(x, 0, tag=1)


@right(4)
def batch_of_requests(rank, size, pause):
    x, y = one(), one()
    for _ in range(3):
        pause()
        ops = [
            dist.P2POp(dist.isend, x, (rank + 1) % size),
            dist.P2POp(dist.irecv, y, (rank - 1) % size),
        ]
        for work in dist.batch_isend_irecv(ops):
            work.wait()


@right(4)
def pipeline(rank, size, pause):
    x = one()
    for _ in range(4):
        if rank > 0:
            dist.recv(x, rank - 1)
        pause()
        if rank < size - 1:
            dist.send(x, rank + 1)


@right(5)
def any_source_farm(rank, size, pause):
    x = one()
    if rank == 0:
        for _ in range(2 * (size - 1)):
            source = dist.recv(x)
            dist.send(x, source, tag=1)
    else:
        for _ in range(2):
            pause()
            dist.send(x, 0)
            dist.recv(x, 0, tag=1)


@right(3)
def any_source_and_named_ones(rank, size, pause):
    x = one()
    if rank == 0:
        first = dist.recv(x)
        pause()
        dist.recv(x, 3 - first)
        dist.recv(x, tag=3)
        dist.recv(x, tag=3)
    else:
        pause()
        dist.send(x, 0)
        pause()
        dist.send(x, 0, tag=3)


@right(2)
def large_transfer(rank, size, pause):
    x = torch.ones(8_000_000)
    pause()
    for _ in range(3):
        if rank == 0:
            dist.send(x, 1)
        else:
            dist.recv(x, 0)


@right(3)
def large_all_reduce(rank, size, pause):
    x = torch.ones(4_000_000)
    pause()
    dist.all_reduce(x)


@right(4)
def collectives_in_turn(rank, size, pause):
    x, many = one(), [one() for _ in range(size)]
    dist.all_reduce(x)
    pause()
    dist.broadcast(x, 2)
    dist.all_gather(many, x)
    pause()
    dist.reduce(x, 1)
    dist.gather(x, many if rank == 3 else None, dst=3)
    pause()
    dist.scatter(x, many if rank == 0 else None, src=0)
    dist.barrier()


@right(4)
def asynchronous_collectives(rank, size, pause):
    xs = [one() for _ in range(4)]
    works = [dist.all_reduce(x, async_op=True) for x in xs]
    pause()
    for work in works:
        work.wait()
        pause()


@right(3)
def polled_request(rank, size, pause):
    x = one()
    if rank == 0:
        pause()
        dist.send(x, 1)
        dist.send(x, 2)
    else:
        work = dist.irecv(x, 0)
        pause()
        work.is_completed()
        work.wait()


@right(4)
def two_subgroups(rank, size, pause):
    even, odd = dist.new_group([0, 2]), dist.new_group([1, 3])
    x = one()
    mine = odd if rank % 2 else even
    for _ in range(3):
        pause()
        dist.all_reduce(x, group=mine)
    dist.all_reduce(x)


@right(4)
def rows_and_columns(rank, size, pause):
    groups = [dist.new_group(ranks) for ranks in ([0, 1], [2, 3], [0, 2], [1, 3])]
    x = one()
    for _ in range(2):
        pause()
        dist.all_reduce(x, group=groups[rank // 2])
        pause()
        dist.all_reduce(x, group=groups[2 + rank % 2])


@right(3)
def same_members_twice(rank, size, pause):
    first, second = dist.new_group([0, 1, 2]), dist.new_group([0, 1, 2])
    x, y = one(), one()
    work = dist.all_reduce(x, group=first, async_op=True)
    pause()
    dist.all_reduce(y, group=second)
    work.wait()


@right(4)
def groups_made_late(rank, size, pause):
    x = one()
    pause()
    group = dist.new_group([1, 2, 3])
    pause()
    if rank:
        dist.broadcast(x, 1, group=group)


@right(4)
def local_groups(rank, size, pause):
    x = one()
    pause()
    members = [0, 1] if rank < 2 else [2, 3]
    group = dist.new_group(members, use_local_synchronization=True)
    pause()
    dist.all_reduce(x, group=group)


@right(3)
def objects(rank, size, pause):
    found = [None] * size
    pause()
    dist.all_gather_object(found, {"rank": rank})
    box = [list(range(rank * 10))]
    pause()
    dist.broadcast_object_list(box, src=2)


@right(2)
def data_parallel(rank, size, pause):
    model = torch.nn.parallel.DistributedDataParallel(
        torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.BatchNorm1d(8), torch.nn.Linear(8, 1)),
        bucket_cap_mb=0.0001,
    )
    for _ in range(4):
        pause()
        model(torch.ones(4, 8)).sum().backward()


class Slow(torch.autograd.Function):
    """The identity, with a gradient that takes its time."""

    @staticmethod
    def forward(ctx, x, pause):
        ctx.pause = pause
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        ctx.pause()
        return gradient, None


@right(3)
def data_parallel_with_a_slow_backward(rank, size, pause):
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.last = torch.nn.Linear(4, 4), torch.nn.Linear(4, 1)

        def forward(self, x):
            return self.last(Slow.apply(self.first(x), pause))

    model = torch.nn.parallel.DistributedDataParallel(Net(), bucket_cap_mb=0.00001)
    for _ in range(3):
        model(torch.ones(4, 4)).sum().backward()


@right(3)
def messages_while_a_collective_runs(rank, size, pause):
    x, y = one(), one()
    work = dist.all_reduce(x, async_op=True)
    if rank == 0:
        pause()
        dist.send(y, 2)
    elif rank == 2:
        dist.recv(y, 0)
    pause()
    work.wait()


@right(4)
def one_rank_computes_and_then_feeds_all(rank, size, pause):
    x = one()
    if rank == 0:
        pause()
        for other in range(1, size):
            pause()
            dist.send(x, other)
    else:
        dist.recv(x, 0)


@right(3)
def sender_that_returns_early(rank, size, pause):
    x = one()
    if rank == 0:
        KEPT[:] = [dist.isend(x, other) for other in (1, 2)]
        return
    pause()
    dist.recv(x, 0)


@right(2)
def many_small_messages(rank, size, pause):
    x = one()
    for _ in range(1500):
        if rank == 0:
            dist.send(x, 1)
        else:
            dist.recv(x, 0)
    pause()
    dist.barrier()


@right(3)
def monitored_barrier(rank, size, pause):
    for _ in range(2):
        pause()
        dist.monitored_barrier()


@right(4)
def recursive_doubling(rank, size, pause):
    x, y = one(), one()
    for step in (1, 2):
        partner = rank ^ step
        pause()
        if rank < partner:
            dist.send(x, partner)
            dist.recv(y, partner)
        else:
            dist.recv(y, partner)
            dist.send(x, partner)
        x += y


@right(3)
def refused_call_that_is_caught(rank, size, pause):
    x = one()
    if rank == 0:
        try:
            dist.all_gather([torch.ones(3)] * size, torch.ones(2))
        except (RuntimeError, ValueError):
            pause()
    dist.all_reduce(x)


# operations with timeouts of their own: they end by themselves, by an exception

SOON = datetime.timedelta(seconds=0.6)


def gives_up(call: Callable, *arguments, **options) -> None:
    """The call must raise, and only after its time was up."""
    begin = time.monotonic()
    try:
        call(*arguments, **options)
    except RuntimeError:
        assert time.monotonic() - begin > 0.4, "somebody else ended it"
        return
    raise AssertionError("it did not give up")


@right(2)
def waits_with_a_timeout(rank, size, pause):
    x = one()
    request = dist.irecv(x, 1 - rank, tag=3)
    gives_up(request.wait, timeout=SOON)


@right(2)
def collective_waited_for_with_a_timeout(rank, size, pause):
    x = one()
    if rank == 0:
        work = dist.all_reduce(x, async_op=True)
        gives_up(work.wait, SOON)
        work.wait()  # gloo goes on with a collective whose wait has timed out
    else:
        time.sleep(1.2)
        dist.all_reduce(x)


@right(2)
def group_with_a_timeout(rank, size, pause):
    group = dist.new_group([0, 1], timeout=SOON)
    if rank == 0:
        gives_up(dist.recv, one(), 1, group=group)
    else:
        gives_up(dist.all_reduce, one(), group=group)


@right(2)
def barrier_with_a_timeout(rank, size, pause):
    if rank == 0:
        gives_up(dist.barrier, timeout=SOON)


@right(2)
def monitored_barrier_with_a_timeout(rank, size, pause):
    if rank == 0:
        gives_up(dist.monitored_barrier, timeout=SOON)


@right(2)
def timeout_set_later(rank, size, pause):
    dist.group.WORLD.set_timeout(SOON)
    if rank == 0:
        gives_up(dist.all_reduce, one())


@right(2)
def new_group_with_a_timeout(rank, size, pause):
    if rank == 0:
        gives_up(dist.new_group, [0, 1], timeout=SOON)


@right(2)
def store_waited_for_with_a_timeout(rank, size, pause):
    store = dist.distributed_c10d._get_default_store()
    gives_up(store.wait, ["nobody sets this"], SOON)


# threads of the student's own


def in_thread(call: Callable) -> threading.Thread:
    thread = threading.Thread(target=call)
    thread.start()
    return thread


@right(2)
def thread_sends_while_the_function_waits(rank, size, pause):
    x, y = one(), one()

    def late_send():
        time.sleep(0.3)
        pause()
        dist.send(x, 1 - rank)

    thread = in_thread(late_send)
    dist.recv(y, 1 - rank)
    thread.join()


@right(2)
def thread_waits_while_the_function_computes(rank, size, pause):
    x, y = one(), one()
    thread = in_thread(lambda: dist.recv(y, 1 - rank))
    time.sleep(0.3)
    pause()
    dist.send(x, 1 - rank)
    thread.join()


@right(3)
def executor_sends_while_the_function_is_in_a_collective(rank, size, pause):
    x = one()
    if rank == 0:
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            pool.submit(lambda: (time.sleep(0.3), dist.send(x, 1)))
            dist.all_reduce(one())
    else:
        if rank == 1:
            dist.recv(x, 0)
        dist.all_reduce(one())


@right(2)
def thread_that_outlives_the_function(rank, size, pause):
    x = one()
    if rank == 0:
        KEPT[:] = [in_thread(lambda: (time.sleep(0.4), dist.send(x, 1)))]
        return
    dist.recv(x, 0)


@right(2)
def function_of_torch_as_a_threads_target(rank, size, pause):
    x, y = one(), one()
    timer = threading.Timer(0.3, dist.send, (x, 1 - rank))
    timer.start()
    dist.recv(y, 1 - rank)
    timer.join()


@right(2)
def threads_that_wait_for_each_others_rank(rank, size, pause):
    x, y = one(), one()
    thread = in_thread(lambda: dist.recv(y, 1 - rank, tag=1))
    if rank == 0:
        dist.recv(y, 1)
        dist.send(x, 1, tag=1)
    else:
        time.sleep(0.3)
        pause()
        dist.send(x, 0)
        dist.send(x, 0, tag=1)
    thread.join()


@right(2)
def thread_starts_another(rank, size, pause):
    x, y = one(), one()

    def first():
        time.sleep(0.2)
        in_thread(lambda: (time.sleep(0.3), pause(), dist.send(x, 1 - rank)))
        dist.recv(one(), 1 - rank, tag=2)

    thread = in_thread(first)
    dist.recv(y, 1 - rank)
    dist.send(x, 1 - rank, tag=2)
    thread.join()


# callbacks


def sent_late(rank, pause) -> tuple[Callable, threading.Event, list]:
    """A callback that sends to the other of two ranks, an event for its end, and its request."""
    done, requests = threading.Event(), []

    def late_send(future):
        time.sleep(0.3)
        pause()
        requests.append(dist.isend(one(), 1 - rank))
        done.set()

    return late_send, done, requests


@right(2)
def callback_that_sends(rank, size, pause):
    late_send, done, requests = sent_late(rank, pause)
    dist.all_reduce(one(), async_op=True).get_future().then(late_send)
    dist.recv(one(), 1 - rank)
    done.wait()
    requests[0].wait()


@right(2)
def callback_of_a_callback_that_sends(rank, size, pause):
    late_send, done, requests = sent_late(rank, pause)
    future = dist.all_reduce(one(), async_op=True).get_future().then(lambda _: time.sleep(0.3))
    future.add_done_callback(late_send)
    dist.recv(one(), 1 - rank)
    done.wait()
    requests[0].wait()


@right(2)
def callback_of_an_operation_that_begins_late(rank, size, pause):
    x, y = one(), one()
    work = dist.broadcast(one(), 0, async_op=True) if rank else None
    if rank:
        work.get_future().then(lambda _: dist.send(x, 0))
        dist.recv(y, 0)
    else:
        time.sleep(0.3)
        pause()
        dist.broadcast(one(), 0)
        dist.recv(y, 1)
        dist.send(x, 1)


@right(2)
def callback_of_several_futures(rank, size, pause):
    late_send, done, requests = sent_late(rank, pause)
    works = [dist.all_reduce(one(), async_op=True) for _ in range(3)]
    torch.futures.collect_all([work.get_future() for work in works]).then(late_send)
    dist.recv(one(), 1 - rank)
    done.wait()
    requests[0].wait()


@right(2)
def future_waited_for_late(rank, size, pause):
    work = dist.all_reduce(one(), async_op=True)
    pause()
    assert work.get_future().wait()


# torch's own collectives that nobody waits for at once


@right(2)
def functional_collective_used_late(rank, size, pause):
    x, y = one(), one()
    if rank == 0:
        summed = funcol.all_reduce(x, "sum", dist.group.WORLD)
        time.sleep(0.9)
        pause()
        dist.send(y, 1)
    else:
        dist.recv(y, 0)
        summed = funcol.all_reduce(x, "sum", dist.group.WORLD)
    assert (summed + 0).item() == 2


@right(3)
def giver_that_goes_on_after_a_gather(rank, size, pause):
    x, many = one(), [one() for _ in range(size)]
    if rank == 0:
        dist.gather(x, many, dst=0)
    elif rank == 1:
        dist.gather(x, None, dst=0)
        time.sleep(0.9)
        pause()
        dist.send(x, 2)
    else:
        dist.recv(x, 1)
        dist.gather(x, None, dst=0)


@right(3)
def large_gather_whose_givers_come_one_after_the_other(rank, size, pause):
    x = torch.ones(3_000_000)
    many = [torch.empty_like(x) for _ in range(size)]
    if rank == 0:
        dist.gather(x, many, dst=0)
    elif rank == 1:
        dist.gather(x, None, dst=0)
        dist.send(one(), 2)
    else:
        dist.recv(one(), 1)
        dist.gather(x, None, dst=0)
