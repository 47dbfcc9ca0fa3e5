"""Programs of the classes of the MPI Bugs Initiative that torch.distributed knows, written anew.

Laurent, Saillard and Quinson, "The MPI Bugs Initiative: a Framework for MPI Verification Tools
Evaluation", 2021. Each comes with the line that is to blame, marked `# here`, and most with a twin
that is right. A template makes several programs, one for each collective, say.

`depends`: right in some schedules and wrong in others. What counts as found is told by `found`.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
import torch.distributed as dist

ORDERING, ARGUMENTS, REQUESTS = "call ordering", "arguments", "request life cycle"
RACE, MISSING, GROUPS = "message race", "missing or extra call", "sub-group"
COLLECTIVES = (
    "all_reduce", "broadcast", "reduce", "all_gather", "gather", "scatter", "reduce_scatter",
    "barrier",
)  # fmt: skip
ROOTED = ("broadcast", "reduce", "gather", "scatter")
REDUCING = ("all_reduce", "reduce", "reduce_scatter")


@dataclass(frozen=True)
class Program:
    name: str
    group: str
    run: Callable[[int, int], object]
    size: int
    wrong: bool
    depends: bool = False
    places: frozenset[str] = field(default_factory=frozenset)


PROGRAMS: list[Program] = []


def program(group: str, size: int, wrong: bool, depends: bool = False, name: str = ""):
    def register(run):
        lines, first = inspect.getsourcelines(run)
        code = run.__name__
        places = {f"{code}:{first + i}" for i, line in enumerate(lines) if "# here" in line}
        run.__qualname__ = code
        full = f"{code} {name}".strip()
        PROGRAMS.append(Program(full, group, run, size, wrong, depends, frozenset(places)))
        return run

    return register


def one(value: float = 1.0) -> torch.Tensor:
    return torch.tensor([float(value)])


def many(size: int) -> list[torch.Tensor]:
    return [one() for _ in range(size)]


def call(name: str, rank: int, size: int, x=None, root: int = 0, **options):
    """A collective and its arguments: called where they are used, that line is on record."""
    x = one(rank) if x is None else x
    rows = [torch.zeros_like(x) for _ in range(size)]
    arguments = {
        "all_reduce": (x,), "broadcast": (x, root), "reduce": (x, root), "all_gather": (rows, x),
        "gather": (x, rows if rank == root else None, root),
        "scatter": (x, rows if rank == root else None, root), "reduce_scatter": (x, rows),
        "barrier": (),
    }[name]  # fmt: skip
    return getattr(dist, name), arguments, options


# call ordering


def _ordering(first: str, second: str, size: int) -> None:
    @program(ORDERING, size, True, name=f"{first} {second}")
    def swapped(rank, size):
        pair = [call(first, rank, size), call(second, rank, size)]
        if rank == 0:
            pair.reverse()
        for function, arguments, options in pair:
            function(*arguments, **options)  # here

    @program(ORDERING, size, False, name=f"{first} {second}")
    def in_order(rank, size):
        for name in (first, second):
            function, arguments, options = call(name, rank, size)
            function(*arguments, **options)

    @program(ORDERING, size, False, name=f"{first} {second}")
    def in_order_as_requests(rank, size):
        works = []
        for name in (first, second):
            function, arguments, options = call(name, rank, size)
            works.append(function(*arguments, **options, async_op=True))
        for work in works:
            work.wait()


for _first, _second in itertools.combinations(COLLECTIVES, 2):
    _ordering(_first, _second, 2 + (_first > _second))


def _crossing(size: int) -> None:
    @program(ORDERING, size, True, name=str(size))
    def ring_receives_first(rank, size):
        x = one()
        dist.recv(x, (rank - 1) % size)  # here
        dist.send(x, (rank + 1) % size)

    @program(ORDERING, size, True, name=str(size))
    def ring_sends_first(rank, size):
        x = one()
        dist.send(x, (rank + 1) % size)  # here
        dist.recv(x, (rank - 1) % size)

    @program(ORDERING, size, False, name=str(size))
    def ring_of_requests(rank, size):
        x, y = one(rank), one()
        requests = [dist.isend(x, (rank + 1) % size), dist.irecv(y, (rank - 1) % size)]
        for request in requests:
            request.wait()
        return y.item()


for _size in (2, 3, 4):
    _crossing(_size)


def _by_hand(size: int) -> None:
    @program(ORDERING, size, False, name=str(size))
    def gather_by_hand(rank, size):
        x = one(rank)
        if rank:
            dist.send(x, 0)
            return None
        return [dist.recv(x, source) for source in range(1, size)]

    @program(ORDERING, size, False, name=str(size))
    def scatter_by_hand(rank, size):
        x = one(rank)
        if rank:
            dist.recv(x, 0)
            return x.item()
        for request in [dist.isend(one(to), to) for to in range(1, size)]:
            request.wait()
        return None

    @program(ORDERING, size, False, name=str(size))
    def around_the_ring(rank, size):
        x = one(rank)
        if rank == 0:
            dist.send(x, 1)
            dist.recv(x, size - 1)
        else:
            dist.recv(x, rank - 1)
            dist.send(x, (rank + 1) % size)
        return x.item()

    @program(ORDERING, size, False, name=str(size))
    def everybody_to_everybody(rank, size):
        rows = torch.zeros(size, 2)
        others = [r for r in range(size) if r != rank]
        operations = [dist.P2POp(dist.irecv, rows[r], r) for r in others]
        operations += [dist.P2POp(dist.isend, torch.ones(2), r) for r in others]
        for request in dist.batch_isend_irecv(operations):
            request.wait()
        return rows.sum().item()


for _size in (2, 3, 4):
    _by_hand(_size)


def _against_a_message(name: str) -> None:
    @program(ORDERING, 2, True, name=name)
    def collective_against_a_receive(rank, size):
        function, arguments, options = call(name, rank, size)
        x = one()
        if rank == 0:
            function(*arguments, **options)  # here
            dist.send(x, 1)
        else:
            dist.recv(x, 0)  # here
            function(*arguments, **options)

    @program(ORDERING, 2, False, name=name)
    def collective_after_a_message(rank, size):
        function, arguments, options = call(name, rank, size)
        x = one()
        if rank == 0:
            dist.send(x, 1)
        else:
            dist.recv(x, 0)
        function(*arguments, **options)


for _name in ("all_reduce", "all_gather", "barrier", "gather", "reduce"):
    _against_a_message(_name)


# arguments


def _arguments(name: str) -> None:
    if name != "barrier":

        @program(ARGUMENTS, 2, True, name=name)
        def other_dtype(rank, size):
            x = torch.ones(2, dtype=torch.float64 if rank else torch.float32)
            function, arguments, options = call(name, rank, size, x)
            function(*arguments, **options)  # here

        @program(ARGUMENTS, 2, False, name=name)
        def same_dtype(rank, size):
            function, arguments, options = call(name, rank, size, torch.ones(2).double())
            function(*arguments, **options)

    if name not in ("barrier", "reduce_scatter"):

        @program(ARGUMENTS, 2, True, name=name)
        def other_shape(rank, size):
            function, arguments, options = call(name, rank, size, torch.ones(2 + rank))
            function(*arguments, **options)  # here

        @program(ARGUMENTS, 3, False, name=name)
        def same_shape(rank, size):
            function, arguments, options = call(name, rank, size, torch.ones(3, 2))
            function(*arguments, **options)

    if name in ROOTED:

        @program(ARGUMENTS, 2, True, name=name)
        def other_root(rank, size):
            function, arguments, options = call(name, rank, size, root=rank)
            function(*arguments, **options)  # here

        @program(ARGUMENTS, 3, False, name=name)
        def same_root(rank, size):
            function, arguments, options = call(name, rank, size, root=2)
            function(*arguments, **options)

    if name in REDUCING:

        @program(ARGUMENTS, 2, True, name=name)
        def other_reduction(rank, size):
            how = dist.ReduceOp.MAX if rank else dist.ReduceOp.SUM
            function, arguments, options = call(name, rank, size, op=how)
            function(*arguments, **options)  # here

        @program(ARGUMENTS, 2, False, name=name)
        def same_reduction(rank, size):
            function, arguments, options = call(name, rank, size, op=dist.ReduceOp.MAX)
            function(*arguments, **options)


for _name in COLLECTIVES:
    _arguments(_name)


@program(ARGUMENTS, 2, True)
def other_tag(rank, size):
    if rank == 0:
        dist.send(one(), 1, tag=1)  # here
    else:
        dist.recv(one(), 0, tag=2)  # here


@program(ARGUMENTS, 3, True)
def other_tag_from_anybody(rank, size):
    if rank == 0:
        dist.recv(one(), tag=3)  # here
    elif rank == 1:
        dist.send(one(), 0, tag=4)  # here


@program(ARGUMENTS, 2, True)
def message_larger_than_its_buffer(rank, size):
    if rank == 0:
        dist.send(torch.ones(8), 1)  # here
    else:
        dist.recv(torch.ones(4), 0)  # here


@program(ARGUMENTS, 2, True)
def message_of_another_type(rank, size):
    x = torch.ones(2, dtype=torch.int32 if rank else torch.float32)
    if rank == 0:
        dist.send(x, 1)  # here
    else:
        dist.recv(x, 0)  # here


@program(ARGUMENTS, 2, True)
def rank_that_there_is_not(rank, size):
    dist.send(one(), 2)  # here


@program(ARGUMENTS, 2, True)
def message_to_oneself(rank, size):
    dist.isend(one(), rank).wait()  # here


@program(ARGUMENTS, 3, True)
def partner_by_the_wrong_formula(rank, size):
    x = one()
    if rank == 0:
        dist.send(x, 1)  # here
    elif rank == 2:
        dist.recv(x, 0)


@program(ARGUMENTS, 2, False)
def tags_that_agree(rank, size):
    for tag in (3, 1, 2):
        if rank == 0:
            dist.send(one(), 1, tag=tag)
        else:
            dist.recv(one(), 0, tag=tag)


# request life cycle

ASYNCHRONOUS = ("all_reduce", "broadcast", "all_gather", "reduce", "gather", "scatter")


def _requests(name: str) -> None:
    @program(REQUESTS, 2, True, name=name)
    def never_waited_for(rank, size):
        function, arguments, _ = call(name, rank, size)
        work = function(*arguments, async_op=True)  # here
        dist.barrier()
        return str(work)[:0]

    @program(REQUESTS, 2, False, name=name)
    def waited_for(rank, size):
        function, arguments, _ = call(name, rank, size)
        work = function(*arguments, async_op=True)
        torch.ones(3).sum()
        work.wait()


for _name in ASYNCHRONOUS:
    _requests(_name)


@program(REQUESTS, 2, True)
def read_before_its_wait(rank, size):
    x = one()
    if rank == 0:
        request = dist.irecv(x, 1)  # here
        seen = x + 1  # here
        request.wait()
        return seen.numel()
    dist.send(x, 0)


@program(REQUESTS, 2, True)
def read_before_the_wait_of_a_collective(rank, size):
    x = one()
    work = dist.all_reduce(x, async_op=True)  # here
    seen = x.sum()  # here
    work.wait()
    return seen.numel()


@program(REQUESTS, 2, True)
def changed_before_its_wait(rank, size):
    x = one()
    if rank == 0:
        request = dist.isend(x, 1)  # here
        x.zero_()  # here
        request.wait()
    else:
        dist.recv(x, 0)


@program(REQUESTS, 2, True)
def changed_and_changed_back(rank, size):
    x = one()
    if rank == 0:
        request = dist.isend(x, 1)  # here
        x += 1  # here
        x -= 1
        request.wait()
    else:
        dist.recv(x, 0)


@program(REQUESTS, 2, True)
def one_buffer_for_two_receives(rank, size):
    x = one()
    if rank == 0:
        requests = [dist.irecv(x, 1, tag=1)]  # here
        requests.append(dist.irecv(x.fill_(2), 1, tag=2))  # here
        for request in requests:
            request.wait()
    else:
        dist.send(x, 0, tag=1)
        dist.send(x, 0, tag=2)


@program(REQUESTS, 2, True)
def waited_for_twice(rank, size):
    x = one()
    if rank == 0:
        request = dist.irecv(x, 1)  # here
        request.wait()
        request.wait()
    else:
        dist.send(x, 0)


@program(REQUESTS, 2, True)
def isend_never_waited_for(rank, size):
    x = one()
    if rank == 0:
        request = dist.isend(x, 1)  # here
        return str(request)[:0]
    dist.recv(x, 0)


@program(REQUESTS, 2, True)
def only_the_last_is_waited_for(rank, size):
    xs = [one() for _ in range(3)]
    request = None
    for tag, x in enumerate(xs):
        if rank == 0:
            request = dist.irecv(x, 1, tag=tag)  # here
        else:
            request = dist.isend(x, 0, tag=tag)  # here
    request.wait()
    dist.barrier()


@program(REQUESTS, 2, True)
def waits_in_an_order_that_hangs(rank, size):
    x, y = one(), one()
    if rank == 0:
        request = dist.irecv(x, 1)  # here
        request.wait()
        dist.isend(y, 1).wait()
    else:
        dist.recv(x, 0)  # here
        dist.send(y, 0)


@program(REQUESTS, 3, False)
def requests_in_any_order(rank, size):
    rows = torch.zeros(size, 2)
    requests = [dist.irecv(rows[r], r) for r in range(size) if r != rank]
    requests += [dist.isend(torch.full((2,), float(rank)), r) for r in range(size) if r != rank]
    for request in requests:
        request.wait()
    return rows.sum().item()


# messages that race: what is wrong shows in some schedules only


def _races(size: int) -> None:
    @program(RACE, size, True, depends=True, name=str(size))
    def rows_as_they_come(rank, size):
        if rank:
            dist.send(one(rank), 0)
            return None
        x, found = one(), []
        for _ in range(size - 1):
            dist.recv(x)  # here
            found.append(x.item())
        return found

    @program(RACE, size, False, name=str(size))
    def rows_by_their_rank(rank, size):
        if rank:
            dist.send(one(rank), 0)
            return None
        found = [0.0] * size
        for _ in range(size - 1):
            x = one()
            found[dist.recv(x)] = x.item()
        return found

    @program(RACE, size, True, depends=True, name=str(size))
    def last_one_wins(rank, size):
        x = one(rank)
        if rank:
            dist.send(x, 0)
            return None
        for _ in range(size - 1):
            dist.recv(x)  # here
        return x.item()

    @program(RACE, size, False, name=str(size))
    def sum_of_all(rank, size):
        x, total = one(rank), 0.0
        if rank:
            dist.send(x, 0)
            return None
        for _ in range(size - 1):
            dist.recv(x)
            total += x.item()
        return total

    @program(RACE, size, True, depends=True, name=str(size))
    def anybody_takes_what_was_meant_for_a_name(rank, size):
        x = one()
        if rank == 0:
            dist.recv(x)  # here
            for source in range(2, size):
                dist.recv(x, source)  # here
        else:
            dist.send(x, 0)

    @program(RACE, size, False, name=str(size))
    def names_before_anybody(rank, size):
        x = one()
        if rank == 0:
            for source in range(2, size):
                dist.recv(x, source)
            return dist.recv(x)
        dist.send(x, 0)

    @program(RACE, size, True, depends=True, name=str(size))
    def parts_of_workers_mixed(rank, size):
        if rank:
            for part in range(2):
                dist.send(one(10 * rank + part), 0)
            return None
        x, pairs = one(), []
        for _ in range(size - 1):
            dist.recv(x)  # here
            first = x.item()
            dist.recv(x)  # here
            pairs.append(x.item() - first)
        return pairs

    @program(RACE, size, False, name=str(size))
    def parts_of_one_worker_together(rank, size):
        if rank:
            for part in range(2):
                dist.send(one(10 * rank + part), 0)
            return None
        x, pairs = one(), []
        for _ in range(size - 1):
            source = dist.recv(x)
            first = x.item()
            dist.recv(x, source)
            pairs.append(x.item() - first)
        return pairs

    @program(RACE, size, True, depends=True, name=str(size))
    def answers_in_a_fixed_order(rank, size):
        x = one()
        if rank:
            dist.send(x, 0)  # here
            dist.recv(x, 0)  # here
            return
        for worker in range(1, size):
            dist.recv(x)
            dist.send(x, worker)  # here

    @program(RACE, size, False, name=str(size))
    def answers_whoever_came(rank, size):
        x = one()
        if rank:
            dist.send(x, 0)
            dist.recv(x, 0)
            return
        for _ in range(1, size):
            dist.send(x, dist.recv(x))

    @program(RACE, size, True, depends=True, name=str(size))
    def two_open_receives(rank, size):
        if rank:
            dist.send(one(rank), 0)
            return None
        xs = [one() for _ in range(size - 1)]
        requests = [dist.irecv(x) for x in xs]  # here
        for request in requests:
            request.wait()
        return [x.item() for x in xs]

    @program(RACE, size, True, depends=True, name=str(size))
    def first_one_decides(rank, size):
        x = one(rank)
        if rank:
            dist.send(x, 0)
            dist.broadcast(x, 0)
            return x.item()
        winner = dist.recv(x)  # here
        for _ in range(size - 2):
            dist.recv(one())
        x.fill_(winner)
        dist.broadcast(x, 0)
        return x.item()

    @program(RACE, size, True, depends=True, name=str(size))
    def collective_if_rank_one_was_first(rank, size):
        x = one()
        if rank:
            dist.send(x, 0)
            dist.barrier()  # here
            return
        first = dist.recv(x)
        for _ in range(size - 2):
            dist.recv(x)
        if first == 1:
            dist.barrier()

    @program(RACE, size, True, depends=True, name=str(size))
    def small_buffer_for_the_second(rank, size):
        if rank:
            dist.send(torch.ones(2 * rank), 0)  # here
            return
        for source in range(1, size):
            dist.recv(torch.zeros(2 * source))  # here

    @program(RACE, size, True, depends=True, name=str(size))
    def raises_if_the_last_comes_first(rank, size):
        if rank:
            dist.send(one(rank), 0)
            return
        sources = [dist.recv(one()) for _ in range(size - 1)]  # here
        if sources[0] == size - 1:
            raise ValueError("rank 1 should have been first")

    @program(RACE, size, True, depends=True, name=str(size))
    def folded_in_the_order_of_arrival(rank, size):
        if rank:
            dist.send(one(rank), 0)
            return None
        x, folded = one(), 0.0
        for _ in range(size - 1):
            dist.recv(x)  # here
            folded = 10 * folded + x.item()
        return folded

    @program(RACE, size, False, name=str(size))
    def largest_of_all(rank, size):
        if rank:
            dist.send(one(rank), 0)
            return None
        x, largest = one(), 0.0
        for _ in range(size - 1):
            dist.recv(x)
            largest = max(largest, x.item())
        return largest

    @program(RACE, size, True, depends=True, name=str(size))
    def numbers_given_out_by_arrival(rank, size):
        x = one(rank)
        if rank:
            dist.send(x, 0)
            dist.recv(x, 0)
            return x.item()
        for number in range(1, size):
            source = dist.recv(x)  # here
            dist.send(one(number), source)
        return None

    @program(RACE, size, False, name=str(size))
    def numbers_given_out_by_rank(rank, size):
        x = one(rank)
        if rank:
            dist.send(x, 0)
            dist.recv(x, 0)
            return x.item()
        for _ in range(1, size):
            source = dist.recv(x)
            dist.send(one(source), source)
        return None

    @program(RACE, size, True, depends=True, name=str(size))
    def open_receive_takes_what_a_name_waits_for(rank, size):
        x, y = one(), one()
        if rank == 0:
            request = dist.irecv(x)  # here
            dist.recv(y, 1)  # here
            for source in range(3, size):
                dist.recv(y, source)  # here
            request.wait()
        elif rank == 1:
            dist.send(x, 0)
        else:
            dist.send(x, 0)

    @program(RACE, size + 1, True, depends=True, name=str(size + 1))
    def passes_on_the_first_alone(rank, size):
        x = one(rank)
        if rank == 0:
            dist.recv(x)  # here
            for _ in range(size - 3):
                dist.recv(one())
            dist.send(x, size - 1)
            return None
        if rank == size - 1:
            dist.recv(x, 0)
            return x.item()
        dist.send(x, 0)
        return None

    @program(RACE, size, True, depends=True, name=str(size))
    def two_rounds_without_a_line_between(rank, size):
        x, rounds = one(), []
        if rank:
            for number in range(2):
                dist.send(one(number), 0)
            return None
        for _ in range(2):
            total = 0.0
            for _ in range(size - 1):
                dist.recv(x)  # here
                total += x.item()
            rounds.append(total)
        return rounds

    @program(RACE, size, False, name=str(size))
    def two_rounds_with_a_barrier_between(rank, size):
        x, rounds = one(), []
        for number in range(2):
            if rank:
                dist.send(one(number), 0)
            else:
                total = 0.0
                for _ in range(size - 1):
                    dist.recv(x)
                    total += x.item()
                rounds.append(total)
            dist.barrier()
        return rounds

    @program(RACE, size, True, depends=True, name=str(size))
    def leaves_after_the_first(rank, size):
        x = one()
        if rank == 0:
            while dist.recv(x) != 1:  # here
                pass
        else:
            dist.send(x, 0)  # here


for _size in (3, 4):
    _races(_size)


@program(RACE, 4, True, depends=True)
def two_receivers(rank, size):
    if rank < 2:
        return [dist.recv(one()) for _ in range(2)]  # here
    for request in [dist.isend(one(), receiver) for receiver in (0, 1)]:
        request.wait()


@program(RACE, 3, True, depends=True)
def polled_and_read_if_complete(rank, size):
    x = one(0)
    if rank == 0:
        request = dist.irecv(x, 1)  # here
        early = request.is_completed()
        request.wait()
        return early
    if rank == 1:
        dist.send(one(5), 0)


@program(RACE, 2, True, depends=True)
def sends_only_if_polled_true(rank, size):
    x = one(0)
    if rank == 0:
        request = dist.irecv(x, 1)  # here
        if not request.is_completed():
            dist.send(x, 1)  # here
        request.wait()
    else:
        dist.send(x, 0)


@program(RACE, 2, False)
def polled_and_waited_for(rank, size):
    x = one(0)
    if rank == 0:
        request = dist.irecv(x, 1)
        request.is_completed()
        request.wait()
        return x.item()
    dist.send(one(5), 0)


@program(RACE, 3, True, depends=True)
def relies_on_a_send_that_waits(rank, size):
    x = one(rank)
    if rank == 0:
        return [dist.recv(one()) for _ in range(2)]  # here
    if rank == 1:
        dist.send(x, 0)
        dist.send(x, 2)
    else:
        dist.recv(x, 1)
        dist.send(x, 0)


@program(RACE, 3, True, depends=True)
def tags_do_not_help_within_one_tag(rank, size):
    x = one(rank)
    if rank:
        dist.send(x, 0, tag=1)
        dist.send(x, 0, tag=2)
        return None
    first = dist.recv(x, tag=1)  # here
    dist.recv(x, first, tag=2)
    dist.recv(x, tag=1)
    dist.recv(x, tag=2)
    return first


@program(RACE, 3, False)
def order_kept_by_an_acknowledgement(rank, size):
    x = one(rank)
    if rank == 0:
        found = [dist.recv(x)]
        dist.send(x, 2)
        return [*found, dist.recv(x)]
    if rank == 2:
        dist.recv(x, 0)
    dist.send(x, 0)


@program(RACE, 4, True, depends=True)
def race_two_steps_away(rank, size):
    x = one(rank)
    if rank == 0:
        dist.recv(x, 3)
        return x.item()
    if rank == 3:
        dist.recv(x)  # here
        dist.recv(one())
        dist.send(x, 0)
    else:
        dist.send(x, 3)


@program(RACE, 3, True, depends=True)
def master_stops_at_the_first_done(rank, size):
    x = one()
    if rank == 0:
        done = 0
        while done < 1:
            dist.recv(x)  # here
            done += x.item() == 0
        return None
    dist.send(one(1), 0)
    dist.send(one(0), 0)  # here


@program(RACE, 3, False)
def master_stops_when_all_are_done(rank, size):
    x = one()
    if rank == 0:
        done = 0
        while done < size - 1:
            dist.recv(x)
            done += x.item() == 0
        return done
    dist.send(one(1), 0)
    dist.send(one(0), 0)


@program(RACE, 3, True, depends=True)
def wildcard_inside_a_group(rank, size):
    group = dist.new_group([0, 1, 2])
    if rank:
        dist.send(one(rank), 0, group=group)
        return None
    return [dist.recv(one(), group=group) for _ in range(2)]  # here


@program(RACE, 3, True, depends=True)
def sends_before_a_barrier_received_after(rank, size):
    x = one(rank)
    if rank:
        request = dist.isend(x, 0)
        dist.barrier()
        request.wait()
        return None
    dist.barrier()
    return [dist.recv(x) for _ in range(2)]  # here


@program(RACE, 3, False)
def barrier_between_two_senders(rank, size):
    x = one(rank)
    if rank == 1:
        dist.send(x, 0)
    found = [dist.recv(x)] if rank == 0 else []
    dist.barrier()
    if rank == 2:
        dist.send(x, 0)
    return [*found, dist.recv(x)] if rank == 0 else None


# missing or extra calls


def _missing(name: str) -> None:
    @program(MISSING, 2, True, name=name)
    def missing_on_one_rank(rank, size):
        function, arguments, options = call(name, rank, size)
        if rank == (1 if name in ("broadcast", "scatter") else 0):  # a root may not have to wait
            function(*arguments, **options)  # here

    @program(MISSING, 3, True, name=name)
    def one_round_more_on_a_rank(rank, size):
        for _ in range(2 + (rank == (1 if name in ("broadcast", "scatter") else 0))):
            function, arguments, options = call(name, rank, size)
            function(*arguments, **options)  # here

    @program(MISSING, 3, False, name=name)
    def as_many_rounds_on_all(rank, size):
        for _ in range(3):
            function, arguments, options = call(name, rank, size)
            function(*arguments, **options)


for _name in COLLECTIVES:
    _missing(_name)


@program(MISSING, 2, True)
def missing_send(rank, size):
    if rank == 1:
        dist.recv(one(), 0)  # here


@program(MISSING, 2, True)
def missing_receive(rank, size):
    if rank == 1:
        dist.send(one(), 0)  # here


@program(MISSING, 4, True)
def last_rank_forgotten(rank, size):
    x = one()
    if rank == 0:
        for source in range(1, size - 1):
            dist.recv(x, source)
    else:
        dist.send(x, 0)  # here


@program(MISSING, 3, True)
def one_receive_more_than_senders(rank, size):
    x = one()
    if rank == 0:
        for _ in range(size):
            dist.recv(x)  # here
    else:
        dist.send(x, 0)


@program(MISSING, 4, False)
def all_ranks_remembered(rank, size):
    x = one()
    if rank == 0:
        for source in range(1, size):
            dist.recv(x, source)
    else:
        dist.send(x, 0)


# groups


def _groups(name: str) -> None:
    @program(GROUPS, 3, True, name=name)
    def member_that_stays_away(rank, size):
        group = dist.new_group([0, 1])
        function, arguments, options = call(name, rank, 2)
        if rank == (1 if name in ("broadcast", "scatter") else 0):
            function(*arguments, **options, group=group)  # here

    @program(GROUPS, 3, False, name=name)
    def members_alone(rank, size):
        group = dist.new_group([0, 1])
        if rank < 2:
            function, arguments, options = call(name, rank, 2)
            function(*arguments, **options, group=group)

    @program(GROUPS, 4, False, name=name)
    def two_groups_beside_each_other(rank, size):
        groups = [dist.new_group([0, 1]), dist.new_group([2, 3])]
        root = rank // 2 * 2
        function, arguments, options = call(name, rank, 2, root=root)
        function(*arguments, **options, group=groups[rank // 2])


for _name in COLLECTIVES:
    _groups(_name)


@program(GROUPS, 4, True)
def groups_made_in_another_order(rank, size):
    pairs = [[0, 2], [1, 3]]
    if rank == 2:
        pairs.reverse()
    for pair in pairs:
        dist.new_group(pair)  # here


@program(GROUPS, 2, True)
def group_made_by_one_rank(rank, size):
    if rank == 0:
        dist.new_group([0, 1])  # here


@program(GROUPS, 3, True)
def group_made_by_its_members_alone(rank, size):
    if rank < 2:
        group = dist.new_group([0, 1])  # here
        dist.all_reduce(one(), group=group)


@program(GROUPS, 2, True)
def two_groups_used_in_another_order(rank, size):
    groups = [dist.new_group([0, 1]), dist.new_group([0, 1])]
    if rank:
        groups.reverse()
    for group in groups:
        dist.all_reduce(one(), group=group)  # here


@program(GROUPS, 2, True)
def message_in_another_group(rank, size):
    group = dist.new_group([0, 1])
    if rank == 0:
        dist.send(one(), 1, group=group)  # here
    else:
        dist.recv(one(), 0)  # here


@program(GROUPS, 4, True)
def default_group_for_a_sub_group(rank, size):
    group = dist.new_group([0, 1])
    if rank == 0:
        dist.all_reduce(one(), group=group)  # here
    elif rank == 1:
        dist.all_reduce(one())  # here


WRONG = [p for p in PROGRAMS if p.wrong]
RIGHT = [p for p in PROGRAMS if not p.wrong]
