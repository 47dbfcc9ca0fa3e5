"""`ring_attention`: blocks of keys and values that go round, and no tensor larger than a block of
scores.
"""

from __future__ import annotations

import contextlib

from distlab.course.lab11_long_sequences_and_experts import attention
from distlab.course.lab11_long_sequences_and_experts.returning import (
    NEARLY,
    any_nan,
    shape_of,
    shortened,
)
from distlab.exercises import hints, traffic
from distlab.exercises.compare import counted
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.records.events import Event

_LARGEST = "size of the largest tensor that was made, in units of heads·n·n elements"


def _call(function, rank, size, inputs):
    heads, n, _ = inputs["q"].shape
    with _made(inputs["q"].element_size()) as largest:
        result = function(rank, size, *inputs.values())
    most = max(largest, default=0) / (heads * n * n)
    return {"returned": shortened(result), _LARGEST: max(most, 1.0)}


@contextlib.contextmanager
def _made(width: int):
    """Lists the number of elements of each new tensor, of DTensors that of the local part; so many
    bytes, which a message may arrive as, are one. A view of an existing tensor is no new one.
    """
    import torch
    from torch.utils import _pytree as pytree
    from torch.utils._python_dispatch import TorchDispatchMode

    from distlab.training.memory import hold_others, is_fake

    def tensors(tree):
        leaves = pytree.tree_leaves(tree)
        return [leaf for leaf in leaves if isinstance(leaf, torch.Tensor) and not is_fake(leaf)]

    class Sizes(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if hold_others(types):
                return NotImplemented
            result = func(*args, **(kwargs or {}))
            there = {t.untyped_storage().data_ptr() for t in tensors((args, kwargs))}
            found.extend(
                t.numel() / (width if t.dtype == torch.uint8 else 1)
                for t in tensors(result)
                if t.untyped_storage().data_ptr() not in there
            )
            return result

    found: list[float] = []
    with Sizes():
        yield found


def _blocks(look: Look, *events: Event) -> float:
    """How many blocks of K, or of V, messages hold."""
    keys = look.inputs[0]["k"]
    return sum(traffic.numbers(event, keys.dtype) for event in events) / keys.size


def _ring_of_blocks(look: Look) -> str | None:
    """To the next rank alone; at most size − 1 blocks of K and of V, in 2·(size − 1) messages."""
    size, most = look.size, 2 * (look.size - 1)
    for rank, record in enumerate(look.records):
        sent, right = record.sends(), (rank + 1) % size
        for event in sent:
            if event.peer != right:
                return f"rank {rank} sent to rank {event.peer}; in this ring it sends to {right}."
        carried = _blocks(look, *sent)
        if len(sent) > most or carried > most or any(_blocks(look, e) > 2 for e in sent):
            return (
                f"rank {rank} sent {counted(len(sent), 'message')} with {carried:.3g} blocks in "
                f"all; on {size} ranks it sends at most {size - 1} blocks of K and as many of V, "
                "those of a round in one or two messages."
            )
    return None


def _values_wrong(look: Look) -> bool:
    return look.size > 1 and not all(map(look.same, look.wanted, look.returned))


exercise = Exercise(
    points=5,
    make=attention.blocks(heads_first=True),
    call=_call,
    deadline=30.0,  # the largest case, element by element in Python
    tolerance=attention.TOLERANCE,
    asks="In ring_attention each rank returns the attention of its positions over those of all "
    "ranks, while blocks of K and V go round the ring, each rank sending to (rank + 1) mod size.",
    visible=(
        Case(3, 1, {"n": 4, "d": 2}),
        Case(4, 2, {"heads": 1, "n": 6, "d": 3, "causal": True}),
        Case(2, 3, {"n": 4, "d": 2, "causal": True}),
    ),
    traffic=(traffic.no_collectives, _ring_of_blocks),
    hints=(
        hints.NOTHING,
        Hint(
            "collective",
            lambda look: any(e.is_collective for e in look.events()),
            "A ring is made of messages between neighbours: no collective, and no barrier either. "
            "Whoever gathers all keys needs room for all of them.",
        ),
        Hint(
            "the other way round",
            lambda look: (
                look.size > 2
                and bool(look.events("send"))
                and all(e.peer == (e.rank - 1) % look.size for e in look.events("send"))
            ),
            "The ring turns the other way: rank r sends to r + 1 and receives from r − 1. (With "
            "two ranks both are the same, with three they are not.)",
        ),
        Hint(
            "straight to the others",
            lambda look: (
                look.size > 2
                and any(e.peer != (e.rank + 1) % look.size for e in look.events("send"))
            ),
            "Ranks sent to others than their right neighbour. In a ring a block reaches a rank "
            "further on by being handed on.",
        ),
        Hint(
            "a round too many",
            lambda look: (
                any(_blocks(look, *record.sends()) >= 2 * look.size for record in look.records)
                and all(_blocks(look, e) <= 2 for e in look.events("send"))
            ),
            "Each rank begins with one block and needs the other size − 1: that is one round of "
            "messages less than there are ranks. In a round K and V travel, and nothing else.",
        ),
        Hint(
            "too much sent",
            lambda look: _ring_of_blocks(look) is not None,
            "A rank sent more than size − 1 blocks of K and as many of V, or cut a round into more "
            "than two messages. The rank that a block is from follows from the round, and "
            "queries and results stay where they are.",
        ),
        Hint(
            "pair for tensor",
            lambda look: any(isinstance(got, (list, tuple)) for got in look.returned),
            "One tensor is asked for, o: the lse has done its work when the last block is merged.",
        ),
        hints.CHANGED,
        Hint(
            hints.EARLY.name,
            lambda look: (
                any_nan(look)
                and not look.case.get("steep")
                and (not look.case.get("causal") or any(not e.waited for e in look.events("recv")))
            ),
            hints.EARLY.says,
        ),
        Hint(
            "block that sees nothing",
            lambda look: (
                look.size > 1
                and look.case.get("causal")
                and not look.case.get("steep")
                and any_nan(look)
            ),
            "There are NaNs. Under a causal mask some blocks lie wholly in the future of a rank's "
            "queries: a row without keys has an lse of −inf, and its softmax is 0 / 0. (A receive "
            "buffer that is read before its wait() holds NaN too.)",
        ),
        Hint(
            "NaN",
            any_nan,
            "There are NaNs. Scores can be in the hundreds, and exp of that is infinite: subtract "
            "each row's maximum first. (A receive buffer that is read before its wait() holds NaN "
            "too.)",
        ),
        hints.DTYPE,
        shape_of("The result has the shape of q, (heads, n, d): this rank's positions, all heads."),
        *attention.hints_on_values(heads_first=True),
        Hint(
            "tensor too large",
            lambda look: max(look.left(_LARGEST)) > 1,
            "A tensor with more than heads·n·n elements was made: the scores of this rank's "
            "queries against one block of keys. Take in each block as it comes, and keep only o "
            "and lse. (A mask over all positions is such a tensor too.)",
        ),
        attention.LARGE_SCORES,
        NEARLY,
        Hint(
            "another block than thought",
            lambda look: bool(look.case.get("causal")) and _values_wrong(look),
            "The result is right without a mask and wrong with it, or nearly so: which rank's "
            "keys does a rank hold in round t? They have come t places along the ring. (And within "
            "its own block hidden scores become −inf before the softmax: a score of 0 counts as "
            "exp(0) = 1, and weights cut off later no longer add up to 1.)",
        ),
        Hint(
            "blocks mixed up",
            _values_wrong,
            "Does each rank attend to every block once, do keys meet the values that came with "
            "them, and is each block merged by the lse of its own scores? Receive into new "
            "tensors, wait, and only then let them take the place of the old. (If it is wrong with "
            "one rank too, it is not the ring.)",
        ),
    ),
)
