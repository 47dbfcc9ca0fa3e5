"""Programs that mix what torch.distributed offers: threads, callbacks, timeouts, groups, objects.

Each is run as a check runs it, strictly and under every schedule. `WRONG` come with the words that
must be said of them: a place (marked `# here`), and what is wrong.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import datetime
import inspect
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.distributed as dist


@dataclass(frozen=True)
class Program:
    name: str
    run: Callable[[int, int], object]
    size: int
    says: str = ""  # nothing of a right one

    @property
    def places(self) -> set[str]:
        lines, first = inspect.getsourcelines(self.run)
        return {f":{first + at}" for at, line in enumerate(lines) if "# here" in line}


RIGHT: list[Program] = []
WRONG: list[Program] = []


def right(size: int):
    def register(run):
        RIGHT.append(Program(run.__name__, run, size))
        return run

    return register


def wrong(size: int, says: str):
    def register(run):
        WRONG.append(Program(run.__name__, run, size, says))
        return run

    return register


def one(value: float = 1.0) -> torch.Tensor:
    return torch.tensor([float(value)])


@right(3)
def worker_threads_with_a_queue_and_a_collector(rank, size):
    tasks: queue.Queue[int | None] = queue.Queue()
    results = torch.zeros(size, 4)

    def serve():
        while (source := tasks.get()) is not None:
            dist.recv(results[source], source, tag=7)

    thread = threading.Thread(target=serve)
    thread.start()
    for source in (r for r in range(size) if r != rank):
        tasks.put(source)
    requests = [
        dist.isend(torch.full((4,), float(rank)), r, tag=7) for r in range(size) if r != rank
    ]
    for request in requests:
        request.wait()
    tasks.put(None)
    thread.join()
    dist.barrier()
    return results.sum().item()


@right(2)
def callback_that_starts_the_next_collective(rank, size):
    first, second, done = one(rank), one(rank), threading.Event()
    works = []

    def after(future):
        second.add_(future.value()[0])
        works.append(dist.all_reduce(second, async_op=True))
        done.set()

    dist.all_reduce(first, async_op=True).get_future().then(after)
    done.wait()
    works[0].wait()
    return second.item()


@right(3)
def timeout_that_is_met_and_made_good(rank, size):
    x = one(rank)
    group = dist.new_group([0, 1], timeout=datetime.timedelta(seconds=0.5))
    if rank == 0:
        with contextlib.suppress(RuntimeError):
            dist.monitored_barrier(group, timeout=datetime.timedelta(seconds=0.2))
    dist.barrier()
    return x.item()


@right(4)
def rows_and_columns_by_a_mesh_of_groups(rank, size):
    rows = [dist.new_group([0, 1]), dist.new_group([2, 3])]
    columns = [dist.new_group([0, 2]), dist.new_group([1, 3])]
    parts = list(torch.arange(4.0).add(rank).chunk(2))
    mine = torch.zeros(2)
    scattered = dist.reduce_scatter(mine, parts, group=rows[rank // 2], async_op=True)
    told: list = [None, None]
    dist.all_gather_object(told, {"rank": rank}, group=columns[rank % 2])
    scattered.wait()
    whole = torch.zeros(4)
    dist.all_gather_into_tensor(whole, mine, group=rows[rank // 2])
    dist.all_reduce(whole, group=columns[rank % 2])
    return whole.tolist(), told


@right(3)
def batches_of_both_directions_in_two_rounds(rank, size):
    left, right_ = (rank - 1) % size, (rank + 1) % size
    halves = torch.arange(6.0).view(2, 3).mul(rank + 1)
    got = torch.zeros(2, 3)
    for number, (to, source) in enumerate(((right_, left), (left, right_))):
        operations = [
            dist.P2POp(dist.isend, halves[number], to, tag=number),
            dist.P2POp(dist.irecv, got[number], source, tag=number),
        ]
        for request in dist.batch_isend_irecv(operations):
            request.wait()
    dist.broadcast(halves[0], 1)
    return got.tolist()


@right(3)
def server_of_objects_for_whoever_asks(rank, size):
    if rank:
        dist.send(one(rank), 0)
        box: list = [None]
        dist.recv_object_list(box, 0)
        return box[0]
    for _ in range(size - 1):
        who = one()
        source = dist.recv(who)
        dist.send_object_list([{"for": source, "asked": who.item()}], source)
    return None


@right(2)
def executor_with_a_group_for_each_thread(rank, size):
    groups = [dist.new_group([0, 1]) for _ in range(3)]

    def reduced(group):
        x = one(rank)
        work = dist.all_reduce(x, group=group, async_op=True)
        work.wait()
        return x.item()

    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        return list(pool.map(reduced, groups))


@right(3)
def thread_of_torchs_own_that_is_joined(rank, size):
    x = one(rank)
    if rank == 0:
        threads = [threading.Thread(target=dist.send, args=(x, to)) for to in (1, 2)]
        for thread in threads:
            thread.start()
        dist.recv(one(), 1, tag=3)
        for thread in threads:
            thread.join()
    else:
        if rank == 1:
            dist.send(x, 0, tag=3)
        dist.recv(x, 0)
    gathered = [one() for _ in range(size)] if rank == 2 else None
    dist.gather(x, gathered, 2)
    return x.item()


@wrong(2, "neither can ever send")
def joined_thread_that_needs_the_one_who_joins(rank, size):
    x = one()
    if rank == 0:
        thread = threading.Thread(target=lambda: dist.recv(x, 1, tag=1))
        thread.start()
        thread.join()
        dist.send(x, 1)
    else:
        dist.recv(x, 0)  # here
        dist.send(x, 0, tag=1)


@wrong(3, "are one collective, but have shapes")
def scattered_rows_of_another_size(rank, size):
    rows = list(torch.ones(size, 2 + (rank == 0)))
    work = dist.reduce_scatter(torch.zeros(2 + (rank == 0)), rows, async_op=True)  # here
    work.wait()


@wrong(2, "was changed")
def hook_that_reduces_in_place_while_it_is_sent(rank, size):
    gradient, taken = torch.ones(8), torch.zeros(8)
    operations = [
        dist.P2POp(dist.isend, gradient[:4], 1 - rank),
        dist.P2POp(dist.irecv, taken[:4], 1 - rank),
    ]
    requests = dist.batch_isend_irecv(operations)  # here
    dist.all_reduce(gradient)  # here
    for request in requests:
        request.wait()
    return taken.sum().item()


@wrong(4, "waits in all_gather_object()")
def objects_of_a_row_asked_for_in_the_column(rank, size):
    row = [dist.new_group([0, 1]), dist.new_group([2, 3])][rank // 2]
    column = [dist.new_group([0, 2]), dist.new_group([1, 3])][rank % 2]
    told: list = [None, None]
    dist.all_gather_object(told, rank, group=column if rank == 3 else row)  # here


@wrong(3, "takes the message of rank")
def answers_that_depend_on_who_asked_first(rank, size):
    box: list = [None]
    if rank:
        dist.send(one(rank), 0)
    else:
        box = [f"rank {dist.recv(one())} was first"]  # here
        dist.recv(one())
    dist.broadcast_object_list(box, 0)
    return box[0]


@wrong(2, "barrier() at after")
def callback_that_waits_for_what_comes_after_it(rank, size):
    group, done = dist.new_group([0, 1]), threading.Event()

    def after(future):
        dist.barrier(group)  # here
        done.set()

    if rank == 0:
        dist.all_reduce(one(), async_op=True).get_future().then(after)
        dist.recv(one(), 1)
    else:
        dist.all_reduce(one())
        dist.recv(one(), 0)  # here
        dist.barrier(group)


@wrong(2, "Until the timeout had passed")
def timeout_that_hides_a_missing_send(rank, size):
    if rank == 0:
        request = dist.irecv(one(), 1)  # here
        request.wait(datetime.timedelta(seconds=0.3))
    dist.barrier()
