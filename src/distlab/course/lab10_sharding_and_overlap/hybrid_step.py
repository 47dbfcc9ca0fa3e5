"""`hybrid_step`: sharding within a replica, averaging between replicas."""

from __future__ import annotations

import numpy as np

from distlab.course.lab10_sharding_and_overlap.flat import drawn, shortened
from distlab.course.lab10_sharding_and_overlap.rules import others, traffic_of
from distlab.exercises import hints
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.traffic import called
from distlab.records.events import LOCAL


def _gradients(case: Case) -> list[dict]:
    """`length`: of a piece, of which a gradient has one for each shard. `still`: ranks whose
    gradient is all zeros.
    """
    replicas, dtype = case.params["replicas"], case.get("dtype", "float32")
    count = case.params["length"] * (case.size // replicas)
    made = []
    for rank in range(case.size):
        gradient = drawn(case.generator(rank), [count], dtype)
        gradient *= rank not in case.get("still", [])
        made.append({"replicas": replicas, "gradient": gradient})
    return made


def _call(function, rank, size, inputs):
    return shortened(function(rank, size, inputs["replicas"], inputs["gradient"]))


def _mesh(look: Look) -> tuple[int, int]:
    """(replicas, shards)"""
    replicas = look.inputs[0]["replicas"]
    return replicas, look.size // replicas


def _members(look: Look, rank: int) -> dict[str, set[int]]:
    """The ranks that each of a rank's collectives is over: those of its replica, and those with its
    place in every replica.
    """
    _, shards = _mesh(look)
    first, place = rank // shards * shards, rank % shards
    return {
        "reduce_scatter": set(range(first, first + shards)),
        "all_reduce": set(range(place, look.size, shards)),
    }


def _scatter_then_reduce(look: Look) -> str | None:
    """A reduce-scatter within the replica and an all-reduce of the piece across the replicas."""
    nbytes = look.inputs[0]["gradient"].nbytes
    sizes = {"reduce_scatter": nbytes, "all_reduce": nbytes // _mesh(look)[1]}
    for rank in look.ranks:
        due = {op: (members, sizes[op]) for op, members in _members(look, rank).items()}
        events = traffic_of(look, rank, barriers=True)
        for event in events:
            if event.op not in due:
                return (
                    f"{called(event)}: a reduce-scatter and an all-reduce are all that is needed."
                )
            members, given = due[event.op]
            if set(event.group) != members:
                return (
                    f"{called(event)} over the ranks {sorted(event.group)}, where it should be "
                    f"over {sorted(members)}."
                )
            if event.nbytes != given:
                return f"{called(event)} with {event.nbytes} bytes, where {given} should be."
        for op, (members, given) in due.items():
            times = sum(event.op == op for event in events)
            if times > 1 or (times == 0 and len(members) > 1 and given):
                return f"rank {rank} called {op} {times} times: once is asked for."
    return None


def _same_groups(look: Look) -> str | None:
    """All ranks make the same groups in the same order, but for groups with
    `use_local_synchronization`, which members alone make.
    """
    made = [
        [
            tuple(sorted(e.group))
            for e in record.events
            if e.op == "new_group" and not e.flags & LOCAL
        ]
        for record in look.records
    ]
    for rank, groups in enumerate(made):
        if groups != made[0]:
            return (
                f"rank {rank} made the groups {[list(g) for g in groups]} and rank 0 made "
                f"{[list(g) for g in made[0]]}: every rank of the world calls new_group for every "
                "group, in the same order, also for those that it is not in."
            )
    return None


# hints


def _each(look: Look, of) -> bool:
    """Did each rank return `of(rank)`, and is that wrong?"""
    return look.size > 1 and hints.everywhere(look, [of(rank) for rank in look.ranks])


def _parts(look: Look) -> np.ndarray:
    """All gradients: (replicas, places in it, pieces, elements)."""
    replicas, shards = _mesh(look)
    return np.reshape(look.given("gradient"), (replicas, shards, shards, -1))


def _own_replica_alone(look: Look) -> bool:
    sums = _parts(look).sum(axis=1).reshape(look.size, -1)  # each rank's piece
    divisors = 1, look.size, _mesh(look)[1]
    return _mesh(look)[0] > 1 and any(_each(look, lambda r, n=n: sums[r] / n) for n in divisors)


def _dealt_out(look: Look) -> bool:
    mean, shards = np.mean(look.given("gradient"), axis=0), _mesh(look)[1]
    return _each(look, lambda r: mean[r % shards :: shards])


def _another_piece(look: Look) -> bool:
    pieces = _parts(look).mean(axis=(0, 1))
    return look.size > 1 and any(
        look.same(piece, got)
        for rank, got in enumerate(look.returned)
        for place, piece in enumerate(pieces)
        if place != rank % len(pieces)
    )


exercise = Exercise(
    points=3,
    make=_gradients,
    call=_call,
    asks="hybrid_step returns this rank's piece of the mean gradient of all ranks, by a "
    "reduce-scatter within each replica and an all-reduce of the pieces between the replicas.",
    visible=(
        Case(4, 1, {"replicas": 2, "length": 3}),
        Case(3, 2, {"replicas": 1, "length": 2}),
        Case(2, 3, {"replicas": 2, "length": 4}),
    ),
    traffic=(_same_groups, _scatter_then_reduce),
    hints=(
        hints.NOTHING,
        hints.EARLY,
        Hint(
            "groups made by members alone",
            lambda look: _same_groups(look) is not None,
            "dist.new_group is called by all ranks of the world, for each group, in the same "
            "order: loop over all groups, and keep the ones that this rank is in.",
        ),
        Hint(
            "sum for mean",
            lambda look: _each(look, lambda r: look.wanted[r] * look.size),
            "This is the sum: the mean over all ranks is asked for.",
        ),
        Hint(
            "divided by one dimension",
            lambda look: any(
                1 < n < look.size and _each(look, lambda r, n=n: look.wanted[r] * look.size / n)
                for n in _mesh(look)
            ),
            "The sum over all ranks was divided by the ranks of one dimension: the mean is over "
            "all of them.",
        ),
        Hint(
            "divided twice",
            lambda look: any(
                n > 1 and _each(look, lambda r, n=n: look.wanted[r] / n)
                for n in (*_mesh(look), look.size)
            ),
            "The result is too small by the number of ranks of a dimension: divided once too "
            "often.",
        ),
        Hint(
            "own replica alone",
            _own_replica_alone,
            "Each replica has its own result: the pieces are still to be averaged between the "
            "replicas.",
        ),
        Hint(
            "other groups",
            lambda look: any(
                set(event.group) != _members(look, event.rank)[event.op]
                for event in look.events("reduce_scatter", "all_reduce")
            ),
            "A collective ran over other ranks than it should. Replica r holds the ranks r·shards "
            "… r·shards + shards − 1, which are neighbours; the all-reduce is over those with the "
            "same place in every replica. (Without group=… it runs over the whole world.)",
        ),
        Hint(
            "whole gradient all-reduced",
            lambda look: (
                _mesh(look)[1] > 1
                and any(
                    event.nbytes == look.inputs[0]["gradient"].nbytes
                    for event in look.events("all_reduce")
                )
            ),
            "The whole gradient went through an all-reduce. After the reduce-scatter a rank has "
            "1/shards of it, and only that has to travel between the replicas, where links are "
            "slow.",
        ),
        Hint(
            "another collective",
            lambda look: others(look, "reduce_scatter", "all_reduce"),
            "A reduce-scatter within the replica and an all-reduce between replicas do it: nothing "
            "else is to be sent.",
        ),
        Hint(
            "no reduce-scatter",
            lambda look: _mesh(look)[1] > 1 and not look.events("reduce_scatter"),
            "No reduce-scatter ran. Each rank's gradient has a part for every piece: within a "
            "replica these parts are added up first, each on the rank that it belongs to.",
        ),
        Hint(
            "dealt out",
            _dealt_out,
            "Elements were dealt out like cards. A rank's piece is consecutive: the first n/shards "
            "elements are that of place 0, the next ones that of place 1.",
        ),
        Hint(
            "another piece",
            _another_piece,
            "A rank has the piece of another one: its place within its replica says which piece is "
            "its own.",
        ),
        Hint(
            "whole gradient",
            lambda look: any(
                isinstance(got, np.ndarray) and got.size > want.size for want, got in look.pairs()
            ),
            "More than a piece came back: n/shards elements are this rank's.",
        ),
    ),
)
