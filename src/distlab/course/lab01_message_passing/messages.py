"""Lab 01: sending and receiving."""

from __future__ import annotations

import numpy as np

from distlab.course.lab01_message_passing.inputs import (
    LAB,
    stamp_on_rank_0,
    tensor_of_each_rank,
    with_input,
    with_stamp,
)
from distlab.exercises import hints, traffic
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.hints import brought, everywhere, own_tensor, returned, told_apart, total

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
    make=stamp_on_rank_0,
    call=with_stamp,
    stamped=True,
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
    make=stamp_on_rank_0,
    call=with_stamp,
    stamped=True,
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
    make=tensor_of_each_rank,
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
    make=tensor_of_each_rank,
    call=with_input,
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
