"""Programs written to mislead the prover: right ones that look like hangs or races, and wrong ones
whose message has to say why. They are run under every schedule that they have, in strict mode.
"""

from __future__ import annotations

import _thread
import contextlib
import functools
import os
import queue
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as funcol


@dataclass(frozen=True)
class Program:
    run: Callable[[int, int], object]
    size: int
    says: tuple[str, ...] = ()  # what must be said of it; nothing at all of one that is right

    @property
    def name(self) -> str:
        return self.run.__name__


PROGRAMS: list[Program] = []


def right(size: int):
    return says(size)


def says(size: int, *texts: str):
    def register(run):
        PROGRAMS.append(Program(run, size, texts))
        return run

    return register


def one(value: float = 1.0) -> torch.Tensor:
    return torch.full((1,), float(value))


def late(seconds: float = 0.3) -> None:
    threading.Event().wait(seconds)


# threads and callbacks that communicate later


@right(2)
def partial_in_a_timer(rank, size):
    if rank == 0:
        timer = threading.Timer(0.4, functools.partial(dist.send, one(), 1))
        timer.start()
        timer.join()
    else:
        dist.recv(one(), 0)


@right(2)
def thread_below_threading_that_sends(rank, size):
    def send_late() -> None:
        late()
        dist.send(one(3), 1)

    buffer = torch.zeros(1)
    if rank == 0:
        _thread.start_new_thread(send_late, ())
    dist.recv(buffer, 1 - rank)
    if rank == 1:
        dist.send(buffer, 0)
    return buffer.item()


@right(2)
def wait_of_a_request_as_a_threads_target(rank, size):
    request = dist.irecv(one(), 1 - rank)
    thread = threading.Thread(target=request.wait)
    thread.start()
    late(0.2 * rank)
    dist.send(one(), 1 - rank)
    thread.join()


@right(3)
def done_callback_that_sends(rank, size):
    sent = threading.Event()
    work = dist.all_reduce(one(), async_op=True)
    if rank == 0:

        def send(future):
            late()
            dist.send(one(), 1)
            sent.set()

        work.get_future().add_done_callback(send)
    if rank == 1:
        dist.recv(one(), 0)
    work.wait()
    if rank == 0:
        sent.wait()
    dist.barrier()


@right(2)
def callback_that_reduces_again(rank, size):
    group = dist.new_group([0, 1])

    def again(future):
        value = future.value()[0]
        dist.all_reduce(value, group=group)
        return value

    future = dist.all_reduce(one(rank), async_op=True).get_future().then(again)
    if rank == 0:
        late()
    assert future.wait().item() == 2.0


@right(2)
def queue_that_a_receiving_thread_feeds(rank, size):
    if rank:
        for number in range(3):
            late(0.1)
            dist.send(one(number), 0)
        return
    arrived = queue.Queue()

    def feed():
        for _ in range(3):
            buffer = one()
            dist.recv(buffer, 1)
            arrived.put(buffer.item())

    threading.Thread(target=feed, daemon=True).start()
    assert [arrived.get() for _ in range(3)] == [0, 1, 2]


@right(3)
def thread_behind_a_lock(rank, size):
    if rank == 0:
        lock = threading.Lock()
        lock.acquire()
        thread = threading.Thread(target=lambda: (lock.acquire(), dist.send(one(), 2)))
        thread.start()
        dist.recv(one(), 1)
        lock.release()
        thread.join()
    elif rank == 1:
        late()
        dist.send(one(), 0)
    else:
        dist.recv(one(), 0)


# collectives that end early, late, or twice


@right(3)
def functional_collective_whose_result_nobody_uses(rank, size):
    if rank == 2:
        dist.recv(one(), 0)
    funcol.all_reduce(one(rank), "sum", dist.group.WORLD)
    if rank == 0:
        dist.send(one(), 2)
    gathered = funcol.all_gather_tensor(one(rank), 0, dist.group.WORLD)
    assert gathered.sum().item() == 3.0


@right(3)
def givers_of_objects_go_on(rank, size):
    if rank == 0:
        late()
    dist.gather_object(rank, [None] * size if rank == 0 else None, 0)
    if rank == 1:
        dist.send(one(), 2)
    if rank == 2:
        dist.recv(one(), 1)


@right(2)
def collective_waited_for_twice_and_then_polled(rank, size):
    work = dist.all_reduce(one(), async_op=True)
    work.wait()
    work.wait()
    assert work.is_completed()


@right(2)
def uneven_batches_within_join(rank, size):
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 2))
    with model.no_sync():
        model(torch.ones(1, 2)).sum().backward()
    with model.join():
        for _ in range(1 + rank):
            model(torch.ones(1, 2)).sum().backward()


# buffers that are not touched


@right(2)
def other_slice_of_one_storage(rank, size):
    buffer = torch.zeros(8)
    if rank:
        late(0.1)
        dist.send(torch.ones(4), 0)
        return
    request = dist.irecv(buffer[:4], 1)
    buffer[4:] += 1
    assert buffer[4:].sum().item() == 4
    request.wait()


@right(2)
def shape_of_an_open_buffer(rank, size):
    buffer = torch.zeros(2, 3)
    if rank:
        late(0.1)
        dist.send(buffer, 0)
        return
    request = dist.irecv(buffer, 1)
    assert buffer.shape == buffer.detach().shape and len(buffer) == 2 and buffer.is_contiguous()
    assert torch.zeros_like(buffer).numel() == buffer.view(-1).shape[0] == 6
    request.wait()


@right(2)
def one_buffer_sent_twice_and_read(rank, size):
    tensor = torch.arange(4.0)
    if rank:
        dist.recv(torch.empty(4), 0)
        dist.recv(torch.empty(4), 0)
        return
    first, second = dist.isend(tensor, 1), dist.isend(tensor, 1)
    assert tensor.sum().item() == 6 and tensor.tolist() == [0, 1, 2, 3]
    first.wait()
    second.wait()


@right(3)
def root_reads_what_it_broadcasts(rank, size):
    tensor = torch.ones(3) * (rank == 0)
    work = dist.broadcast(tensor, 0, async_op=True)
    if rank == 0:
        assert tensor.sum().item() == 3
    work.wait()


@right(2)
def rows_received_into_one_matrix(rank, size):
    if rank:
        for row in range(3):
            dist.send(torch.full((4,), float(row)), 0)
        return
    matrix = torch.zeros(3, 4)
    requests = [dist.irecv(row, 1) for row in matrix]
    for number, request in enumerate(requests):
        request.wait()
        assert matrix[number].sum().item() == 4 * number


@right(2)
def pipeline_whose_stages_give_and_take_at_once(rank, size):
    """Its library waits for a send of the forward and a receive of the backward in one batch."""
    from torch.distributed.pipelining import PipelineStage, Schedule1F1B

    model = torch.nn.Linear(2, 2)
    stage = PipelineStage(model, rank, size, torch.device("cpu"))
    schedule = Schedule1F1B(stage, 4, loss_fn=torch.nn.functional.mse_loss)
    schedule.step(torch.ones(4, 2)) if rank == 0 else schedule.step(target=torch.ones(4, 2))
    return bool(model.weight.grad is not None)


# what has to be said


@says(3, "rank 2 waits in barrier()", "rank 1 has already returned", "nobody can send to it")
def anybody_and_what_every_sender_does(rank, size):
    if rank == 0:
        for _ in range(3):
            dist.recv(one())
    elif rank == 1:
        dist.send(one(), 0)
    else:
        dist.send(one(), 0)
        dist.barrier()


@says(2, "backward() waits for gradients of rank 1, which has not given as many and went on to")
def fewer_batches_and_then_a_barrier(rank, size):
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 2))
    for _ in range(3 - rank):
        model(torch.ones(1, 2)).sum().backward()
    dist.barrier()


@says(2, "which has not given as many and went on to barrier()", "find_unused_parameters=True")
def parameter_that_one_rank_leaves_out(rank, size):
    """Both have as many batches: the gradients of rank 1 wait for that of its second layer."""
    layers = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2))
    model = torch.nn.parallel.DistributedDataParallel(layers)
    model.module.forward = lambda x: layers[0](x) if rank else layers[1](layers[0](x))
    model(torch.ones(1, 2)).sum().backward()
    dist.barrier()


@says(2, "of rank 0, which has already returned without giving as many.", "no_sync() on all")
def no_sync_on_one_rank(rank, size):
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 2))
    with model.no_sync() if rank == 0 else contextlib.nullcontext():
        model(torch.ones(1, 2)).sum().backward()


@says(2, "for the gradients of rank 0, which stopped with an error.")
def gradients_of_a_rank_that_raised(rank, size):
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 2))
    if rank == 0:
        raise ValueError("a damaged image")
    model(torch.ones(1, 2)).sum().backward()


@says(2, "the buffer of rank 0's irecv(src=1)", "was read")
def sent_on_before_it_has_come(rank, size):
    buffer = torch.zeros(2)
    if rank:
        dist.send(buffer, 0)
        dist.recv(buffer, 0)
        return
    received = dist.irecv(buffer, 1)
    sent = dist.isend(buffer, 1)
    received.wait()
    sent.wait()


@says(2, "the buffer of rank 0's irecv(src=1)", "was changed")
def overlapping_slices(rank, size):
    buffer = torch.zeros(6)
    if rank:
        dist.send(torch.zeros(4), 0)
        return
    request = dist.irecv(buffer[:4], 1)
    buffer[3:] += 0
    request.wait()


@says(2, "rank 0's monitored_barrier()", "rank 1's barrier()")
def barriers_of_two_kinds(rank, size):
    dist.barrier() if rank else dist.monitored_barrier()


@says(2, "batch_isend_irecv", "a second time")
def batch_waited_for_twice(rank, size):
    operations = [dist.P2POp(dist.isend, one(), 1 - rank), dist.P2POp(dist.irecv, one(), 1 - rank)]
    requests = dist.batch_isend_irecv(operations)
    for request in [*requests, *requests]:
        request.wait()


@says(2, "because one is int64 and the other float32")
def integers_for_floats(rank, size):
    if rank:
        dist.recv(torch.empty(6), 0)
    else:
        dist.send(torch.arange(6), 1)


@says(3, "rank 1: its process ended in the middle", "recv(src=1) at killed_while_it_is_needed")
def killed_while_it_is_needed(rank, size):
    if rank == 1:
        dist.send(one(), 0)
        os.kill(os.getpid(), signal.SIGKILL)
    if rank == 0:
        dist.recv(one(), 1)
        dist.recv(one(), 1)


@says(
    3, "recv(src=1) at killed_two_ranks_away", "its recv(src=2) at killed_two_ranks_away",
    "failed, because rank 2 had died.", "Look for what ended its process",
)  # fmt: skip
def killed_two_ranks_away(rank, size):
    """Rank 1 only fails because rank 2 is gone."""
    if rank == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    if rank == 1:
        dist.recv(one(), 2)
        dist.send(one(), 0)
    if rank == 0:
        dist.recv(one(), 1)


@says(
    3, "recv(src=1) at asked_for_more", "its irecv(src=2) at asked_for_more",
    "failed, because rank 2 had died.", "Look for what ended its process",
)  # fmt: skip
def asked_for_more(rank, size):
    """Rank 1 knows when it calls irecv that its connection to rank 2 is broken."""
    if rank == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    if rank == 1:
        with contextlib.suppress(RuntimeError):
            dist.recv(one(), 2)
        dist.irecv(one(), 2).wait()
        dist.send(one(), 0)
    if rank == 0:
        dist.recv(one(), 1)


@says(
    3, "rank 2 stopped with an error without sending it. Rank 0 waits because of that.",
    "Look at the error of that rank first",
)  # fmt: skip
def raised_two_ranks_away(rank, size):
    if rank == 2:
        raise ValueError("a damaged image")
    dist.recv(one(), rank + 1)
    dist.send(one(), 0)


@says(2, "rank 0 waits in recv(src=1)", "rank 1 waits in recv(src=0)", "neither can ever send")
def thread_below_threading_that_has_ended(rank, size):
    done = threading.Event()
    _thread.start_new_thread(done.set, ())
    done.wait()
    dist.recv(one(), 1 - rank)
