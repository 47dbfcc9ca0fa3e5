"""Programs that end, and deserve a word all the same: the remarks that each should get."""

from __future__ import annotations

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
    kinds: tuple[str, ...]


PROGRAMS: list[Program] = []
KEPT: list = []  # requests that outlive the function that made them


def deserves(size: int, *kinds: str):
    def register(run):
        PROGRAMS.append(Program(run.__name__, run, size, kinds))
        return run

    return register


@deserves(2, "not-waited")
def request_never_waited_for(rank, size):
    x = torch.ones(1)
    if rank == 0:
        dist.send(x, 1)
    else:
        KEPT[:] = [dist.irecv(x, 0)]
        threading.Event().wait(0.2)


@deserves(2, "changed")
def buffer_changed_before_the_wait(rank, size):
    x = torch.zeros(4)
    if rank == 0:
        work = dist.isend(x, 1)
        x += 1
        work.wait()
    else:
        dist.recv(x, 0)


@deserves(2, "not-waited", "unreceived")
def message_never_received(rank, size):
    x = torch.ones(1)
    if rank == 0:
        KEPT[:] = [dist.isend(x, 1)]


@deserves(2, "not-waited", "unsent")
def receive_that_gets_nothing(rank, size):
    x = torch.ones(1)
    if rank == 1:
        KEPT[:] = [dist.irecv(x, 0)]


@deserves(2, "not-waited", "uneven")
def collective_on_one_rank_without_a_wait(rank, size):
    x = torch.ones(1)
    if rank == 1:
        KEPT[:] = [dist.all_reduce(x, async_op=True)]


@deserves(3, "new_group")
def group_made_by_its_members_alone(rank, size):
    if rank < 2:
        group = dist.new_group([0, 1])
        dist.all_reduce(torch.ones(1), group=group)


@deserves(2, "mismatch")
def message_of_another_type(rank, size):
    if rank == 0:
        dist.send(torch.ones(2), 1)
    else:
        dist.recv(torch.ones(2, dtype=torch.int32), 0)


@deserves(2)
def nothing_to_remark(rank, size):
    x = torch.ones(1)
    dist.all_reduce(x)
    if rank == 0:
        dist.isend(x, 1).wait()
    else:
        dist.irecv(x, 0).wait()


@deserves(4, "new_group")
def groups_in_another_order_on_a_rank_that_is_in_none(rank, size):
    groups = [[0, 1], [1, 2]]
    for members in reversed(groups) if rank == 3 else groups:
        dist.new_group(members)
