"""Lab 01: what its exercises ask."""

from __future__ import annotations

import numpy as np

from distlab import traffic
from distlab.course import hints
from distlab.course.hints import (
    brought,
    everywhere,
    own_tensor,
    returned,
    told_apart,
    total,
    wanted,
)
from distlab.exercises import Case, Exercise, Hint, Look

LAB = "01-message-passing"


# inputs


def _nothing(case: Case) -> list[dict]:
    return [{} for _ in range(case.size)]


def _drawn(case: Case, rank: int, shape: list[int]) -> np.ndarray:
    """A rank's own tensor; `shift` moves all its elements, below zero, say."""
    drawn = case.draw(rank, shape, case.get("dtype", "float32"))
    return np.asarray(drawn + case.get("shift", 0), drawn.dtype)


def _tensor_of_each_rank(case: Case) -> list[dict]:
    shape = case.get("shape", [4])
    return [{"tensor": _drawn(case, rank, shape)} for rank in range(case.size)]


def _tensor_and(*names: str):
    """A tensor of each rank's own, and these parameters of the case for all."""

    def make(case: Case) -> list[dict]:
        told = {name: case.params[name] for name in names}
        return [{**own, **told} for own in _tensor_of_each_rank(case)]

    return make


def _row_of_each_rank(case: Case) -> list[dict]:
    return [{"row": _drawn(case, rank, [case.get("width", 3)])} for rank in range(case.size)]


def _row_and_dst(case: Case) -> list[dict]:
    return [{**own, "dst": case.params["dst"]} for own in _row_of_each_rank(case)]


def _matrix_on_src(case: Case) -> list[dict]:
    src, width = case.params["src"], case.get("width", 3)
    matrix = case.draw(src, (case.size, width))
    return [
        {"matrix": matrix if rank == src else None, "src": src, "width": width}
        for rank in range(case.size)
    ]


def _with_input(function, rank, size, inputs):
    """Also hand back the input as it is afterwards, for exercises that must leave it unchanged."""
    result = function(rank, size, *inputs.values())
    return {"returned": result, "input": inputs["tensor"]}


def _group_call(function, rank, size, inputs):
    """`members` as a list of its own, which a function may sort or empty as it likes."""
    return function(rank, size, inputs["tensor"], list(inputs["members"]))


# sending and receiving


def _carries_one(look: Look) -> str | None:
    """The message holds 1.0. (On a GPU its content is not recorded, and the values have to do.)"""
    for event in look.events("send"):
        if event.value == event.value and event.value != 1.0:
            return (
                f"rank {event.rank} sent {event.value:g} at {event.place}, and the message should "
                "carry 1."
            )
    return None


def _only_0_to_1(case: Case) -> list[tuple[int, int]]:
    return [(0, 1)]


_SEND_AND_RECEIVE = (
    Hint(
        "result of the call",
        lambda look: (
            any(event.op == "recv" and event.blocking for event in look.events())
            and returned(look)[1] == 0
            and type(returned(look)[1]) is int
        ),
        "recv returns the number of the rank that the message came from, and send returns None. "
        "The message itself is in the tensor that you passed.",
    ),
    Hint(
        "sent before adding",
        lambda look: [event.value for event in look.events("send")] == [0.0],
        "A message holds what the tensor holds when the send is called: rank 0 has to add 1 before "
        "it.",
    ),
    Hint(
        "both added",
        lambda look: look.same(np.array([2.0], "float32"), returned(look)[1]),
        "Rank 1 has one more than it was sent: only rank 0 adds 1, rank 1 takes what arrives.",
    ),
    Hint(
        "both ranks do the same",
        lambda look: any(event.op == "send" and event.rank == 1 for event in look.events()),
        "All ranks run the same function. What differs comes from `rank`: let rank 0 alone send "
        "and rank 1 alone receive.",
    ),
    Hint(
        "received elsewhere",
        lambda look: (
            any(event.value == 1.0 for event in look.events("recv"))
            and look.same(np.zeros(1, "float32"), returned(look)[1])
        ),
        "The 1 did arrive on rank 1, but in another tensor than the one returned. A receive writes "
        "into the tensor that it is given.",
    ),
)

run_blocking = Exercise(
    "run_blocking", LAB, 2,
    make=_nothing,
    asks="In run_blocking, rank 0 adds 1 to its zero and sends it with dist.send, rank 1 receives "
    "it with dist.recv, and both return the tensor.",
    visible=(Case(2, 1), Case(2, 2)),
    rules=(
        traffic.no_collective_but_barrier,
        traffic.messages(_only_0_to_1),
        traffic.blocking,
        traffic.nothing_left_open,
        _carries_one,
    ),
    hints=(
        *_SEND_AND_RECEIVE,
        hints.EARLY,
        Hint(
            "non-blocking calls",
            lambda look: any(not event.blocking for event in look.events("send", "recv")),
            "Use dist.send and dist.recv here, which wait by themselves. isend and irecv are the "
            "subject of the next exercise.",
        ),
        *hints.MESSAGES,
    ),
)  # fmt: skip

run_non_blocking = Exercise(
    "run_non_blocking", LAB, 2,
    make=_nothing,
    asks="In run_non_blocking, rank 0 adds 1 to its zero and sends it with dist.isend, rank 1 "
    "receives it with dist.irecv, each waits for its request, and both return the tensor.",
    visible=(Case(2, 1), Case(2, 2)),
    rules=(
        traffic.no_collective_but_barrier,
        traffic.messages(_only_0_to_1),
        traffic.non_blocking,
        traffic.all_waited,
        traffic.sends_unchanged,
        _carries_one,
    ),
    hints=(
        hints.EARLY,
        *_SEND_AND_RECEIVE,
        Hint(
            "blocking calls",
            lambda look: any(event.blocking for event in look.events("send", "recv")),
            "dist.send and dist.recv wait before they return. The calls that only begin a message "
            "have an i in front.",
        ),
        *hints.MESSAGES,
    ),
)  # fmt: skip


def _running_sums(look: Look) -> list[np.ndarray]:
    own = brought(look)
    return [np.sum(own[: rank + 1], axis=0, dtype=own[0].dtype) for rank in look.ranks]


relay = Exercise(
    "relay", LAB, 3,
    make=_tensor_of_each_rank,
    asks="In relay, rank r returns the sum of the tensors of ranks 0 to r, and the only messages "
    "are one from each rank to the next.",
    visible=(Case(4, 1), Case(1, 2), Case(4, 3)),
    rules=(
        traffic.no_collective_but_barrier,
        traffic.messages(lambda case: [(r, r + 1) for r in range(case.size - 1)]),
        traffic.all_waited,
        traffic.sends_unchanged,
    ),
    hints=(
        hints.EARLY,
        own_tensor("Each rank returned its own tensor: it has to add what arrives to it."),
        Hint(
            "sum of two",
            lambda look: look.size > 2 and everywhere(
                look,
                [
                    own + (brought(look)[rank - 1] if rank else 0 * own)
                    for rank, own in enumerate(brought(look))
                ],
            ),
            "Each rank has its own tensor and its neighbour's alone. What rank 1 hands on to rank "
            "2 must already hold what came from rank 0: receive and add before you send.",
        ),
        Hint(
            "own not added",
            lambda look: told_apart(look) and everywhere(
                look, [(brought(look)[:1] + _running_sums(look))[rank] for rank in look.ranks]
            ),
            "Each rank returned what it received, without its own tensor.",
        ),
        Hint(
            "first tensor handed on",
            lambda look: told_apart(look) and everywhere(look, [brought(look)[0]] * look.size),
            "Every rank has rank 0's tensor: on its way along the chain nobody added anything.",
        ),
        Hint(
            "total everywhere",
            lambda look: everywhere(look, [total(look)] * look.size),
            "Every rank has the sum of all ranks: rank r should have only that of ranks 0 to r.",
        ),
        Hint(
            "chain too short",
            lambda look: look.size > 2 and 0 < len(look.events("send")) < look.size - 1,
            "The chain ended before the last rank: every rank but the last one sends. Is the "
            "number of a rank written into your code where `rank` or `size` should stand?",
        ),
        Hint(
            "chain closed",
            lambda look: any(event.peer < event.rank for event in look.events("send"))
            and any(event.peer > event.rank for event in look.events("send")),
            "The chain has two ends: the last rank sends to nobody, and rank 0 receives nothing.",
        ),
        Hint(
            "from the other end",
            lambda look: {event.peer - event.rank for event in look.events("send")} == {-1},
            "Messages went down the chain: rank r sends to r + 1 and receives from r − 1.",
        ),
        *hints.MESSAGES,
    ),
)  # fmt: skip


def _neighbours(look: Look, step: int) -> list[np.ndarray]:
    own = brought(look)
    return [own[(rank + step) % look.size] for rank in look.ranks]


exchange = Exercise(
    "exchange", LAB, 3,
    make=_tensor_of_each_rank,
    call=_with_input,
    asks="In exchange, ranks 0 and 1, 2 and 3, … swap their tensors, each returns its partner's, "
    "and the input stays as it was.",
    visible=(Case(2, 1), Case(4, 2, {"shape": [2, 3]})),
    rules=(
        traffic.no_collectives,
        traffic.messages(lambda case: [(r, r ^ 1) for r in range(case.size)]),
        traffic.all_waited,
        traffic.sends_unchanged,
    ),
    hints=(
        Hint(
            "input overwritten",
            lambda look: any(
                not look.same(look.inputs[r]["tensor"], look.got[r]["input"]) for r in look.ranks
            ),
            "Receive into a tensor of its own (torch.empty_like), not into the one that you send.",
        ),
        hints.EARLY,
        own_tensor("Each rank returned its own tensor, not its partner's."),
        Hint(
            "neighbour for partner",
            lambda look: look.size > 2 and (
                everywhere(look, _neighbours(look, 1)) or everywhere(look, _neighbours(look, -1))
            ),
            "Tensors went round in a ring. Partners name each other: work out by hand whom your "
            "formula gives to rank 1, and whom to rank 2.",
        ),
        Hint(
            "mirror for partner",
            lambda look: look.size > 2 and everywhere(look, brought(look)[::-1]),
            "Rank 0 swapped with the last rank, 1 with the last but one, and so on. Partners are 0 "
            "and 1, 2 and 3: try your formula for rank 2.",
        ),
        Hint(
            "half a swap",
            lambda look: told_apart(look) and look.events("send") != [] and all(
                event.rank % 2 == look.events("send")[0].rank % 2 for event in look.events("send")
            ),
            "Only one rank of each pair sent anything: a swap is one message each way.",
        ),
        *hints.MESSAGES,
    ),
)  # fmt: skip


# collectives

broadcast_from = Exercise(
    "broadcast_from", LAB, 1,
    make=_tensor_and("src"),
    asks="In broadcast_from, every rank returns the tensor of rank src.",
    visible=(Case(2, 1, {"src": 0}), Case(4, 2, {"src": 2})),
    rules=(traffic.nothing_left_open,),
    hints=(
        Hint(
            "always from rank 0",
            lambda look: (
                look.case.get("src") != 0
                and told_apart(look)
                and everywhere(look, [brought(look)[0]] * look.size)
            ),
            "Every rank has rank 0's tensor: the argument `src` says whose it should be.",
        ),
        own_tensor("Each rank still has its own tensor. A broadcast is called by every rank, and "
                    "writes into the tensor that it is given."),
        Hint(
            "all returned",
            lambda look: any(isinstance(got, list) for got in returned(look)),
            "One tensor is asked for, that of rank src, not the list of everybody's.",
        ),
        *hints.MESSAGES,
    ),
)  # fmt: skip

scatter_rows = Exercise(
    "scatter_rows", LAB, 2,
    make=_matrix_on_src,
    asks="In scatter_rows, rank r returns row r of the matrix that rank src has, a tensor of shape "
    "(width,).",
    visible=(Case(2, 1, {"src": 0}), Case(4, 2, {"src": 3, "width": 2})),
    rules=(traffic.nothing_left_open,),
    hints=(
        Hint(
            "two dimensions",
            lambda look: any(
                isinstance(got, np.ndarray) and got.shape == (1, look.case.get("width", 3))
                for got in returned(look)
            ),
            "A row has one dimension: matrix[i] has shape (width,), while matrix[i:i + 1], split "
            "and chunk keep two.",
        ),
        Hint(
            "whole matrix",
            lambda look: any(
                isinstance(got, np.ndarray) and got.ndim == 2 and got.shape[0] == look.size
                for got in returned(look)
            ),
            "The whole matrix arrived where one row is asked for.",
        ),
        Hint(
            "nothing arrived",
            lambda look: any(
                isinstance(got, np.ndarray) and got.size and not got.any()
                for got in returned(look)
            ),
            "A rank returned the zeros that its buffer began with: nothing was received into it.",
        ),
        Hint(
            "same row everywhere",
            lambda look: look.size > 1 and look.case.get("width", 3) > 0 and any(
                everywhere(look, [row] * look.size) for row in wanted(look)
            ),
            "Every rank has the same row: rank r takes row r, so the sender has to name another "
            "row for each rank.",
        ),
        Hint(
            "another rank's row",
            lambda look: sorted(map(_key, returned(look))) == sorted(map(_key, wanted(look))),
            "Every row arrived somewhere, but not on its own rank: row r belongs to rank r, also "
            "on src itself, and whatever src is.",
        ),
        *hints.MESSAGES,
    ),
)  # fmt: skip


def _key(value: np.ndarray) -> list[float]:
    return value.tolist()


def _matrices(look: Look) -> list[np.ndarray]:
    return [got for got in returned(look) if isinstance(got, np.ndarray) and got.ndim == 2]


_ROWS = (
    Hint(
        "nothing arrived",
        lambda look: any(got.size and not got.any() for got in _matrices(look)),
        "The matrix holds the zeros that its buffers began with: nothing had arrived in them yet. "
        "With async_op=True, wait for the request first.",
    ),
    Hint(
        "list of rows",
        lambda look: any(isinstance(got, (list, tuple)) for got in returned(look)),
        "A list of rows is no matrix yet: torch.stack makes one of shape (size, width) of them.",
    ),
    Hint(
        "rows end to end",
        lambda look: any(
            isinstance(got, np.ndarray) and got.shape == (look.size * look.case.get("width", 3),)
            for got in returned(look)
        )
        and look.size > 1,
        "The rows stand end to end in one dimension: torch.cat joins along a dimension that is "
        "there, torch.stack makes a new one. (reshape helps too.)",
    ),
    Hint(
        "columns for rows",
        lambda look: any(
            any(look.same(want.T, got) for want in wanted(look) if want is not None)
            for got in _matrices(look)
        ),
        "The ranks' rows became columns: rank r's row is row r of the result, dimension 0.",
    ),
    Hint(
        "one buffer size times",
        lambda look: look.size > 1 and any(
            want is not None and look.same(np.stack([want[-1]] * look.size), got)
            for want, got in zip(wanted(look), returned(look), strict=True)
        ),
        "All rows are the same one: `[tensor] * size` holds one tensor `size` times, and each "
        "row that arrives overwrites the one before. Make a new tensor for each row.",
    ),
    Hint(
        "own row missing",
        lambda look: any(
            want is not None
            and isinstance(got, np.ndarray)
            and got.ndim == 2
            and got.shape == (look.size - 1, look.case.get("width", 3))
            for want, got in zip(wanted(look), returned(look), strict=True)
        ),
        "One row is missing: a rank's own row belongs into the matrix as well.",
    ),
    Hint(
        "rows in another order",
        lambda look: any(
            want is not None
            and isinstance(got, np.ndarray)
            and sorted(got.tolist()) == sorted(want.tolist())
            and not look.same(want, got)
            for want, got in zip(wanted(look), returned(look), strict=True)
        ),
        "All rows are there, in another order: the row of rank r is row r, whoever came first.",
    ),
)  # fmt: skip


def _returned_everywhere(look: Look) -> bool:
    """Did a rank return something where None is asked for?"""
    return any(
        want is None and got is not None
        for want, got in zip(wanted(look), returned(look), strict=True)
    )


def _another_has_it(look: Look) -> bool:
    """Does another rank hold what dst should, and dst not?"""
    dst = look.case.params["dst"]
    want, got = wanted(look), returned(look)
    return got[dst] is None and any(
        look.same(want[dst], got[rank]) for rank in look.ranks if rank != dst
    )


def _dst_hints(elsewhere: str) -> tuple[Hint, ...]:
    return (
        Hint(
            "on another rank than dst",
            _another_has_it,
            "The result is on another rank than dst: `dst` is an argument, and not always 0.",
        ),
        Hint(
            "not None elsewhere",
            lambda look: _returned_everywhere(look) and look.same(
                wanted(look)[look.case.params["dst"]], returned(look)[look.case.params["dst"]]
            ),
            elsewhere,
        ),
    )  # fmt: skip


gather_rows = Exercise(
    "gather_rows", LAB, 2,
    make=_row_and_dst,
    asks="In gather_rows, rank dst returns all rows as a tensor of shape (size, width), row r from "
    "rank r; the others return None.",
    visible=(Case(2, 1, {"dst": 0}), Case(4, 2, {"dst": 1, "width": 2})),
    rules=(traffic.nothing_left_open,),
    hints=(
        *_dst_hints("Only dst collects the rows: on every other rank the answer is None."),
        *_ROWS,
        Hint(
            "not None elsewhere",
            _returned_everywhere,
            "Only dst collects the rows: on every other rank the answer is None.",
        ),
        *hints.MESSAGES,
    ),
)  # fmt: skip

all_gather_rows = Exercise(
    "all_gather_rows", LAB, 2,
    make=_row_of_each_rank,
    asks="In all_gather_rows, every rank returns all rows as a tensor of shape (size, width), row "
    "r from rank r.",
    visible=(Case(2, 1), Case(4, 2, {"width": 2})),
    rules=(traffic.nothing_left_open,),
    hints=(
        Hint(
            "on one rank only",
            lambda look: 0 < sum(got is None for got in returned(look)) < look.size,
            "Some ranks returned None: here every rank is to have all rows.",
        ),
        Hint(
            "own row only",
            lambda look: all(
                isinstance(got, np.ndarray)
                and (look.same(own, got) or look.same(np.stack([own] * look.size), got))
                for own, got in zip(brought(look), returned(look), strict=True)
            ) and look.size > 1,
            "Each rank has its own row alone: the others' have to arrive.",
        ),
        *_ROWS,
        *hints.MESSAGES,
    ),
)  # fmt: skip


def _on_dst(look: Look, value: np.ndarray) -> bool:
    dst = look.case.params["dst"]
    return look.same(value, returned(look)[dst]) and not look.same(wanted(look)[dst], value)


reduce_max_to = Exercise(
    "reduce_max_to", LAB, 2,
    make=_tensor_and("dst"),
    asks="In reduce_max_to, rank dst returns the elementwise maximum of all ranks' tensors; the "
    "others return None.",
    visible=(Case(2, 1, {"dst": 0}), Case(4, 2, {"dst": 3, "shape": [2, 2], "shift": -5})),
    rules=(traffic.nothing_left_open,),
    hints=(
        *_dst_hints("On a rank other than dst, return None: after a reduce its tensor holds "
                    "nothing that you could use."),
        Hint(
            "sum for maximum",
            lambda look: _on_dst(look, total(look)),
            "This is the sum. A reduction adds unless it is told another operation: its argument "
            "is `op`.",
        ),
        Hint(
            "minimum for maximum",
            lambda look: _on_dst(look, np.min(brought(look), axis=0)),
            "This is the minimum: look at the name of the operation.",
        ),
        Hint(
            "maximum with zero",
            lambda look: _on_dst(
                look, np.maximum(np.max(brought(look), axis=0), 0 * brought(look)[0])
            ),
            "Where all ranks are negative there is a 0: a tensor of zeros took part in the "
            "maximum. Begin with a tensor of a rank.",
        ),
        Hint(
            "one number",
            lambda look: any(
                isinstance(got, (int, float)) or isinstance(got, np.ndarray) and got.ndim == 0
                for got in returned(look)
            ),
            "Elementwise: the result has the shape of one rank's tensor, not one number.",
        ),
        Hint(
            "own tensor on dst",
            lambda look: _on_dst(look, brought(look)[look.case.params["dst"]]),
            "dst returned its own tensor: the reduction writes into the tensor that it is given. "
            "Return that one.",
        ),
        Hint(
            "not None elsewhere",
            _returned_everywhere,
            "On a rank other than dst, return None: after a reduce its tensor holds nothing that "
            "you could use.",
        ),
        *hints.MESSAGES,
    ),
)  # fmt: skip


# groups


def _whole_group_used(look: Look) -> str | None:
    """A group of all ranks is made by `new_group` on every rank, and something runs in it."""
    everybody = set(look.ranks)
    for record in look.records:
        calls = [e for e in record.events if e.op == "new_group"]
        if not calls:
            return (
                f"rank {record.rank} never called dist.new_group: every rank has to, and the sum "
                "is taken in the group that it returns."
            )
        whole = {e.group_index for e in calls if set(e.group) == everybody}
        if not whole:
            return (
                f"rank {record.rank} made a group of the ranks {sorted(calls[0].group)} at "
                f"{calls[0].place}, and the group should hold all ranks of the world."
            )
        used = any(e.group_index in whole for e in record.events if e.op != "new_group")
        if not used and look.size > 1:
            return (
                f"rank {record.rank} made its group at {calls[0].place} and then did nothing in "
                "it: a collective runs in the default group unless it is given another one."
            )
    return None


run_all_reduce = Exercise(
    "run_all_reduce", LAB, 2,
    make=_tensor_of_each_rank,
    asks="In run_all_reduce, every rank makes a group of all ranks with dist.new_group and returns "
    "the sum of all tensors over that group.",
    visible=(Case(2, 1), Case(4, 2, {"shape": [2, 2]})),
    rules=(_whole_group_used, traffic.nothing_left_open),
    hints=(
        Hint(
            "mean for sum",
            lambda look: told_apart(look)
            and everywhere(look, [(total(look) / look.size).astype(total(look).dtype)] * look.size),
            "This is the mean: the sum is asked for, so nothing is divided.",
        ),
        Hint(
            "another operation",
            lambda look: any(
                everywhere(look, [operation(brought(look), axis=0)] * look.size)
                for operation in (np.max, np.min, np.prod)
            ),
            "The tensors were combined by another operation than the sum: look at `op`.",
        ),
        Hint(
            "on one rank only",
            lambda look: look.size > 1 and 0 < sum(
                look.same(want, got)
                for want, got in zip(wanted(look), returned(look), strict=True)
            ) < look.size,
            "Some ranks have the sum and others do not: every rank is to have it.",
        ),
        Hint(
            "summed again",
            lambda look: (
                told_apart(look) and everywhere(look, [total(look) * look.size] * look.size)
            ),
            "This is the sum `size` times over: it was summed twice.",
        ),
        own_tensor("Each rank still has its own tensor. An all-reduce writes into the tensor that "
                    "it is given: return that one, after it has ended."),
        *hints.MESSAGES,
    ),
)  # fmt: skip


def _one_new_group_each(look: Look) -> str | None:
    """Every rank calls `new_group` exactly once, and all name the same members."""
    calls = [[e for e in record.events if e.op == "new_group"] for record in look.records]
    for rank, made in enumerate(calls):
        if not made:
            return (
                f"rank {rank} never called new_group: every rank of the world has to call it once, "
                "also a rank that will not be a member."
            )
        if len(made) > 1:
            return f"rank {rank} called new_group {len(made)} times: every rank calls it once."
    first = calls[0][0]
    for rank, (made,) in enumerate(calls):
        if set(made.group) != set(first.group):
            return (
                f"rank {rank} made a group of the ranks {sorted(made.group)} where rank 0 made one "
                f"of {sorted(first.group)}: all ranks have to name the same members."
            )
    return None


def _members(look: Look) -> list[int]:
    return list(look.case.params["members"])


def _on_members(look: Look, value: np.ndarray) -> bool:
    """Did the members return this, and is it not the mean over them?"""
    members, got, want = _members(look), returned(look), wanted(look)
    return all(look.same(value, got[m]) for m in members) and not look.same(value, want[members[0]])


def _members_total(look: Look) -> np.ndarray:
    return np.sum([brought(look)[m] for m in _members(look)], axis=0)


group_mean = Exercise(
    "group_mean", LAB, 3,
    make=_tensor_and("members"),
    call=_group_call,
    asks="In group_mean, every rank calls dist.new_group once; the members return the mean over "
    "the members, every other rank its own tensor as it was.",
    visible=(
        Case(2, 1, {"members": [0, 1]}),
        Case(4, 2, {"members": [2]}),
        Case(4, 3, {"members": [3, 1]}),
    ),
    rules=(_one_new_group_each, traffic.nothing_left_open),
    hints=(
        Hint(
            "sum for mean",
            lambda look: _on_members(look, _members_total(look)),
            "The members have the sum: what is it to be divided by?",
        ),
        Hint(
            "divided by the world",
            lambda look: _on_members(look, _members_total(look) / look.size),
            "The sum over the members was divided by `size`, which is the number of ranks in the "
            "world: how many took part?",
        ),
        Hint(
            "mean over the world",
            lambda look: _on_members(look, np.mean(brought(look), axis=0)),
            "This is the mean over all ranks: the collective ran in the default group. Pass it the "
            "group that new_group returned.",
        ),
        Hint(
            "sum over the world",
            lambda look: _on_members(look, np.sum(brought(look), axis=0) / len(_members(look))),
            "All ranks went into the sum: the collective ran in the default group. Pass it the "
            "group that new_group returned.",
        ),
        Hint(
            "others changed",
            lambda look: any(
                isinstance(returned(look)[rank], np.ndarray)
                and not look.same(brought(look)[rank], returned(look)[rank])
                for rank in look.ranks
                if rank not in _members(look)
            ),
            "A rank outside the group returned something else than its own tensor: what you do "
            "with the result is only for members.",
        ),
        Hint(
            "nothing from the others",
            lambda look: any(
                returned(look)[rank] is None for rank in look.ranks if rank not in _members(look)
            ),
            "A rank outside the group returned None: it is to return its own tensor.",
        ),
        Hint(
            "members alone",
            lambda look: any(
                not any(event.op == "new_group" for event in record.events)
                for record in look.records
            ),
            "Does new_group stand inside an `if`, or below an early return? All ranks of the world "
            "agree on a group; only what is done in it is for members.",
        ),
        Hint(
            "members left alone",
            lambda look: any(look.same(brought(look)[m], returned(look)[m]) for m in _members(look))
            and len(_members(look)) > 1,
            "A member still has its own tensor. `members` holds ranks of the world, in any order: "
            "is this rank among them?",
        ),
        *hints.MESSAGES,
    ),
)  # fmt: skip

EXERCISES = [
    run_blocking, run_non_blocking, relay, exchange, broadcast_from, scatter_rows, gather_rows,
    all_gather_rows, reduce_max_to, run_all_reduce, group_mean,
]  # fmt: skip
