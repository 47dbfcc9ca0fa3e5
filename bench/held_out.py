"""Programs that the simulator has never been fitted to, by family, and what they really take.

A program runs on real ranks over an imitated cluster (`slow_cluster`), by the ranks' steady clocks,
which leave out what they waited for a processor (`distlab.simulation.rank_clock`). The simulator
gets the program, and of the links what a ping-pong of two messages' sizes has found.

Written programs are lists of `Compute` (a rank sleeps), `Post` and `Wait`. Those of the labs are
the solutions' functions: they run over the machine's own links, and what was recorded there is
replayed on the simulated cluster.
"""

from __future__ import annotations

import functools
import itertools
import statistics
import sys
import time
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import cloudpickle
import numpy as np

from distlab import Ranks, each, notebook
from distlab.records.events import RankRecord
from distlab.simulation import (
    Cluster,
    Step,
    algorithms,
    cost_model,
    described,
    pipeline,
    recorded,
    replay,
)
from distlab.simulation.cost_model import Link
from distlab.simulation.programs import Compute, Post, Program, Wait, message
from grader import coursedir

cloudpickle.register_pickle_by_value(sys.modules[__name__])

INSIDE, BETWEEN = Link(0.01, 4e6), Link(0.02, 1e6)  # imitated: 100 kB take 35 ms, or 120 ms
QUICK = Link(0.0, float("inf"))  # the machine's own links are as they are
REPEATS = 1  # runs of a program


@dataclass(frozen=True)
class Held:
    """A program of the set. `programs`, by rank, or `function(rank, size)` of a lab."""

    family: str
    name: str
    cluster: Cluster
    programs: Sequence[Program] = ()
    function: Callable[[int, int], Any] | None = field(default=None, repr=False)

    @property
    def groups(self) -> list[tuple[int, ...]]:
        events = [what.event for p in self.programs for what in p if isinstance(what, Post)]
        return sorted({event.group for event in events if event.group})


def flat(size: int, **more: Any) -> Cluster:
    """A node for each rank."""
    return Cluster(size, 1, between=BETWEEN, **more)


def nodes(count: int, gpus: int, **more: Any) -> Cluster:
    return Cluster(count, gpus, inside=INSIDE, between=BETWEEN, **more)


# written programs


def collective(op: str, n_bytes: int, group: tuple[int, ...]) -> Post:
    event = message("send", 0, n_bytes)
    event.op, event.api, event.group, event.peer = op, op, group, None
    event.group_index = hash(group)
    return Post(event)


def stragglers() -> Iterator[Held]:
    for size, late, slow in ((3, 1, 2.5), (4, 3, 4.0), (5, 0, 3.0), (6, 2, 6.0), (8, 5, 5.0)):
        cluster = flat(size, slow={late: slow})
        steps = [Step(None, seconds=0.1), *algorithms.ring(size, 60_000 * size)]
        yield Held("stragglers", f"ring of {size}, rank {late} {slow:g}× slower", cluster,
                   described(steps, size))  # fmt: skip
    for size, late in ((4, 2), (7, 4)):
        steps = [*algorithms.tree(size, 90_000), Step(None, seconds=0.15),
                 *algorithms.tree(size, 50_000)]  # fmt: skip
        yield Held("stragglers", f"two trees of {size}, rank {late} 3× slower",
                   flat(size, slow={late: 3.0}), described(steps, size))  # fmt: skip


def overlap() -> Iterator[Held]:
    """Buckets leave while the backward pass goes on, and are waited for at its end."""
    for size, buckets, n_bytes, seconds in (
        (2, 5, 100_000, 0.08), (3, 4, 120_000, 0.30), (4, 6, 60_000, 0.15), (4, 3, 200_000, 0.05),
        (6, 4, 90_000, 0.35),
    ):  # fmt: skip
        world = tuple(range(size))
        program: Program = []
        for _ in range(buckets):
            program += [Compute(seconds), collective("all_reduce", n_bytes, world)]
        program += [Wait(number) for number in range(buckets)]
        yield Held("overlap", f"{buckets} buckets on {size} ranks", flat(size), [program] * size)
    for size, late in ((3, 0), (4, 2)):
        program = []
        for number in range(4):
            program += [Compute(0.12), collective("all_reduce", 70_000, tuple(range(size)))]
            if number:
                program += [Wait(number - 1)]
        yield Held("overlap", f"one bucket ahead on {size} ranks, rank {late} 2× slower",
                   flat(size, slow={late: 2.0}), [[*program, Wait(3)]] * size)  # fmt: skip


def groups() -> Iterator[Held]:
    """Rows of tensor parallelism, columns of data parallelism: both use a rank's one link."""
    for rows, columns, across, on_nodes in (
        (2, 2, 100_000, False), (2, 3, 60_000, False), (3, 2, 80_000, False), (2, 4, 90_000, False),
        (2, 2, 120_000, True), (4, 2, 60_000, True), (2, 4, 90_000, True),
    ):  # fmt: skip
        size = rows * columns
        cluster = nodes(rows, columns) if on_nodes else flat(size)
        programs = []
        for rank in range(size):
            row = tuple(range(rank // columns * columns, (rank // columns + 1) * columns))
            column = tuple(range(rank % columns, size, columns))
            program: Program = []
            for layer in range(3):
                program += [collective("all_gather", 40_000, row), Wait(2 * layer), Compute(0.05)]
                program += [collective("all_reduce", across, column), Compute(0.04)]
            programs.append([*program, *(Wait(2 * layer + 1) for layer in range(3))])
        kind = "nodes of the rows" if on_nodes else "one link a rank"
        yield Held("groups", f"{rows} × {columns}, {kind}", cluster, programs)


def hierarchical_links() -> Iterator[Held]:
    for cluster in (nodes(2, 2), nodes(2, 3), nodes(3, 2), nodes(2, 4), nodes(4, 2)):
        steps = algorithms.hierarchical(cluster, 100_000 * cluster.size)
        yield Held("hierarchical links", f"rings in and between nodes, {cluster}", cluster,
                   described(steps, cluster.size))  # fmt: skip
    for cluster, name in ((nodes(2, 2), "ring"), (nodes(2, 4), "tree"),
                          (nodes(2, 2, adapters=1), "halving_doubling"),
                          (nodes(2, 4, adapters=2), "parameter_server")):  # fmt: skip
        steps = getattr(algorithms, name)(cluster.size, 160_000)
        shared = f", {cluster.adapters} adapters a node" if cluster.adapters else ""
        yield Held("hierarchical links", f"{name}, {cluster}{shared}", cluster,
                   described(steps, cluster.size))  # fmt: skip


def any_messages() -> Iterator[Held]:
    """Rounds of messages between ranks drawn by chance, waited for in an order drawn by chance."""
    for seed, cluster in enumerate((flat(3), flat(4), flat(5), flat(6), flat(8), nodes(2, 2),
                                    nodes(3, 2), nodes(2, 3, adapters=1))):  # fmt: skip
        chance, size = np.random.default_rng(seed), cluster.size
        programs: list[Program] = [[] for _ in range(size)]
        posted = [0] * size
        for turn in range(4):
            first = list(posted)
            for _ in range(size + 1):
                src, dst = chance.choice(size, 2, replace=False).tolist()
                n_bytes = int(chance.integers(20_000, 150_000))
                for rank, op, peer in ((src, "send", dst), (dst, "recv", src)):
                    event = message(op, peer, n_bytes)
                    event.tag = turn
                    programs[rank].append(Post(event))
                    posted[rank] += 1
            for rank in range(size):
                programs[rank].append(Compute(float(chance.uniform(0, 0.1))))
                order = chance.permutation(np.arange(first[rank], posted[rank]))
                programs[rank] += [Wait(int(number)) for number in order]
        yield Held("any messages", f"seed {seed}, {cluster}", cluster, programs)


def algorithms_of_messages() -> Iterator[Held]:
    for name, size in (("tree", 5), ("tree", 8), ("halving_doubling", 4), ("halving_doubling", 8),
                       ("parameter_server", 3), ("parameter_server", 6), ("ring", 7)):  # fmt: skip
        steps = getattr(algorithms, name)(size, 140_000)
        yield Held("algorithms", f"{name} of {size}", flat(size), described(steps, size))


def pipelines() -> Iterator[Held]:
    for cluster, microbatches, order in (
        (flat(3), 4, "GPipe"), (flat(4), 6, "1F1B"), (flat(6), 3, "GPipe"), (flat(5), 5, "1F1B"),
        (nodes(2, 2), 5, "1F1B"), (nodes(2, 3, slow={4: 1.7}), 4, "GPipe"),
    ):  # fmt: skip
        programs = pipeline(cluster.size, microbatches, 40_000, 0.05, 0.1, order)
        yield Held("pipelines", f"{order}, {microbatches} micro-batches, {cluster}", cluster,
                   programs)  # fmt: skip


# the labs' own


@functools.cache
def _lab(number: int) -> Any:
    (path,) = coursedir.SOLUTIONS.glob(f"{number:02}-*/*.ipynb")
    lab = notebook.load(path)
    cloudpickle.register_pickle_by_value(lab)
    return lab


def lab_04() -> Iterator[Held]:
    lab = _lab(4)

    def chunks(function):
        def call(rank, size):
            import torch

            function(rank, size, [torch.ones(25_000) for _ in range(size)])

        return call

    def all_reduce(rank, size):
        import torch

        lab.ring_all_reduce(rank, size, torch.ones(100_001))

    def served(rank, size):
        import torch

        parts = [[torch.ones(9_000), torch.ones(20_000)] for _ in range(2)]
        lab.sync_parameter_server(rank, size, *parts, 0.1)

    def in_turn(rank, size):
        """Workers whose gradients take them unequally long, so that they push in one order."""
        import torch

        from distlab.simulation import schedules

        def gradients(parameters):
            schedules.time.sleep(0.15 * rank)
            return [torch.ones(15_000)]

        lab.async_parameter_server(rank, size, [torch.ones(15_000)], gradients, 2, 0.1)

    for name, function, sizes in (
        ("ring_reduce_scatter", chunks(lab.ring_reduce_scatter), (3, 5, 6)),
        ("ring_all_gather", chunks(lab.ring_all_gather), (4, 7)),
        ("ring_all_reduce", all_reduce, (2, 5, 8)),
        ("sync_parameter_server", served, (3, 4)), ("async_parameter_server", in_turn, (2, 3)),
    ):  # fmt: skip
        for size in sizes:
            yield Held("lab 04", f"{name} on {size}", flat(size), function=function)


def lab_06() -> Iterator[Held]:
    lab = _lab(6)

    def staged(step, microbatches):
        def call(rank, size):
            import torch

            from distlab.simulation.schedules import Work

            stage = torch.nn.Sequential(torch.nn.LayerNorm(2_000), Work(0.01))
            rows = torch.ones(4 * microbatches, 2_000)
            step(rank, size, stage, rows if rank == 0 else None,
                 rows if rank == size - 1 else None, microbatches)  # fmt: skip

        return call

    def layers(rank, size):
        import torch

        x = torch.ones(40, 600, requires_grad=True)
        weights = torch.ones(600, 600, requires_grad=True), torch.ones(600, requires_grad=True)
        for _ in range(2):
            slices = lab.column_parallel_linear(rank, size, x, *weights)
            lab.row_parallel_linear(rank, size, slices, *weights).sum().backward()

    def adam(rank, size):
        import torch

        parameters = [torch.ones(20_000), torch.ones(100, 150)]
        state: dict = {}
        for _ in range(2):
            lab.sharded_adam_step(rank, size, parameters, [p + 1 for p in parameters], state)

    for function, name, size, microbatches in (
        (lab.pipeline_step, "pipeline_step", 3, 4), (lab.pipeline_step, "pipeline_step", 4, 3),
        (lab.one_f_one_b_step, "one_f_one_b_step", 2, 4),
        (lab.one_f_one_b_step, "one_f_one_b_step", 4, 5),
    ):  # fmt: skip
        yield Held("lab 06", f"{name} of {microbatches} on {size}", flat(size),
                   function=staged(function, microbatches))  # fmt: skip
    yield Held("lab 06", "column_ and row_parallel_linear on 3", flat(3), function=layers)
    yield Held("lab 06", "sharded_adam_step on 4", flat(4), function=adam)


def lab_10() -> Iterator[Held]:
    lab = _lab(10)

    def fsdp(rank, size):
        import torch

        shapes = [[(200, 200), (200,)]] * 3
        full = [[torch.ones(shape) / 200 for shape in one] for one in shapes]
        pieces = [lab.shard_flat(rank, size, one) for one in full]
        lab.fsdp_step(rank, size, pieces, shapes, torch.ones(2, 200), torch.ones(2, 200))

    def buckets(seconds):
        def call(rank, size):
            import torch

            from distlab.simulation.schedules import Work

            blocks = [[torch.nn.Linear(150, 150), Work(seconds)] for _ in range(4)]
            model = torch.nn.Sequential(*(layer for block in blocks for layer in block))
            finish = lab.overlapped_ddp(model, 80_000)
            model(torch.ones(2, 150)).sum().backward()
            finish()

        return call

    def hybrid(replicas):
        def call(rank, size):
            import torch

            lab.hybrid_step(rank, size, replicas, torch.ones(240_000))

        return call

    yield Held("lab 10", "fsdp_step on 2", flat(2), function=fsdp)
    yield Held("lab 10", "fsdp_step on 4, 2 nodes", nodes(2, 2), function=fsdp)
    yield Held("lab 10", "overlapped_ddp on 3", flat(3), function=buckets(0.05))
    yield Held("lab 10", "overlapped_ddp on 2", flat(2), function=buckets(0.02))
    yield Held("lab 10", "hybrid_step on 4", flat(4), function=hybrid(2))
    yield Held("lab 10", "hybrid_step on 6, 2 nodes", nodes(2, 3), function=hybrid(2))


def lab_11() -> Iterator[Held]:
    lab = _lab(11)

    def ring(rank, size):
        import torch

        lab.ring_attention(rank, size, *[torch.ones(4, 100, 64)] * 3, True)

    def ulysses(rank, size):
        import torch

        lab.ulysses_attention(rank, size, *[torch.ones(150, 4, 50)] * 3, True)

    def mlp(rank, size):
        import torch

        lab.sequence_parallel_mlp(
            rank, size, torch.ones(150, 200), torch.ones(80, 200), torch.ones(200, 80)
        )

    def experts(rank, size):
        import torch

        expert = torch.arange(240) % size
        lab.dispatch_combine(rank, size, torch.ones(240, 200), expert, lambda x: x * 2)

    for name, function, cluster in (
        ("ring_attention", ring, flat(3)), ("ring_attention", ring, nodes(2, 2)),
        ("ulysses_attention", ulysses, flat(4)), ("ulysses_attention", ulysses, flat(2)),
        ("sequence_parallel_mlp", mlp, flat(4)), ("dispatch_combine", experts, flat(3)),
    ):  # fmt: skip
        yield Held("lab 11", f"{name}, {cluster}", cluster, function=function)


WRITTEN = (stragglers, overlap, groups, hierarchical_links, any_messages, algorithms_of_messages,
           pipelines)  # fmt: skip
#: lab 05's own programs wait inside of DDP, in C++, which a steady clock does not see; labs 07 and
#: 08 talk through Horovod and TensorFlow, and lab 09 through a store, over no imitated link
LABS = (lab_04, lab_06, lab_10, lab_11)


# real runs


@dataclass(frozen=True)
class Measured:
    """`seconds`: of the shortest of `runs`. `waited`: for a processor in one run, by the rank that
    waited most.
    """

    seconds: float
    waited: float
    runs: int


def measured(held: Held, repeats: int = REPEATS) -> Measured:
    """What a program takes over the imitated links of its cluster, by its ranks' steady clocks."""
    size, found = held.cluster.size, []
    programs = each(list(held.programs)) if held.programs else None
    for _ in range(repeats):
        times = Ranks(size).run(
            timed, held.cluster, programs, held.groups, held.function, deadline=240
        )
        found.append((max(s for s, *_ in times), max(w for _, w, _ in times)))
    # the first use of a group connects its ranks, which is no part of the program
    return Measured(min(s for s, _ in found), max(w for _, w in found), repeats)


def timed(rank, size, cluster, program, members, function):
    """From a common beginning until this rank is done: seconds by its steady clock, seconds that it
    waited for a processor, and the clock's log.
    """
    import torch
    import torch.distributed as dist

    from distlab.rank.recording import paused
    from distlab.simulation import schedules
    from distlab.simulation.rank_clock import Clock
    from distlab.simulation.slow_links import slow_cluster

    with paused():
        groups = {group: dist.new_group(list(group)) for group in members}
        start = torch.tensor([time.monotonic() + 0.1 + 0.03 * size], dtype=torch.float64)
        dist.broadcast(start, 0)
    clock, before, begin = Clock(steady=True), waits(), start.item()
    real_sleep = time.sleep

    def sleep(seconds):  # what imitates computing counts
        begun = clock.mark()
        real_sleep(seconds)
        clock.show(begun.shown + seconds)

    with slow_cluster(cluster, clock):
        time.sleep(max(0.0, begin - time.monotonic()))
        clock.log.clear()
        clock.show(begin)
        schedules.time = types.SimpleNamespace(sleep=sleep, monotonic=time.monotonic)
        try:
            if function is None:
                play(program, cluster.slowness()[rank].item(), groups, sleep)
            else:
                function(rank, size)
        finally:
            schedules.time = time
        return clock.now() - begin, waits() - before, [(m.real, m.shown) for m in clock.log]


def waits() -> float:
    """Seconds that this thread has waited for a processor so far; 0 where nobody counts them."""
    try:
        with open("/proc/thread-self/schedstat") as file:
            return int(file.read().split()[1]) / 1e9
    except OSError:
        return 0.0


def play(
    program: Program, slowness: float, groups: dict[tuple[int, ...], Any],
    sleep: Callable[[float], None],
) -> None:  # fmt: skip
    """Do what a program says, for real."""
    import torch
    import torch.distributed as dist

    requests: list[Any] = []
    for what in program:
        if isinstance(what, Compute):
            sleep(what.seconds * slowness)
        elif isinstance(what, Wait):
            requests[what.number].wait()
        else:
            event = what.event
            tensor = torch.zeros(event.nbytes, dtype=torch.uint8)
            if event.op == "send":
                requests.append(dist.isend(tensor, event.peer, tag=event.tag))
            elif event.op == "recv":
                requests.append(dist.irecv(tensor, event.peer, tag=event.tag))
            elif event.op == "all_gather":
                parts = [torch.empty_like(tensor) for _ in event.group]
                requests.append(dist.all_gather(parts, tensor, groups[event.group], async_op=True))
            else:
                group = groups[event.group]
                requests.append(getattr(dist, event.op)(tensor, group=group, async_op=True))


# what the simulator is told, and what it says


def fitted() -> dict[Link, Link]:
    """What a ping-pong finds of each imitated link, of the median of some turns."""
    sizes = [4, 100_000]
    found = {}
    for link, peer in ((INSIDE, 1), (BETWEEN, 2)):
        times = Ranks(4).run(ping_pong, nodes(2, 2), peer, sizes)[0]
        found[link] = cost_model.fit(sizes, times)
    return found


def ping_pong(rank, size, cluster, peer, sizes) -> list[float]:
    import torch
    import torch.distributed as dist

    from distlab.simulation.rank_clock import Clock
    from distlab.simulation.slow_links import slow_cluster

    shortest, clock = [], Clock(steady=True)
    with slow_cluster(cluster, clock):
        for n_bytes in sizes:
            tensor, seconds = torch.zeros(n_bytes, dtype=torch.uint8), []
            for _ in range(8):
                dist.barrier()
                begin = clock.now()
                if rank == 0:
                    dist.send(tensor, peer)
                    dist.recv(tensor, peer)
                elif rank == peer:
                    dist.recv(tensor, 0)
                    dist.send(tensor, 0)
                seconds.append((clock.now() - begin) / 2)
            shortest.append(statistics.median(seconds))
    return shortest


def predicted(held: Held, links: dict[Link, Link]) -> float:
    """Seconds that the simulator says."""
    cluster = Cluster(
        held.cluster.nodes, held.cluster.gpus, adapters=held.cluster.adapters,
        slow=held.cluster.slow, inside=links.get(held.cluster.inside, INSIDE),
        between=links[held.cluster.between],
    )  # fmt: skip
    programs: Sequence[Program] = held.programs
    if held.function is not None:
        runs = [_on_own_links(held) for _ in range(1 + REPEATS)]  # the first imports and compiles
        programs = recorded(min(runs[1:], key=lambda run: max(r.end - r.begin for r in run)))
    return max(record.end for record in replay(programs, cluster))


def _on_own_links(held: Held) -> list[RankRecord]:
    """The records of a run over the machine's own links, by the ranks' steady clocks."""
    size = held.cluster.size
    result = Ranks(size).run(
        timed, Cluster(size, 1, between=QUICK), None, [], held.function, deadline=240
    )
    for record, (*_, log) in zip(result.records, result, strict=True):
        marks = np.array(log)

        def steady(moment: float, offset: float = record.offset, marks=marks) -> float:
            return moment and float(np.interp(moment - offset, *marks.T))

        record.begin, record.end = marks[0, 1].item(), marks[-1, 1].item()
        for event in record.events:
            event.begin, event.end = steady(event.begin), steady(event.end)
            event.wait_begin, event.wait_end = steady(event.wait_begin), steady(event.wait_end)
    return result.records


@functools.cache
def all_programs() -> tuple[Held, ...]:
    """The whole set, family by family."""
    return tuple(itertools.chain.from_iterable(family() for family in (*WRITTEN, *LABS)))
