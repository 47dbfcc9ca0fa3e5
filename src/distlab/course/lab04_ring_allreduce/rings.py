"""Rules on what each rank sends in a ring, and hints for the well-known mistakes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from distlab.exercises import hints, traffic
from distlab.exercises.compare import counted
from distlab.exercises.exercise import Hint, Look
from distlab.records.events import Event
from distlab.records.phrases import ranks_text


def sends(look: Look, rank: int) -> list[Event]:
    return look.records[rank].sends()


# rules


def one_chunk_each(look: Look) -> str | None:
    """Half a ring: size − 1 messages of one chunk, each to the next rank."""
    size = look.size
    for rank in look.ranks:
        chunk = look.inputs[rank]["chunks"][0]
        sent = sends(look, rank)
        right = all(e.peer == (rank + 1) % size and e.nbytes == chunk.nbytes for e in sent)
        if right and len(sent) == size - 1:
            continue
        told = _sent(rank, sent)
        if sent and chunk.nbytes:
            told += f", {sum(e.nbytes for e in sent) / chunk.nbytes:.3g} chunks in all"
            largest = max(e.nbytes for e in sent) / chunk.nbytes
            told += f", the largest of {largest:.3g} chunks" if largest > 1 else ""
        asked = f"{_ring_sends(rank, size, size - 1)}, of one chunk each."
        return f"{told}; {asked}{traffic.twice(sent)}"
    return None


def ring_of_chunks(look: Look) -> str | None:
    """A whole ring: 2(size − 1) messages to the next rank, of ⌈n/size⌉ elements at most.

    Where size divides n that comes to 2(size − 1)/size of the tensor's bytes exactly. Empty
    messages may be left out.
    """
    size = look.size
    for rank in look.ranks:
        tensor, sent = look.inputs[rank]["tensor"], sends(look, rank)
        most, chunk = 2 * (size - 1), -(-tensor.size // size)
        right = (
            len(sent) <= most
            and all(e.peer == (rank + 1) % size for e in sent)
            and all(traffic.numbers(e, tensor.dtype) <= chunk for e in sent)
            and (tensor.size % size or sum(e.nbytes for e in sent) * size == most * tensor.nbytes)
        )
        if not right:
            return _not_this_ring(rank, size, tensor, sent)
    return None


def _not_this_ring(rank: int, size: int, tensor: np.ndarray, sent: list[Event]) -> str:
    told = _sent(rank, sent)
    if sent and tensor.size:
        share = sum(e.nbytes for e in sent) / tensor.nbytes
        told += f", in all {share:.3g} times the bytes of its tensor"
        largest = max(traffic.numbers(e, tensor.dtype) for e in sent) / tensor.size
        told += f", the largest {largest:.0%} of it" if largest * size > 1 else ""
    told += f"; {_ring_sends(rank, size, 2 * (size - 1))}"
    if size == 1:
        return f"{told}."
    if tensor.size % size:
        return f"{told}, each of ⌈n/size⌉ elements at most."
    return (
        f"{told}, each of one chunk, 1/{size} of the tensor: 2(size − 1)/size = "
        f"{2 * (size - 1) / size:.3g} times its bytes."
    )


def _sent(rank: int, sent: list[Event]) -> str:
    if not sent:
        return f"rank {rank} sent nothing"
    whom = ranks_text(sorted({event.peer for event in sent}))
    return f"rank {rank} sent {counted(len(sent), 'message')} to {whom}"


def _ring_sends(rank: int, size: int, messages: int) -> str:
    if size == 1:
        return "one rank alone sends nothing"
    whom = "all " if messages > 1 else ""
    return (
        f"in a ring of {size} it sends {counted(messages, 'message')}, "
        f"{whom}to rank {(rank + 1) % size}"
    )


# what hints ask


def shares(parts: Sequence[np.ndarray], value) -> tuple[int, ...] | None:
    """How often each part is in a sum: (1, 1, 0) for the first two; None if it is no such sum."""
    if not isinstance(value, np.ndarray) or not value.size or value.shape != parts[0].shape:
        return None
    stacked = np.stack(parts).astype("float64")
    for times in itertools.product(range(3), repeat=len(parts)):
        if np.allclose(np.tensordot(times, stacked, 1), value, rtol=1e-4, atol=1e-5):
            return times
    return None


def first_chunk(look: Look, rank: int) -> int | None:
    """The chunk that a rank sent first, by the first element of its message."""
    sent = sends(look, rank)
    for number, chunk in enumerate(look.inputs[rank]["chunks"]):
        if sent and chunk.size and sent[0].value == float(chunk.flat[0]):
            return number
    return None


def handed_on(look: Look, rank: int) -> list[tuple[float, float]]:
    """(what arrived in a step, what was sent in the next) by their first elements; none where the
    rank did not send and receive as often as in half a ring.
    """
    sent, received = sends(look, rank), look.records[rank].receives()
    if not len(sent) == len(received) == look.size - 1:
        return []
    return [(came.value, went.value) for came, went in zip(received, sent[1:], strict=False)]


def first_elements(look: Look, rank: int) -> list[float]:
    """The first element of each of a rank's chunks on entry; none of whole numbers, of which there
    are too few to tell chunks apart.
    """
    chunks = look.inputs[rank]["chunks"]
    return [float(chunk.flat[0]) for chunk in chunks if chunk.size and chunk.dtype.kind == "f"]


def _chunk(look: Look) -> tuple[int, np.dtype]:
    """(elements of the largest chunk, their dtype)."""
    inputs = look.inputs[0]
    if "chunks" in inputs:
        return inputs["chunks"][0].size, inputs["chunks"][0].dtype
    return -(-inputs["tensor"].size // look.size), inputs["tensor"].dtype


def _holds_more(look: Look) -> bool:
    """Does a message hold more than a chunk?"""
    most, dtype = _chunk(look)
    return any(traffic.numbers(sent, dtype) > most for sent in look.events("send"))


def _peers(look: Look) -> set[tuple[int, int]]:
    return {(e.rank, e.peer) for e in look.events("send")}


def _steps(look: Look) -> set[int]:
    """The distances at which messages were sent, where a world tells right from left."""
    return {(dst - src) % look.size for src, dst in _peers(look)} if look.size > 2 else set()


def _star(look: Look) -> bool:
    """Everything went to or from one rank."""
    peers = _peers(look)
    return look.size > 2 and any(
        len(peers) >= look.size - 1 and all(rank in pair for pair in peers) for rank in look.ranks
    )


def _tree(look: Look) -> bool:
    """Each two ranks that talked did so along the edges of a tree."""
    edges = {frozenset(pair) for pair in _peers(look)}
    return look.size > 3 and len(edges) == look.size - 1 and not _star(look)


TRAFFIC = (
    Hint(
        "collective",
        lambda look: any(e.is_collective and e.op != "barrier" for e in look.events()),
        "Collectives are what this lab takes apart: use send, recv, isend and irecv alone.",
    ),
    Hint(
        "the other way round",
        lambda look: _steps(look) == {look.size - 1},
        "The ring turns the other way: rank r sends to r + 1 and receives from r − 1.",
    ),
    Hint(
        "all through one rank",
        _star,
        "Everything went through one rank. Its link then carries size − 1 tensors each way while "
        "the others' idle. In a ring nobody is special: every rank sends to its right neighbour "
        "alone.",
    ),
    Hint(
        "a tree",
        _tree,
        "The messages run along a tree. Its inner ranks carry whole tensors for their children "
        "while the leaves wait. In a ring all ranks send at the same time, each to its right "
        "neighbour, one chunk at a time.",
    ),
    Hint(
        "straight to the others",
        lambda look: len(_steps(look)) > 1,
        "Ranks sent to others than their right neighbour. In a ring a chunk reaches a rank further "
        "on by being handed on, and on its way everybody adds to it.",
    ),
)

WHOLE = Hint(
    "more than a chunk",
    _holds_more,
    "A message holds more than one chunk. Cut the tensor into `size` chunks and send one in each "
    "step: that is where the ring saves its bytes.",
)
OTHER_DTYPE = Hint(
    "messages of another dtype",
    lambda look: any(e.dtype != str(_chunk(look)[1]) for e in look.events("send", "recv")),
    "Messages travel in another dtype than the tensor's. torch.empty_like(tensor) makes a buffer "
    "of the right one; torch.zeros(n) and torch.empty(n) are float32 whatever arrives.",
)
LIST_CHANGED = Hint(
    "list changed",
    lambda look: look.differs("list of chunks"),
    "`chunks[i] = …` and `chunks[i] = chunks[i] + …` put another tensor into the list and leave "
    "the chunk itself as it was. Write into the chunk: with +=, add_, copy_, or chunks[i][:] = ….",
)
SAME_AGAIN = Hint(
    "same chunk in every step",
    lambda look: (
        look.size > 2
        and any(
            len(sent) > 1 and len({e.value for e in sent}) == 1
            for sent in (sends(look, rank) for rank in look.ranks)
        )
    ),
    "A rank sent the same chunk in every step. What it sends next is what it has just received: "
    "the number of the chunk depends on the step.",
)
STEPS = Hint(
    "number of steps",
    lambda look: any(
        0 < len(sends(look, rank)) != look.size - 1
        and {e.peer for e in sends(look, rank)} == {(rank + 1) % look.size}
        for rank in look.ranks
    ),
    "Count the steps: a chunk that has to visit every rank makes one hop less than there are "
    "ranks.",
)
#: what to say first of either half of a ring all-reduce
HALF = (hints.EARLY, LIST_CHANGED, *TRAFFIC, OTHER_DTYPE, WHOLE, STEPS, SAME_AGAIN)
